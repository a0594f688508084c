"""PERSONAL: a database that is only read, and in which the counting happens.

Knows how each engine names its types, and how to run an Ibis expression over a PERSONAL block without creating
anything in the database: the block precedes the compiled query as a common table expression, so the session can be
read-only from its first statement. Ignores what is counted. Results come back as Arrow.

What a column may be is the same everywhere: string, int64, float64, decimal, boolean, date, timestamp (as stored)
and timestamp('UTC') (an instant, already written in UTC). SQLite's columns hold anything, so there all are text.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import sqlglot
from ibis.expr import operations as ops
from sqlglot import expressions as exp
from sqlglot.errors import SqlglotError

from celosia.data.engines.base import translate_engine_errors
from celosia.data.errors import EngineUnreachable, UnknownTable
from celosia.model.paths import ProjectPaths
from celosia.stats.declaration.declaration import Personal
from celosia.stats.errors import NotOneSelect, PersonalQueryFails
from celosia.stats.sources.addresses import Address, address
from celosia.storage import FileMissing, sqlite_address

Expression = Any  # ibis.expr.types.Table
_WRITES = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Into, exp.Command, exp.DDL, exp.Drop, exp.Alter)


@dataclass(frozen=True, slots=True)
class PersonalColumn:
    """A column of PERSONAL: its name, its type for Ibis, and how it is read in the engine's SQL."""

    name: str
    kind: str
    reading: str


@dataclass(frozen=True, slots=True)
class _Block:
    """A PERSONAL block under the name that queries give it."""

    name: str
    origin: str  # what follows FROM
    columns: tuple[PersonalColumn, ...]


class PersonalSource(ABC):
    """A PERSONAL database. Only frequencies leave it."""

    name: str
    dialect: str
    quote = '"'

    def __init__(self) -> None:
        self._blocks: dict[str, _Block] = {}
        self._numbers = itertools.count()

    def columns(self, personal: Personal) -> tuple[tuple[str, str], ...]:
        """Name and type of every column of a block."""
        return tuple((column.name, column.kind) for column in self._block_of(personal).columns)

    def relation(self, personal: Personal) -> Expression:
        """A block as a table for Ibis; it exists only inside the queries that `fetch` runs."""
        block = self._block_of(personal)
        return ibis.table({column.name: column.kind for column in block.columns}, name=block.name)

    def tables(self) -> tuple[str, ...]:
        """The tables and views that may be read, outside the engine's own."""
        return tuple(str(row[0]) for row in self._list_tables())

    def rows(self, personal: Personal) -> int:
        """How many rows a block has."""
        relation = self.relation(personal)
        return int(self.fetch(relation.aggregate(rows=relation.count())).column(0)[0].as_py())

    def fetch(self, expression: Expression) -> pa.Table:
        """The result of an expression over blocks and materialised tables."""
        schema = expression.schema().to_pyarrow()
        return self._run(self.sql(expression), schema)

    def sql(self, expression: Expression) -> str:
        """The query as the engine gets it."""
        compiled = str(ibis.to_sql(expression, dialect=self.dialect))
        used = {table.name for table in expression.op().find(ops.UnboundTable)}
        blocks = [self._text_before(block) for block in self._blocks.values() if block.name in used]
        if not blocks:
            return compiled
        rest = f", {compiled.strip()[4:]}" if compiled.strip().upper().startswith("WITH") else f" {compiled}"
        return f"WITH {', '.join(blocks)}{rest}"

    def materialise(self, expression: Expression) -> Expression:
        """The same rows, computed once where the engine can hold them; else computed at each use."""
        return expression

    def release(self, table: Expression) -> None:  # noqa: B027 - nothing to release where nothing is held
        """Release what `materialise` held."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect and leave nothing behind."""

    @abstractmethod
    def _run(self, query: str, schema: pa.Schema) -> pa.Table:
        """Run a query and give its rows in these types."""

    @abstractmethod
    def _list_tables(self) -> Sequence[Sequence[Any]]:
        """The names of tables and views, one in a row."""

    @abstractmethod
    def _describe_columns(self, origin: str, personal: Personal) -> tuple[PersonalColumn, ...]:
        """The columns of a FROM clause."""

    def _block_of(self, personal: Personal) -> _Block:
        if personal.name not in self._blocks:
            origin = self._origin(personal)
            name = f"celosia_personal_{len(self._blocks)}"
            self._blocks[personal.name] = _Block(name, origin, self._describe_columns(origin, personal))
        return self._blocks[personal.name]

    def _origin(self, personal: Personal) -> str:
        if personal.query is not None:
            return f"({check_select(personal.query, self.dialect, personal.name)}\n) AS celosia_query"
        return ".".join(self._quote(part) for part in (personal.table or personal.name).split("."))

    def _text_before(self, block: _Block) -> str:
        parts = ", ".join(f"{column.reading} AS {self._quote(column.name)}" for column in block.columns)
        return f"{self._quote(block.name)} AS (SELECT {parts} FROM {block.origin})"

    def _quote(self, name: str) -> str:
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def _fresh_name(self) -> str:
        return f"celosia_kept_{next(self._numbers)}"


