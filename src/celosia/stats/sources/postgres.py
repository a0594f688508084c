"""PERSONAL in PostgreSQL: one read-only snapshot for the whole run, nothing created, not even a temporary table.

Knows psycopg and the type numbers of PostgreSQL. Ignores what is counted. The settings of the session are those of
celosia's engine, so that a value looks the same whatever the server's own settings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg  # after the engine, which says by name when the extra is missing
import pyarrow as pa

from celosia.data.engines.base import translate_engine_errors
from celosia.data.engines.postgres import PostgresEngine
from celosia.data.errors import EngineFault
from celosia.stats.declaration.declaration import Personal
from celosia.stats.errors import ConnectionLost
from celosia.stats.sources.connections import PersonalColumn, PersonalSource, arrow, unreadable

_FAULTS = (psycopg.Error,)
_TABLES = """
    SELECT CASE table_schema WHEN 'public' THEN table_name ELSE table_schema || '.' || table_name END AS name
    FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1
"""
_BATCH = 50_000
_WHOLE, _FLOATS, _NUMERIC = (20, 21, 23), (700, 701), 1700
_BOOLEAN, _DATE, _TIMESTAMP, _INSTANT = 16, 1082, 1114, 1184
_NUMERIC_DIGITS, _NUMERIC_SCALE = 38, 6  # of a numeric without limits


class PostgresSource(PersonalSource):
    """One connection, one snapshot, READ ONLY: the server itself refuses a write."""

    name, dialect = "PostgreSQL", "postgres"

    def __init__(self, url: str):
        super().__init__()
        self._engine = PostgresEngine(url)
        self.connection: psycopg.Connection[Any] = self._engine.connection
        with translate_errors(self.connection):
            self.connection.commit()  # the settings of the session stay; from here on nothing can be written
            self.connection.read_only = True

    def close(self) -> None:
        """End the transaction and disconnect."""
        self._engine.close()

    def _run(self, query: str, schema: pa.Schema) -> pa.Table:
        with translate_errors(self.connection), self.connection.cursor(self._fresh_name()) as cursor:
            cursor.itersize = _BATCH
            cursor.execute(query.encode())
            pieces = []
            while rows := cursor.fetchmany(_BATCH):
                pieces.append(arrow(rows, schema))
        return pa.concat_tables(pieces) if pieces else schema.empty_table()

    def _list_tables(self) -> Sequence[Sequence[Any]]:
        with translate_errors(self.connection):
            return self.connection.execute(_TABLES).fetchall()

    def _describe_columns(self, origin: str, personal: Personal) -> tuple[PersonalColumn, ...]:
        with translate_errors(self.connection):
            try:
                with self.connection.transaction():
                    cursor = self.connection.execute(f"SELECT * FROM {origin} LIMIT 0".encode())
            except psycopg.ProgrammingError as fault:  # no such table, no such column, no right to it
                raise unreadable(personal, fault) from None
        return tuple(_column(entry, self._quote(entry.name)) for entry in cursor.description or ())


@contextlib.contextmanager
def translate_errors(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Replace the server's errors by ours; a connection that ended has its own."""
    try:
        with translate_engine_errors(PostgresSource.name, _FAULTS):
            yield
    except EngineFault:
        if connection.closed or connection.broken:
            raise ConnectionLost(engine=PostgresSource.name) from None
        raise


def _column(entry: psycopg.Column, quoted: str) -> PersonalColumn:
    kind = entry.type_code
    if kind in _WHOLE:
        return PersonalColumn(entry.name, "int64", f"{quoted}::bigint")
    if kind in _FLOATS:
        return PersonalColumn(entry.name, "float64", f"{quoted}::double precision")
    if kind == _NUMERIC:
        digits, scale = entry.precision or _NUMERIC_DIGITS, entry.scale if entry.precision else _NUMERIC_SCALE
        return PersonalColumn(entry.name, f"decimal({digits}, {scale})", quoted)
    plain = {_BOOLEAN: "boolean", _DATE: "date", _TIMESTAMP: "timestamp(6)"}
    if kind in plain:
        return PersonalColumn(entry.name, plain[kind], quoted)
    if kind == _INSTANT:
        return PersonalColumn(entry.name, "timestamp('UTC', 6)", f"({quoted} AT TIME ZONE 'UTC')")
    return PersonalColumn(entry.name, "string", f'({quoted}::text COLLATE "C")')
