"""PostgreSQL: the data stay where they live; nothing is written but temporary tables of the session.

Knows psycopg and SQL text made by Ibis. Ignores what the columns mean. All work of an engine happens in one
REPEATABLE READ transaction, so every count sees the same rows while others write; each query runs in a
read-only subtransaction, so that the server itself refuses a write to the source. Text is compared by code
point (COLLATE "C") whatever the order of the database (DESIGN §4, rule 6).
"""

from __future__ import annotations

import contextlib
import io
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import ibis
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from celosia.data._postgres_text import SETTINGS, TABLES, TypedColumn
from celosia.data.engines.base import (
    RANK,
    Expression,
    arrow_schema,
    digest_sum_query,
    integer_sums,
    silence,
    table_expression,
    translate_engine_errors,
)
from celosia.data.engines.compile import compile_sql
from celosia.data.engines.memory import usable_memory
from celosia.data.errors import (
    EncodingOfDatabase,
    EngineDenied,
    EngineFault,
    EngineLost,
    EngineUnreachable,
    OpaqueColumns,
    UnknownTable,
)
from celosia.data.readers.canonical import WHITESPACE
from celosia.model.errors import MissingExtra
from celosia.model.schema import Schema
from celosia.storage import part_files, write_error

try:
    import psycopg
    from psycopg import sql
except ImportError:
    raise MissingExtra(feature="PostgreSQL", extra="postgres") from None

