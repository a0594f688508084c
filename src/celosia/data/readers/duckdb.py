"""A table of a DuckDB file, opened for reading only.

Knows DuckDB's catalogue. Ignores queries: a table or view is chosen by name. A view may name any file of the computer,
so the session reaches nothing but the file itself. Source: DuckDB, Securing DuckDB (enable_external_access).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import duckdb
import pyarrow as pa

from celosia.data.errors import DamagedFile, ReachesOutside, SourceTooSlow
from celosia.data.limits import PATIENCE
from celosia.data.readers.arrow import translate_stream_faults, write_stream
from celosia.data.readers.head import Head, head_of_batches
from celosia.data.readers.names import choose_table, tables_by_name
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft
from celosia.model.sources import ReadingChoices

_BATCH = 65_536
_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
_FAULTS = (duckdb.Error, pa.ArrowException, OSError)
_TABLES = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY 1, 2"


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads a table of a DuckDB file into a working copy."""
    with _open_file(path, {"temp_directory": str(draft.parent / "spill")}) as connection:
        known = _tables_by_name(connection)
        choices = choose_table(path.name, list(known), choices)
        reader = connection.execute(f"SELECT * FROM {known[choices.sheet]}").to_arrow_reader(_BATCH)
        batches = translate_stream_faults(reader, _FAULTS, _damaged_file(path))
        return write_stream(reader.schema, batches, choices, draft)


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a table of a DuckDB file."""
    with _open_file(path) as connection, _limit_time(connection):
        known = _tables_by_name(connection)
        choices = choose_table(path.name, list(known), choices)
        query = f"SELECT * FROM {known[choices.sheet]} LIMIT {rows:d}"
        # Worked out at once: what is read later, batch by batch, could not tell why it stopped.
        result = connection.execute(query).to_arrow_table()
        batches = result.combine_chunks().to_batches()
        return head_of_batches(result.schema, batches, rows, choices, path.name, tables=tuple(known))


def tables(path: Path) -> tuple[str, ...]:
    """The tables and views of a DuckDB file."""
    with _open_file(path) as connection:
        return tuple(_tables_by_name(connection))


def _damaged_file(path: Path) -> DamagedFile:
    return DamagedFile(path=str(path), format="DuckDB")


@contextmanager
def _open_file(path: Path, config: dict[str, str] | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """The file alone: no other file, no extension, nothing of it changed."""
    try:
        with duckdb.connect(str(path), read_only=True, config={**_CONFIG, **(config or {})}) as connection:
            yield connection
    except duckdb.PermissionException:
        raise ReachesOutside(path=str(path)) from None
    except duckdb.InterruptException:
        raise SourceTooSlow(path=str(path), seconds=PATIENCE) from None
    except duckdb.Error:
        raise _damaged_file(path) from None


@contextmanager
def _limit_time(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Stops what is worked out when somebody has waited too long for it."""
    clock = Timer(PATIENCE, connection.interrupt)
    clock.daemon = True
    clock.start()
    try:
        yield
    finally:
        clock.cancel()


def _tables_by_name(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    return tables_by_name(connection.execute(_TABLES).fetchall(), plain="main")
