"""Counting only what changed gives what counting everything would: late, corrected, moved and deleted rows."""

from __future__ import annotations

import stat
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from celosia.stats.counting.count import count
from celosia.stats.counting.incremental import RecountSummary, count_incrementally
from celosia.stats.declaration.declaration import Dimension, Measure, Personal, StatsTable, every_margin
from celosia.stats.sources.connections import open_source
from celosia.tables.cells import CellTable

EVENTS = Personal("events", "user_id", table="events", changed="changed")
DIMENSIONS = (Dimension("month", "period", ("month",)), Dimension("sector", "category", ("sector",)))
MEASURES = (Measure("persons", "persons"), Measure("total", "sum", "amount"))
TABLE = StatsTable("t", "events", DIMENSIONS, MEASURES, ("internal",), margins=every_margin(("month", "sector")))
MONTHS, SECTORS = ("2024-01", "2024-02", "2024-03"), ("A", "B")


@dataclass(frozen=True)
class Event:
    person: str
    month: str
    sector: str
    amount: int
    changed: int


def event(moment: int) -> st.SearchStrategy[Event]:
    people = st.integers(0, 5).map(lambda number: f"u{number}")
    return st.builds(
        Event, people, st.sampled_from(MONTHS), st.sampled_from(SECTORS), st.integers(0, 99), st.just(moment)
    )


@st.composite
def changed_later(draw: st.DrawFn) -> tuple[list[Event], list[Event]]:
    """A database, and the same after insertions, corrections (also of the month) and deletions."""
    before = draw(st.lists(event(1), max_size=25))
    fates = draw(st.lists(st.sampled_from(("kept", "kept", "gone", "corrected")), min_size=25, max_size=25))
    after = [one for one, fate in zip(before, fates, strict=False) if fate == "kept"]
    after += [draw(event(2)) for one, fate in zip(before, fates, strict=False) if fate == "corrected"]
    return before, after + draw(st.lists(event(2), max_size=5))


def counted(folder: Path, rows: list[Event], table: StatsTable = TABLE) -> tuple[CellTable, CellTable, RecountSummary]:
    """The full count and the incremental one of the same rows."""
    path = folder / "personal.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE events (user_id TEXT, month TEXT, sector TEXT, amount BIGINT, changed BIGINT)")
        if rows:
            lines = [(r.person, r.month, r.sector, r.amount, r.changed) for r in rows]
            made.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", lines)
    source = open_source(path.name, folder)
    relation = source.relation(EVENTS)
    labels = {name: relation[name] for name in table.dimension_names}
    full = count(source, EVENTS, table, labels)
    cells, recounted = count_incrementally(source, EVENTS, table, labels, folder / "counted.parquet")
    source.close()
    return full, cells, recounted


def same(one: CellTable, other: CellTable) -> bool:
    return (
        one.dimensions == other.dimensions
        and np.array_equal(one.codes, other.codes)
        and np.array_equal(one.persons, other.persons)
        and np.array_equal(one.rows, other.rows)
        and np.array_equal(one.offered, other.offered)
        and list(one.sums) == list(other.sums)
        and all(np.array_equal(one.sums[name], other.sums[name]) for name in one.sums)
        and all(np.array_equal(one.largest[name], other.largest[name]) for name in one.largest)
    )


@pytest.mark.requirement("Y28")
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(both=changed_later())
def test_an_incremental_count_is_the_full_count(both: tuple[list[Event], list[Event]], tmp_path: Path) -> None:
    (tmp_path / "counted.parquet").unlink(missing_ok=True)
    for rows in both:
        full, cells, _ = counted(tmp_path, rows)
        assert same(full, cells)


FIRST = [Event(f"u{i}", MONTHS[i % 3], SECTORS[i % 2], i, 1) for i in range(12)]


def test_only_the_touched_period_is_counted_again(tmp_path: Path) -> None:
    _, _, first = counted(tmp_path, FIRST)
    assert first.full
    _, _, idle = counted(tmp_path, FIRST)
    assert idle == RecountSummary(False, (), 12)
    late = [*FIRST, Event("u99", "2024-01", "A", 5, 2)]
    full, cells, recounted = counted(tmp_path, late)
    assert recounted.touched == ("2024-01",)
    assert recounted.reused > 0
    assert same(full, cells)


def test_a_deleted_row_is_noticed_though_nothing_is_newer(tmp_path: Path) -> None:
    counted(tmp_path, FIRST)
    full, cells, recounted = counted(tmp_path, FIRST[1:])
    assert recounted.touched == ("2024-01",)
    assert same(full, cells)


def test_a_period_that_vanished_leaves_no_cell(tmp_path: Path) -> None:
    counted(tmp_path, FIRST)
    full, cells, recounted = counted(tmp_path, [one for one in FIRST if one.month != "2024-02"])
    assert recounted.touched == ("2024-02",)
    assert "2024-02" not in cells.dimensions[0].labels
    assert same(full, cells)


def test_a_table_of_periods_alone(tmp_path: Path) -> None:
    alone = replace(TABLE, dimensions=DIMENSIONS[:1], margins=((),))
    counted(tmp_path, FIRST, alone)
    full, cells, recounted = counted(tmp_path, FIRST[1:], alone)
    assert not recounted.full
    assert same(full, cells)


def test_another_margin_is_counted_in_full(tmp_path: Path) -> None:
    counted(tmp_path, FIRST)
    full, cells, recounted = counted(tmp_path, FIRST, replace(TABLE, margins=(("sector",),)))
    assert recounted.full
    assert same(full, cells)


def test_what_is_kept_is_private_and_a_damaged_file_counts_in_full(tmp_path: Path) -> None:
    counted(tmp_path, FIRST)
    store = tmp_path / "counted.parquet"
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    store.write_bytes(b"not parquet")
    _, _, recounted = counted(tmp_path, FIRST)
    assert recounted.full
