"""What a Table does beside the contract of the engines: ranks that hold, numbers, errors by name."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.table import Table
from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from tests.data.engines.plain_rows import Plain, streamed


@pytest.fixture
def engine() -> Iterator[DuckDBEngine]:
    opened = DuckDBEngine(threads=1)
    yield opened
    opened.close()


def swapped(table: Table, name: str, new: dict[str, str]) -> Table:
    """One column recoded through its tuple table."""
    tuples = table.tuples([name])
    vocabulary = tuple(new.values())
    codes = np.array([list(new).index(text) for text in tuples.vocabularies[0]])
    return table.recode(tuples, [codes], [vocabulary])


@pytest.fixture
def table(engine: DuckDBEngine) -> Table:
    return Plain(("a", "b", "c"), (("1", "x", "p"), ("2", "y", "q"), ("3", "x", "o"))).on(engine)


@pytest.mark.requirement("M36")
def test_an_order_made_by_a_column_that_is_not_published_is_not_used(table: Table) -> None:
    recoded = table.recode(
        table.tuples(["a", "b"]), [np.array([2, 1, 0]), np.array([0, 0, 0])], [("3", "2", "1"), ("*",)]
    )
    assert streamed(recoded.ordered_batches(["b", "c"])) == [("*", "o"), ("*", "p"), ("*", "q")]
    assert streamed(recoded.select(["b", "c"]).ordered_batches()) == [("*", "o"), ("*", "p"), ("*", "q")]


def test_a_rank_ends_when_one_of_its_columns_changes(table: Table) -> None:
    recoded = swapped(table, "a", {"1": "m", "2": "l", "3": "k"})
    changed = recoded.map_values("a", {"k": "z"})
    assert [row[0] for row in streamed(recoded.ordered_batches())] == ["k", "l", "m"]
    assert [row[0] for row in streamed(changed.ordered_batches())] == ["l", "m", "z"]


def test_recoding_several_times_keeps_every_order_apart(table: Table) -> None:
    twice = swapped(swapped(table, "a", {"1": "9", "2": "8", "3": "8"}), "b", {"x": "w", "y": "v"})
    again = swapped(twice, "a", {"8": "0", "9": "1"})
    last = swapped(again, "c", {"p": "P", "q": "Q", "o": "O"})
    assert streamed(last.ordered_batches(["b", "a", "c"])) == [("v", "0", "Q"), ("w", "0", "O"), ("w", "1", "P")]


def test_an_unnamed_or_repeated_column_is_an_error_by_name(table: Table) -> None:
    with pytest.raises(UnknownVariable):
        table.frequencies("edad")
    with pytest.raises(RepeatedVariable):
        table.tuples(["a", "a"])
    with pytest.raises(NothingChosen):
        table.select([])


def test_numbers_with_a_decimal_comma(engine: DuckDBEngine) -> None:
    cells = ("1,5", "1,50", "-2", "+2", " 3 ", ",5", "1.5", "1,5,0", "", "**", "99999", "x", "1e400")
    found = Plain(("peso",), tuple((c,) for c in cells)).on(engine).numbers("peso", ",", ["99999"])
    assert found.values.tolist() == [-2.0, 0.5, 1.5, 2.0, 3.0]
    assert found.rows.tolist() == [1, 1, 2, 1, 1]
    assert (found.missing, found.masked, found.unknown, found.unreadable) == (1, 1, 1, 4)


def test_rows_stream_from_an_uploaded_table_while_others_are_made(engine: DuckDBEngine) -> None:
    rows = Table(engine, engine.upload(pa.table({"c0": [str(i) for i in range(5_000)]})), ("n",))
    seen = 0
    for batch in rows.map_values("n", {"1": "uno"}).batches(batch_rows=1_000):
        seen += batch.num_rows
        assert rows.count_rows() == 5_000
    assert seen == 5_000


def test_counting_persons_leaves_no_table_behind(engine: DuckDBEngine, table: Table) -> None:
    held = "SELECT count(*) FROM duckdb_tables()"
    before = engine.connection.execute(held).fetchone()
    table.tuples(["a", "b"], person="c")
    assert engine.connection.execute(held).fetchone() == before
