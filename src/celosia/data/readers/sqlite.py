"""A table of a SQLite file, opened for reading only, by the standard library.

Knows that in SQLite each cell has its own type. Ignores queries: a table or view is chosen by name. A view may compute
without end: whoever waits for its first rows is told so after a while, and whoever reads it all can interrupt it.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pyarrow as pa

from celosia.data.errors import DamagedFile, SourceTooSlow
from celosia.data.limits import LONGEST_ROW, PATIENCE
from celosia.data.readers.arrow import columns_of_rows, write_texts
from celosia.data.readers.canonical import cell_text, unsupported_column
from celosia.data.readers.head import Head, head_of_texts
from celosia.data.readers.names import choose_table, quote_name, select_columns
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft
from celosia.model.sources import ReadingChoices
from celosia.storage import sqlite_address

_BATCH = 50_000
_STEPS = 100_000  # of SQLite's machine between two looks at the clock
_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads a table of a SQLite file into a working copy."""
    with _open_file(path) as connection:
        choices = choose_table(path.name, _table_names(connection), choices)
        return _read_table(connection, choices, draft, path.name)


@contextmanager
def _open_file(path: Path, patience: float = math.inf) -> Iterator[sqlite3.Connection]:
    until = time.monotonic() + patience
    try:
        with closing(sqlite3.connect(sqlite_address(path, "ro"), uri=True)) as connection:
            # Called also where there is no hurry: only here does Python notice that somebody interrupts.
            connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_ROW)
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as fault:
        if getattr(fault, "sqlite_errorcode", None) != sqlite3.SQLITE_INTERRUPT:
            raise DamagedFile(path=str(path), format="SQLite") from None
        if time.monotonic() > until:
            raise SourceTooSlow(path=str(path), seconds=round(patience)) from None
        raise KeyboardInterrupt from None


def _table_names(connection: sqlite3.Connection) -> list[str]:
    return [row[0] for row in connection.execute(_TABLES)]


def _read_table(connection: sqlite3.Connection, choices: ReadingChoices, draft: Path, source_name: str) -> WorkingDraft:
    table = quote_name(choices.sheet)
    raw = [column[0] for column in connection.execute(f"SELECT * FROM {table} LIMIT 0").description]
    selected = select_columns(raw, choices)
    columns = ", ".join(quote_name(raw[i]) for i in selected.positions)
    cursor = connection.execute(f"SELECT {columns} FROM {table}")
    texts = _batches(cursor, selected.names)
    return write_texts(selected.names, texts, selected.choices, draft, source_name=source_name)


def _batches(cursor: sqlite3.Cursor, names: Sequence[str]) -> Iterator[list[pa.Array]]:
    while rows := cursor.fetchmany(_BATCH):
        for position, name in enumerate(names):
            if any(isinstance(row[position], bytes) for row in rows):
                raise unsupported_column(name, "binary")
        yield columns_of_rows([[cell_text(cell) for cell in row] for row in rows], len(names))


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a table of a SQLite file."""
    with _open_file(path, PATIENCE) as connection:
        known = _table_names(connection)
        choices = choose_table(path.name, known, choices)
        cursor = connection.execute(f"SELECT * FROM {quote_name(choices.sheet)} LIMIT {rows:d}")
        raw = [column[0] for column in cursor.description]
        records = cursor.fetchall()
        binary = ["binary" if any(isinstance(row[i], bytes) for row in records) else "" for i in range(len(raw))]
        cells = [[None if isinstance(cell, bytes) else cell_text(cell) for cell in row] for row in records]
        return head_of_texts(raw, cells, choices, path.name, binary, tables=tuple(known))


def tables(path: Path) -> tuple[str, ...]:
    """The tables and views of a SQLite file."""
    with _open_file(path, PATIENCE) as connection:
        return tuple(_table_names(connection))
