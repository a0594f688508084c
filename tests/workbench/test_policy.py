"""The policy as a form: what is in force and from where, edits that keep comments, a weaker choice with its reason."""

from __future__ import annotations

import pickle
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from celosia.model.errors import UnknownVariable
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.journal import read_journal
from celosia.protocols.errors import OverrideNotPossible
from celosia.risk.criteria import CRITERIA, criterion_from
from celosia.risk.errors import CriterionIncomplete
from celosia.workbench.errors import WeakerThanNorm
from celosia.workbench.policy import edit_policy, policy_view
from tests.projects.steps import NOW
from tests.projects.survey import make_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "p")


def settings_of(folder: Path) -> dict:
    return tomllib.loads((folder / "celosia.toml").read_text("utf-8"))


def criteria_named(view, name: str) -> list:
    return [dict(criterion.data) for criterion in view.criteria if criterion.data["criterion"] == name]


def test_the_view_says_which_criteria_come_from_the_norm(folder: Path) -> None:
    view = policy_view(folder)
    assert [(dict(criterion.data), criterion.origin, criterion.least) for criterion in view.criteria] == [
        ({"criterion": "k", "k": 2}, "norm", 2),
        ({"criterion": "distinct_l", "variable": "DIAG", "l": 2}, "norm", 2),
    ]
    assert (view.quasi, view.sensitive, view.limit, view.method) == (("SEXO", "ZONA"), ("DIAG",), 1, "full-domain")
    assert (view.stated, view.blocked) == ((), "")


def test_the_view_can_travel_between_processes_and_as_json(folder: Path) -> None:
    view = policy_view(folder)
    assert pickle.loads(pickle.dumps(view)) == view
    assert view.limit == 1


@pytest.mark.requirement("M20")
def test_every_criterion_can_be_asked_from_its_declared_parameters(folder: Path) -> None:
    by_name = {form.name: form for form in policy_view(folder).forms}
    assert set(by_name) == {kind.name for kind in CRITERIA}
    for form in by_name.values():
        data = {"criterion": form.name}
        for parameter in form.parameters:
            if parameter.required:
                number = min((parameter.minimum or 0) + 1, parameter.maximum or 1)
                data[parameter.name] = {"whole": int(number), "number": number}.get(parameter.kind, "DIAG")
        assert criterion_from(data).as_dict()["criterion"] == form.name


@pytest.mark.requirement("M20", "M23")
def test_k_l_and_the_limit_are_written_and_the_plan_obeys(folder: Path) -> None:
    view = edit_policy(folder, {"k": 5, "l": 3, "limit": 0.25}, now=NOW)
    assert criteria_named(view, "k") == [{"criterion": "k", "k": 5}]
    assert criteria_named(view, "distinct_l") == [{"criterion": "distinct_l", "variable": "DIAG", "l": 3}]
    assert view.limit == Fraction(1, 4)
    plan = make_plan(folder, now=NOW).plan
    assert plan.policy["criteria"] == [dict(criterion.data) for criterion in view.criteria]
    assert plan.policy["limit"] == "1/4"


def test_comments_stay_where_they_are(folder: Path) -> None:
    path = folder / "celosia.toml"
    text = path.read_text("utf-8") + '\n[policy]  # acordada el martes\n# por el comité\nmethod = "local"\n'
    path.write_text(text, "utf-8")
    edit_policy(folder, {"limit": "0.05"}, now=NOW)
    now = path.read_text("utf-8")
    assert text.rstrip("\n") in now
    assert settings_of(folder)["policy"] == {"method": "local", "limit": "0.05"}


def test_a_setting_goes_back_to_the_usual_one(folder: Path) -> None:
    edit_policy(folder, {"limit": 0.1, "method": "cells"}, now=NOW)
    view = edit_policy(folder, {"limit": None, "method": None}, now=NOW)
    assert (view.limit, view.method, view.stated) == (1, "full-domain", ())
    assert "policy" not in settings_of(folder)