def open_source(url: str, folder: Path) -> PersonalSource:
    """The PERSONAL database at an address of stats.toml, opened read-only."""
    return source_at(address(url, folder), folder)


def source_at(database: Address, folder: Path) -> PersonalSource:
    """The PERSONAL database at a resolved address."""
    private = ProjectPaths(folder).private
    spill = private if private.is_dir() else None
    if database.kind == "postgres":
        from celosia.stats.sources.postgres import PostgresSource

        return PostgresSource(database.url)
    if not database.path.exists():
        raise FileMissing(path=str(database.path))
    if database.kind == "spark":
        from celosia.stats.sources.spark import SparkSource

        return SparkSource(database.path, spill)
    if database.kind == "sqlite":
        return SQLiteSource(database.path)
    return DuckDBSource(database.path, spill)


def check_select(query: str, dialect: str, personal: str) -> str:
    """The query without its closing semicolon, if it is one SELECT that writes nothing."""
    try:
        statements = [
            statement
            for statement in sqlglot.parse(query, dialect=dialect.replace("pyspark", "spark"))
            if statement is not None
        ]
    except SqlglotError:
        raise NotOneSelect(personal=personal) from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query) or statements[0].find(*_WRITES):
        raise NotOneSelect(personal=personal)
    return query.strip().rstrip(";").rstrip()


def unreadable(personal: Personal, fault: BaseException) -> UnknownTable | PersonalQueryFails:
    """The error for a block that the engine cannot read."""
    if personal.query is None:
        return UnknownTable(table=personal.table or personal.name)
    return PersonalQueryFails(personal=personal.name, kind=type(fault).__name__)


