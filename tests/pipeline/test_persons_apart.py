"""Persons on several rows: classes that pass apart may fail together, so that the coarsest table is no way out."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.errors import NoFeasiblePlan
from celosia.pipeline.planning.plan import make_plan
from tests.projects.steps import NOW

# Of the four persons each has the diagnosis y on some row: in one class, everybody would hold it. The row of place c
# fails alone; beside those of place b it passes, and beside those of place a it does not.
ROWS = (
    ("p0", "a", "1", "x"), ("p1", "a", "1", "y"), ("p2", "a", "1", "y"),
    ("p2", "b", "2", "x"), ("p3", "b", "2", "y"),
    ("p0", "c", "2", "y"),
)  # fmt: skip
ROLES = {"PERSONA": "identificador explícito", "DIAG": "atributo sensible"}


def project_of(folder: Path, rows: tuple[tuple[str, ...], ...], unit: str, policy: str) -> Path:
    """A project over a few rows, with the roles, the person key and the policy that are asked for."""
    raw = folder / "rows.csv"
    with raw.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("PERSONA", "LUGAR", "GRUPO", "DIAG"), *rows])
    made = Path(init(str(raw), folder / "p", header=True, now=NOW).project.folder)
    path = made / "dictionary.csv"
    lines = list(csv.reader(path.read_text("utf-8").splitlines()))
    role, purpose = lines[1].index("naturaleza"), lines[1].index("propósito")
    for line in lines[2:]:
        line[role] = ROLES.get(line[0], "cuasi-identificador")
        line[purpose] = "" if line[0] == "PERSONA" else "estudio"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines)
    config = made / "celosia.toml"
    document = config.read_text("utf-8").split("[unit]")[0]
    config.write_text(f"{document}[unit]\n{unit}\n[policy]\n{policy}\n", "utf-8")
    return made


def published(folder: Path) -> list[list[str]]:
    return list(csv.reader((folder / "private" / "candidate" / "data.csv").read_text("utf-8").splitlines()))[1:]


@pytest.mark.parametrize("method", ["local", "cells", "full-domain"])
def test_what_fails_at_the_top_is_published_where_it_holds(tmp_path: Path, method: str) -> None:
    folder = project_of(tmp_path, ROWS, 'person = "PERSONA"', f'method = "{method}"\nlimit = 0')
    make_plan(folder, k=2, l=2, now=NOW)
    assert run_plan(folder, now=NOW).check.k_persons == 3
    assert {row[1] for row in published(folder)} == {"1", "2"}


@pytest.mark.parametrize("method", ["local", "cells", "full-domain"])
def test_a_diagnosis_of_everybody_has_no_solution_by_any_method(tmp_path: Path, method: str) -> None:
    rows = tuple((f"p{n}", "ab"[n % 2], "1", "x") for n in range(6))
    folder = project_of(tmp_path, rows, 'person = "PERSONA"', f'method = "{method}"\nlimit = 0')
    with pytest.raises(NoFeasiblePlan):
        make_plan(folder, k=2, l=2, now=NOW)


@pytest.mark.parametrize("method", ['method = "recipe"\norder = ["LUGAR", "GRUPO"]', 'method = "local"'])
def test_rows_that_came_blank_go_with_the_dropped_ones_when_they_cannot_stand_alone(
    tmp_path: Path, method: str
) -> None:
    rows = (
        *((f"p{n}", "a", "1", "xy"[n % 2]) for n in range(6)),
        ("p7", "b", "2", "x"), ("p8", "c", "3", "y"), ("p9", "*", "*", "x"),
    )  # fmt: skip
    folder = project_of(tmp_path, rows, "", f'{method}\nsuppressed = "drop"')
    plan = make_plan(folder, k=2, l=2, now=NOW).plan
    run_plan(folder, now=NOW)
    assert plan.suppressed_rows == 3
    assert [row[:2] for row in published(folder)] == [["a", "1"]] * 6
