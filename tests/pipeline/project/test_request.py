"""request.toml: every item is asked for, checked by name, and stops publication while it is empty."""

from __future__ import annotations

import json
import shutil
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from celosia import messages
from celosia.model.errors import UnknownFormat
from celosia.model.requests import DEMANDED, Request
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.candidate.errors import CandidateFails
from celosia.pipeline.candidate.rules import judge_project
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import extract_requested, read_request, write_request
from celosia.pipeline.project.errors import (
    BadProjectFile,
    RequestIncomplete,
    RequestMissing,
    RequestVariablesUnknown,
    WrongSetting,
)
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.request import ITEMS, QUESTIONS, missing_items, parse_property
from tests.projects.steps import NOW
from tests.projects.survey import ANSWERS, make_project

SIX = ("kind", "variables", "aggregation", "properties", "authorisation", "use")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("request") / "p", ("atenea",))


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "p"))


def put(folder: Path, body: str) -> None:
    (folder / "request.toml").write_text(f'format = "celosia/request/1"\n{body}\n', "utf-8")


def test_without_a_request_there_is_none(folder):
    with pytest.raises(RequestMissing):
        read_request(folder)


@pytest.mark.parametrize("language", messages.LANGUAGES)
def test_the_template_asks_every_item_in_both_languages_and_answers_none(folder, language):
    with messages.speaking(language):
        request = write_request(folder, now=NOW)
        text = (folder / "request.toml").read_text("utf-8")
        for key in QUESTIONS:
            assert messages.text(f"request.item.{key}").splitlines()[0] in text
        assert messages.text("request.demanded") in text
    assert request == read_request(folder)
    assert all(request.item(key) in (None, "", (), []) for key in DEMANDED["atenea"])
    assert set(QUESTIONS) == set(ITEMS)


@pytest.mark.requirement("A01", "A02", "M07")
def test_answers_come_back_and_comments_stay(folder):
    write_request(folder, now=NOW)
    path = folder / "request.toml"
    path.write_text(path.read_text("utf-8").replace('use = ""', '# lo dijo Eva\nuse = "" # por carta'), "utf-8")
    request = write_request(folder, now=NOW, **ANSWERS)
    text = path.read_text("utf-8")
    assert "# lo dijo Eva" in text
    assert "# por carta" in text
    assert "protected_by_law = true | false" not in text
    assert (request.kind, request.variables, request.source["period_until"]) == (
        "external",
        ("SEXO", "ZONA", "INGRESO", "DIAG"),
        "2024",
    )
    assert request.legal["protected_by_law"] is False
    assert missing_items(request, ("atenea", "minsal")) == ()
    again = write_request(folder, now=NOW, kind="internal")
    assert (again.kind, again.use, again.properties) == ("internal", request.use, request.properties)
    assert tomllib.loads(path.read_text("utf-8"))["minsal"]["homologated"] is False


@pytest.mark.requirement("A01", "A02")
@pytest.mark.parametrize("item", [*SIX, "legal.protected_by_law", "legal.subject_authorisation"])
def test_each_item_of_atenea_is_compulsory(folder, item):
    section, _, inner = item.partition(".")
    left = {key: value for key, value in ANSWERS.items() if key != section or inner}
    if inner:
        left[section] = {key: value for key, value in ANSWERS[section].items() if key != inner}
    request = write_request(folder, now=NOW, **left)
    assert missing_items(request, ("atenea",)) == (item,)


@pytest.mark.slow
@pytest.mark.requirement("A01", "M07")
def test_an_empty_item_stops_the_release(folder):
    write_request(folder, now=NOW, **ANSWERS | {"use": ""})
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    failing = {one.rule: one.measured for one in judge_project(open_project(folder), "release").failing}
    assert failing["request"] == {"missing": ["use"]}
    write_request(folder, now=NOW, use="estudio")
    assert "request" not in {one.rule for one in judge_project(open_project(folder), "release").failing}


@pytest.mark.requirement("M07")
@pytest.mark.parametrize("item", [key for key in DEMANDED["minsal"] if key.startswith("source.")])
def test_minsal_demands_source_period_unit_and_people_responsible(item):
    held = {key: ["x"] if key == "responsible" else "x" for key in ANSWERS["source"]}
    request = Request(source=held | {item.partition(".")[2]: ""}, minsal=ANSWERS["minsal"])
    assert missing_items(request, ("minsal",)) == (item,)
    assert missing_items(request, ("minsal-sensible",)) == (item,)


def test_a_run_that_fails_leaves_no_earlier_candidate_either(folder):
    write_request(folder, now=NOW, **ANSWERS | {"legal": {"protected_by_law": True, "subject_authorisation": True}})
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    assert (folder / "private" / "candidate").exists()
    write_request(folder, now=NOW, **{"legal.limited": ["DIAG"]})
    with pytest.raises(CandidateFails):
        run_plan(folder, now=NOW)
    assert not (folder / "private" / "candidate").exists()
    assert not list((folder / "private").glob("**/data.csv"))


@pytest.mark.requirement("A02", "A30")
def test_a_protected_variable_without_authorisation_may_not_leave(folder):
    write_request(
        folder,
        now=NOW,
        **ANSWERS | {"legal": {"protected_by_law": True, "subject_authorisation": False, "limited": ["DIAG"]}},
    )
    assert read_request(folder).limited == ("DIAG",)
    make_plan(folder, now=NOW)
    with pytest.raises(CandidateFails) as fault:
        run_plan(folder, now=NOW)
    assert "DIAG" in str(fault.value)
    assert not (folder / "private" / "candidate").exists()
    write_request(folder, now=NOW, **{"legal.limited": []})
    assert read_request(folder).limited == tuple(ANSWERS["variables"])  # none of those asked for


