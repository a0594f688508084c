"""A table of a SQLite file, opened for reading only, by the standard library.

Knows that in SQLite each cell has its own type. Ignores queries: a table or view is chosen by name.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from celosia.data.readers._arrow import from_rows, write_texts
from celosia.data.readers._canonical import refused
from celosia.data.readers._names import kept_positions, settled
from celosia.data.readers._scalars import cell_text
from celosia.data.readers._stream import Progress
from celosia.data.readers._tables import chosen_table, quoted_name
from celosia.data.readers._working import Draft
from celosia.errors import DamagedFile
from celosia.model.sources import ReadingChoices

_BATCH = 50_000
_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY 1"


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> Draft:
    """Reads a table of a SQLite file into a working copy."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            known = [row[0] for row in connection.execute(_TABLES)]
            choices = chosen_table(path.name, known, choices)
            return _read_table(connection, choices, draft, path.name)
    except (sqlite3.Error, UnicodeDecodeError):
        raise DamagedFile(path=str(path), format="SQLite") from None


def _read_table(connection: sqlite3.Connection, choices: ReadingChoices, draft: Path, place: str) -> Draft:
    table = quoted_name(choices.sheet)
    raw = [column[0] for column in connection.execute(f"SELECT * FROM {table} LIMIT 0").description]
    names, notices = settled(raw, choices)
    kept = kept_positions(names, choices.dropped)
    names = tuple(names[i] for i in kept)
    columns = ", ".join(quoted_name(raw[i]) for i in kept)
    cursor = connection.execute(f"SELECT {columns} FROM {table}")
    noted = replace(choices, notes=choices.notes + notices)
    return write_texts(names, _batches(cursor, names), noted, draft, place=place)


def _batches(cursor: sqlite3.Cursor, names: Sequence[str]) -> Iterator[list[pa.Array]]:
    while rows := cursor.fetchmany(_BATCH):
        for position, name in enumerate(names):
            if any(isinstance(row[position], bytes) for row in rows):
                raise refused(name, "binary")
        yield from_rows([[cell_text(cell) for cell in row] for row in rows], len(names))
