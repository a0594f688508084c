"""STATS in PostgreSQL: one schema, one transaction; readers see the old tables until the last moment.

Knows psycopg, COPY and the advisory lock that keeps a second run waiting outside. Ignores what the tables mean.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import psycopg  # after the engine, which says by name when the extra is missing
import pyarrow as pa

from celosia.data.engines.postgres import PostgresEngine
from celosia.errors import TargetBusy
from celosia.stats._source_postgres import watched
from celosia.stats._stores import Store, quoted

_LOCK = 0x63656C6F736961  # «celosia» in ASCII: the same number for every run on this database


class PostgresStore(Store):
    """A schema of a PostgreSQL database."""

    name, mark = "PostgreSQL", "%s"
    kinds = MappingProxyType({"text": "text", "whole": "bigint", "number": "double precision"})

    def __init__(self, url: str, schema: str, read_only: bool):
        self._engine = PostgresEngine(url)
        self._connection: psycopg.Connection[Any] = self._engine.connection
        self._schema, self.prefix = schema, f"{quoted(schema)}."
        with watched(self._connection):
            self._connection.commit()  # the settings of the session stay
            self._connection.read_only = read_only

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and give its rows."""
        with watched(self._connection):
            cursor = self._connection.execute(statement.encode(), list(values) or None)
            return cursor.fetchall() if cursor.description else []

    def insert(self, table: str, rows: pa.Table) -> None:
        """Add rows to a table, in their order."""
        columns = [column.to_pylist() for column in rows.columns]
        with (
            watched(self._connection),
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {self.place(table)} FROM STDIN".encode()) as copy,
        ):
            for row in zip(*columns, strict=True):
                copy.write_row(row)

    def tables(self) -> tuple[str, ...]:
        """The tables of STATS, in order of name."""
        rows = self.run("SELECT tablename FROM pg_tables WHERE schemaname = %s", [self._schema])
        return tuple(sorted(str(row[0]) for row in rows))

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """Name and engine type of the columns of a table."""
        query = (
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
        )
        return tuple((str(a), str(b)) for a, b in self.run(query, [self._schema, table]))

    def begin(self) -> None:
        """Open the transaction; a second run finds it taken."""
        with watched(self._connection):
            self._connection.rollback()
        if not self.run("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])[0][0]:
            self.rollback()
            raise TargetBusy(engine=self.name)
        self.run(f"CREATE SCHEMA IF NOT EXISTS {quoted(self._schema)}")

    def commit(self) -> None:
        """Make everything visible at once."""
        with watched(self._connection):
            self._connection.commit()

    def rollback(self) -> None:
        """Undo everything; the server does so by itself when the connection is gone."""
        with contextlib.suppress(psycopg.Error):
            self._connection.rollback()

    def close(self) -> None:
        """Disconnect."""
        self._engine.close()
