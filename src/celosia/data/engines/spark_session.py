"""Opening and ending the one Spark session of a process, alone or on a cluster.

Knows PySpark, Java and what a cluster must offer: the same Python packages and a shared disk. Ignores tables.
Everything the Java side says goes to a file in the private folder, since Spark's log quotes cells; executors keep
silent too; no web page, no event log (DESIGN §4, rule 9).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from celosia.data.errors import EngineBusy, EngineUnreachable, JavaMissing, NoExecutor, SparkNotStarted
from celosia.model.errors import MissingExtra

try:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession
except ImportError:
    raise MissingExtra(feature="Spark", extra="spark") from None

NAME = "Spark"
FAULTS = (PySparkException, Py4JError, ConnectionError, EOFError)
_LOOPBACK = re.compile(r"local(\[|$)|spark://(127\.\d+\.\d+\.\d+|localhost|\[::1\]):")
_MEGABYTE = 2**20
# Without an appender Spark takes a log for one that nobody configured, and sets its own.
_SILENT = """rootLogger.level = off
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p%n
"""
_LEAST_HEAP, _MOST_HEAP = 512, 4096  # megabytes of Java's own heap at the driver; Arrow results live outside it
_POLL_SECONDS, _PATIENCE = 3.0, 40  # a cluster that has nobody to work for so many looks is given up


def is_local(master: str) -> bool:
    """Whether the executors are threads of this machine's one Java process."""
    return master.startswith("local")


def open_session(master: str, folder: Path, memory: int) -> SparkSession:
    """The session of the process, started when there is none; one on another master is not taken instead."""
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise JavaMissing()
    active = SparkContext._active_spark_context
    if active is not None and active.master != master and not (is_local(active.master) and is_local(master)):
        raise EngineBusy(engine=NAME)
    conf = _configuration(master, folder, memory)
    try:
        with _environment(master):
            if SparkContext._gateway is None:
                # Start Java with its words going to a private file instead of our own terminal.
                with open(folder / "spark.log", "ab") as log:
                    gateway = launch_gateway(conf, popen_kwargs={"stdout": log, "stderr": log})
                SparkContext._ensure_initialized(gateway=gateway, conf=conf)
            session = SparkSession.builder.config(conf=conf).getOrCreate()
        if active is None:
            session.sparkContext.setLogLevel("OFF")  # executors follow only what is said, not what is configured
    except (*FAULTS, OSError):
        raise (SparkNotStarted() if is_local(master) else EngineUnreachable(engine=NAME)) from None
    if active is None and not is_local(master):
        _await_executor(session)
    return session


def stop_session(session: SparkSession) -> None:
    """Stop the session and end the Java process behind it."""
    gateway = SparkContext._gateway
    with contextlib.suppress(*FAULTS):
        session.stop()
    SparkContext._gateway, SparkContext._jvm = None, None
    if gateway is None:
        return
    with contextlib.suppress(*FAULTS):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        process.stdin.close()  # Java ends when this pipe does
        process.wait(timeout=30)


def fit_shuffles(session: SparkSession) -> None:
    """Size the shuffles to the processors there are now: executors come and go. No result depends on it."""
    if not is_local(session.sparkContext.master):
        session.conf.set("spark.sql.shuffle.partitions", str(2 * session.sparkContext.defaultParallelism))


def _configuration(master: str, folder: Path, memory: int) -> SparkConf:
    heap = max(_LEAST_HEAP, min(memory // _MEGABYTE, _MOST_HEAP))
    settings = {
        "spark.master": master,
        "spark.app.name": "celosia",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "false",
        # A failed task's message quotes the cells it failed on: nothing is written, here or by the executors.
        "spark.log.level": "OFF",
        "spark.executor.syncLogLevel.enabled": "true",
        "spark.local.dir": str(folder),  # executors of a cluster use the folder their worker was given
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": f"{heap}m",
        "spark.driver.maxResultSize": "0",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
        "spark.shuffle.io.retryWait": "1s",  # a lost worker's files are made again, not waited for
        "spark.rpc.askTimeout": "60s",
        "spark.pyspark.python": executor_python(),
    }
    if not os.environ.get("SPARK_CONF_DIR"):  # otherwise the administrator says which catalogue there is
        settings["spark.sql.catalogImplementation"] = "in-memory"
    if _LOOPBACK.match(master):
        # Elsewhere the executors must reach the driver; on one machine nobody else may.
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if not is_local(master):
        # An executor that is starting when the level is told misses it: it finds the level on the shared disk.
        silent = folder / "silent.properties"
        silent.write_text(_SILENT, "ascii", newline="\n")
        settings["spark.executor.extraJavaOptions"] = f"-Dlog4j2.configurationFile={silent.resolve().as_uri()}"
    if is_local(master):
        settings |= {"spark.sql.shuffle.partitions": str(os.cpu_count() or 2)}
    return SparkConf(loadDefaults=False).setAll(list(settings.items()))


def executor_python() -> str:
    """The Python of the executors: the one that runs here, unless the cluster's administrator names another."""
    return os.environ.get("PYSPARK_PYTHON") or sys.executable


@contextlib.contextmanager
def _environment(master: str) -> Iterator[None]:
    """What PySpark asks the environment for while it starts; the environment stays as it was."""
    variables = {"PYSPARK_PYTHON": executor_python()}
    if _LOOPBACK.match(master):
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        _restore(before)


def _restore(before: Mapping[str, str | None]) -> None:
    for name, value in before.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value


def _await_executor(session: SparkSession) -> None:
    """Wait until somebody is there to work."""
    watch = threading.Thread(
        target=_cancel_when_idle, args=(session.sparkContext,), daemon=True, name="celosia-spark-watch"
    )
    watch.start()
    try:
        session.range(1).count()
    except FAULTS:
        stop_session(session)
        raise NoExecutor(seconds=int(_POLL_SECONDS * _PATIENCE)) from None


def _cancel_when_idle(context: SparkContext) -> None:
    """Cancel what runs when every executor is gone: by itself a standalone cluster would let it wait for ever."""
    idle = 0
    with contextlib.suppress(*FAULTS, AttributeError):  # the session ended
        while context._jsc is not None:
            tracker = context._jsc.sc().statusTracker()
            alone = len(tracker.getExecutorInfos()) <= 1  # the driver counts itself
            idle = idle + 1 if alone and len(tracker.getActiveJobIds()) else 0
            if idle >= _PATIENCE:
                context.cancelAllJobs()
                idle = 0
            time.sleep(_POLL_SECONDS)
