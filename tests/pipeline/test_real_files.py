"""Real public files through the whole walk; what was written is counted again in plain Python."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from celosia.model import dictionary
from celosia.model.variables import Role, Treatment
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def publish(folder: Path, quasi: tuple[str, ...], sensitive: tuple[str, ...]) -> None:
    roles = dict.fromkeys(quasi, Role.QUASI) | dict.fromkeys(sensitive, Role.SENSITIVE)
    stated = [
        replace(v, role=roles[v.name], purpose="estudio", treatment=Treatment.KEEP)
        if v.name in roles
        else replace(v, purpose="")
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")


def age_group(row: dict[str, str]) -> str:
    """The norm's groups: any unit but years is under one year."""
    years = int(row["Edad"]) if row["EdadTipo"] == "1" else 0
    if years < 1:
        return "<1"
    return "1-9" if years < 10 else "90+" if years >= 90 else f"{years // 10 * 10}-{years // 10 * 10 + 9}"


@pytest.fixture
def deaths(shared, tmp_path) -> Path:
    """The DEIS deaths with sex, age group, comuna and cause, as a project."""
    with (shared / "data" / "cl_deis_deaths_2024_release2.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    raw = tmp_path / "defunciones.csv"
    with raw.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["Sexo", "grupo_edad", "Codcom", "ID_DP"])
        writer.writerows([row["Sexo"], age_group(row), row["Codcom"], row["ID_DP"]] for row in rows)
    folder = init(str(raw), tmp_path / "defunciones", ("minsal",), now=NOW).project.folder
    publish(folder, ("Sexo", "grupo_edad", "Codcom"), ("ID_DP",))
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write('\n[hierarchies.grupo_edad]\nbuilder = "suppress"\n')
        file.write('\n[hierarchies.Codcom]\nbuilder = "mask"\nsteps = [2, 3, 5]\nunknown = []\n')
    # Here 99999 and 00000 are comunas like any other: the figures of the norm's recipe count them so.
    plain = [replace(v, unknown=()) for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(plain), "utf-8")
    return folder


@pytest.mark.shared
@pytest.mark.requirement("M18", "M19", "M20", "X1")
@pytest.mark.parametrize("k", [2, 5])
def test_the_recipe_leaves_nobody_below_k_or_l_on_the_written_deaths(deaths, k):
    plan = make_plan(deaths, now=NOW, method="recipe", order=("Codcom", "Sexo", "grupo_edad"), k=k).plan
    if k == 2:
        assert plan.notes["printed_recipe"] == {
            "left_after": [25, 17, 10],
            "violating_classes": 260,
            "violating_rows": 272,
            "unique_rows": 248,
        }
    run_plan(deaths, now=NOW)
    with (deaths / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 23_390
    classes = defaultdict(list)
    for row in rows:
        classes[row["Sexo"], row["grupo_edad"], row["Codcom"]].append(row["ID_DP"])
    for key, causes in classes.items():
        if any(cell.strip("*") for cell in key):
            assert len(causes) >= k
            assert len(set(causes)) >= 2


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.requirement("M12")
def test_five_persons_stand_behind_every_class_of_the_written_vaccinations(shared, tmp_path):
    source = shared / "data" / "pe_vaccination_2021w06_w18.parquet"
    folder = init(str(source), tmp_path / "vacunas", person="id_persona", now=NOW).project.folder
    publish(folder, ("edad", "sexo", "ubigeo_persona"), ("grupo_riesgo",))
    plan = make_plan(folder, now=NOW, k=5, limit="0.05").plan
    ran = run_plan(folder, now=NOW)
    assert ran.check.holds
    persons = pq.read_table(folder / "private" / "candidate" / "order.parquet").column(0).to_pylist()
    behind = defaultdict(set)
    rows = 0
    with ran.candidate.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            key = (row["edad"], row["sexo"], row["ubigeo_persona"])
            rows += 1
            if any(cell.strip("*") for cell in key):
                behind[key].add(persons[number])
    assert rows == len(persons) == 2_210_465
    assert min(map(len, behind.values())) >= 5
    assert plan.suppressed_share <= 0.05


@pytest.mark.shared
@pytest.mark.requirement("M23")
def test_a_project_with_arx_hierarchies_gives_the_published_loss(shared, tmp_path):
    from celosia.pipeline.planning.hierarchy_files import import_hierarchy

    adult = shared / "reference" / "arx" / "adult"
    case = next(
        c for c in json.loads((adult.parent / "cases.json").read_text())["cases"] if c["suppression_limit"] == 0.05
    )
    folder = init(str(adult / "adult.csv"), tmp_path / "adult", now=NOW).project.folder
    publish(folder, tuple(case["quasi"]), ())
    for name in case["quasi"]:
        import_hierarchy(folder, name, adult / f"adult_hierarchy_{name}.csv", now=NOW)
    plan = make_plan(folder, now=NOW, k=5, limit="0.05").plan
    assert plan.loss == pytest.approx(case["loss"], rel=1e-9)
    assert plan.suppressed_rows == case["suppressed_rows"]
    assert [plan.levels[name] for name in case["quasi"]] == case["levels"]
    assert plan.classes == case["classes"]
    assert run_plan(folder, now=NOW).check.k >= 5
