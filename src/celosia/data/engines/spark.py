"""Spark: one session, local or on a cluster, quiet and private.

Knows PySpark and SQL text made by Ibis. Ignores what the columns mean. On a cluster the executors need the same
celosia as the driver and a disk that both see under the same path: they write and read the rows, the driver only
gets tuple tables. The session belongs to the process: while one is open, a second engine shares it.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines import spark_parts as parts
from celosia.data.engines import spark_session as sessions
from celosia.data.engines import spark_tasks as tasks
from celosia.data.engines.base import (
    RANK,
    Expression,
    RowWatcher,
    arrow_schema,
    digest_sum_query,
    integer_sums,
    silence,
    table_expression,
    translate_engine_errors,
)
from celosia.data.engines.compile import compile_sql
from celosia.data.engines.memory import usable_memory
from celosia.data.errors import ExecutorsDiffer, ExecutorsLackCelosia, NoSharedFolder, UnknownTable
from celosia.model.paths import DATA, ORDER
from celosia.model.sources import Ingested
from celosia.storage import SPILL_PREFIX, part_files, private_tempdir, translate_write_errors

# PySpark is there once `_spark_session` is.
from pyspark.rdd import RDD  # isort: skip
from pyspark.serializers import NoOpSerializer  # isort: skip
from pyspark.sql import functions as functions  # isort: skip

_MOST_SENT = 100_000  # rows that go through the driver's Java; more are read from the shared disk
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j", "pyspark")


class SparkEngine:
    """A Spark session whose log, spill files and warehouse live in a private folder and go with it."""

    name = sessions.NAME
    reads_files = True
    in_process = False

    def __init__(self, master: str = "local[*]", private: Path | None = None, memory: int | None = None):
        silence(*_LOGGERS)
        self.memory = memory or usable_memory()
        self.traces = sessions.is_local(master)  # of a cluster, no row of the source comes here to be shown
        self._folder = private_tempdir(private or Path(tempfile.gettempdir()), SPILL_PREFIX)
        self._owns_session = sessions.SparkContext._active_spark_context is None
        self._numbers = itertools.count()
        self._kept_folders: dict[str, Path] = {}  # the folder behind a kept table
        self._prefix = f"celosia_{self._folder.name[-8:]}".lower().replace("-", "_")
        with contextlib.ExitStack() as on_error:
            on_error.callback(self.close)
            self.session = sessions.open_session(master, self._folder, self.memory)
            if self._owns_session and not sessions.is_local(master):
                self._refuse_strangers()
            on_error.pop_all()

    def parquet(self, path: Path) -> Expression:
        """The working copy, a file or a folder of parts, as a table."""
        with translate_engine_errors(self.name, sessions.FAULTS):
            return self._view(self.session.read.parquet(str(path)))

    def numbered_parquet(self, path: Path, column: str) -> Expression:
        """The working copy with one column more, the position of each row in the source."""
        with translate_engine_errors(self.name, sessions.FAULTS):
            frame = self.session.read.parquet(str(path))
            position = functions.col("_metadata.row_index")
            if path.is_dir():
                position = position + functions.element_at(_offsets(path), functions.col("_metadata.file_name"))
            return self._view(frame.select("*", position.cast("bigint").alias(column)))

    def upload(self, table: pa.Table) -> Expression:
        """A private temporary table holding these rows."""
        plain = table.cast(pa.schema([(f.name, _plain_type(f.type)) for f in table.schema]))
        with translate_engine_errors(self.name, sessions.FAULTS):
            if table.num_rows <= _MOST_SENT:
                return self._view(self.session.createDataFrame(plain))
            path = self._folder / f"{self._fresh_name()}.parquet"
            with translate_write_errors(self._folder):
                pq.write_table(plain, path)
            return self._view(self.session.read.parquet(str(path)))

    def keep(self, expression: Expression, folder: Path | None = None) -> Expression:
        """The rows of an expression, written by the executors as parts of a private Parquet folder."""
        path = self._write_parquet(expression, folder or self._folder)
        return self._remember_folder(self.parquet(path), path)

    def keep_ranked(self, expression: Expression, order: Sequence[str], folder: Path | None = None) -> Expression:
        """The rows sorted into parts; a rank is the place in a part and the rows before it: no partition holds all."""
        path = self._write_parquet(expression.order_by(list(order)), folder or self._folder)
        return self._remember_folder(self.numbered_parquet(path, RANK), path)

    def _remember_folder(self, view: Expression, path: Path) -> Expression:
        self._kept_folders[view.get_name()] = path
        return view

    def _write_parquet(self, expression: Expression, folder: Path) -> Path:
        path = folder / f"{self._fresh_name()}.parquet"
        with translate_engine_errors(self.name, sessions.FAULTS, str(folder)):
            self._query(expression).write.parquet(str(path))
        return path

    def fetch(self, expression: Expression) -> pa.Table:
        """The whole result, as Arrow."""
        with translate_engine_errors(self.name, sessions.FAULTS):
            result = self._query(expression).toArrow()
        return result.cast(arrow_schema(expression))

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The result in batches, in the order of the expression; one partition in memory at a time."""
        schema = arrow_schema(expression)
        with translate_engine_errors(self.name, sessions.FAULTS):
            for message in _arrow_messages(self._query(expression)):
                batch = pa.ipc.read_record_batch(pa.py_buffer(message), schema)
                for start in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(start, batch_rows)

    def digest(self, text: Expression) -> Expression:
        """The SHA-256 of a text."""
        return _sha256(text, 256)

    def digest_sums(self, lines: Expression) -> tuple[int, ...]:
        """Rows, and the sums of the pieces of their SHA-256."""
        hashed = f"SELECT sha2(line, 256) AS h FROM ({_sql(lines)}) AS lines"
        piece = "CAST(conv(substr(h, {start}, 8), 16, 10) AS BIGINT)"
        with translate_engine_errors(self.name, sessions.FAULTS):
            row = self.session.sql(digest_sum_query(hashed, piece, "CAST(sum({piece}) AS STRING)")).collect()[0]
        return integer_sums(row)

    def each(self, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """What a function of ours gives for each item, worked out by the executors; its errors are raised here."""
        with translate_engine_errors(self.name, sessions.FAULTS):
            context = self.session.sparkContext
            spread = context.parallelize(list(items), max(len(items), 1)).map(tasks.ReportingTask(task))
            return [outcome.unwrap() for outcome in spread.collect()]

    def write_ordered(
        self, rows: Expression, names: Sequence[str], target: Path, person: bool, watcher: RowWatcher
    ) -> Path | None:
        """Ordered rows written by the executors, put together in `target`: data.csv and the private order.

        After the named columns, `rows` has the person where there is one, and the row of the source where it is known:
        those that `watched` wants to see pass by it.
        """
        folder = private_tempdir(target)
        traced = len(rows.columns) > len(names) + person
        positions = tuple(int(position) for position in watcher.positions) if traced else None
        task = tasks.CsvPart(str(folder), tuple(names), person, positions)
        try:
            written, seen = parts.collect_parts(self._run_task(self._query(rows), task))
            parts.join_csv(written, names, target / DATA)
            order = parts.move_order(written, target / ORDER) if person else None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        collections.deque(watcher.watch(seen) if traced else (), maxlen=0)
        return order

    def read_written(
        self, data: Path, scratch: Path, order: Path | None = None
    ) -> tuple[Expression, tuple[str, ...], int, str] | None:
        """A CSV that executors wrote, read again by executors: table, names, rows, digest.

        With an order, the table has the person in one column more. None where nothing tells the parts of the file.
        """
        slices = parts.slices_of(data, order, scratch / "again.parquet")
        if slices is None:
            return None
        read = parts.read_slices(data, slices, self.each, tasks.read_slice)
        return self.parquet(read.copy), read.names, read.rows, read.digest

    def copy_table(self, name: str, target: Path, dropped: Sequence[str] = ()) -> Ingested:
        """A table of the catalogue as a working copy in parts, written by the executors; a table has no order."""
        with translate_engine_errors(self.name, sessions.FAULTS):
            if not self.session.catalog.tableExists(name):
                raise UnknownTable(table=name)
            frame = self.session.table(name)
        return parts.copy_table_parts(frame, name, target, tuple(dropped), self._run_task)

    def close(self) -> None:
        """Stop the session that this engine started, and remove its files."""
        session = getattr(self, "session", None)
        if self._owns_session and session is not None:
            sessions.stop_session(session)
        shutil.rmtree(self._folder, ignore_errors=True)

    def forget(self, uploaded: Expression) -> None:
        """Drop an uploaded or kept table that nothing needs any more."""
        with translate_engine_errors(self.name, sessions.FAULTS):
            self.session.catalog.dropTempView(uploaded.get_name())
        if behind := self._kept_folders.pop(uploaded.get_name(), None):
            shutil.rmtree(behind, ignore_errors=True)

    def _run_task(self, frame: Any, task: Callable[[Any], Any]) -> pa.Table:
        with translate_engine_errors(self.name, sessions.FAULTS):
            return frame.mapInArrow(task, tasks.REPLY).toArrow()

    def _refuse_strangers(self) -> None:
        """The executors must have this celosia and see this disk: asked once, before anything runs."""
        token = self._folder / "shared", secrets.token_hex(8)
        token[0].write_text(token[1], "utf-8", newline="\n")
        context = self.session.sparkContext
        try:
            items = [(str(token[0]), token[1])] * max(context.defaultParallelism, 1)
            answers = context.parallelize(items, len(items)).map(tasks.check_executor).collect()
        except sessions.FAULTS:
            raise ExecutorsLackCelosia(python=sessions.executor_python()) from None
        other = {version_found for version_found, _ in answers} - {version("celosia")}
        if other:
            raise ExecutorsDiffer(here=version("celosia"), there=", ".join(sorted(other)))
        if not all(seen for _, seen in answers):
            raise NoSharedFolder(path=str(self._folder.parent))

    def _view(self, frame: Any) -> Expression:
        name = self._fresh_name()
        frame.createOrReplaceTempView(name)
        kinds = {"string": pa.string()}
        return table_expression([(column, kinds.get(kind, pa.int64())) for column, kind in frame.dtypes], name)

    def _query(self, expression: Expression) -> Any:
        sessions.fit_shuffles(self.session)
        return self.session.sql(_sql(expression))

    def _fresh_name(self) -> str:
        return f"{self._prefix}_{next(self._numbers)}"


def _sql(expression: Expression) -> str:
    return compile_sql(expression, "pyspark")


@ibis.udf.scalar.builtin(name="sha2")
def _sha256(text: str, bits: int) -> str:  # type: ignore[empty-body]
    """Spark's own."""


def _offsets(folder: Path) -> Any:
    """How many rows stand before each part of a folder, by the part's name."""
    part_paths = part_files(folder)
    before = itertools.accumulate((pq.read_metadata(part).num_rows for part in part_paths), initial=0)
    pairs = [functions.lit(item) for part, rows in zip(part_paths, before, strict=False) for item in (part.name, rows)]
    return functions.create_map(*pairs)


def _arrow_messages(frame: Any) -> Iterator[bytes]:
    """The frame's Arrow record batches, partition after partition."""
    context = frame.sparkSession.sparkContext
    batches = frame._jdf.toArrowBatchRdd(frame._jdf.queryExecution().executedPlan()).toJavaRDD()
    yield from RDD(batches, context, NoOpSerializer()).toLocalIterator()


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_integer(kind) else pa.string()
