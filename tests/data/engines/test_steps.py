"""The same steps, source and seed give the same bytes on every engine."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data.engines.base import Engine
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.table import Table
from celosia.data.writers.csv import write_csv
from celosia.model.paths import ProjectPaths
from celosia.model.sources import ReadingChoices, Source
from celosia.model.variables import Variable
from celosia.pipeline.intake.open_table import OpenTable
from celosia.pipeline.planning.households import renumber_households
from celosia.pipeline.planning.steps import StepContext, apply_step
from celosia.pipeline.project.pseudonym_keys import key_for
from celosia.techniques import NAMES as TECHNIQUES
from celosia.techniques import Lines, apply_to_frame, technique
from tests.data.engines.doorkeeper import Doorkeeper
from tests.techniques.every_technique import EXAMPLES, people

SEED = b"the same seed"
SECRET = "Peralta Plantada"

NAMES = ("Edad", "EDAD", "comuna", "ingreso", "hogar")
STEPS = (
    {"technique": "select", "keep": {"EDAD": ["ñandú", "Ñandú", "zeta", ""]}},
    {"technique": "intervals", "columns": ["Edad"], "width": 10, "end": 120},
    {"technique": "mask", "columns": ["comuna"], "keep": 3, "width": 5},
    {"technique": "microaggregate", "columns": ["ingreso"], "k": 3},
    {"technique": "noise", "columns": ["ingreso"], "level": "0.1"},
    {"technique": "swap", "columns": ["comuna"], "strata": ["EDAD"]},
    {"technique": "renumber", "columns": ["hogar"]},
)


def rows() -> dict[str, list[str]]:
    words = ("zeta", "ñandú", "Ñandú", "", "otro")
    return {
        "c0": [str(18 + (i * 7) % 60) for i in range(120)],
        "c1": [words[i % 5] for i in range(120)],
        "c2": [("05302", "5301", "13101")[i % 3] for i in range(120)],
        "c3": ["" if i % 17 == 0 else str(1000 + (i * i) % 977) for i in range(120)],
        "c4": [f"h{i // 3}" for i in range(120)],
    }


def after_steps(engine: Engine, folder: Path) -> bytes:
    """The file that the steps leave, in the order of its values."""
    (folder / "scratch").mkdir(parents=True)
    source = folder / "source.parquet"
    pq.write_table(pa.table(rows()), source)
    found = OpenTable(
        Table(engine, engine.parquet(source), NAMES),
        Source("x", "sha256:0", 120, 5, ReadingChoices(format="csv")),
        tuple(Variable(name) for name in NAMES),
        None,
        folder,
    )
    for number, step in enumerate(STEPS):
        place = StepContext(ProjectPaths(folder), folder / "scratch", str(number), SEED, fresh=True)
        found, _ = apply_step(found, step, place)
    write_csv(found.table.ordered_batches(found.table.names), found.table.names, folder / "out.csv")
    return (folder / "out.csv").read_bytes()


def test_steps_give_the_same_bytes_whatever_the_engine(engine: Engine, tmp_path: Path) -> None:
    with contextlib.closing(DuckDBEngine(threads=1)) as other:
        expected = after_steps(other, tmp_path / "one")
    assert expected.count(b"\n") > 90
    assert after_steps(engine, tmp_path / "two") == expected


def opened_on(engine: Engine, table: pa.Table, folder: Path) -> OpenTable:
    """A table of text as a project's source on an engine."""
    (folder / "scratch").mkdir(parents=True)
    names = tuple(table.column_names)
    plain = [column.cast(pa.string()) for column in table.columns]
    pq.write_table(pa.table(plain, [f"c{i}" for i in range(len(names))]), folder / "source.parquet")
    rows = Table(engine, engine.parquet(folder / "source.parquet"), names)
    source = Source("x", "sha256:0", table.num_rows, len(names), ReadingChoices(format="csv"))
    return OpenTable(rows, source, tuple(Variable(name) for name in names), None, folder)


def place_in(folder: Path, label: str = "1") -> StepContext:
    return StepContext(ProjectPaths(folder), folder / "scratch", label, SEED, fresh=True)


def sorted_rows(table: Table) -> list[tuple[str, ...]]:
    return [
        row for batch in table.ordered_batches() for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)
    ]