def arrow(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.Table:
    """Rows of a database interface as Arrow columns of these types."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [_array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_integer(kind):  # sums arrive as decimals
        return pa.array([None if value is None else int(value) for value in values], kind)
    return pa.array(values, kind)


class _EmbeddedSource(PersonalSource):
    """A file read in this process, which can hold temporary tables apart from it."""

    connection: Any
    _faults: tuple[type[BaseException], ...]

    def materialise(self, expression: Expression) -> Expression:
        """A temporary table, apart from the file; DuckDB spills it to the private folder."""
        name = self._fresh_name()
        with translate_engine_errors(self.name, self._faults):
            self.connection.execute(f"CREATE TEMPORARY TABLE {name} AS {self.sql(expression)}")
        return ibis.table(expression.schema(), name=name)

    def release(self, table: Expression) -> None:
        """Drop a materialised table."""
        with translate_engine_errors(self.name, self._faults):
            self.connection.execute(f"DROP TABLE IF EXISTS temp.{table.get_name()}")


class DuckDBSource(_EmbeddedSource):
    """A DuckDB file, attached read-only to an engine of our own whose spill files are private."""

    name, dialect = "DuckDB", "duckdb"

    def __init__(self, path: Path, spill: Path | None = None):
        import duckdb

        from celosia.data.engines.duckdb import DuckDBEngine

        super().__init__()
        self._faults = (duckdb.Error,)
        self._engine = DuckDBEngine(spill)
        self.connection = self._engine.connection
        try:
            quoted = str(path).replace("'", "''")
            self.connection.execute(f"ATTACH '{quoted}' AS personal (TYPE duckdb, READ_ONLY)")
            self.connection.execute("USE personal")
            self.connection.execute("SET TimeZone = 'UTC'")
        except duckdb.Error:
            self._engine.close()
            raise EngineUnreachable(engine=self.name) from None

    def close(self) -> None:
        """Disconnect and remove the spill files."""
        self._engine.close()

    def _run(self, query: str, schema: pa.Schema) -> pa.Table:
        with translate_engine_errors(self.name, self._faults):
            result = self.connection.execute(query).to_arrow_table()
        return result.cast(schema)

    def _list_tables(self) -> Sequence[Sequence[Any]]:
        with translate_engine_errors(self.name, self._faults):
            return self.connection.execute(_DUCKDB_TABLES).fetchall()

    def _describe_columns(self, origin: str, personal: Personal) -> tuple[PersonalColumn, ...]:
        import duckdb

        try:
            columns = self.connection.execute(f"DESCRIBE SELECT * FROM {origin}").fetchall()
        except duckdb.Error as fault:
            raise unreadable(personal, fault) from None
        return tuple(_duckdb_column(str(row[0]), str(row[1]), self._quote(str(row[0]))) for row in columns)


_DUCKDB_TABLES = """
    SELECT CASE table_schema WHEN 'main' THEN table_name ELSE table_schema || '.' || table_name END AS name
    FROM information_schema.tables WHERE table_catalog = 'personal' ORDER BY 1
"""
_DUCKDB_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
_DUCKDB_AS_IT_IS = {"VARCHAR": "string", "BIGINT": "int64", "DOUBLE": "float64", "BOOLEAN": "boolean", "DATE": "date"}


def _duckdb_column(name: str, kind: str, quoted: str) -> PersonalColumn:
    if kind in _DUCKDB_AS_IT_IS:
        return PersonalColumn(name, _DUCKDB_AS_IT_IS[kind], quoted)
    if kind in _DUCKDB_WHOLE:
        return PersonalColumn(name, "int64", f"CAST({quoted} AS BIGINT)")
    if kind == "FLOAT":
        return PersonalColumn(name, "float64", f"CAST({quoted} AS DOUBLE)")
    if kind.startswith("DECIMAL"):
        return PersonalColumn(name, kind.lower(), quoted)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return PersonalColumn(name, "timestamp('UTC', 6)", f"make_timestamp(epoch_us({quoted}))")
    if kind.startswith("TIMESTAMP"):
        return PersonalColumn(name, "timestamp(6)", f"CAST({quoted} AS TIMESTAMP)")
    return PersonalColumn(name, "string", f"CAST({quoted} AS VARCHAR)")


class SQLiteSource(_EmbeddedSource):
    """A SQLite file opened read-only, all of it in one snapshot; every column is text."""

    name, dialect = "SQLite", "sqlite"

    def __init__(self, path: Path):
        import sqlite3

        from celosia.stats.rules.rules import add_sqlite_functions

        super().__init__()
        self._faults = (sqlite3.Error,)
        try:
            self.connection = sqlite3.connect(sqlite_address(path, "ro"), uri=True, isolation_level=None)
            add_sqlite_functions(self.connection)
            self.connection.execute("BEGIN")
            self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on, one snapshot
        except sqlite3.Error:
            raise EngineUnreachable(engine=self.name) from None

    def close(self) -> None:
        """Disconnect; the temporary tables go with the connection."""
        self.connection.close()

    def _run(self, query: str, schema: pa.Schema) -> pa.Table:
        with translate_engine_errors(self.name, self._faults):
            return arrow(self.connection.execute(query).fetchall(), schema)

    def _list_tables(self) -> Sequence[Sequence[Any]]:
        names = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"
        with translate_engine_errors(self.name, self._faults):
            return self.connection.execute(names).fetchall()

    def _describe_columns(self, origin: str, personal: Personal) -> tuple[PersonalColumn, ...]:
        import sqlite3

        try:
            cursor = self.connection.execute(f"SELECT * FROM {origin} LIMIT 0")
        except sqlite3.Error as fault:
            raise unreadable(personal, fault) from None
        names = [str(entry[0]) for entry in cursor.description]
        return tuple(PersonalColumn(name, "string", f"CAST({self._quote(name)} AS TEXT)") for name in names)
