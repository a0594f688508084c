"""Spark: one session, local or on a cluster, quiet and private.

Knows PySpark and SQL text made by Ibis. Ignores what the columns mean. Everything the Java side says goes to
a file in the private folder, since Spark's log quotes cells; no web page, no event log (DESIGN §4, rule 9).
The session belongs to the process: while one is open, a second engine shares it.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa

from celosia.data.engines._base import Expression, arrow_schema, guarded, silence, unbound
from celosia.errors import CelosiaError, EngineUnreachable, JavaMissing, MissingExtra

try:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.rdd import RDD
    from pyspark.serializers import NoOpSerializer
    from pyspark.sql import SparkSession
except ImportError:
    raise MissingExtra(feature="Spark", extra="spark") from None

_FAULTS = (PySparkException, Py4JError, ConnectionError, EOFError)
_LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "py4j", "pyspark")


class SparkEngine:
    """A Spark session whose log, spill files and warehouse live in a private folder and go with it."""

    name = "Spark"

    def __init__(self, master: str = "local[*]", private: Path | None = None, memory: str = "2g"):
        silence(*_LOGGERS)
        self._folder = Path(tempfile.mkdtemp(prefix="celosia-spark-", dir=private))  # mode 0700
        self._owns_session = SparkContext._active_spark_context is None
        try:
            self.session = _opened(master, self._folder, memory)
        except CelosiaError:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self._numbers = itertools.count()
        self._prefix = f"celosia_{os.path.basename(self._folder)[-8:]}".lower().replace("-", "_")

    def parquet(self, path: Path) -> Expression:
        """The working copy as a table."""
        name = self._fresh_name()
        with guarded(self.name, _FAULTS):
            frame = self.session.read.parquet(str(path))
            frame.createOrReplaceTempView(name)
        kinds = {"string": pa.string()}
        return unbound([(column, kinds.get(kind, pa.int64())) for column, kind in frame.dtypes], name)

    def upload(self, table: pa.Table) -> Expression:
        """A private temporary table holding these rows."""
        name = self._fresh_name()
        plain = table.cast(pa.schema([(f.name, _plain_type(f.type)) for f in table.schema]))
        with guarded(self.name, _FAULTS):
            self.session.createDataFrame(plain).createOrReplaceTempView(name)
        return unbound([(field.name, field.type) for field in plain.schema], name)

    def fetch(self, expression: Expression) -> pa.Table:
        """The whole result, as Arrow."""
        with guarded(self.name, _FAULTS):
            result = self._query(expression).toArrow()
        return result.cast(arrow_schema(expression))

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The result in batches, in the order of the expression; one partition in memory at a time."""
        schema = arrow_schema(expression)
        with guarded(self.name, _FAULTS):
            for message in _arrow_messages(self._query(expression)):
                batch = pa.ipc.read_record_batch(pa.py_buffer(message), schema)
                for start in range(0, batch.num_rows, batch_rows):
                    yield batch.slice(start, batch_rows)

    def forget(self, uploaded: Expression) -> None:
        """Drop an uploaded table that nothing needs any more."""
        with guarded(self.name, _FAULTS):
            self.session.catalog.dropTempView(uploaded.get_name())

    def close(self) -> None:
        """Stop the session that this engine started, and remove its files."""
        if self._owns_session:
            _stop(self.session)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _query(self, expression: Expression) -> Any:
        return self.session.sql(str(ibis.to_sql(expression, dialect="pyspark")))

    def _fresh_name(self) -> str:
        return f"{self._prefix}_{next(self._numbers)}"


def _opened(master: str, folder: Path, memory: str) -> SparkSession:
    """The session of the process, started when there is none."""
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise JavaMissing()
    conf = _configuration(master, folder, memory)
    try:
        if SparkContext._gateway is None:
            _launch(conf, folder, master)
        return SparkSession.builder.config(conf=conf).getOrCreate()
    except (*_FAULTS, OSError):
        raise EngineUnreachable(engine=SparkEngine.name) from None


def _configuration(master: str, folder: Path, memory: str) -> SparkConf:
    settings = {
        "spark.master": master,
        "spark.app.name": "celosia",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": memory,
        "spark.driver.maxResultSize": "0",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    if master.startswith("local"):
        # On a cluster the executors must reach the driver; alone, nobody else may.
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        settings |= {"spark.sql.shuffle.partitions": str(os.cpu_count() or 2)}
    return SparkConf(loadDefaults=False).setAll(list(settings.items()))


def _launch(conf: SparkConf, folder: Path, master: str) -> None:
    """Start Java with its words going to a private file instead of our own terminal."""
    with open(folder / "spark.log", "ab") as log, _loopback(master):
        gateway = launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log})
    SparkContext._ensure_initialized(gateway=gateway, conf=conf)


@contextlib.contextmanager
def _loopback(master: str) -> Iterator[None]:
    before = os.environ.get("SPARK_LOCAL_IP")
    if master.startswith("local"):
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    try:
        yield
    finally:
        os.environ.pop("SPARK_LOCAL_IP", None)
        if before is not None:
            os.environ["SPARK_LOCAL_IP"] = before


def _stop(session: SparkSession) -> None:
    """Stop the session and end the Java process behind it."""
    gateway = SparkContext._gateway
    with contextlib.suppress(*_FAULTS):
        session.stop()
    SparkContext._gateway, SparkContext._jvm = None, None
    if gateway is None:
        return
    with contextlib.suppress(*_FAULTS):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # Java ends when this pipe does
        process.wait(timeout=30)


def _arrow_messages(frame: Any) -> Iterator[bytes]:
    """The frame's Arrow record batches, partition after partition."""
    context = frame.sparkSession.sparkContext
    batches = frame._jdf.toArrowBatchRdd(frame._jdf.queryExecution().executedPlan()).toJavaRDD()
    yield from RDD(batches, context, NoOpSerializer()).toLocalIterator()


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return pa.int64() if pa.types.is_integer(kind) else pa.string()
