"""The databases STATS may live in, behind five operations: run, insert, read, begin and end a transaction.

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

from celosia.data.files import sounds_full
from celosia.errors import DiskFull, EngineFault, EngineUnreachable, FileMissing, TargetBusy
from celosia.stats._addresses import Address

_BUSY_SECONDS = 10
_SQLITE_FULL = ("SQLITE_FULL", "SQLITE_IOERR_WRITE")  # a quota is told as a write that failed
Kinds = Mapping[str, str]  # text, whole, number → the engine's own word


class Store(ABC):
    """A STATS database."""

    name: str
    mark: str  # how the engine writes a parameter
    kinds: Kinds
    prefix = ""  # the schema before a table's name

    @abstractmethod
    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and give its rows."""

    @abstractmethod
    def insert(self, table: str, rows: pa.Table) -> None:
        """Add rows to a table, in their order."""

    @abstractmethod
    def tables(self) -> tuple[str, ...]:
        """The tables of STATS, in order of name."""

    @abstractmethod
    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """Name and engine type of the columns of a table."""

    @abstractmethod
    def begin(self) -> None:
        """Open the transaction and keep other writers out."""

    @abstractmethod
    def commit(self) -> None:
        """Make everything since `begin` visible at once."""

    @abstractmethod
    def rollback(self) -> None:
        """Undo everything since `begin`; says nothing if the connection is gone, for then it is undone anyway."""

    @abstractmethod
    def close(self) -> None:
        """Disconnect."""

    def place(self, table: str) -> str:
        """A table's name as a statement writes it."""
        return self.prefix + quoted(table)


def quoted(name: str) -> str:
    """A name that cannot be anything but a name."""
    return '"' + name.replace('"', '""') + '"'


def store_at(place: Address, schema: str | None, read_only: bool) -> Store:
    """The STATS database at a resolved address."""
    if place.kind == "postgres":
        from celosia.stats._store_postgres import PostgresStore

        return PostgresStore(place.url, schema or "stats", read_only)
    if read_only and not place.path.exists():
        raise FileMissing(path=str(place.path))
    return DuckDBStore(place.path, read_only) if place.kind == "duckdb" else SQLiteStore(place.path, read_only)


class _FileStore(Store):
    """A file written in this process."""

    _connection: Any
    _path: Path
    _faults: tuple[type[BaseException], ...]

    def run(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and give its rows."""
        with guarded_file(self.name, self._faults, self._path):
            return list(self._connection.execute(statement, list(values)).fetchall())

    def commit(self) -> None:
        """Make everything visible at once."""
        self.run("COMMIT")

    def rollback(self) -> None:
        """Undo everything."""
        with contextlib.suppress(*self._faults):
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Disconnect."""
        with contextlib.suppress(*self._faults):
            self._connection.close()


class DuckDBStore(_FileStore):
    """A DuckDB file of which this process is the only writer."""

    name, mark = "DuckDB", "?"
    kinds = MappingProxyType({"text": "VARCHAR", "whole": "BIGINT", "number": "DOUBLE"})

    def __init__(self, path: Path, read_only: bool):
        import duckdb

        self._path, self._faults = path, (duckdb.Error,)
        config: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
        try:
            self._connection = duckdb.connect(str(path), read_only=read_only, config=config)
        except duckdb.IOException as fault:
            raise _unopened(str(fault), "lock", self.name, path) from None
        except duckdb.Error:
            raise EngineUnreachable(engine=self.name) from None

    def insert(self, table: str, rows: pa.Table) -> None:
        """Add rows to a table, in their order."""
        with guarded_file(self.name, self._faults, self._path):
            self._connection.register("celosia_rows", rows)
            self._connection.execute(f"INSERT INTO {self.place(table)} SELECT * FROM celosia_rows")
            self._connection.unregister("celosia_rows")

    def tables(self) -> tuple[str, ...]:
        """The tables of STATS, in order of name."""
        rows = self.run("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' AND NOT temporary")
        return tuple(sorted(str(row[0]) for row in rows))

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """Name and engine type of the columns of a table."""
        where = "WHERE schema_name = 'main' AND table_name = ? ORDER BY column_index"
        return tuple(
            (str(a), str(b))
            for a, b in self.run(f"SELECT column_name, data_type FROM duckdb_columns() {where}", [table])
        )

    def begin(self) -> None:
        """Open the transaction; the file admits no other writer."""
        self.run("BEGIN TRANSACTION")


class SQLiteStore(_FileStore):
    """A SQLite file; a writer waits a little for another and then says so."""

    name, mark = "SQLite", "?"
    kinds = MappingProxyType({"text": "TEXT", "whole": "INTEGER", "number": "REAL"})

    def __init__(self, path: Path, read_only: bool):
        import sqlite3

        self._path, self._faults, self._busy = path, (sqlite3.Error,), sqlite3.OperationalError
        mode = "ro" if read_only else "rwc"
        try:
            self._connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=_BUSY_SECONDS
            )
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as fault:
            raise _unopened(str(fault), "locked", self.name, path) from None

    def insert(self, table: str, rows: pa.Table) -> None:
        """Add rows to a table, in their order."""
        marks = ", ".join("?" * rows.num_columns)
        columns = [column.to_pylist() for column in rows.columns]
        with guarded_file(self.name, self._faults, self._path):
            self._connection.executemany(
                f"INSERT INTO {self.place(table)} VALUES ({marks})", zip(*columns, strict=True)
            )

    def tables(self) -> tuple[str, ...]:
        """The tables of STATS, in order of name."""
        rows = self.run("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        return tuple(sorted(str(row[0]) for row in rows))

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """Name and engine type of the columns of a table."""
        return tuple((str(row[1]), str(row[2])) for row in self.run(f"PRAGMA table_info({quoted(table)})"))

    def begin(self) -> None:
        """Open the transaction as the one writer."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except self._busy:
            raise TargetBusy(engine=self.name) from None


@contextlib.contextmanager
def guarded_file(engine: str, faults: tuple[type[BaseException], ...], path: Path) -> Iterator[None]:
    """Replace the words of an engine that writes a file; a full disk says so."""
    try:
        yield
    except faults as fault:
        if sounds_full(str(fault)) or getattr(fault, "sqlite_errorname", "") in _SQLITE_FULL:
            raise DiskFull(path=str(path.parent)) from None
        raise EngineFault(engine=engine, kind=type(fault).__name__) from None


def _unopened(words: str, busy: str, engine: str, path: Path) -> EngineUnreachable | TargetBusy | DiskFull:
    if busy in words.lower():
        return TargetBusy(engine=engine)
    return DiskFull(path=str(path.parent)) if sounds_full(words) else EngineUnreachable(engine=engine)
