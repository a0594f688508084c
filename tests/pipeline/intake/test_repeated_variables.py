"""Columns that say the same and columns of one value: pointed out, and combined nowhere."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from celosia.model.dictionary import dump
from celosia.model.variables import Role, Treatment
from celosia.pipeline.assessment.scenario_risk import scenario_risk
from celosia.pipeline.assessment.special_uniques import special_uniques
from celosia.pipeline.intake.dictionary_files import state_purpose
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project

NOW = datetime(2026, 5, 4, tzinfo=UTC)
COMUNAS = {"13101": "Santiago", "13120": "Ñuñoa", "05101": "Valparaíso", "05109": "Viña del Mar", "08101": "Concepción"}
HEADER = ("RADICADO", "Año", "Comuna", "Codcom", "Región", "Sexo", "Edad", "Opinión")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Three hundred invented deaths."""
    draw, path = random.Random(5), tmp_path / "base.csv"
    lines = [",".join(HEADER)]
    for row in range(300):
        code = draw.choice(list(COMUNAS))
        region, sex, age = code[:2], draw.choice(("Hombre", "Mujer")), draw.randint(40, 49)
        lines.append(f"{160_000 + row // 2},2024,{COMUNAS[code]},{code},{region},{sex},{age},{draw.randint(1, 5)}")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def folder(source: Path, tmp_path: Path) -> Path:
    return init(source, tmp_path / "p", ("minsal",), now=NOW).project.folder


@pytest.mark.requirement("M01", "X7")
def test_of_a_code_and_its_name_one_is_to_be_removed_and_both_are_named(folder: Path) -> None:
    proposed = {variable.name: variable for variable in open_project(folder).variables}
    assert (proposed["Codcom"].role, proposed["Codcom"].treatment) == (Role.QUASI, Treatment.GENERALISE)
    assert (proposed["Comuna"].role, proposed["Comuna"].treatment) == (Role.QUASI, Treatment.REMOVE)
    assert "dice lo mismo que «Codcom»" in proposed["Comuna"].evidence
    assert proposed["Región"].treatment is Treatment.GENERALISE
    assert (proposed["Año"].role, proposed["Año"].treatment) == (Role.PLAIN, Treatment.KEEP)
    assert proposed["RADICADO"].role is Role.IDENTIFIER


@pytest.mark.requirement("A18")
def test_a_file_without_a_project_is_read_alike(source: Path) -> None:
    report = scenario_risk(source)
    combined = {name for risk in report.scenarios for name in risk.scenario.variables}
    assert combined == {"Codcom", "Región", "Sexo", "Edad"}
    assert report.left_out == ("Comuna",)


@pytest.mark.requirement("A18")
def test_a_scenario_of_ones_own_may_hold_what_is_left_out(folder: Path) -> None:
    assert scenario_risk(folder, ["Comuna,Sexo"]).left_out == ()
    assert scenario_risk(folder, quasi=["Comuna", "Sexo"]).scenarios[0].scenario.variables == ("Comuna", "Sexo")


def test_special_uniques_leave_out_a_constant_that_a_dictionary_calls_quasi_and_name_it(folder: Path) -> None:
    project = open_project(folder)
    older = [
        variable if variable.name != "Año" else type(variable)("Año", role=Role.QUASI) for variable in project.variables
    ]
    project.paths.dictionary.write_text(dump(older), "utf-8")
    report = special_uniques(folder)
    assert report.variables == ("Codcom", "Región", "Sexo", "Edad")
    assert report.left_out == ("Año", "Comuna")
    assert report.as_dict()["left_out"] == ["Año", "Comuna"]
    assert special_uniques(folder, ["Codcom", "Sexo"]).left_out == ()


@pytest.mark.requirement("X7")
def test_the_search_holds_neither(folder: Path) -> None:
    state_purpose(folder, ("Año", "Comuna", "Codcom", "Región", "Sexo", "Edad"), "Estudio", now=NOW)
    assert set(make_plan(folder, now=NOW).plan.levels) == {"Codcom", "Región", "Sexo", "Edad"}


@pytest.mark.requirement("P02")
def test_mel_removes_no_variable_for_saying_the_same(tmp_path: Path) -> None:
    base, described = tmp_path / "base.csv", tmp_path / "dic.csv"
    draw = random.Random(3)
    rows = [(str(v), "abcdefg"[v]) for v in (draw.randint(0, 6) for _ in range(300))]
    base.write_text("p1,p2\n" + "".join(f"{a},{b}\n" for a, b in rows), "utf-8")
    described.write_text("variable,etiqueta\np1,pregunta\np2,pregunta\n", "utf-8")
    folder = init(base, tmp_path / "p", ("mel",), described, now=NOW).project.folder
    proposed = open_project(folder).variables
    assert [variable.treatment for variable in proposed] == [Treatment.KEEP, Treatment.KEEP]
    assert any("dice lo mismo que" in variable.evidence for variable in proposed)
