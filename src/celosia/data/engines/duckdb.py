"""DuckDB: in-process, parallel, spilling to a private folder. The default engine.

Extensions are not in the wheel and must never be fetched: autoinstall and autoload are off (DESIGN §4, rule 2).
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import duckdb
import ibis
import pyarrow as pa

from celosia.data.engines._base import Expression, arrow_schema, guarded, unbound
from celosia.data.files import SPILL, own_folder

_FAULTS = (duckdb.Error,)


class DuckDBEngine:
    """An in-memory DuckDB whose spill files live in a private folder and go with it."""

    name = "DuckDB"

    def __init__(self, spill: Path | None = None, memory_limit: str | None = None, threads: int | None = None):
        self._spill = own_folder(spill or Path(tempfile.gettempdir()), SPILL)
        config: dict[str, str | int] = {
            "temp_directory": str(self._spill),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
        }
        if memory_limit:
            config["memory_limit"] = memory_limit
        if threads:
            config["threads"] = threads
        with guarded(self.name, _FAULTS, str(self._spill)):
            self.connection = duckdb.connect(":memory:", config=config)
        self._numbers = itertools.count()

    def parquet(self, path: Path) -> Expression:
        """The working copy as a table."""
        return self._view("FROM read_parquet({path})", path)

    def numbered_parquet(self, path: Path, column: str) -> Expression:
        """The working copy with one column more, the position of each row in the file; unread, it costs nothing."""
        rows = "FROM read_parquet({path}, file_row_number=true)"
        return self._view(f"SELECT * EXCLUDE (file_row_number), file_row_number AS {column} {rows}", path)

    def _view(self, query: str, path: Path) -> Expression:
        name = self._fresh_name()
        quoted = str(path).replace("'", "''")
        with guarded(self.name, _FAULTS):
            # A plain view in the private in-memory database: a temporary one is unknown to other cursors.
            self.connection.execute(f"CREATE VIEW {name} AS " + query.replace("{path}", f"'{quoted}'"))
            schema = self.connection.execute(f"FROM {name} LIMIT 0").to_arrow_table().schema
        return unbound([(field.name, field.type) for field in schema], name)

    def upload(self, table: pa.Table) -> Expression:
        """A private temporary table holding these rows."""
        name = self._fresh_name()
        with guarded(self.name, _FAULTS, str(self._spill)):
            self.connection.register(f"{name}_arrow", table)
            self.connection.execute(f"CREATE TABLE {name} AS FROM {name}_arrow")
            self.connection.unregister(f"{name}_arrow")
        return unbound([(field.name, field.type) for field in table.schema], name)

    def fetch(self, expression: Expression) -> pa.Table:
        """The whole result, as Arrow."""
        query = _query(expression)
        with guarded(self.name, _FAULTS, str(self._spill)):
            result = self.connection.execute(query).to_arrow_table()
        return result.cast(arrow_schema(expression))

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The result in batches, in the order of the expression."""
        query = _query(expression)
        with guarded(self.name, _FAULTS, str(self._spill)):
            # A cursor of its own, so that a batch being read does not end when another query starts.
            reader = self.connection.cursor().execute(query).to_arrow_reader(batch_rows)
            yield from reader

    def forget(self, uploaded: Expression) -> None:
        """Drop an uploaded table that nothing needs any more."""
        with guarded(self.name, _FAULTS):
            self.connection.execute(f"DROP TABLE IF EXISTS {uploaded.get_name()}")

    def close(self) -> None:
        """Close the database and remove its spill files."""
        self.connection.close()
        shutil.rmtree(self._spill, ignore_errors=True)

    def _fresh_name(self) -> str:
        return f"celosia_{next(self._numbers)}"


def _query(expression: Expression) -> str:
    """The expression as SQL: Ibis only compiles, so that its own DuckDB backend (and pandas) stay unloaded."""
    return str(ibis.to_sql(expression, dialect="duckdb"))
