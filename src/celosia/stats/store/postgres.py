"""STATS in PostgreSQL: one schema, one transaction; readers see the old tables until the last moment.

Knows psycopg, COPY and the advisory lock that refuses a second run. Ignores what the tables mean.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import psycopg  # after the engine, which says by name when the extra is missing
import pyarrow as pa

from celosia.data.engines.postgres import PostgresEngine
from celosia.stats.errors import TargetBusy
from celosia.stats.sources.postgres import translate_errors
from celosia.stats.store.stores import Store, quote_name

_LOCK = 0x63656C6F736961  # «celosia» in ASCII: the same number for every run on this database


class PostgresStore(Store):
    """A schema of a PostgreSQL database."""

    name, mark = "PostgreSQL", "%s"
    kinds = MappingProxyType({"text": "text", "whole": "bigint", "number": "double precision"})
    tables_query = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
    columns_query = (
        "SELECT column_name, data_type FROM information_schema.columns "
        "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position"
    )

    def __init__(self, url: str, schema: str, read_only: bool):
        self._engine = PostgresEngine(url)
        self._connection: psycopg.Connection[Any] = self._engine.connection
        self.schema_values, self.prefix = (schema,), f"{quote_name(schema)}."
        with translate_errors(self._connection):
            self._connection.commit()  # the settings of the session remain
            self._connection.read_only = read_only

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translate_errors(self._connection):
            cursor = self._connection.execute(statement.encode(), list(values) or None)
            return cursor.fetchall() if cursor.description else []

    def insert(self, table: str, rows: pa.Table) -> None:
        columns = [column.to_pylist() for column in rows.columns]
        with (
            translate_errors(self._connection),
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {self.qualified_name(table)} FROM STDIN".encode()) as copy,
        ):
            for row in zip(*columns, strict=True):
                copy.write_row(row)

    def begin(self) -> None:
        """Open the transaction; a second run is refused."""
        with translate_errors(self._connection):
            self._connection.rollback()
        if not self.run("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])[0][0]:
            self.rollback()
            raise TargetBusy(engine=self.name)
        self.run(f"CREATE SCHEMA IF NOT EXISTS {self.prefix[:-1]}")

    def commit(self) -> None:
        with translate_errors(self._connection):
            self._connection.commit()

    def rollback(self) -> None:
        """Undo everything; the server does so by itself when the connection is gone."""
        with contextlib.suppress(psycopg.Error):
            self._connection.rollback()

    def close(self) -> None:
        self._engine.close()