def refuse_other_than_in_memory(engine: Engine, name: str, folder: Path) -> None:
    """Fail unless a technique gives on the engine the rows and the account that it gives on a frame."""
    step = {"technique": name, **EXAMPLES[name]}
    after, change = apply_step(opened_on(engine, people(), folder), step, place_in(folder))
    if name == "pseudonymise":
        step["key"] = key_for(ProjectPaths(folder).keys, "1", fresh=False).hex()
    expected = apply_to_frame(people(), step, SEED)
    kept = after.table.select([n for n in after.table.names if n not in expected.outcome.removed])
    assert kept.names == tuple(expected.table.column_names)
    assert sorted_rows(kept) == sorted(zip(*(c.to_pylist() for c in expected.table.columns), strict=True))
    assert change.cells_touched == expected.change.cells_touched
    assert change.rows == expected.change.rows


@pytest.mark.parametrize("name", [name for name in TECHNIQUES if technique(name).lines is Lines.ROWS])
def test_a_technique_by_row_gives_on_every_engine_what_it_gives_in_memory(
    engine: Engine, name: str, tmp_path: Path
) -> None:
    refuse_other_than_in_memory(engine, name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TECHNIQUES if technique(name).lines is Lines.VALUES])
def test_a_technique_by_value_gives_on_every_engine_what_it_gives_in_memory(
    engine: Engine, name: str, tmp_path: Path
) -> None:
    refuse_other_than_in_memory(engine, name, tmp_path)


def guarded_people() -> pa.Table:
    """People with columns that no step and no count asks for, each cell of which says whose it is."""
    table = people()
    secrets = [f"{SECRET} {i:03}" for i in range(table.num_rows)]
    for name in ("nota", "nombre"):
        table = table.append_column(name, pa.array([f"{name} {secret}" for secret in secrets], pa.large_string()))
    return table.set_column(
        0, "run", pa.array([f"{SECRET} {i % 31:03}" for i in range(table.num_rows)], pa.large_string())
    )


def test_nothing_leaves_the_engine_but_the_columns_of_the_step_and_the_tuples_asked_for(
    engine: Engine, tmp_path: Path
) -> None:
    door = Doorkeeper(engine)
    found = opened_on(cast(Engine, door), guarded_people(), tmp_path)
    noise = {"technique": "noise", "columns": ["ingreso"], "level": "0.2"}
    found, _ = apply_step(found, noise, place_in(tmp_path))
    assert door.left == set(people().column("ingreso").to_pylist())
    assert door.handed[1:] == [["k0", "p0"]]
    door.left.clear()
    tuples = found.table.tuples(("sexo", "region", "diag"), "run")
    assert tuples.persons is not None
    assert door.left == {cell for name in tuples.names for cell in people().column(name).to_pylist()}
    shuffled, _ = apply_step(found, {"technique": "shuffle"}, place_in(tmp_path, "2"))
    published = ("sexo", "diag", "hogar", "nota")
    numbered = renumber_households(shuffled.table, published, ("hogar",), tmp_path / "scratch")
    assert not [text for text in door.left if SECRET in text]
    assert len(sorted_rows(numbered.select(published))) == people().num_rows
    assert [text for text in door.left if SECRET in text]  # the release itself, at last


def test_what_a_step_kept_on_the_disk_goes_but_for_the_table_it_leaves(engine: Engine, tmp_path: Path) -> None:
    found = opened_on(engine, people(), tmp_path)
    apply_step(found, {"technique": "noise", "columns": ["ingreso"]}, place_in(tmp_path))
    left = list((tmp_path / "scratch").iterdir())
    assert len(left) == (0 if engine.name == "PostgreSQL" else 1)


LEFT = {0: [], 1: [("0", "n0")], 3: [("0", "n0"), ("1", "n2")]}


@pytest.mark.parametrize("rows", LEFT)
def test_new_columns_meet_the_rows_they_were_made_for_whatever_the_size(
    engine: Engine, rows: int, tmp_path: Path
) -> None:
    cells = {"a": [str(i % 2) for i in range(rows)], "b": [str(9 - i) for i in range(rows)]}
    table = pa.table({name: pa.array(column, pa.string()) for name, column in cells.items()})
    found = opened_on(engine, table, tmp_path)
    with found.table.keep_ranked(tmp_path / "scratch") as ranked:
        pulled = [column.to_pylist() for column in ranked.ranked_columns(("a", "b")).values()]
        new = pa.array([f"n{i}" for i in range(rows)], pa.large_string())
        dropped, names = np.arange(rows) == 1, {"a": "a", "b": "b"}
        after = ranked.with_ranked_values({"b": new}, names, dropped, tmp_path / "scratch")
    assert list(zip(*pulled, strict=True)) == sorted(zip(*cells.values(), strict=True))
    assert sorted_rows(after) == LEFT[rows]
