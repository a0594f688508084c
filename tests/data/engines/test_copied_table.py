"""A working copy counted in this process gives the answers of the engine, whatever is done to it before."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings

from celosia.data.copied_table import CopiedTable, copied_table
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.engines.lazy import LazyEngine
from celosia.data.errors import EngineFault
from celosia.data.table import Table
from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from celosia.tuples.errors import TooManyTuples
from celosia.tuples.table import Tuples
from tests.data.engines.plain_rows import FIXED, Plain, plain_tables
from tests.data.engines.test_contract import LAWS, Law

PERSONS = Plain(
    ("a", "b", "persona"),
    (*((str(i % 3), str(i % 2), f"p{i * 7 % 5}") for i in range(40)), ("", "*", ""), ("*", "", "p9")),
)


@pytest.fixture(scope="module")
def engine() -> Iterator[LazyEngine]:
    lazy_engine = LazyEngine()
    yield lazy_engine
    lazy_engine.close()


def copy_of(plain: Plain, folder: Path, parts: int = 1) -> Path:
    """The rows as a working copy: one file, or a folder of parts."""
    columns = {f"c{i}": pa.array([row[i] for row in plain.rows], pa.string()) for i in range(len(plain.names))}
    whole, path = pa.table(columns), folder / "working.parquet"
    if parts == 1:
        pq.write_table(whole, path, row_group_size=7)
        return path
    path.mkdir()
    size = -(-whole.num_rows // parts)
    for part in range(parts):
        pq.write_table(whole.slice(part * size, size), path / f"part-{part:05}.parquet")
    return path


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_on_any_table(engine: LazyEngine, law: Law) -> None:
    @settings(max_examples=5, deadline=None, database=None)
    @given(plain_tables())
    @example(FIXED["values engines confuse"])
    @example(PERSONS)
    def check(plain: Plain) -> None:
        with tempfile.TemporaryDirectory() as folder:
            law(copied_table(copy_of(plain, Path(folder)), plain.names, engine, traced=False), plain)

    check()


@pytest.mark.parametrize("kind", FIXED)
def test_on_extreme_tables(engine: LazyEngine, kind: str, tmp_path: Path) -> None:
    path = copy_of(FIXED[kind], tmp_path)
    for law in LAWS:
        law(copied_table(path, FIXED[kind].names, engine, traced=False), FIXED[kind])


TREATMENTS: dict[str, Callable[[Table], Table]] = {
    "as it is": lambda table: table,
    "with markers of missing": lambda table: table.with_missing({"a": ["1"], "persona": ["p0"]}),
    "with values mapped": lambda table: table.map_values("b", {"1": "0", "9": "8"}),
    "with a dependent masked": lambda table: table.mask_dependent("a", "b"),
    "with all of them": lambda table: (
        table.with_missing({"a": ["1"], "persona": ["p0"]}).map_values("a", {"0": "2"}).mask_dependent("b", "a")
    ),
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("treatment", TREATMENTS)
def test_tuples_are_those_of_the_engine_after_any_treatment(treatment: str, parts: int, tmp_path: Path) -> None:
    """Codes, counts and the numbers of the persons are equal, and no engine was opened for them."""
    lazy_engine = LazyEngine()
    copy = copied_table(copy_of(PERSONS, tmp_path, parts), PERSONS.names, lazy_engine, traced=False)
    ours = TREATMENTS[treatment](copy)
    mine = answers(ours)
    assert isinstance(ours, CopiedTable)
    assert "_rows" not in vars(ours)
    engine = DuckDBEngine(threads=1, on_disk=False)
    assert answers(TREATMENTS[treatment](PERSONS.on(engine))) == mine
    engine.close()
    assert sorted(map(tuple, rows_of(ours))) == sorted(map(tuple, rows_of(TREATMENTS[treatment](copy))))
    lazy_engine.close()


def answers(table: Table) -> list[object]:
    """What is counted of a table."""
    counted = [table.tuples(names, person) for names in (("a",), ("b", "a")) for person in (None, "persona")]
    frequencies = [table.frequencies(name) for name in table.names]
    return [
        *map(plain_tuples, counted),
        *((found.values.to_pylist(), found.counts.tolist()) for found in frequencies),
        table.distinct_counts(),
        table.distinct_together(("a", "b")),
        table.multiplicities("persona"),
        table.count_rows(),
    ]


def plain_tuples(tuples: Tuples) -> list[object]:
    """All that a table of tuples holds."""
    persons = tuples.persons
    numbers = [] if persons is None else [persons.settled, persons.tuple_index, persons.ordinal]
    arrays = [np.asarray(array).tolist() for array in (tuples.codes, tuples.rows, *numbers)]
    return [tuples.names, tuples.vocabularies, *arrays, None if persons is None else persons.total]


def rows_of(table: Table) -> list[tuple[str, ...]]:
    """The rows, from the engine."""
    return [tuple(row.values()) for batch in table.batches() for row in batch.to_pylist()]


def test_rows_know_their_origin_where_they_are_traced(tmp_path: Path) -> None:
    lazy_engine = LazyEngine(private=tmp_path)
    path = copy_of(PERSONS, tmp_path)
    traced, other = (copied_table(path, PERSONS.names, lazy_engine, traced) for traced in (True, False))
    assert (traced.has_origin, other.has_origin) == (True, False)
    found = traced.rows_of_origin(np.array([3, 0])).to_pylist()
    assert [tuple(row.values()) for row in found] == [(*PERSONS.rows[0], 0), (*PERSONS.rows[3], 3)]
    lazy_engine.close()
    assert [path.name for path in tmp_path.iterdir()] == ["working.parquet"]


def test_errors_name_the_column(engine: LazyEngine, tmp_path: Path) -> None:
    table = copied_table(copy_of(PERSONS, tmp_path), PERSONS.names, engine, traced=False)
    with pytest.raises(UnknownVariable):
        table.tuples(["z"])
    with pytest.raises(UnknownVariable):
        table.frequencies("z")
    with pytest.raises(RepeatedVariable):
        table.tuples(["a", "a"])
    with pytest.raises(NothingChosen):
        table.tuples([])


def test_more_combinations_than_memory_holds_are_refused(tmp_path: Path) -> None:
    plain = Plain(("a", "b", "c"), tuple((str(i % 50), str(i // 50), str(i % 7)) for i in range(2000)))
    table = copied_table(copy_of(plain, tmp_path), plain.names, LazyEngine(memory=540_000), traced=False)
    with pytest.raises(TooManyTuples):
        table.tuples(plain.names)
    assert "_rows" not in vars(table)


def test_what_memory_does_not_hold_is_counted_by_the_engine(tmp_path: Path) -> None:
    lazy_engine = LazyEngine(memory=300_000_000)
    table = copied_table(copy_of(PERSONS, tmp_path), PERSONS.names, lazy_engine, traced=False)
    table._columns.memory = 1_000
    assert len(table.tuples(["a", "b"]).rows) == len({row[:2] for row in PERSONS.rows})
    assert "_rows" in vars(table)
    lazy_engine.close()


def test_a_column_whose_texts_hardly_repeat_is_left_to_the_engine(tmp_path: Path) -> None:
    rows, lazy_engine = 100_000, LazyEngine()
    columns = {"c0": pa.array([f"{i:08}-k" for i in range(rows)]), "c1": pa.array([str(i % 400) for i in range(rows)])}
    pq.write_table(pa.table(columns), tmp_path / "working.parquet")
    table = copied_table(tmp_path / "working.parquet", ("RUN", "comuna"), lazy_engine, traced=False)
    persons = table.tuples(["comuna"], person="RUN").persons
    assert persons is not None
    assert persons.total == rows
    assert "_rows" not in vars(table)
    assert table.distinct_counts() == {"RUN": rows, "comuna": 400}
    assert "_rows" in vars(table)
    lazy_engine.close()


def test_a_damaged_copy_is_refused_by_the_engine(tmp_path: Path) -> None:
    path = copy_of(PERSONS, tmp_path)
    path.write_bytes(path.read_bytes()[:-40] + b"x" * 40)
    with pytest.raises(EngineFault):
        copied_table(path, PERSONS.names, LazyEngine(), traced=False).tuples(["a"])