@pytest.mark.requirement("A02", "A30")
def test_extraction_publishes_what_was_asked_for_and_may_leave(folder):
    write_request(
        folder, now=NOW, **ANSWERS | {"variables": ["SEXO", "ZONA", "RUT", "DIAG"], "legal": {"limited": ["DIAG"]}}
    )
    assert extract_requested(folder, now=NOW) == ("SEXO", "ZONA")
    assert {v.name: v.purpose for v in open_project(folder).variables if v.purpose} == {
        "SEXO": "estudio",
        "ZONA": "estudio",
    }
    write_request(folder, now=NOW, use="")
    with pytest.raises(RequestIncomplete):
        extract_requested(folder, now=NOW)


@pytest.mark.parametrize(
    ("answers", "setting"),
    [
        ({"variables": ["SEXO", "EDAD"]}, "variables"),
        ({"legal": {"limited": ["sexo"]}}, "legal.limited"),
        ({"mel": {"contrast": ["EDAD"]}}, "mel.contrast"),
        ({"properties": [{"property": "mean", "variables": ["EDAD"]}]}, "properties.1"),
        ({"properties": [{"property": "total"}, {"property": "trend", "period": "EDAD"}]}, "properties.2"),
    ],
)
def test_variables_that_do_not_exist_are_refused_by_name_and_nothing_is_written(folder, answers, setting):
    with pytest.raises(RequestVariablesUnknown) as fault:
        write_request(folder, now=NOW, **answers)
    assert fault.value.values["setting"] == setting
    assert not (folder / "request.toml").exists()


@pytest.mark.parametrize(
    ("body", "setting"),
    [
        ("kindd = 'internal'", "request.kindd"),
        ("kind = 'private'", "kind"),
        ("variables = 'SEXO'", "variables"),
        ("use = 3", "use"),
        ("[legal]\nprotected_by_law = 'no'", "legal.protected_by_law"),
        ("[legal]\nlimits = []", "legal.limits"),
        ("legal = 3", "legal"),
        ("[source]\nperiod_from = '15/01/2024'", "source.period_from"),
        ("[source]\nperiod_from = 2024-02-01\nperiod_until = 2024-01-31", "source.period_until"),
        ("properties = [{property = 'mode'}]", "properties.1"),
        ("properties = [{property = 'trend'}]", "properties.1"),
        ("properties = [{property = 'significance', variables = ['SEXO']}]", "properties.1"),
        ("properties = [{property = 'mean', tolerance = -1}]", "properties.1.tolerance"),
        ("properties = [{property = 'mean', tol = 1}]", "properties.1.tol"),
        ("properties = ['mean']", "properties"),
    ],
)
def test_a_key_of_another_kind_or_name_is_refused_by_its_name(folder, body, setting):
    put(folder, body)
    with pytest.raises(WrongSetting) as fault:
        read_request(folder)
    assert fault.value.values["setting"] == setting


def test_a_period_within_a_year_and_dates_without_quotes_are_understood(folder):
    put(folder, "[source]\nperiod_from = 2024-03-01\nperiod_until = '2024'")
    assert read_request(folder).source == {"period_from": "2024-03-01", "period_until": "2024"}


def test_a_request_of_another_format_or_syntax_is_refused(folder):
    (folder / "request.toml").write_text('format = "celosia/request/2"\n')
    with pytest.raises(UnknownFormat):
        read_request(folder)
    put(folder, "use = ")
    with pytest.raises(BadProjectFile):
        write_request(folder, now=NOW, use="x")


def test_an_answer_of_another_kind_or_name_is_refused(folder):
    for answers in ({"who": "x"}, {"kind": "private"}, {"legal": {"limited": "DIAG"}}, {"source": "DEIS"}):
        with pytest.raises(ValueOutOfRange):
            write_request(folder, now=NOW, **answers)


def test_properties_are_read_as_a_command_names_them():
    assert parse_property("mean", ()) == {"property": "mean"}
    assert parse_property("mean:INGRESO:0,01", ("INGRESO",)) == {
        "property": "mean",
        "variables": ["INGRESO"],
        "tolerance": "0.01",
    }
    assert parse_property("mean:2020", ("2020",)) == {"property": "mean", "variables": ["2020"]}
    assert parse_property("trend:INGRESO:period=AÑO:0.1", ()) == {
        "property": "trend", "variables": ["INGRESO"], "period": "AÑO", "tolerance": "0.1"}  # fmt: skip
    for words in ("mode", "trend", "test:A", "correlations:A"):
        with pytest.raises(ValueOutOfRange):
            parse_property(words, ())


@pytest.mark.requirement("M35")
def test_the_journal_names_the_items_and_the_reason_and_no_answer(folder):
    now = datetime(2026, 11, 16, tzinfo=UTC)
    write_request(folder, now=now, why="carta 12", use="estudio secreto")
    entry = json.loads((folder / "journal.jsonl").read_text("utf-8").splitlines()[-1])
    assert (entry["what"], entry["why"], entry["facts"]["items"]) == ("request", "carta 12", ["use"])
    assert "secreto" not in json.dumps(entry)
