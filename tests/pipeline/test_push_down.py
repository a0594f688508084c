"""Where the data live elsewhere, only tuple tables and the columns of a step by row leave that place."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from celosia.data.engines.base import Engine
from celosia.model import dictionary
from celosia.model.variables import Role, Scale, Treatment
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake import engine_choice as _engine
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from tests.data.engines.doorkeeper import Doorkeeper
from tests.projects.steps import NOW

SECRET = "Peralta Plantada"
HEADER = ("RUN", "NOMBRE", "NOTA", "HOGAR", "SEXO", "COMUNA", "DIAG", "MONTO", "GLOSA")
ROLES = {"SEXO": Role.QUASI, "COMUNA": Role.QUASI, "DIAG": Role.SENSITIVE, "MONTO": Role.PLAIN, "GLOSA": Role.PLAIN}
ASKED = ("SEXO", "COMUNA", "DIAG", "MONTO")  # by the search, and by the step
TOML = """
[policy]
criteria = [{criterion = "k", k = 3}, {criterion = "distinct_l", variable = "DIAG", l = 2}]
limit = 0.9

[[steps]]
technique = "noise"
columns = ["MONTO"]
level = "0.2"
"""


def rows() -> list[tuple[str, ...]]:
    """Three rows for every two people; what nobody asks for says whose it is."""
    return [
        (
            f"{SECRET} {i * 2 // 3}", f"nombre de {SECRET} {i * 2 // 3}", f"nota {i} de {SECRET}", f"h{i // 4}",
            "HM"[i % 2], ("05301", "05302", "13101")[i % 3], ("C50", "J18", "I10")[i // 2 % 3], str(1000 + i * i % 977),
            f"glosa {i}",
        )
        for i in range(90)
    ]  # fmt: skip


def described(folder: Path) -> Path:
    """The dictionary and the settings, as a person would leave them."""
    lines = [
        replace(
            line, role=ROLES.get(line.name, Role.IDENTIFIER), scale=Scale.CATEGORICAL,
            purpose="estudio" if line.name in ROLES else "",
            treatment=Treatment.KEEP if line.name in ROLES else Treatment.REMOVE,
        )
        for line in open_project(folder).variables
    ]  # fmt: skip
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    with (folder / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write(TOML)
    return folder


@pytest.fixture
def from_file(tmp_path: Path) -> Path:
    with (tmp_path / "raw.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows()])
    return described(init(str(tmp_path / "raw.csv"), tmp_path / "p", person="RUN", now=NOW).project.folder)


@pytest.fixture
def in_place(own_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose rows stay in PostgreSQL."""
    import psycopg

    monkeypatch.setenv("REGISTRO", own_database)
    with psycopg.connect(own_database, autocommit=True) as connection:
        connection.execute("CREATE TABLE egresos (" + ", ".join(f'"{name}" text' for name in HEADER) + ")")
        with connection.cursor().copy("COPY egresos FROM STDIN") as copy:
            for row in rows():
                copy.write_row(row)
    made = init("env:REGISTRO", tmp_path / "p", person="RUN", now=NOW, engine="postgresql", sheet="egresos")
    return described(made.project.folder)


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch) -> list[Doorkeeper]:
    """Every engine that the pipeline opens from now on, with its door watched."""
    opened: list[Doorkeeper] = []
    plain = _engine.open_engine

    def watched(*address: Any) -> Engine:
        opened.append(Doorkeeper(plain(*address)))
        return cast(Engine, opened[-1])

    monkeypatch.setattr(_engine, "open_engine", watched)
    return opened


def cells(*names: str) -> set[str]:
    return {row[HEADER.index(name)] for row in rows() for name in names}


def refuse_other_columns(doors: list[Doorkeeper]) -> None:
    """Fail unless what left are the combinations of the search and the column of the step."""
    left = set().union(*(door.left for door in doors))
    assert cells(*ASKED) <= left
    assert not left & cells("RUN", "NOMBRE", "NOTA", "HOGAR", "GLOSA")


@pytest.mark.postgres
def test_what_stays_in_the_database_leaves_it_as_combinations_then_as_what_is_published(
    in_place: Path, doors: list[Doorkeeper]
) -> None:
    make_plan(in_place, now=NOW)
    refuse_other_columns(doors)
    run_plan(in_place, now=NOW)
    left = set().union(*(door.left for door in doors))
    assert cells("GLOSA") <= left
    assert not [text for text in left if SECRET in text]
    assert not left & cells("HOGAR")


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.usefixtures("spark_engine")
def test_a_cluster_sends_the_driver_combinations_and_the_column_of_a_step(
    from_file: Path, doors: list[Doorkeeper]
) -> None:
    make_plan(from_file, now=NOW, engine="local[2]")
    refuse_other_columns(doors)
