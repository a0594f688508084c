"""One function gives the next act; `status`, `plan`, `run`, `check`, `approve`, `release` and `sign` all say it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celosia import messages
from celosia.cli import main
from celosia.dossier.next_act import next_act_sentence
from celosia.pipeline.assessment.errors import CandidateOfOtherPlan, NoCandidate
from celosia.pipeline.assessment.evaluate import evaluate
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.candidate.closing_evaluation import closing_evaluation
from celosia.pipeline.candidate.errors import CandidateFails
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.candidate.verifier_check import check_candidate
from celosia.pipeline.intake.profile import profile_report
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import write_request
from celosia.pipeline.release.make_release import make_release
from celosia.pipeline.release.status import status
from celosia.workbench.risk import risk_scenarios
from tests.projects.steps import NOW, PHRASE, add_settings, edit_dictionary
from tests.projects.survey import ANSWERS, add_people, make_project

ROUNDING = '[[steps]]\ntechnique = "round"\ncolumns = ["INGRESO"]\nbase = 500000\n'


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = make_project(tmp_path / "p", ("atenea",))
    write_request(folder, now=NOW, **ANSWERS)
    profile_report(folder, now=NOW)
    risk_scenarios(folder, now=NOW)
    return folder


@pytest.fixture
def people(folder):
    return add_people(folder, ana=["executor"], luis=["verifier"], eva=["lead"])


def last_line(capsys, *words: object) -> str:
    """What a command says at its end."""
    capsys.readouterr()
    main([str(word) for word in words])
    return capsys.readouterr().out.rstrip().rpartition("\n")[2]


def told_by_status(folder: Path, capsys) -> str:
    """The next act as `status` prints it, which is what the report, its JSON and the page hold."""
    line = last_line(capsys, "status", folder)
    report = status(folder)
    assert report.next_act is not None
    assert line == next_act_sentence(report.next_act)
    main(["status", str(folder), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert (told["next"], told["next_act"]["gate"]) == (report.next, report.next_act.gate)
    assert told["next_act"]["people"] == list(report.next_act.people)
    return line


@pytest.mark.slow
def test_every_command_ends_with_the_next_act_that_status_names(folder, people, capsys, monkeypatch):
    monkeypatch.setenv("CELOSIA_PASSPHRASE", PHRASE)
    keys = folder.parent / "keys"
    assert last_line(capsys, "plan", folder) == (line := told_by_status(folder, capsys))
    assert "Eva Díaz" in line
    assert line.endswith(f"celosia approve {folder} plan --role lead")
    approving = ("approve", folder, "plan", "--role", "lead", "--yes", "--identity", keys / "eva.key")
    assert last_line(capsys, *approving) == (line := told_by_status(folder, capsys))
    assert "Ana Díaz (equipo que ejecuta)" in line
    assert line.endswith(f"celosia run {folder}")
    assert last_line(capsys, "run", folder) == (line := told_by_status(folder, capsys))
    assert "Luis Díaz (quien verifica)" in line
    assert line.endswith(f"celosia check {folder}")
    assert last_line(capsys, "check", folder) == (line := told_by_status(folder, capsys))
    assert line.endswith(f"celosia approve {folder} candidate --role verifier")
    approve(folder, "candidate", people["luis"], "verifier", now=NOW)
    assert last_line(capsys, "release", folder) == (line := told_by_status(folder, capsys))
    [release] = (folder / "releases").iterdir()
    for role, short in (("lead", "eva"), ("executor", "ana"), ("verifier", "luis")):
        assert f"{short.title()} Díaz" in line
        assert line.endswith(f"celosia sign {release} --role {role}")
        signing = ("sign", release, "--role", role, "--identity", keys / f"{short}.key")
        assert last_line(capsys, *signing) == (line := told_by_status(folder, capsys))
    assert "Eva Díaz" in line
    assert f"celosia publish {folder} {release}" in line


def test_a_role_that_nobody_holds_is_named_with_the_way_to_fill_it(folder, capsys):
    make_plan(folder, now=NOW)
    line = told_by_status(folder, capsys)
    assert "nadie consta" in line
    assert "people add" in line


def test_of_two_protocols_the_earlier_step_comes_first(tmp_path):
    folder = make_project(tmp_path / "p", ("minsal", "atenea"))
    answers = {key: value for key, value in ANSWERS.items() if key != "official"}
    write_request(folder, now=NOW, **answers)
    report = status(folder)
    blocked = [gate.protocol for gate in report.gates if gate.state == "blocked"]
    assert blocked == ["minsal", "atenea"]
    assert report.next_act is not None
    assert (report.next_act.protocol, report.next_act.gate) == ("atenea", "request")


@pytest.mark.requirement("A03", "A29")
def test_check_makes_the_closing_evaluation_and_says_what_failed_by_how_much_and_the_ways_out(folder, people, capsys):
    add_settings(folder, ROUNDING)  # at random: a mean is kept within a part in 100,000 by a miracle only
    exact = [{"property": "mean", "variables": ["INGRESO"], "tolerance": "0.00001"}]
    write_request(folder, now=NOW, properties=exact)
    make_plan(folder, now=NOW)
    approve(folder, "plan", people["eva"], "lead", now=NOW)
    run_plan(folder, now=NOW)
    before = status(folder)
    assert before.next_act is not None
    assert before.next_act.gate == "check"
    assert before.next == f"celosia check {folder}"
    report = check_candidate(folder, now=NOW)
    assert report.closing is not None
    assert not report.closing.passes
    assert not report.holds
    act = status(folder).next_act
    assert act is not None
    assert act.gate == "check"
    name = messages.text("evaluation.measure.mean.name")
    assert name in act.reason
    assert "INGRESO" in act.reason
    assert "%" in act.reason
    assert all(way in act.reason for way in ("(1)", "(2)", "(3)", "--property", "--why"))
    assert main(["check", str(folder)]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert messages.text("evaluation.closing.ways") in shown


@pytest.mark.requirement("A03", "A29")
def test_a_closing_evaluation_of_other_tolerances_no_longer_counts(folder, people):
    add_settings(folder, ROUNDING)
    make_plan(folder, now=NOW)
    approve(folder, "plan", people["eva"], "lead", now=NOW)
    run_plan(folder, now=NOW)
    closing_evaluation(folder)
    kept = [{"property": "mean", "variables": ["INGRESO"], "tolerance": "0.9"}]
    write_request(folder, now=NOW, why="basta el orden de magnitud", properties=kept)
    act = status(folder).next_act
    assert act is not None
    assert act.reason == messages.text("status.reason.no_closing")
    assert check_candidate(folder, now=NOW).holds
    approve(folder, "candidate", people["luis"], "verifier", now=NOW)
    assert make_release(folder, now=NOW).rules.holds


def test_a_failed_run_leaves_no_candidate_that_could_be_evaluated(folder):
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    assert evaluate(folder).equal_rows
    write_request(folder, now=NOW, legal={"protected_by_law": True, "subject_authorisation": False})
    with pytest.raises(CandidateFails):
        run_plan(folder, now=NOW)
    assert not (folder / "private" / "candidate" / "data.csv").exists()
    with pytest.raises(NoCandidate):
        evaluate(folder)


def test_a_candidate_of_an_earlier_plan_is_not_evaluated(folder):
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    edit_dictionary(folder, DIAG={"purpose": ""})
    make_plan(folder, now=NOW)
    with pytest.raises(CandidateOfOtherPlan):
        evaluate(folder)
    run_plan(folder, now=NOW)
    assert evaluate(folder).equal_rows
