"""The request as a form: what is demanded and lacks, what is written, and refusal of an edit on another state."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project.edits import read_request
from celosia.pipeline.project.errors import EditedMeanwhile, RequestVariablesUnknown
from celosia.pipeline.project.request import missing_items
from celosia.workbench.errors import PropertyIncomplete
from celosia.workbench.request import checked_property, edit_request, request_form
from celosia.workbench.views.request import RequestForm, RequestItem
from tests.projects.steps import NOW
from tests.projects.survey import ANSWERS, make_project

SIX = {"kind", "variables", "aggregation", "properties", "authorisation", "use"}


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("form") / "p", ("atenea",))


@pytest.fixture
def folder(shared_project, tmp_path) -> Path:
    return Path(shutil.copytree(shared_project, tmp_path / "p"))


def items(form: RequestForm) -> dict[str, RequestItem]:
    return {item.key: item for item in form.items}


@pytest.mark.requirement("A01")
def test_a_new_form_demands_the_six_items_and_the_two_legal_questions(folder):
    form = request_form(folder)
    others = {"requester", "official", "received"}
    assert set(form.missing) == SIX | others | {"legal.protected_by_law", "legal.subject_authorisation"}
    assert all(item.demanded and item.missing for item in form.items if item.key in SIX)
    assert (form.written, form.digest) == (False, "")
    assert not any(key.startswith(("minsal.", "mel.")) for key in items(form))


@pytest.mark.requirement("A01", "A03")
def test_what_a_form_writes_is_what_the_command_line_reads(folder):
    form = edit_request(folder, dict(ANSWERS), expected="", now=NOW)
    assert form.missing == ()
    assert missing_items(read_request(folder), ("atenea",)) == ()
    assert read_request(folder).properties == ({"property": "mean", "variables": ["INGRESO"], "tolerance": "0.01"},)
    assert items(form)["properties"].answer == [dict(ANSWERS["properties"][0])]
    assert items(form)["legal.protected_by_law"].answer is False


@pytest.mark.requirement("A01")
def test_an_answer_taken_back_lacks_again(folder):
    edit_request(folder, dict(ANSWERS), now=NOW)
    form = edit_request(folder, {"use": "", "variables": []}, now=NOW)
    assert form.missing == ("variables", "use")


@pytest.mark.requirement("A02")
def test_protected_without_authorisation_limits_what_was_asked_for(folder):
    answers = {"variables": ["SEXO", "DIAG"], "legal.protected_by_law": True, "legal.subject_authorisation": False}
    assert edit_request(folder, answers, now=NOW).limited == ("SEXO", "DIAG")
    assert edit_request(folder, {"legal.limited": ["DIAG"]}, now=NOW).limited == ("DIAG",)


def test_kinds_say_how_an_item_is_answered(folder):
    form = items(request_form(folder))
    kinds = {
        "kind": "choice",
        "variables": "names",
        "properties": "properties",
        "legal.protected_by_law": "flag",
        "source.period_from": "day",
        "source.responsible": "texts",
        "use": "text",
    }
    assert {key: form[key].kind for key in kinds} == kinds


def test_an_edit_on_another_state_of_the_request_is_refused(folder):
    seen = request_form(folder).digest
    edit_request(folder, {"use": "estudio"}, expected=seen, now=NOW)
    with pytest.raises(EditedMeanwhile):
        edit_request(folder, {"use": "otro"}, expected=seen, now=NOW)
    assert read_request(folder).use == "estudio"


def test_a_wrong_answer_leaves_the_request_as_it_was(folder):
    edit_request(folder, {"use": "estudio"}, now=NOW)
    before = (folder / "request.toml").read_bytes()
    with pytest.raises(RequestVariablesUnknown):
        edit_request(folder, {"variables": ["NADIE"]}, now=NOW)
    with pytest.raises(ValueOutOfRange):
        edit_request(folder, {"kind": "marciano"}, now=NOW)
    assert (folder / "request.toml").read_bytes() == before


def test_a_minsal_project_is_asked_minsals_form(tmp_path):
    form = items(request_form(make_project(tmp_path / "p", ("minsal",))))
    assert form["minsal.purpose"].demanded
    assert "mel.consent" not in form


@pytest.mark.requirement("A03")
def test_a_property_that_lacks_something_is_refused_before_it_is_written():
    shared_project = checked_property(
        {"property": "mean", "variables": ["INGRESO"], "tolerance": " 0,01 ", "period": ""}
    )
    assert shared_project == {"property": "mean", "variables": ["INGRESO"], "tolerance": "0.01"}
    for lacking in ({"property": "trend"}, {"property": "significance", "variables": ["A"]}):
        with pytest.raises(PropertyIncomplete):
            checked_property(lacking)
    with pytest.raises(ValueOutOfRange):
        checked_property({"property": "mean", "tolerance": "mucha"})
