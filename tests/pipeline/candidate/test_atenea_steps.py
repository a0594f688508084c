"""ATENEA 4.2.2 to 4.2.5: two analyses are steps, the evaluation compares their scenarios, what left is on record."""

from __future__ import annotations

from pathlib import Path

import pytest

from celosia.cli import main
from celosia.dossier.text import to_text
from celosia.pipeline.assessment.evaluate import evaluate
from celosia.pipeline.candidate.closing_evaluation import closing_evaluation
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.profile import profile_report
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.declared_scenarios import declare_scenarios
from celosia.pipeline.project.edits import write_request
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.release.document_input import collect_document_input
from celosia.pipeline.release.documents import atenea_request, atenea_techniques, eliminated_variables
from celosia.pipeline.release.status import status
from celosia.workbench.risk import risk_scenarios
from tests.projects.steps import NOW
from tests.projects.survey import ANSWERS, make_project


@pytest.fixture
def folder(tmp_path) -> Path:
    folder = make_project(tmp_path / "p", ("atenea",))
    write_request(folder, now=NOW, **ANSWERS)
    return folder


def blocked(folder: Path) -> tuple[str, str]:
    act = status(folder).next_act
    assert act is not None
    return act.gate, act.command


def run_to_candidate(folder: Path) -> None:
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)


@pytest.mark.requirement("A04", "A13")
def test_the_exploration_and_the_risk_analysis_are_steps_of_the_walk(folder, capsys):
    assert blocked(folder) == ("exploration", f"celosia profile {folder}")
    assert main(["profile", str(folder)]) == 0
    assert blocked(folder) == ("risk", f"celosia risk {folder} --scenario A,B --declare")
    assert main(["risk", str(folder), "--scenario", "SEXO,ZONA", "--declare"]) == 0
    assert "celosia.toml" in capsys.readouterr().out
    assert open_project(folder).settings["scenarios"] == [{"variables": ["SEXO", "ZONA"]}]
    assert blocked(folder)[0] == "plan"


@pytest.mark.requirement("A13")
def test_a_scenario_that_is_declared_later_is_still_to_be_analysed(folder):
    profile_report(folder, now=NOW)
    risk_scenarios(folder, now=NOW)
    assert blocked(folder)[0] == "plan"
    assert declare_scenarios(folder, [["SEXO", "DIAG"]], now=NOW) == 1
    assert blocked(folder) == ("risk", f"celosia risk {folder}")
    risk_scenarios(folder, now=NOW)
    assert blocked(folder)[0] == "plan"


def test_a_scenario_is_declared_once_and_the_same_analysis_noted_once(folder):
    assert declare_scenarios(folder, [["SEXO", "ZONA"]], now=NOW) == 1
    assert declare_scenarios(folder, [["ZONA", "SEXO"], ["SEXO"]], now=NOW) == 2
    for _ in range(2):
        risk_scenarios(folder, now=NOW)
    assert len(open_project(folder).journal.facts("risk")) == 1


def test_another_norm_has_no_such_steps_and_its_journal_stays(tmp_path):
    folder = make_project(tmp_path / "p", ("minsal",))
    profile_report(folder, now=NOW)
    risk_scenarios(folder, now=NOW)
    journal = open_project(folder).journal
    assert journal.facts("profile") == journal.facts("risk") == []


@pytest.mark.requirement("A28")
def test_the_closing_evaluation_compares_the_declared_scenarios_and_no_others(folder):
    declare_scenarios(folder, [["SEXO", "INGRESO"], ["SEXO", "NOMBRE"], ["RUT"]], now=NOW)
    run_to_candidate(folder)
    risk = closing_evaluation(folder).risk
    assert risk is not None
    shares = {names: (before, after) for names, before, after in risk.scenarios}
    assert shares == {
        "SEXO × INGRESO": (0.0, 0.0),
        "SEXO × NOMBRE": (1.0, 0.0),  # everybody before; of what is published, SEXO alone
        "RUT": (1.0, 0.0),  # nothing of it is published
    }
    compared = evaluate(folder).risk
    assert compared is not None
    assert compared.scenarios == risk.scenarios


@pytest.mark.requirement("A28")
def test_without_declared_scenarios_the_evaluation_compares_those_of_the_risk_report(folder):
    run_to_candidate(folder)
    risk = closing_evaluation(folder).risk
    assert risk is not None
    assert [names for names, *_ in risk.scenarios] == ["SEXO × ZONA"]


@pytest.mark.requirement("A23")
def test_the_register_of_techniques_lists_each_eliminated_variable_with_its_reason(folder):
    write_request(folder, now=NOW, **{"legal.limited": ["DIAG"]})
    from tests.projects.steps import edit_dictionary

    edit_dictionary(folder, DIAG={"purpose": ""}, INGRESO={"purpose": ""})
    run_to_candidate(folder)
    inputs = collect_document_input(open_project(folder), NOW)
    assert {each.variable.name: each.reason for each in eliminated_variables(inputs)} == {
        "RUT": "identifier", "NOMBRE": "identifier", "DIAG": "limited", "INGRESO": "purpose",
    }  # fmt: skip
    paper = to_text(atenea_techniques(inputs, "es"))
    assert "Eliminación de variables" in paper
    assert all(name in paper for name in ("RUT", "NOMBRE", "DIAG", "INGRESO", "identificador directo"))


@pytest.mark.requirement("A01")
def test_the_record_of_the_request_names_the_designated_official_and_the_date(folder):
    paper = to_text(atenea_request(collect_document_input(open_project(folder), NOW), "es"))
    assert "Nora Gil" in paper
    assert "2026-10-01" in paper
