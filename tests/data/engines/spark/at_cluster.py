"""What the tests ask of a process of its own, whose one Spark session is on the cluster.

The session of a process has one address, and that of the test session is on this machine.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from celosia.data.engines import spark_session as _spark_session
from celosia.data.engines import spark_tasks as _spark_tasks
from celosia.data.engines.spark import SparkEngine
from celosia.data.readers.ingest import ingest
from celosia.data.table import ORIGIN, Table
from celosia.errors import CelosiaError
from tests.projects.steps import NOW

_OPEN: list[SparkEngine] = []
PLANTED = "Zutanita Quiñimán"


def open_session(address: str, private: Path) -> None:
    """The one session of this process; later engines share it."""
    _spark_session._PATIENCE = 5  # a test does not wait two minutes for a cluster that is gone
    engine = SparkEngine(address, private, memory=2**30)
    # Compiling a query costs seconds and these tables are small: interpret instead.
    engine.session.conf.set("spark.sql.codegen.wholeStage", "false")
    engine.session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    engine.session.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")  # more parts than one
    _OPEN.append(engine)


def close_session() -> str:
    """End the session; the name of the private folder it had."""
    engine = _OPEN.pop()
    engine.close()
    return engine._folder.name


def own_process() -> int:
    """This process."""
    return os.getpid()


def private_names() -> tuple[str, list[str]]:
    """The engine's folder and what is in it."""
    return _OPEN[0]._folder.name, sorted(path.name for path in _OPEN[0]._folder.iterdir())


def made(source: Path, into: Path, address: str) -> tuple[str, int, tuple[str, ...]]:
    """A project made by the executors from a folder of parts: digest, rows and columns."""
    from celosia.pipeline.intake.init_project import init

    project = init(source, into, now=NOW, engine=address).project
    return project.config.source.digest, project.config.source.rows, project.names


def planned_and_run(folder: Path, address: str) -> str:
    """Plan and run a project on the cluster; the code of the error that stopped it, or nothing."""
    from celosia.pipeline.candidate.run import run_plan
    from celosia.pipeline.planning.plan import make_plan

    try:
        make_plan(folder, now=NOW, engine=address)
        run_plan(folder, now=NOW, engine=address)
    except CelosiaError as error:
        return error.code
    return ""


def written(rows: Sequence[Sequence[str]], target: Path, person: bool = True) -> dict[str, Any]:
    """Rows written and read again by the executors; the last column is the person."""
    target.mkdir(mode=0o700)
    names = tuple(f"v{i}" for i in range(len(rows[0])))
    columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
    ingest(pa.table(dict(zip(names, columns, strict=True))), target / "working.parquet")
    engine = _OPEN[0]
    table = Table(engine, engine.numbered_parquet(target / "working.parquet", ORIGIN), names)
    published = names[:-1]
    seen = _Seen()
    along = names[-1:] if person else ()
    order = engine.write_ordered(
        table.ordered_rows(published, along=along, origin=True, salt="s"), published, target, person, seen
    )
    again = engine.read_written(target / "data.csv", target, order)
    assert again is not None
    expression, found, count, digest = again
    back = Table(engine, expression, (*found, *(["person"] if person else [])))
    held = [tuple(row.values()) for batch in back.batches() for row in batch.to_pylist()]
    return {"names": found, "rows": count, "digest": digest, "held": held, "seen": seen.rows}


def changed_meanwhile(target: Path) -> str:
    """The error for a file that changes while the executors read it."""
    from celosia.data.engines import spark_parts as _spark_parts

    def each(task: Any, items: Sequence[Any]) -> list[Any]:
        found = _OPEN[0].each(task, items)
        content = (target / "data.csv").read_bytes()
        (target / "data.csv").write_bytes(content[:-2] + b"Z\n")
        return found

    slices = _spark_parts.slices_of(target / "data.csv", None, target / "again.parquet")
    assert slices is not None
    try:
        _spark_parts.read_slices(target / "data.csv", slices, each, _spark_tasks.read_slice)
    except CelosiaError as error:
        return error.code
    return ""


def told_apart(target: Path) -> bool:
    """Whether a file without its private account of parts is left to the driver."""
    (target / "parts.json").unlink()
    return _OPEN[0].read_written(target / "data.csv", target) is None


def copied(target: Path) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
    """A table of the catalogue, copied by the executors: names, rows in any order, what the copy says of itself."""
    session = _OPEN[0].session
    session.sql(
        "CREATE TABLE personas USING parquet AS SELECT * FROM VALUES "
        "('05302', 1.50D, DATE '2024-03-04', true, NULL), ('ñ', 2.0D, DATE '2024-03-05', false, ' ') "
        "AS t(`Código`, valor, fecha, vigente, nota)"
    )
    try:
        ingested = _OPEN[0].copy_table("personas", target)
        table = Table(_OPEN[0], _OPEN[0].parquet(target), ingested.names)
        rows = sorted(tuple(row.values()) for batch in table.batches() for row in batch.to_pylist())
        return ingested.names, rows, " ".join(notice.text() for notice in ingested.notices)
    finally:
        session.sql("DROP TABLE personas")


def failed_with_a_cell() -> str:
    """What the driver says when a task fails over a cell."""

    def fails(cell: str) -> None:  # a function inside another travels whole: executors know celosia, not its tests
        raise ValueError(f"cannot read {cell}")

    try:
        _OPEN[0].each(fails, [PLANTED])
    except CelosiaError as error:
        return f"{error.code} {error}"
    return ""


def refused_there(missing: Path) -> str:
    """An error of ours raised by a task arrives as itself."""

    def reads_nothing(path: Path) -> None:
        ingest(path, path.with_name("copy.parquet"))

    try:
        _OPEN[0].each(reads_nothing, [missing])
    except CelosiaError as error:
        return error.code
    return ""


def stats_run(home: Path, address: str) -> None:
    """The tables of STATS, counted on the cluster."""
    from celosia.stats.run import run_stats

    os.environ["CELOSIA_SPARK"] = address
    run_stats(home, now=NOW)


class _Seen:
    positions = (0, 2)

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def watch(self, batches: Any) -> Any:
        for batch in batches:
            self.rows += batch.to_pylist()
            yield batch
