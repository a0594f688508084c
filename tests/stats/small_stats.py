"""Small PERSONAL databases and STATS projects over them, for the tests of the whole run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from celosia.stats.store.target import open_target

NOW = datetime(2025, 1, 2, 12, 0, tzinfo=UTC)
LATER = datetime(2025, 1, 9, 12, 0, tzinfo=UTC)

HEAD = """
format = "celosia/stats/1"
title = "Prueba"
[source]
url = "../personal.duckdb"
[target]
url = "stats.duckdb"
[time]
zone = "America/Asuncion"
[personal.people]
table = "people"
person = "user_id"
drop = ["full_name"]
"""
PERSONS = '[[tables.measures]]\nname = "persons"\nkind = "persons"\n'
ROWS = '[[tables.measures]]\nname = "events"\nkind = "rows"\n'


def category(name: str, values: Sequence[str]) -> str:
    """A dimension over a column of the same name."""
    return f'[[tables.dimensions]]\nname = "{name}"\ncolumn = "{name}"\nrule = "category"\nvalues = {list(values)!r}\n'


def table(name: str, *parts: str, **settings: Any) -> str:
    """A table of stats.toml; settings are TOML values as text."""
    told = {"title": '""', "audiences": '["internal"]'} | settings
    lines = "".join(f"{key} = {value}\n" for key, value in told.items())
    return f'[[tables]]\nname = "{name}"\nfrom = "people"\n{lines}{"".join(parts)}'


def people(counts: Mapping[tuple[str, ...], int], columns: Sequence[str], each: int = 1) -> list[dict[str, str]]:
    """Rows of invented people: so many of each combination, each with so many rows."""
    rows = []
    for values, count in counts.items():
        for _ in range(count):
            number = len(rows) // each
            line = {"user_id": f"u{number:05d}", "full_name": f"Persona {number}"}
            rows += [line | dict(zip(columns, values, strict=True))] * each
    return rows


def write_personal(folder: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """PERSONAL with one table of people."""
    with contextlib.closing(duckdb.connect(folder / "personal.duckdb")) as database:
        database.register("rows", pa.Table.from_pylist(list(rows)))
        database.execute("CREATE OR REPLACE TABLE people AS SELECT * FROM rows")


def project(folder: Path, rows: Iterable[Mapping[str, Any]], *tables: str, head: str = HEAD) -> Path:
    """A folder with PERSONAL and, below it, a STATS project; its path."""
    write_personal(folder, rows)
    home = folder / "stats"
    home.mkdir(exist_ok=True)
    (home / "stats.toml").write_text(head + "".join(tables), "utf-8")
    return home


def read(home: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a STATS table."""
    with contextlib.closing(open_target("stats.duckdb", home, read_only=True)) as target:
        return target.read(name).to_pylist()


def everything(home: Path) -> dict[str, list[dict[str, Any]]]:
    """All STATS tables."""
    with contextlib.closing(open_target("stats.duckdb", home, read_only=True)) as target:
        return {name: target.read(name).to_pylist() for name in target.tables()}


def shown(home: Path, name: str, dimension: str, measure: str = "persons") -> dict[str | None, Any]:
    """Category → value of a one-way table."""
    return {row[dimension]: row[measure] for row in read(home, name)}