def test_an_edit_over_a_changed_file_is_refused(folder: Path) -> None:
    seen = policy_view(folder).digest
    edit_policy(folder, {"limit": 0.1}, expected=seen, now=NOW)
    with pytest.raises(EditedMeanwhile):
        edit_policy(folder, {"limit": 0.2}, expected=seen, now=NOW)
    assert settings_of(folder)["policy"]["limit"] == 0.1


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"limit": 1.5}, ValueOutOfRange),
        ({"limit": "nada"}, ValueOutOfRange),
        ({"method": "magia"}, ValueOutOfRange),
        ({"colour": "red"}, ValueOutOfRange),
        ({"criteria": [{"criterion": "t", "variable": "DIAG", "t": 2}]}, ValueOutOfRange),
        ({"criteria": [{"criterion": "t", "variable": "DIAG"}]}, CriterionIncomplete),
        ({"criteria": [{"criterion": "t", "variable": "OTRA", "t": 0.2}]}, UnknownVariable),
        ({"order": ["OTRA"]}, UnknownVariable),
        ({"weights": {"OTRA": 2}}, UnknownVariable),
        ({"k": 2.5}, ValueOutOfRange),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(folder: Path, changes: dict, error: type) -> None:
    before = (folder / "celosia.toml").read_bytes()
    with pytest.raises(error):
        edit_policy(folder, changes, now=NOW)
    assert (folder / "celosia.toml").read_bytes() == before


def test_less_than_the_norm_needs_a_reason(folder: Path) -> None:
    with pytest.raises(WeakerThanNorm) as refused:
        edit_policy(folder, {"k": 1}, why="  ", now=NOW)
    assert "MINSAL" in str(refused.value)
    view = edit_policy(folder, {"k": 1}, why="piloto interno", now=NOW)
    assert settings_of(folder)["overrides"] == {"minsal": {"k": {"asked": {"k": 1}, "reason": "piloto interno"}}}
    demand = next(demand for demand in view.demands if demand.rule == "k")
    assert (demand.norm, demand.asked, demand.reason) == (2, 1, "piloto interno")
    assert read_journal(folder / "journal.jsonl").entries[-1]["facts"]["overridden"] == ["minsal.k"]
    make_plan(folder, now=NOW)


def test_an_override_goes_when_the_norm_is_met_again(folder: Path) -> None:
    edit_policy(folder, {"k": 1}, why="piloto interno", now=NOW)
    view = edit_policy(folder, {"k": 4}, now=NOW)
    assert "overrides" not in settings_of(folder)
    assert all(not demand.reason for demand in view.demands)
    assert read_journal(folder / "journal.jsonl").entries[-1]["facts"]["restored"] == ["minsal.k"]


def test_a_stricter_override_stays(folder: Path) -> None:
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[overrides.minsal.k]\nasked = {k = 3}\nreason = "acuerdo"\n')
    edit_policy(folder, {"k": 6}, now=NOW)
    assert settings_of(folder)["overrides"]["minsal"]["k"]["reason"] == "acuerdo"
    with pytest.raises(WeakerThanNorm):
        edit_policy(folder, {"k": 2}, now=NOW)


def test_a_weaker_k_under_atenea_becomes_a_threshold(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p", ("atenea",))
    with pytest.raises(WeakerThanNorm):
        edit_policy(folder, {"k": 3}, now=NOW)
    view = edit_policy(folder, {"k": 3}, why="acceso restringido", now=NOW)
    assert settings_of(folder)["overrides"]["atenea"]["risk"]["asked"] == {"threshold": "1/2"}
    assert (view.strictest_demand("k").asked, view.blocked) == (3, "")
    with pytest.raises(OverrideNotPossible):
        edit_policy(folder, {"k": 1}, why="nada", now=NOW)


def test_a_project_without_roles_is_shown_with_what_blocks_it(folder: Path) -> None:
    path = folder / "dictionary.csv"
    path.write_text(path.read_text("utf-8").replace(",cuasi-identificador,", ",,"), "utf-8")
    view = policy_view(folder)
    assert "SEXO" in view.blocked
    assert view.quasi == ()
    assert edit_policy(folder, {"limit": 0.1}, now=NOW).limit == Fraction(1, 10)


def test_a_file_below_the_norm_is_shown_so_that_it_can_be_mended(folder: Path) -> None:
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[policy]\ncriteria = [{criterion = "k", k = 1}]\n')
    assert "MINSAL" in policy_view(folder).blocked
    assert edit_policy(folder, {"k": 2}, now=NOW).blocked == ""