_FAULTS = (psycopg.Error,)
_DENIED = (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)
_LOST = ("08", "57P")  # how the codes of a connection that broke, or that the server ended, begin
_COLUMNS = """
    SELECT a.attname, t.typname, t.typcategory
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = %s::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_WORK = ("SET jit = off", "SET work_mem = '64MB'")  # many short queries: compiling each would cost more than it saves
_COPY_ROWS = 50_000
_BLOCK = 1 << 23  # bytes of COPY text that Arrow looks at together; a row must fit in it
_ENCODINGS = {"UTF8": "utf-8", "LATIN1": "latin-1"}  # whose bytes are in the order of code points


class PostgresEngine:
    """One connection, one snapshot, read-only on everything but its own temporary tables."""

    name = "PostgreSQL"
    reads_files = False
    in_process = False

    def __init__(self, url: str, private: Path | None = None, memory: int | None = None):
        silence("psycopg")
        self.memory = memory or usable_memory()
        self._private = private
        self.connection = _connect(url)
        self._numbers = itertools.count()
        with _translate_errors():
            for setting in (*SETTINGS, *_WORK):
                self.connection.execute(setting)

    def text_encoding(self) -> str:
        """How the database keeps its texts; bytes that are not in the order of code points are refused."""
        with _translate_errors():
            row = self.connection.execute("SHOW server_encoding").fetchone()
        encoding = str(row[0]) if row else "?"
        if encoding not in _ENCODINGS:
            raise EncodingOfDatabase(encoding=encoding)
        return _ENCODINGS[encoding]

    def tables(self) -> dict[str, tuple[str, str]]:
        """The tables and views that may be read, by the name a user gives them: schema and name."""
        with _translate_errors(), self._reading():
            rows = self.connection.execute(TABLES).fetchall()
        return {table if schema == "public" else f"{schema}.{table}": (schema, table) for schema, table in rows}

    def columns(self, table: str, schema: str | None = None) -> tuple[TypedColumn, ...]:
        """The columns of a table, whatever they hold."""
        relation = sql.Identifier(schema, table) if schema else sql.Identifier(table)
        with _translate_errors(), self._reading():
            oid = self.connection.execute(
                "SELECT to_regclass(%s)::oid", [relation.as_string(self.connection)]
            ).fetchone()
            if oid is None or oid[0] is None:
                raise UnknownTable(table=table)
            return tuple(TypedColumn(*row) for row in self.connection.execute(_COLUMNS, [oid[0]]).fetchall())

    def source(
        self, table: str, schema: str | None = None, columns: Sequence[str] | None = None
    ) -> tuple[Expression, tuple[str, ...]]:
        """A table or view of the database, in place, as text columns c0…cn without NULL, and its names."""
        relation = sql.Identifier(schema, table) if schema else sql.Identifier(table)
        read = self._readable_columns(table, schema, columns)
        names = tuple(column.name for column in read)
        # Blanks at the end of a char(n) are padding and go with the cast to text; cells of blanks only are missing.
        blanks = WHITESPACE.encode(encoding := self.text_encoding(), errors="ignore").decode(encoding)
        parts = [sql.SQL(f"{_canonical_text(column, blanks)} AS c{position}") for position, column in enumerate(read)]
        view = self._fresh_name()
        query = sql.SQL("CREATE TEMPORARY VIEW {} AS SELECT {} FROM {}").format(
            sql.Identifier(view), sql.SQL(", ").join(parts), relation
        )
        with _translate_errors(), self.connection.transaction():
            self.connection.execute(query)
        return table_expression([(f"c{i}", pa.string()) for i in range(len(names))], view), names

    def parquet(self, path: Path) -> Expression:
        """The working copy as a table: sent to the server, in pieces."""
        return self._send_parquet(path, lambda batch, start: batch)

    def numbered_parquet(self, path: Path, column: str) -> Expression:
        """The working copy with one column more, the position of each row in it."""

        def add_positions(batch: pa.RecordBatch, start: int) -> pa.RecordBatch:
            return batch.append_column(column, pa.array(range(start, start + batch.num_rows), pa.int64()))

        return self._send_parquet(path, add_positions)

    def _send_parquet(self, path: Path, transform: Callable[[pa.RecordBatch, int], pa.RecordBatch]) -> Expression:
        try:
            parts = part_files(path)
            empty = transform(pa.RecordBatch.from_pylist([], pq.read_schema(parts[0])), 0)
            return self._upload_batches(empty.schema, _numbered_batches(parts, transform))
        except (pa.ArrowException, OSError, IndexError):
            raise EngineFault(engine=self.name, kind="ParquetFile") from None

    def digest(self, text: Expression) -> Expression:
        """The SHA-256 of a text."""
        return _encode(_sha256(_convert_to(text, "UTF8")), "hex")

    def digest_sums(self, lines: Expression) -> tuple[int, ...]:
        """Rows, and the sums of the pieces of their SHA-256."""
        inner = _query(lines)
        # OFFSET 0 keeps the digest from being made once for each piece.
        hashed = f"SELECT encode(sha256(convert_to(line, 'UTF8')), 'hex') AS h FROM ({inner}) AS lines OFFSET 0"
        query = digest_sum_query(hashed, "('x' || substr(h, {start}, 8))::bit(32)::bigint", "sum({piece})::text")
        with _translate_errors(), self._reading():
            row = self.connection.execute(query.encode()).fetchone()
        return integer_sums(row or ())

    def upload(self, table: pa.Table) -> Expression:
        """A private temporary table holding these rows."""
        return self._upload_batches(table.schema, table.to_batches(max_chunksize=_COPY_ROWS))

    def _upload_batches(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Expression:
        name = self._fresh_name()
        columns = [(field.name, field.type) for field in schema]
        kinds = [
            f'"{column}" ' + ("bigint" if pa.types.is_integer(kind) else 'text COLLATE "C"') for column, kind in columns
        ]
        with _translate_errors(), self.connection.transaction():
            self.connection.execute(f"CREATE TEMPORARY TABLE {name} ({', '.join(kinds)})")
            with self.connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for batch in batches:
                    copy.write(_copy_text(batch))
            self.connection.execute(f"ANALYZE {name}")
        return table_expression(columns, name)

    def keep(self, expression: Expression, folder: Path | None = None) -> Expression:
        """The rows of an expression in a temporary table of the session: none leaves the server."""
        return self._create_table(expression, "")

    def keep_ranked(self, expression: Expression, order: Sequence[str], folder: Path | None = None) -> Expression:
        """The rows in a temporary table, numbered on the server in the order of these columns."""
        places = ", ".join(f'"{column}"' for column in order)
        return self._create_table(expression, f'row_number() OVER (ORDER BY {places}) - 1 AS "{RANK}"')

    def _create_table(self, expression: Expression, number: str) -> Expression:
        columns = [(field.name, field.type) for field in arrow_schema(expression)]
        # The order of the texts is said again: an expression that lost it would sort as the database does.
        texts = [f'"{n}"' + ("" if pa.types.is_integer(kind) else f' COLLATE "C" AS "{n}"') for n, kind in columns]
        name, rows = self._fresh_name(), f"SELECT {', '.join(texts)} FROM ({_query(expression)}) AS q"
        if number:
            columns, rows = [*columns, (RANK, pa.int64())], f"SELECT *, {number} FROM ({rows}) AS r"
        with _translate_errors(), self.connection.transaction():
            self.connection.execute(f"CREATE TEMPORARY TABLE {name} AS {rows}")
            self.connection.execute(f"ANALYZE {name}")
        return table_expression(columns, name)

    def fetch(self, expression: Expression) -> pa.Table:
        """The whole result, as Arrow."""
        schema = arrow_schema(expression)
        with io.BytesIO() as buffer:
            self._copy_to_file(expression, buffer)
            return pa.Table.from_batches(_read_copy(buffer, schema), schema)

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The result in batches, in the order of the expression.

        It waits in a nameless private file, so that other queries may run while it is read.
        """
        schema = arrow_schema(expression)
        folder = str(self._private or tempfile.gettempdir())
        try:
            with tempfile.TemporaryFile(dir=self._private) as buffer:
                self._copy_to_file(expression, buffer)
                for batch in _read_copy(buffer, schema):
                    for start in range(0, batch.num_rows, batch_rows):
                        yield batch.slice(start, batch_rows)
        except OSError as fault:
            raise write_error(fault, Path(folder)) from None

    def _copy_to_file(self, expression: Expression, target: IO[bytes]) -> None:
        query = f"COPY ({_query(expression)}) TO STDOUT (FORMAT csv, FORCE_QUOTE *)"
        with _translate_errors(), self._reading(), self.connection.cursor().copy(query.encode()) as blocks:
            for block in blocks:
                target.write(block)
        target.seek(0)

    def forget(self, uploaded: Expression) -> None:
        """Drop an uploaded table that nothing needs any more."""
        with _translate_errors(), self.connection.transaction():
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

    def _readable_columns(
        self, table: str, schema: str | None, columns: Sequence[str] | None
    ) -> tuple[TypedColumn, ...]:
        """The columns to read; binary, JSON and nested ones are refused by name unless left out."""
        columns_by_name = {column.name: column for column in self.columns(table, schema)}
        known = Schema(tuple(columns_by_name))
        chosen = known.names if columns is None else known.checked_names(columns, "columns")
        opaque = [name for name in chosen if columns_by_name[name].refusal()]
        if opaque:
            raise OpaqueColumns(table=table, columns=", ".join(opaque))
        return tuple(columns_by_name[name] for name in chosen)

    def _fresh_name(self) -> str:
        return f"celosia_{next(self._numbers)}"


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    """The guard at the border; a right that is missing and a connection that is lost are told apart."""
    with translate_engine_errors(PostgresEngine.name, _FAULTS):
        try:
            yield
        except _DENIED:
            raise EngineDenied(engine=PostgresEngine.name) from None
        except psycopg.OperationalError as fault:
            if fault.sqlstate is None or fault.sqlstate.startswith(_LOST):
                raise EngineLost(engine=PostgresEngine.name) from None
            raise


