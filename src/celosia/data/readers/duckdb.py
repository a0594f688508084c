"""A table of a DuckDB file, opened for reading only.

Knows DuckDB's catalogue. Ignores queries: a table or view is chosen by name.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from celosia.data.readers._arrow import stopping_faults, write_stream
from celosia.data.readers._head import Head, head_of_batches
from celosia.data.readers._stream import Progress
from celosia.data.readers._tables import chosen_table, shown_tables
from celosia.data.readers._working import Draft
from celosia.errors import DamagedFile
from celosia.model.sources import ReadingChoices

_BATCH = 65_536
_CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_TABLES = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2"


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> Draft:
    """Reads a table of a DuckDB file into a working copy."""
    config = _CONFIG | {"temp_directory": str(draft.parent / "spill")}
    damaged = DamagedFile(path=str(path), format="DuckDB")
    try:
        with duckdb.connect(str(path), read_only=True, config=config) as connection:
            known = _known(connection)
            choices = chosen_table(path.name, list(known), choices)
            reader = connection.execute(f"SELECT * FROM {known[choices.sheet]}").to_arrow_reader(_BATCH)
            batches = stopping_faults(reader, (duckdb.Error, pa.ArrowException, OSError), damaged)
            return write_stream(reader.schema, batches, choices, draft)
    except duckdb.Error:
        raise damaged from None


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a table of a DuckDB file."""
    damaged = DamagedFile(path=str(path), format="DuckDB")
    try:
        with duckdb.connect(str(path), read_only=True, config=_CONFIG) as connection:
            known = _known(connection)
            choices = chosen_table(path.name, list(known), choices)
            query = f"SELECT * FROM {known[choices.sheet]} LIMIT {rows:d}"
            reader = connection.execute(query).to_arrow_reader(_BATCH)
            batches = stopping_faults(reader, (duckdb.Error, pa.ArrowException, OSError), damaged)
            return head_of_batches(reader.schema, batches, rows, choices, path.name, tables=tuple(known))
    except duckdb.Error:
        raise damaged from None


def tables(path: Path) -> tuple[str, ...]:
    """The tables and views of a DuckDB file."""
    try:
        with duckdb.connect(str(path), read_only=True, config=_CONFIG) as connection:
            return tuple(_known(connection))
    except duckdb.Error:
        raise DamagedFile(path=str(path), format="DuckDB") from None


def _known(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return shown_tables(connection.execute(_TABLES).fetchall(), plain="main")
