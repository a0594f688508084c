"""An invented PERSONAL database for the YAPÓ example, in DuckDB, SQLite or PostgreSQL."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pyarrow as pa

from celosia.demo.synthetic.personal import personal_database
from examples.walker import run_as_maker

USERS, SEED = 3_000, 2024
DECLARATIONS = ("stats.toml", "mapas")
_POSTGRES = {"string": "text", "double": "double precision", "int64": "bigint", "date32[day]": "date"}


def make_data(folder: Path, users: int = USERS) -> None:
    """PERSONAL as a DuckDB file."""
    in_duckdb(personal_database(users, SEED), folder / "personal.duckdb")


def declare(folder: Path) -> None:
    """Put the reviewed declarations of the example into a project folder."""
    folder.mkdir(exist_ok=True)
    here = Path(__file__).parent
    shutil.copy(here / "stats.toml", folder)
    shutil.copytree(here / "mapas", folder / "mapas", dirs_exist_ok=True)


def in_duckdb(tables: dict[str, pa.Table], path: Path) -> None:
    """The tables in a DuckDB file, with their types."""
    import duckdb

    with contextlib.closing(duckdb.connect(path)) as database:
        for name, rows in tables.items():
            database.register("rows", rows)
            database.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
            database.unregister("rows")


def in_sqlite(tables: dict[str, pa.Table], path: Path) -> None:
    """The tables in a SQLite file; it has no dates, so they are ISO texts."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        for name, rows in tables.items():
            columns = ", ".join(f'"{field.name}" {_affinity(field.type)}' for field in rows.schema)
            database.execute(f"CREATE TABLE {name} ({columns})")
            marks = ", ".join("?" * rows.num_columns)
            database.executemany(f"INSERT INTO {name} VALUES ({marks})", _lines(rows))
        database.commit()


def in_postgres(tables: dict[str, pa.Table], url: str, schema: str = "public") -> None:
    """The tables in a PostgreSQL schema, with their types."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as database:
        database.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        for name, rows in tables.items():
            kinds = [_POSTGRES.get(str(field.type), "timestamptz") for field in rows.schema]
            columns = ", ".join(f'"{f.name}" {kind}' for f, kind in zip(rows.schema, kinds, strict=True))
            database.execute(f"DROP TABLE IF EXISTS {schema}.{name}")
            database.execute(f"CREATE TABLE {schema}.{name} ({columns})")
            with database.cursor() as cursor, cursor.copy(f"COPY {schema}.{name} FROM STDIN") as copy:
                for line in zip(*(column.to_pylist() for column in rows.columns), strict=True):
                    copy.write_row(line)


def _affinity(kind: pa.DataType) -> str:
    return "REAL" if pa.types.is_floating(kind) else "INTEGER" if pa.types.is_integer(kind) else "TEXT"


def _lines(rows: pa.Table) -> list[tuple[object, ...]]:
    columns = []
    for column in rows.columns:
        plain = pa.types.is_string(column.type) or pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
        columns.append(column.to_pylist() if plain else [one.isoformat() for one in column.to_pylist()])
    return list(zip(*columns, strict=True))


if __name__ == "__main__":
    run_as_maker(make_data)
