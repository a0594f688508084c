"""PostgreSQL: the data stay where they live; nothing is written but temporary tables of the session.

Knows psycopg and SQL text made by Ibis. Ignores what the columns mean. All work of an engine happens in one
REPEATABLE READ transaction, so every count sees the same rows while others write; each query runs in a
read-only subtransaction, so that the server itself refuses a write to the source. Text is compared by code
point (COLLATE "C") whatever the order of the database (DESIGN §4, rule 6).
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from celosia.data.engines._base import Expression, arrow_schema, guarded, silence, unbound
from celosia.errors import EngineFault, EngineUnreachable, MissingExtra, OpaqueColumns, UnknownTable
from celosia.model.schema import Schema

try:
    import psycopg
    from psycopg import sql
except ImportError:
    raise MissingExtra(feature="PostgreSQL", extra="postgres") from None

_FAULTS = (psycopg.Error,)
_SETTINGS = (  # what a value looks like as text must not depend on the server's or the user's settings
    "SET client_encoding = 'UTF8'",
    "SET standard_conforming_strings = on",
    "SET DateStyle = 'ISO, YMD'",
    "SET IntervalStyle = 'iso_8601'",
    "SET TimeZone = 'UTC'",
    "SET extra_float_digits = 1",
)
_COLUMNS = """
    SELECT a.attname, t.typname, t.typcategory
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = %s::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_COPY_ROWS = 50_000
_OPAQUE_TYPES = ("json", "jsonb", "bytea", "xml", "tsvector")
_OPAQUE_CATEGORIES = "ACP"  # arrays, composites, pseudo-types


