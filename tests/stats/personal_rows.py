"""A small PERSONAL table on every kind of database, and a plain count of its cells to compare with."""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from celosia.stats.declaration.declaration import Dimension, Measure, Personal, StatsTable, every_margin
from celosia.stats.sources.connections import PersonalSource, open_source
from celosia.tables.cells import CellTable

NAMES = ("sector", "month", "age")
COLUMNS = ("user_id", *NAMES, "amount")
EVENTS = Personal("events", "user_id", table="events")
ENGINES = (
    pytest.param("duckdb", id="duckdb"),
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
    pytest.param("icu", id="icu", marks=pytest.mark.postgres),
    pytest.param("spark", id="spark", marks=[pytest.mark.spark, pytest.mark.slow]),
)


@dataclass(frozen=True)
class Row:
    """One event of one person."""

    user_id: str
    sector: str
    month: str
    age: str
    amount: int | None = 0

    def values(self) -> tuple[Any, ...]:
        return self.user_id, self.sector, self.month, self.age, self.amount


def events(most: int = 40) -> st.SearchStrategy[list[Row]]:
    """Events in which the age belongs to the person and the rest does not."""
    one = st.builds(
        lambda person, sector, month, amount: Row(f"u{person}", sector, month, "<18" if person < 3 else "18+", amount),
        st.integers(0, 7),
        st.sampled_from(("ñandutí", "oficio", "Ñ", "b")),
        st.sampled_from(("2024-01", "2024-02", "2024-03")),
        st.one_of(st.none(), st.integers(-50, 1000)),
    )
    return st.lists(one, max_size=most)


def stats_table(names: Sequence[str] = NAMES, **settings: Any) -> StatsTable:
    """A STATS table over the columns as they are."""
    settings = {"margins": every_margin(names), "measures": (Measure("persons", "persons"),)} | settings
    dimensions = tuple(Dimension(name, "category", (name,)) for name in names)
    return StatsTable("eventos", "events", dimensions, audiences=("internal",), **settings)


def labels(source: PersonalSource, names: Sequence[str] = NAMES, personal: Personal = EVENTS) -> dict[str, Any]:
    """Each column is its own label."""
    relation = source.relation(personal)
    return {name: relation[name] for name in names}


def write(kind: str, folder: Path, url: str, rows: Sequence[Row]) -> str:
    """Make PERSONAL and give its address."""
    lines = [row.values() for row in rows]
    kinds = "user_id {t}, sector {t}, month {t}, age {t}, amount {n}"
    if kind in ("postgres", "icu"):
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS events")
            connection.execute(f"CREATE TABLE events ({kinds.format(t='text', n='bigint')})".encode())
            connection.cursor().executemany("INSERT INTO events VALUES (%s, %s, %s, %s, %s)", lines)
        return url
    if kind == "spark":
        return _parquet(folder, lines)
    path = folder / f"personal.{kind}"
    path.unlink(missing_ok=True)
    if kind == "sqlite":
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(f"CREATE TABLE events ({kinds.format(t='TEXT', n='INTEGER')})")
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", lines)
        return path.name
    import duckdb

    with duckdb.connect(str(path)) as duck:
        duck.execute(f"CREATE TABLE events ({kinds.format(t='VARCHAR', n='BIGINT')})")
        if lines:
            duck.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", lines)
    return path.name


def _parquet(folder: Path, lines: Sequence[tuple[Any, ...]]) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "parquet").mkdir(exist_ok=True)
    columns = list(zip(*lines, strict=True)) if lines else [()] * len(COLUMNS)
    types = [*[pa.string()] * 4, pa.int64()]
    arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
    pq.write_table(pa.table(dict(zip(COLUMNS, arrays, strict=True))), folder / "parquet" / "events.parquet")
    return "spark:parquet"


@contextlib.contextmanager
def personal(kind: str, folder: Path, url: str, rows: Sequence[Row]) -> Iterator[PersonalSource]:
    """PERSONAL with these rows, open for counting."""
    source = open_source(write(kind, folder, url, rows), folder)
    try:
        yield source
    finally:
        source.close()


def counted(cells: CellTable) -> dict[tuple[str | None, ...], tuple[int, int]]:
    """Persons and rows of every cell, by its labels."""
    found = {cells.labels(i): (int(cells.persons[i]), int(cells.rows[i])) for i in range(len(cells.persons))}
    assert len(found) == len(cells.persons)
    return found


def plainly(rows: Sequence[Row], names: Sequence[str] = NAMES) -> dict[tuple[str | None, ...], tuple[int, int]]:
    """The same by sets of persons."""
    found: dict[tuple[str | None, ...], list[str]] = {}
    for row in rows:
        both = [(getattr(row, name), None) for name in names]
        for cell in itertools.product(*both):
            found.setdefault(cell, []).append(row.user_id)
    return {cell: (len(set(persons)), len(persons)) for cell, persons in found.items()}