def _query(expression: Expression) -> str:
    return compile_sql(expression, "postgres")


def _connect(url: str) -> psycopg.Connection[Any]:
    """A connection whose first statement opens the one transaction of the engine."""
    try:
        connection = psycopg.connect(url, application_name="celosia", connect_timeout=15)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    except (*_FAULTS, UnicodeError, ValueError):
        raise EngineUnreachable(engine=PostgresEngine.name) from None
    connection.prepare_threshold = None
    return connection


def _read_copy(buffer: IO[bytes], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a COPY in CSV, every cell in quotes; a block grows until the longest row fits in it."""
    size = buffer.seek(0, io.SEEK_END)
    buffer.seek(0)
    if not size:
        return
    reader = csv.open_csv(
        buffer,
        read_options=csv.ReadOptions(column_names=schema.names, block_size=_block_size(buffer, size)),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(column_types=schema, null_values=[], strings_can_be_null=False),
    )
    yield from reader


def _block_size(buffer: IO[bytes], size: int) -> int:
    """A block in which every row fits, found by the lengths of the lines and of the quoted cells that span them."""
    if size <= _BLOCK:
        return size
    longest = row = quotes = 0
    for line in buffer:
        row, quotes = row + len(line), quotes + line.count(b'"')
        if quotes % 2 == 0:  # outside quotes: the row ends here
            longest, row = max(longest, row), 0
    buffer.seek(0)
    return max(_BLOCK, longest + 1)


def _canonical_text(column: TypedColumn, blanks: str) -> str:
    """A cell as text without NULL, in code-point order, blanks only as missing: as the readers settle it."""
    text = f"COALESCE({column.as_text()}, '')"
    if column.category != "S":  # numbers, dates and their kin are never blank
        return f'{text} COLLATE "C"'
    plain = f"{text} COLLATE \"C\" >= '!' AND {text} COLLATE \"C\" < '\x7f'"  # no blank begins so: most end here
    blank = f"btrim({text}, '{blanks}') = ''"
    return f"CASE WHEN {plain} THEN {text} WHEN {blank} THEN '' ELSE {text} END COLLATE \"C\""


def _numbered_batches(
    parts: Sequence[Path], transform: Callable[[pa.RecordBatch, int], pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    start = 0
    for part in parts:
        with pq.ParquetFile(part) as file:
            for batch in file.iter_batches(_COPY_ROWS):
                yield transform(batch, start)
                start += batch.num_rows


@ibis.udf.scalar.builtin(name="convert_to")
def _convert_to(text: str, encoding: str) -> bytes:  # type: ignore[empty-body]
    """PostgreSQL's own."""


@ibis.udf.scalar.builtin(name="sha256")
def _sha256(content: bytes) -> bytes:  # type: ignore[empty-body]
    """PostgreSQL's own."""


@ibis.udf.scalar.builtin(name="encode")
def _encode(content: bytes, form: str) -> str:  # type: ignore[empty-body]
    """PostgreSQL's own."""


def _copy_text(batch: pa.RecordBatch) -> bytes:
    """A batch in the text form of COPY, escaped column by column rather than row by row."""
    if not batch.num_rows:
        return b""
    columns = [_escape_column(column) for column in batch.columns]
    lines = pc.binary_join_element_wise(*columns, pa.scalar("\t", pa.large_string()))
    return "".join(f"{line}\n" for line in lines.to_pylist()).encode()


def _escape_column(column: pa.Array) -> pa.Array:
    text = column.cast(pa.large_string())
    if pa.types.is_integer(column.type):
        return text
    for plain, escaped in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = pc.replace_substring(text, plain, escaped)
    return text
