"""DuckDB: in-process, parallel, spilling to a private folder. The default engine.

Extensions are not in the wheel and must never be fetched: autoinstall and autoload are off (DESIGN §4, rule 2).
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb
import ibis
import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines.base import (
    RANK,
    Expression,
    arrow_schema,
    digest_sum_query,
    integer_sums,
    table_expression,
    translate_engine_errors,
)
from celosia.data.engines.compile import compile_sql
from celosia.data.engines.memory import usable_memory
from celosia.storage import (
    PRIVATE_FILE,
    SPILL_PREFIX,
    part_files,
    private_tempdir,
    remove_folder,
    set_mode,
    translate_write_errors,
)

_FAULTS = (duckdb.Error,)


class DuckDBEngine:
    """An in-memory DuckDB whose spill files live in a private folder and go with it."""

    name = "DuckDB"
    reads_files = True
    in_process = True

    def __init__(
        self,
        spill: Path | None = None,
        memory_limit: str | None = None,
        threads: int | None = None,
        memory: int | None = None,
        on_disk: bool = True,
    ):
        """`on_disk=False` writes nothing anywhere: what does not fit in memory is refused."""
        self.memory = memory or usable_memory()
        self._spill = private_tempdir(spill or Path(tempfile.gettempdir()), SPILL_PREFIX) if on_disk else None
        config: dict[str, str | int] = {
            "temp_directory": str(self._spill or ""),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            # It tells files apart by path, size and time: one written anew under the same name was read as the old one.
            "enable_external_file_cache": "false",
        }
        self._limit = memory_limit or f"{self.memory // 2 // 10**6}MB"
        config["memory_limit"] = self._limit
        if threads:
            config["threads"] = threads
        with translate_engine_errors(self.name, _FAULTS, str(self._spill or "")):
            self.connection = duckdb.connect(":memory:", config=config)
        self._numbers = itertools.count()
        self._views: set[str] = set()

    def parquet(self, path: Path) -> Expression:
        """The working copy as a table: a file, or a folder of parts."""
        return self._view(f"FROM read_parquet({_sql_path_list(path)})")

    def numbered_parquet(self, path: Path, column: str) -> Expression:
        """The working copy with one column more, the position of each row in it; unread, it costs nothing."""
        rows = f"FROM read_parquet({_sql_path_list(path)}, file_row_number=true"
        if not path.is_dir():
            return self._view(f"SELECT * EXCLUDE (file_row_number), file_row_number AS {column} {rows})")
        offsets = ", ".join(f"({_sql_string(part)}, {start})" for part, start in _parts_with_offset(path))
        columns = f"SELECT rows.* EXCLUDE (file_row_number, filename), file_row_number + before.start AS {column}"
        joined = f"JOIN (VALUES {offsets}) AS before(filename, start) ON rows.filename = before.filename"
        return self._view(f"{columns} FROM ({rows}, filename=true)) AS rows {joined}")

    def digest(self, text: Expression) -> Expression:
        """The SHA-256 of a text."""
        return _sha256(text)

    def digest_sums(self, lines: Expression) -> tuple[int, ...]:
        """Rows, and the sums of the pieces of their SHA-256."""
        hashed = f"SELECT sha256(line) AS h FROM ({_query(lines)}) AS lines"
        piece = "CAST('0x' || substr(h, {start}, 8) AS BIGINT)"
        with translate_engine_errors(self.name, _FAULTS, str(self._spill or "")):
            row = self.connection.execute(digest_sum_query(hashed, piece, "CAST(sum({piece}) AS VARCHAR)")).fetchone()
        return integer_sums(row or ())

    def _view(self, query: str) -> Expression:
        name = self._fresh_name()
        with translate_engine_errors(self.name, _FAULTS):
            # A plain view in the private in-memory database: a temporary one is unknown to other cursors.
            self.connection.execute(f"CREATE VIEW {name} AS {query}")
            schema = self.connection.execute(f"FROM {name} LIMIT 0").to_arrow_table().schema
        self._views.add(name)
        return table_expression([(field.name, field.type) for field in schema], name)

    def upload(self, table: pa.Table) -> Expression:
        """A private temporary table holding these rows."""
        name = self._fresh_name()
        with translate_engine_errors(self.name, _FAULTS, str(self._spill or "")):
            self.connection.register(f"{name}_arrow", table)
            self.connection.execute(f"CREATE TABLE {name} AS FROM {name}_arrow")
            self.connection.unregister(f"{name}_arrow")
        return table_expression([(field.name, field.type) for field in table.schema], name)

    def keep(self, expression: Expression, folder: Path | None = None) -> Expression:
        """The rows of an expression, kept in a private Parquet file or a table that may spill."""
        if folder is None or self._spill is None:
            return self._table(expression)
        return self.parquet(self._copy_to_parquet(expression, folder))

    def keep_ranked(self, expression: Expression, order: Sequence[str], folder: Path | None = None) -> Expression:
        """The rows in a private Parquet file in this order, so that the row of the file is the rank: no window."""
        if folder and self._spill is not None:
            return self.numbered_parquet(self._copy_to_parquet(expression.order_by(list(order)), folder), RANK)
        return self._table(expression.mutate(**{RANK: ibis.row_number().over(order_by=list(order))}))

    def _table(self, expression: Expression) -> Expression:
        name = self._fresh_name()
        with translate_engine_errors(self.name, _FAULTS, str(self._spill or "")):
            self.connection.execute(f"CREATE TABLE {name} AS {_query(expression)}")
        return table_expression([(field.name, field.type) for field in arrow_schema(expression)], name)

    def _copy_to_parquet(self, expression: Expression, folder: Path) -> Path:
        path = folder / f"{self._fresh_name()}.parquet"
        with translate_engine_errors(self.name, _FAULTS, str(folder)):
            self.connection.execute(f"COPY ({_query(expression)}) TO {_sql_string(path)} (FORMAT parquet)")
        with translate_write_errors(folder):
            set_mode(path, PRIVATE_FILE)
        return path

    def fetch(self, expression: Expression) -> pa.Table:
        """The whole result, as Arrow."""
        query = _query(expression)
        with translate_engine_errors(self.name, _FAULTS, str(self._spill or "")):
            result = self.connection.execute(query).to_arrow_table()
        return result.cast(arrow_schema(expression))

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The result in batches, in the order of the expression."""
        query = _query(expression)
        with translate_engine_errors(self.name, _FAULTS, str(self._spill or "")):
            # A cursor of its own, so that a batch being read does not end when another query starts.
            reader = self.connection.cursor().execute(query).to_arrow_reader(batch_rows)
            yield from reader

    def forget(self, uploaded: Expression) -> None:
        """Drop an uploaded table that nothing needs any more."""
        with translate_engine_errors(self.name, _FAULTS):
            kind = "VIEW" if uploaded.get_name() in self._views else "TABLE"
            self.connection.execute(f"DROP {kind} IF EXISTS {uploaded.get_name()}")
        self.release_memory()

    def release_memory(self) -> None:
        """Give back to the system what no query needs now: others are about to work in this process."""
        with translate_engine_errors(self.name, _FAULTS):
            # DuckDB keeps what it once took until the limit is set, be it to what it was.
            self.connection.execute(f"SET memory_limit = '{self._limit}'")

    def close(self) -> None:
        """Close the database and remove its spill files."""
        self.connection.close()
        if self._spill is not None:
            remove_folder(self._spill)

    def _fresh_name(self) -> str:
        return f"celosia_{next(self._numbers)}"


def _query(expression: Expression) -> str:
    """The expression as SQL: Ibis only compiles, so that its own DuckDB backend (and pandas) stay unloaded."""
    return compile_sql(expression, "duckdb")


@ibis.udf.scalar.builtin(name="sha256")
def _sha256(text: str) -> str:  # type: ignore[empty-body]
    """DuckDB's own."""


def _sql_string(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _sql_path_list(path: Path) -> str:
    return "[" + ", ".join(_sql_string(part) for part in part_files(path)) + "]"


def _parts_with_offset(path: Path) -> list[tuple[Path, int]]:
    """The parts of a folder, each with the rows that stand before it."""
    parts = part_files(path)
    sizes = [int(pq.read_metadata(part).num_rows) for part in parts]
    return list(zip(parts, itertools.accumulate([0, *sizes[:-1]]), strict=True))
