"""`status` tells each gate, what blocks it and the next command, at any moment of the walk and of a broken one."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celosia import messages
from celosia.model.reports.status import GateState, StatusReport
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intruder.attack import intrude
from celosia.pipeline.intruder.claims import write_claims_form
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import write_request
from celosia.pipeline.release.make_release import make_release, sign_release
from celosia.pipeline.release.publish import publish
from celosia.pipeline.release.status import status
from celosia.protocols.load import load
from tests.projects.steps import NOW, note_attempts
from tests.projects.survey import ANSWERS, PLANTED, add_people, make_project

DONE, BLOCKED, WAITING = GateState.DONE, GateState.BLOCKED, GateState.WAITING


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("status") / "p", ("minsal",))


@pytest.fixture
def folder(made, tmp_path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "p"))


def at(report: StatusReport) -> str:
    """The gate that is blocked; those before are done and no later one is blocked too."""
    [gate] = [gate for gate in report.gates if gate.state is BLOCKED]
    before = report.gates[: report.gates.index(gate)]
    assert {one.state for one in before} <= {DONE}
    assert gate.reason
    assert gate.command == report.next != ""
    return gate.gate


@pytest.mark.slow
@pytest.mark.requirement("M07", "M31", "M34", "M38")
def test_the_walk_is_told_gate_by_gate_with_the_next_command(folder):
    first = status(folder, now=NOW)
    assert [gate.gate for gate in first.gates] == [gate.id for gate in load("minsal").gates]
    assert (at(first), first.next) == ("request", f"celosia request {folder}")
    write_request(folder, now=NOW, **ANSWERS | {"source": {**ANSWERS["source"], "unit": ""}})
    assert at(status(folder, now=NOW)) == "request"
    assert "unidad" in status(folder, now=NOW).gates[0].reason
    write_request(folder, now=NOW, **{"source.unit": "persona"})
    assert at(status(folder, now=NOW)) == "plan"
    people = add_people(folder, ana=["executor"], luis=["verifier"], eva=["head"])
    make_plan(folder, now=NOW)
    waiting = status(folder, now=NOW)
    assert (at(waiting), waiting.next) == ("plan", f"celosia approve {folder} plan --role head")
    approve(folder, "plan", people["eva"], "head", now=NOW)
    assert (at(status(folder, now=NOW)), status(folder, now=NOW).next) == ("run", f"celosia run {folder}")
    run_plan(folder, now=NOW)
    assert at(status(folder, now=NOW)) == "intruder"
    form = write_claims_form(folder)
    assert at(status(folder, now=NOW)) == "intruder"
    asked = next(gate.reason for gate in status(folder, now=NOW).gates if gate.gate == "intruder")
    assert asked.startswith("Aún no se cumple: ")  # the rule's own sentence reads as if it had been done
    note_attempts(form, attempts=7, minutes=5)
    short = status(folder, now=NOW)
    asked = next(gate.reason for gate in short.gates if gate.gate == "intruder")
    assert "intentos: 7 (faltan 3); minutos: 35 (faltan 25)" in asked
    assert (at(short), short.next) == ("intruder", f"celosia claims {folder}")
    note_attempts(form)
    assert status(folder, now=NOW).next == f"celosia intruder {folder}"
    intrude(str(folder), attempts=100, now=NOW)
    unsigned = status(folder, now=NOW)
    assert unsigned.next == f"celosia approve {folder} intruder --role verifier --note …"
    approve(folder, "intruder", people["luis"], "verifier", "supervisada", now=NOW)
    assert at(status(folder, now=NOW)) == "check"
    approve(folder, "candidate", people["luis"], "verifier", "conforme", now=NOW)
    last = status(folder, now=NOW)
    assert (at(last), last.next) == ("release", f"celosia release {folder}")
    assert [(one.what, one.name, one.state) for one in last.approvals] == [
        ("plan", "Eva Díaz", "valid"), ("intruder", "Luis Díaz", "valid"), ("candidate", "Luis Díaz", "valid"),
    ]  # fmt: skip
    assert not last.done
    assert PLANTED not in json.dumps(last.as_dict(), ensure_ascii=False)
    _an_edit_goes_back(Path(shutil.copytree(folder, folder.parent / "edited")))
    _a_release_ends_the_walk(folder, people)


def _a_release_ends_the_walk(folder: Path, people: dict[str, Any]) -> None:
    release = make_release(folder, now=NOW).folder
    unsigned = status(folder, now=NOW)
    assert (at(unsigned), unsigned.next) == ("signatures", f"celosia sign {release} --role head")
    for name, role in (("eva", "head"), ("ana", "executor"), ("luis", "verifier")):
        told = status(folder, now=NOW)
        assert told.next == f"celosia sign {release} --role {role}"
        [reason] = [gate.reason for gate in told.gates if gate.state is BLOCKED]
        assert f"{name.title()} Díaz" in reason
        assert told.next in reason
        sign_release(release, folder, people[name], role, now=NOW)
    assert at(status(folder, now=NOW)) == "consultation"
    day = NOW.date()
    publish(folder, release, people["eva"], consultation=day, publication_date=day, update_period="anual", now=NOW)
    done = status(folder, now=NOW)
    assert (done.done, done.next, done.problems) == (True, "", ())
    assert [(one.due, one.overdue) for one in done.reviews] == [("2027-11-15", False)]
    assert status(folder, now=datetime(2027, 12, 1, tzinfo=UTC)).reviews[0].overdue
    data = release / "data.csv"
    data.write_bytes(data.read_bytes() + b"x")
    assert at_first(status(folder, now=NOW)) == "release"


def at_first(report: StatusReport) -> str:
    return next(gate.gate for gate in report.gates if gate.state is BLOCKED)


def _an_edit_goes_back(folder: Path) -> None:
    path = folder / "dictionary.csv"
    path.write_bytes(path.read_bytes().replace(b"estudio", b"estudip", 1))
    report = status(folder, now=NOW)
    assert at(report) == "plan"
    assert [one.state for one in report.approvals] == ["voided", "valid", "valid"]
    assert report.gates[3].state is DONE  # the candidate is still the plan's


@pytest.mark.requirement("A02", "A30")
def test_each_protocol_has_its_own_gates_and_all_are_told(tmp_path):
    folder = make_project(tmp_path / "p", ("minsal", "atenea"))
    report = status(folder, now=NOW)
    assert [(gate.protocol, gate.gate) for gate in report.gates] == [
        (name, gate.id) for name in ("minsal", "atenea") for gate in load(name).gates
    ]
    assert [gate.state for gate in report.gates if gate.gate == "request"] == [BLOCKED, BLOCKED]


@pytest.mark.parametrize("language", messages.LANGUAGES)
@pytest.mark.parametrize(
    ("file", "body", "gate"),
    [
        ("request.toml", "use = ", "request"),
        ("request.toml", 'format = "celosia/request/1"\nkind = "other"\n', "request"),
        ("dictionary.csv", "nothing", None),
        ("plan.json", "{", None),
        ("claims.csv", "x", None),
        ("celosia.toml", "name = ", ""),
        ("people.toml", "[[", ""),
        ("approvals.jsonl", "{\n", ""),
        ("journal.jsonl", "{\n", ""),
        ("releases/2026-01-01/manifest.json", "{", ""),
        ("private/candidate/verdict.json", "{", None),
    ],
)
def test_a_broken_part_is_told_and_hides_nothing_else(folder, file, body, gate, language):
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body, "utf-8")
    with messages.speaking(language):
        report = status(folder, now=NOW)
    assert not report.done
    if gate == "":
        assert report.problems
    elif gate:
        assert report.gates[0].reason not in ("", messages.text("status.reason.no_request"))
    if file != "celosia.toml":
        assert len(report.gates) == len(load("minsal").gates)
    assert json.loads(json.dumps(report.as_dict()))["format"] == "celosia/status/1"


def test_a_folder_that_is_no_project_and_a_project_without_protocol_are_told(folder, tmp_path):
    assert status(tmp_path / "nowhere", now=NOW).problems
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8").replace('protocols = ["minsal"]', "protocols = []"), "utf-8")
    report = status(folder, now=NOW)
    assert report.problems == (messages.text("status.no_protocol"),)
    assert not report.done


@pytest.mark.requirement("P09")
def test_an_override_without_a_reason_is_told_as_a_problem(folder):
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + "\n[overrides.minsal.k]\nasked = {k = 1}\n", "utf-8")
    assert any("reason" in words for words in status(folder, now=NOW).problems)


@pytest.mark.slow
@pytest.mark.requirement("P10", "P20")
def test_mel_begins_with_the_approved_dictionary_and_asks_for_the_residual_risk(tmp_path):
    from tests.projects import household_survey

    folder = household_survey.make_project(tmp_path / "evaluacion")
    household_survey.answer_request(folder)
    report = status(folder, now=NOW)
    assert (at(report), report.next) == ("dictionary", f"celosia approve {folder} dictionary --role lead")
    signers = household_survey.add_people(folder, tmp_path / "keys")
    household_survey.run_to_candidate(folder, signers)
    report = status(folder, now=NOW)
    assert (at(report), report.next) == ("residual", f"celosia approve {folder} residual --role lead")
