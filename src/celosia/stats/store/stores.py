"""The databases that can hold STATS, behind five operations: run, insert, read, begin and end a transaction.

Knows how PostgreSQL, DuckDB and SQLite connect, quote, load rows and fail. Ignores what the tables mean. Each opens a
transaction in which creating and replacing tables is undone like any other change.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from celosia.data.errors import EngineFault, EngineUnreachable
from celosia.stats.errors import TargetBusy
from celosia.stats.sources.addresses import Address
from celosia.storage import DiskFull, FileMissing, means_full_disk, sqlite_address

_BUSY_SECONDS = 10
_SQLITE_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")  # an exceeded quota is a write that failed
Kinds = Mapping[str, str]  # text, whole, number → the engine's own word


class Store(ABC):
    """A STATS database."""

    name: str
    mark: str  # how the engine writes a parameter
    kinds: Kinds
    tables_query: str
    columns_query: str  # its last parameter is the table
    schema_values: Sequence[str] = ()  # first parameters of both queries
    prefix = ""  # the schema before a table's name

    @abstractmethod
    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and give its rows."""

    @abstractmethod
    def insert(self, table: str, rows: pa.Table) -> None:
        """Add rows to a table, in their order."""

    def tables(self) -> tuple[str, ...]:
        """The tables of STATS, in order of name."""
        return tuple(sorted(str(row[0]) for row in self.run(self.tables_query, self.schema_values)))

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """Name and engine type of the columns of a table."""
        rows = self.run(self.columns_query, [*self.schema_values, table])
        return tuple((str(name), str(kind)) for name, kind in rows)

    @abstractmethod
    def begin(self) -> None:
        """Open the transaction and keep other writers out."""

    @abstractmethod
    def commit(self) -> None:
        """Make everything since `begin` visible at once."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo everything since `begin`; without an error if the connection is gone, which undoes it anyway."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect."""

    def qualified_name(self, table: str) -> str:
        """A table's name as a statement writes it."""
        return self.prefix + quote_name(table)


def quote_name(name: str) -> str:
    """A name quoted for SQL."""
    return '"' + name.replace('"', '""') + '"'


def store_at(database: Address, schema: str | None, read_only: bool) -> Store:
    """The STATS database at a resolved address."""
    if database.kind == "postgres":
        from celosia.stats.store.postgres import PostgresStore

        return PostgresStore(database.url, schema or "stats", read_only)
    if read_only and not database.path.exists():
        raise FileMissing(path=str(database.path))
    return DuckDBStore(database.path, read_only) if database.kind == "duckdb" else SQLiteStore(database.path, read_only)


class _FileStore(Store):
    """A file written in this process."""

    _connection: Any
    _path: Path
    _faults: tuple[type[BaseException], ...]

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translate_file_errors(self.name, self._faults, self._path):
            return list(self._connection.execute(statement, list(values)).fetchall())

    def commit(self) -> None:
        self.run("COMMIT")

    def rollback(self) -> None:
        with contextlib.suppress(*self._faults):
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        with contextlib.suppress(*self._faults):
            self._connection.close()


class DuckDBStore(_FileStore):
    """A DuckDB file of which this process is the only writer."""

    name, mark = "DuckDB", "?"
    kinds = MappingProxyType({"text": "VARCHAR", "whole": "BIGINT", "number": "DOUBLE"})
    tables_query = "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT temporary"
    columns_query = (
        "SELECT column_name, data_type FROM duckdb_columns() "
        "WHERE schema_name = 'main' AND table_name = ? ORDER BY column_index"
    )

    def __init__(self, path: Path, read_only: bool):
        import duckdb

        self._path, self._faults = path, (duckdb.Error,)
        config: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        try:
            self._connection = duckdb.connect(str(path), read_only=read_only, config=config)
        except duckdb.IOException as fault:
            raise _opening_error(str(fault), "lock", self.name, path) from None
        except duckdb.Error:
            raise EngineUnreachable(engine=self.name) from None

    def insert(self, table: str, rows: pa.Table) -> None:
        with translate_file_errors(self.name, self._faults, self._path):
            self._connection.register("celosia_rows", rows)
            self._connection.execute(f"INSERT INTO {self.qualified_name(table)} SELECT * FROM celosia_rows")
            self._connection.unregister("celosia_rows")

    def begin(self) -> None:
        """Open the transaction; the file admits no other writer."""
        self.run("BEGIN TRANSACTION")


class SQLiteStore(_FileStore):
    """A SQLite file; a writer waits a little for another and then gives up."""

    name, mark = "SQLite", "?"
    kinds = MappingProxyType({"text": "TEXT", "whole": "INTEGER", "number": "REAL"})
    tables_query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    columns_query = "SELECT name, type FROM pragma_table_info(?)"

    def __init__(self, path: Path, read_only: bool):
        import sqlite3

        self._path, self._faults, self._busy = path, (sqlite3.Error,), sqlite3.OperationalError
        mode = "ro" if read_only else "rwc"
        try:
            self._connection = sqlite3.connect(
                sqlite_address(path, mode), uri=True, isolation_level=None, timeout=_BUSY_SECONDS
            )
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as fault:
            raise _opening_error(str(fault), "locked", self.name, path) from None

    def insert(self, table: str, rows: pa.Table) -> None:
        marks = ", ".join("?" * rows.num_columns)
        columns = [column.to_pylist() for column in rows.columns]
        with translate_file_errors(self.name, self._faults, self._path):
            self._connection.executemany(
                f"INSERT INTO {self.qualified_name(table)} VALUES ({marks})", zip(*columns, strict=True)
            )

    def begin(self) -> None:
        """Open the transaction as the one writer."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except self._busy:
            raise TargetBusy(engine=self.name) from None


@contextlib.contextmanager
def translate_file_errors(engine: str, faults: tuple[type[BaseException], ...], path: Path) -> Iterator[None]:
    """Replace the errors of an engine that writes a file by ours; a full disk has its own."""
    try:
        yield
    except faults as fault:
        if means_full_disk(str(fault)) or getattr(fault, "sqlite_errorname", "") in _SQLITE_FULL:
            raise DiskFull(path=str(path.parent)) from None
        raise EngineFault(engine=engine, kind=type(fault).__name__) from None


def _opening_error(words: str, busy: str, engine: str, path: Path) -> EngineUnreachable | TargetBusy | DiskFull:
    if busy in words.lower():
        return TargetBusy(engine=engine)
    return DiskFull(path=str(path.parent)) if means_full_disk(words) else EngineUnreachable(engine=engine)
