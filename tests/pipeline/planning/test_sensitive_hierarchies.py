"""Hierarchical t from the project's own hierarchies: planned, written, and found true by a slow reference."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from celosia.cli import main
from celosia.model import dictionary
from celosia.model.variables import Role
from celosia.pipeline.assessment.on_files import measure
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.planning.errors import SensitiveHierarchyMissing
from celosia.pipeline.planning.plan import make_plan, search_input_for
from celosia.pipeline.planning.solve import search_problem
from celosia.pipeline.project.folder import open_project
from tests.solver.exhaustive import exhaustive

DIAGNOSES = ("A001", "A009", "A010", "I210", "I219", "I500", "C509", "C619")
ROLES = {"SEXO": Role.QUASI, "EDAD": Role.QUASI, "DIAG": Role.SENSITIVE}
T = 0.2
SETTINGS = f"""
[policy]
criteria = [{{criterion = "k", k = 2}}, {{criterion = "t", variable = "DIAG", t = {T}, distance = "hierarchical"}}]
limit = 0.2
mask_sensitive = false
"""
SICK = """
[hierarchies.DIAG]
builder = "groups"
levels = [{A = ["A001", "A009", "A010"], I = ["I210", "I219", "I500"], C = ["C509", "C619"]}]
top = true
"""


def project(place: Path, settings: str, values: tuple[str, ...], rows: int = 160) -> Path:
    chance = random.Random(5)
    lines = [f"{chance.choice('HM')},{chance.randrange(20, 60)},{chance.choice(values)}" for _ in range(rows)]
    (place / "datos.csv").write_text("SEXO,EDAD,DIAG\n" + "\n".join(lines) + "\n", "utf-8")
    folder = init(place / "datos.csv", place / "datos").project.folder
    described = [
        replace(v, role=ROLES[v.name], purpose="estudio", missing=(), unknown=())
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(described), "utf-8")
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(settings)
    return folder


def candidate(folder: Path) -> list[dict[str, str]]:
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def moved(here: Counter, there: Counter, cost) -> float:
    """Earth mover's distance as the linear programme that defines it."""
    names = sorted({*here, *there})
    n = len(names)
    costs = [cost(a, b) for a in names for b in names]
    leave, arrive = np.zeros((n, n * n)), np.zeros((n, n * n))
    for i in range(n):
        leave[i, i * n : (i + 1) * n] = 1
        arrive[i, i::n] = 1
    shares = [c[name] / sum(c.values()) for c in (here, there) for name in names]
    return float(linprog(costs, A_eq=np.vstack([leave, arrive]), b_eq=shares).fun)


def worst_distance(rows: list[dict[str, str]], all_rows: Counter, cost) -> float:
    classes = defaultdict(Counter)
    for row in rows:
        if row["SEXO"] != "*" or row["EDAD"] != "*":
            classes[row["SEXO"], row["EDAD"]][row["DIAG"]] += 1
    assert classes
    return max(moved(held, all_rows, cost) for held in classes.values())


def in_groups(one: str, other: str) -> float:
    return 0.0 if one == other else 0.5 if one[0] == other[0] else 1.0


def source_of(folder: Path) -> Counter:
    with (folder.parent / "datos.csv").open(encoding="utf-8", newline="") as file:
        return Counter(row["DIAG"] for row in csv.DictReader(file))


def test_without_the_criterion_the_same_table_goes_too_far(tmp_path):
    folder = project(tmp_path, SICK + "[policy]\ncriteria = [{criterion = 'k', k = 2}]\nlimit = 0.2\n", DIAGNOSES)
    make_plan(folder)
    run_plan(folder)
    assert worst_distance(candidate(folder), source_of(folder), in_groups) > T


@pytest.mark.parametrize("method", ["full-domain", "local"])
def test_a_described_hierarchy_decides_the_distance_on_the_written_file(tmp_path, method):
    folder = project(tmp_path, SETTINGS + SICK, DIAGNOSES)
    make_plan(folder, method=method)
    ran = run_plan(folder)
    assert any(verdict.rule == "t" for verdict in ran.check.verdicts)
    assert worst_distance(candidate(folder), source_of(folder), in_groups) <= T + 1e-9


def test_the_plan_is_the_best_that_looking_at_every_node_finds(tmp_path):
    folder = project(tmp_path, SETTINGS + SICK, DIAGNOSES)
    plan = make_plan(folder).plan
    with open_table(folder) as found:
        best = exhaustive(search_problem(search_input_for(open_project(folder), found)))
    assert plan.loss == pytest.approx(best.loss)
    assert plan.optimal


def test_diagnoses_need_no_description(tmp_path):
    folder = project(tmp_path, SETTINGS, DIAGNOSES)
    make_plan(folder)
    assert run_plan(folder).check.holds


def test_a_variable_that_nobody_described_is_refused_by_name(tmp_path):
    folder = project(tmp_path, SETTINGS, ("rojo", "verde", "azul"))
    with pytest.raises(SensitiveHierarchyMissing, match="DIAG"):
        make_plan(folder)


def test_measure_uses_the_hierarchy_of_the_project_and_agrees_with_the_programme(tmp_path, capsys):
    folder = project(tmp_path, SICK, DIAGNOSES)
    report = measure(folder, ["SEXO"], ["DIAG"]).as_dict()["sensitive"]["DIAG"]
    with (tmp_path / "datos.csv").open(encoding="utf-8", newline="") as file:
        rows = [row | {"EDAD": ""} for row in csv.DictReader(file)]
    assert report["t_hierarchical"] == pytest.approx(worst_distance(rows, source_of(folder), in_groups))
    assert main(["measure", str(folder), "--quasi", "SEXO", "--sensitive", "DIAG", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sensitive"]["DIAG"]["t_hierarchical"] == report["t_hierarchical"]
    assert main(["measure", str(folder), "--quasi", "SEXO", "--sensitive", "DIAG", "--lang", "es"]) == 0
