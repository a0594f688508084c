"""A small PERSONAL database on each engine, made from one Arrow table with the types of real databases."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.stats.sources.addresses import Address
from celosia.stats.sources.connections import PersonalSource, source_at

ENGINES = (
    pytest.param("duckdb", id="duckdb"),
    pytest.param("sqlite", id="sqlite"),
    pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
    pytest.param("icu", id="icu", marks=pytest.mark.postgres),
    pytest.param("spark", id="spark", marks=[pytest.mark.spark, pytest.mark.xdist_group("spark")]),
)


def personal_source(
    engine: str, tables: dict[str, pa.Table], folder: Path, request: pytest.FixtureRequest
) -> PersonalSource:
    """The tables in a database of that kind, opened as PERSONAL."""
    if engine == "duckdb":
        return source_at(Address("duckdb", path=_duckdb(tables, folder)), folder)
    if engine == "sqlite":
        return source_at(Address("sqlite", path=_sqlite(tables, folder)), folder)
    if engine in ("postgres", "icu"):
        url = request.getfixturevalue(f"{engine}_url")
        _postgres(tables, url)
        return source_at(Address("postgres", url=url), folder)
    request.getfixturevalue("spark_engine")  # the one session of the test session
    for name, table in tables.items():
        (folder / "lake").mkdir(exist_ok=True)
        pq.write_table(table, folder / "lake" / f"{name}.parquet")
    return source_at(Address("spark", path=folder / "lake"), folder)


def _duckdb(tables: dict[str, pa.Table], folder: Path) -> Path:
    path = folder / "personal.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        for name, table in tables.items():
            connection.register("given", table)
            connection.execute(f'CREATE TABLE "{name}" AS FROM given')
            connection.unregister("given")
    return path


def _sqlite(tables: dict[str, pa.Table], folder: Path) -> Path:
    path = folder / "personal.sqlite"
    with sqlite3.connect(path) as connection:
        for name, table in tables.items():
            columns = ", ".join(f'"{field.name}" {_sqlite_type(field.type)}' for field in table.schema)
            connection.execute(f'CREATE TABLE "{name}" ({columns})')
            marks = ", ".join("?" * table.num_columns)
            rows = [tuple(_sqlite_value(value) for value in row.values()) for row in table.to_pylist()]
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
    connection.close()
    return path


def _sqlite_type(kind: pa.DataType) -> str:
    if pa.types.is_integer(kind):
        return "INTEGER"
    return "REAL" if pa.types.is_floating(kind) else "NUMERIC" if pa.types.is_decimal(kind) else "TEXT"


def _sqlite_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, date | datetime) else value


def _postgres(tables: dict[str, pa.Table], url: str) -> None:
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("SET TIME ZONE 'UTC'")
        for name, table in tables.items():
            columns = ", ".join(f'"{field.name}" {_postgres_type(field.type)}' for field in table.schema)
            connection.execute(f'DROP TABLE IF EXISTS "{name}"'.encode())
            connection.execute(f'CREATE TABLE "{name}" ({columns})'.encode())
            marks = ", ".join(["%s"] * table.num_columns)
            rows = [tuple(row.values()) for row in table.to_pylist()]
            connection.cursor().executemany(f'INSERT INTO "{name}" VALUES ({marks})'.encode(), rows)


def _postgres_type(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    named = {pa.string(): "text", pa.int64(): "bigint", pa.float64(): "double precision", pa.date32(): "date"}
    return named.get(kind, "numeric(30, 6)")