class PostgresEngine:
    """One connection, one snapshot, read-only on everything but its own temporary tables."""

    name = "PostgreSQL"

    def __init__(self, url: str):
        silence("psycopg")
        self.connection = _connected(url)
        self._numbers = itertools.count()
        with guarded(self.name, _FAULTS):
            for setting in _SETTINGS:
                self.connection.execute(setting)

    def source(
        self, table: str, schema: str | None = None, columns: Sequence[str] | None = None
    ) -> tuple[Expression, tuple[str, ...]]:
        """A table or view of the database, in place, as text columns c0…cn without NULL, and its names."""
        relation = sql.Identifier(schema, table) if schema else sql.Identifier(table)
        names = self._readable_columns(relation, table, columns)
        # Blanks at the end of a char(n) are padding and go with the cast to text.
        parts = [
            sql.SQL("COALESCE({}::text, '') COLLATE \"C\" AS {}").format(
                sql.Identifier(name), sql.Identifier(f"c{position}")
            )
            for position, name in enumerate(names)
        ]
        view = self._fresh_name()
        query = sql.SQL("CREATE TEMPORARY VIEW {} AS SELECT {} FROM {}").format(
            sql.Identifier(view), sql.SQL(", ").join(parts), relation
        )
        with guarded(self.name, _FAULTS), self.connection.transaction():
            self.connection.execute(query)
        return unbound([(f"c{i}", pa.string()) for i in range(len(names))], view), names

    def parquet(self, path: Path) -> Expression:
        """The working copy as a table: sent to the server, in pieces."""
        try:
            with pq.ParquetFile(path) as file:
                return self._uploaded(file.schema_arrow, file.iter_batches(_COPY_ROWS))
        except (pa.ArrowException, OSError):
            raise EngineFault(engine=self.name, kind="ParquetFile") from None

    def upload(self, table: pa.Table) -> Expression:
        """A private temporary table holding these rows."""
        return self._uploaded(table.schema, table.to_batches(max_chunksize=_COPY_ROWS))

    def _uploaded(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Expression:
        name = self._fresh_name()
        columns = [(field.name, field.type) for field in schema]
        kinds = [
            f'"{column}" ' + ("bigint" if pa.types.is_integer(kind) else 'text COLLATE "C"') for column, kind in columns
        ]
        with guarded(self.name, _FAULTS), self.connection.transaction():
            self.connection.execute(f"CREATE TEMPORARY TABLE {name} ({', '.join(kinds)})")
            with self.connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for batch in batches:
                    copy.write(_copy_text(batch))
            self.connection.execute(f"ANALYZE {name}")
        return unbound(columns, name)

    def fetch(self, expression: Expression) -> pa.Table:
        """The whole result, as Arrow."""
        schema = arrow_schema(expression)
        return pa.Table.from_batches(self.stream(expression), schema)

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The result in batches, in the order of the expression."""
        query = ibis.to_sql(expression, dialect="postgres")
        schema = arrow_schema(expression)
        with guarded(self.name, _FAULTS):
            # A named cursor lives on the server: the rows are never all in memory here.
            with self._reading():
                cursor = self.connection.cursor(self._fresh_name())
                cursor.execute(str(query))
            with cursor:
                while rows := self._fetched(cursor, batch_rows):
                    yield _batch(rows, schema)
                    if len(rows) < batch_rows:
                        break

    def forget(self, uploaded: Expression) -> None:
        """Drop an uploaded table that nothing needs any more."""
        with guarded(self.name, _FAULTS), self.connection.transaction():
            self.connection.execute(f"DROP TABLE IF EXISTS pg_temp.{uploaded.get_name()}")

    def close(self) -> None:
        """Roll the transaction back, which drops every temporary table, and disconnect."""
        with contextlib.suppress(*_FAULTS):
            self.connection.rollback()
        self.connection.close()

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        with self.connection.transaction():
            self.connection.execute("SET TRANSACTION READ ONLY")
            yield

    def _fetched(self, cursor: psycopg.ServerCursor[Any], rows: int) -> list[tuple[object, ...]]:
        with self.connection.transaction():  # a fault must not end the transaction around it
            return cursor.fetchmany(rows)

    def _readable_columns(self, relation: sql.Identifier, table: str, columns: Sequence[str] | None) -> tuple[str, ...]:
        """Names to read; binary, JSON and nested columns are refused by name unless left out."""
        with guarded(self.name, _FAULTS), self._reading():
            found = self.connection.execute(
                "SELECT to_regclass(%s)::oid", [relation.as_string(self.connection)]
            ).fetchone()
            if found is None or found[0] is None:
                raise UnknownTable(table=table)
            described = self.connection.execute(_COLUMNS, [found[0]]).fetchall()
        known = Schema(tuple(name for name, _, _ in described))
        wanted = known.names if columns is None else known.chosen(columns, "columns")
        opaque = [
            name
            for name, kind, category in described
            if name in wanted and (kind in _OPAQUE_TYPES or category in _OPAQUE_CATEGORIES)
        ]
        if opaque:
            raise OpaqueColumns(table=table, columns=", ".join(opaque))
        return wanted

    def _fresh_name(self) -> str:
        return f"celosia_{next(self._numbers)}"


def _connected(url: str) -> psycopg.Connection[Any]:
    """A connection whose first statement opens the one transaction of the engine."""
    try:
        connection = psycopg.connect(url, application_name="celosia", connect_timeout=15)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    except (*_FAULTS, UnicodeError, ValueError):
        raise EngineUnreachable(engine=PostgresEngine.name) from None
    connection.prepare_threshold = None
    return connection


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        pa.array([int(v) for v in values] if pa.types.is_integer(field.type) else values, field.type)
        for values, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _copy_text(batch: pa.RecordBatch) -> bytes:
    """A batch in the text form of COPY, escaped column by column rather than row by row."""
    if not batch.num_rows:
        return b""
    columns = [_escaped(column) for column in batch.columns]
    lines = pc.binary_join_element_wise(*columns, pa.scalar("\t", pa.large_string()))
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _escaped(column: pa.Array) -> pa.Array:
    text = column.cast(pa.large_string())
    if pa.types.is_integer(column.type):
        return text
    for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = pc.replace_substring(text, plain, escaped)
    return text
