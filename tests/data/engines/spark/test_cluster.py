"""The same bytes, verdict and tables from a real cluster as from DuckDB, also when a worker is lost in mid-run."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.readers.ingest import ingest
from celosia.data.table import Table
from celosia.data.writers.csv import write_csv
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.candidate.verifier_check import recheck_candidate, refuse_changed
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.stats.run import run_stats
from tests.data.engines.spark import at_cluster
from tests.folder_listing import paths_under
from tests.pipeline.test_engines import HEADER, described, from_file, outcome, rows
from tests.projects.steps import NOW
from tests.spark_cluster import Cluster, wait_until
from tests.stats.small_stats import HEAD, PERSONS, ROWS, category, everything, people, project, table

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("spark")]
WAIT = 600  # seconds, on a machine busy with other things


class AtCluster:
    """A process whose Spark session is on the cluster."""

    def __init__(self, cluster: Cluster, private: Path):
        self.cluster, self.private = cluster, private
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        self.ask(at_cluster.open_session, cluster.address, private)

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives there."""
        return self.begin(function, *arguments).result(WAIT)

    def begin(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """A function that goes on there while we do something else."""
        return self._pool.submit(function, *arguments)

    def end(self) -> None:
        """Close the session and the process."""
        with contextlib.suppress(Exception):
            self.ask(at_cluster.close_session)
        self._pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module")
def there(spark_cluster: Cluster) -> Iterator[AtCluster]:
    """The process on the cluster."""
    private = Path(tempfile.mkdtemp(prefix="celosia-cluster-test-"))
    process = AtCluster(spark_cluster, private)
    yield process
    process.end()
    shutil.rmtree(private, ignore_errors=True)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The small project on DuckDB."""
    folder = from_file(tmp_path_factory.mktemp("duckdb"))
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    return outcome(folder)


def left_behind(folder: Path) -> list[str]:
    """Temporary things in a project."""
    return [path.name for path in folder.rglob("*") if path.name.startswith((".celosia", "celosia-", "attempt-"))]


def writing(folder: Path) -> bool:
    """Whether an executor began to write its part of a candidate."""
    return any(path.name.startswith("attempt-") for path in paths_under(folder))


# --- opening: first, since an open session takes all the cores there are -------------------------


def test_executors_without_celosia_are_named_before_anything_runs(spark_cluster: Cluster, tmp_path: Path) -> None:
    line = "import sys; from celosia.data.engines.open import open_engine; open_engine(sys.argv[1])"
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')  # a Python without any installed package
    bare.chmod(0o755)
    found = subprocess.run(
        [sys.executable, "-c", line, spark_cluster.address],
        env=os.environ | {"PYSPARK_PYTHON": str(bare)}, capture_output=True, text=True, timeout=WAIT,
    )  # fmt: skip
    assert "no pueden usar celosia" in found.stderr
    assert str(bare) in found.stderr


# --- the walk ------------------------------------------------------------------------------------


def test_the_cluster_publishes_the_bytes_of_duckdb(there: AtCluster, expected: dict[str, Any], tmp_path: Path) -> None:
    folder = from_file(tmp_path)
    assert there.ask(at_cluster.planned_and_run, folder, there.cluster.address) == ""
    assert outcome(folder) == expected
    assert (folder / "private" / "candidate" / "order.parquet").is_dir()
    assert not (folder / "private" / "candidate" / "sample.parquet").exists()  # no row of the source came here
    assert left_behind(folder) == []
    refuse_changed(recheck_candidate(open_project(folder)))  # what a cluster wrote is judged alike by DuckDB


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_executors_read_a_folder_of_parts_as_duckdb_does(there: AtCluster, kind: str, tmp_path: Path) -> None:
    parts = parted(tmp_path / "partes", kind)
    here = init(parts, tmp_path / "aqui", now=NOW).project
    digest, count, names = there.ask(at_cluster.made, parts, tmp_path / "alla", there.cluster.address)
    assert (digest, count, names) == (here.config.source.digest, 180, here.names)
    copies = [tmp_path / place / "private" / "working.parquet" for place in ("aqui", "alla")]
    assert cells(copies[0]) == cells(copies[1])
    assert left_behind(tmp_path / "alla") == []


def test_a_lost_worker_does_not_change_a_byte(there: AtCluster, tmp_path: Path) -> None:
    folder, expected = large_project(tmp_path)
    running = there.begin(at_cluster.planned_and_run, folder, there.cluster.address)
    wait_until(lambda: running.done() or writing(folder), WAIT)
    assert not running.done()
    there.cluster.kill_worker()
    code = running.result(WAIT)
    there.cluster.heal()
    assert left_behind(folder) == []
    if code:
        assert code == "engine_fault"
        assert not (folder / "private" / "candidate").exists()
    else:
        assert (folder / "private" / "candidate" / "data.csv").read_bytes() == expected


def test_without_any_worker_a_run_fails_and_leaves_nothing(there: AtCluster, tmp_path: Path) -> None:
    folder, _ = large_project(tmp_path)
    running = there.begin(at_cluster.planned_and_run, folder, there.cluster.address)
    wait_until(lambda: running.done() or writing(folder), WAIT)
    there.cluster.kill_worker()
    there.cluster.kill_worker()
    assert running.result(WAIT) == "engine_fault"
    there.cluster.heal()
    assert not (folder / "private" / "candidate").exists()
    assert left_behind(folder) == []


# --- rows written and read by executors ----------------------------------------------------------

TABLES = {
    "one row": [("a", "b", "p")],
    "ties": [("x", "y", f"p{i % 3}") for i in range(40)],
    "every kind of cell": [
        (f"{text}{i % 7}", text, f"p{i}")
        for i in range(30)
        for text in ("it's", 'di "sí"', "dos\nlíneas", "=1", "", "ñ")
    ],
    "some order": [(f"{i * 7919 % 101:03d}", chr(0xE0 + i % 40), f"p{i % 9}") for i in range(300)],
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_executors_write_what_duckdb_writes(there: AtCluster, name: str, tmp_path: Path) -> None:
    given = TABLES[name]
    told = there.ask(at_cluster.written, given, tmp_path / "alla")
    data = (tmp_path / "alla" / "data.csv").read_bytes()
    assert data == written_by_duckdb(given, tmp_path)
    assert told["rows"] == len(given)
    assert len({row[-1] for row in told["held"]}) == len({row[-1] for row in given})
    assert not {row[-1] for row in told["held"]} & {row[-1] for row in given}  # veiled
    assert sorted(one["source_row"] for one in told["seen"]) == [p for p in (0, 2) if p < len(given)]
    # Each person still has its own rows beside it.
    assert grouped(told["held"]) == grouped(given)


def test_a_file_that_changes_while_it_is_read_is_refused(there: AtCluster, tmp_path: Path) -> None:
    there.ask(at_cluster.written, TABLES["some order"], tmp_path / "alla", False)
    assert there.ask(at_cluster.changed_meanwhile, tmp_path / "alla") == "source_changed"


def test_a_file_without_its_parts_is_left_to_the_driver(there: AtCluster, tmp_path: Path) -> None:
    there.ask(at_cluster.written, TABLES["one row"], tmp_path / "alla", False)
    assert there.ask(at_cluster.told_apart, tmp_path / "alla")


def test_a_table_of_the_catalogue_becomes_a_working_copy(there: AtCluster, tmp_path: Path) -> None:
    names, held, said = there.ask(at_cluster.copied, tmp_path / "working.parquet")
    assert names == ("Código", "valor", "fecha", "vigente", "nota")
    assert held == [("05302", "1.5", "2024-03-04", "true", ""), ("ñ", "2", "2024-03-05", "false", "")]
    assert "orden propio" in said


# --- what is said and left -----------------------------------------------------------------------


def test_no_cell_is_said_or_logged_when_a_task_fails(there: AtCluster) -> None:
    said = there.ask(at_cluster.failed_with_a_cell)
    assert said.startswith("engine_fault")
    assert "Quiñimán" not in said
    assert "Quiñimán" not in there.cluster.logs()


def test_an_error_of_ours_arrives_from_an_executor_as_itself(there: AtCluster, tmp_path: Path) -> None:
    assert there.ask(at_cluster.refused_there, tmp_path / "nada.csv") == "file_missing"


def test_the_private_folder_carries_the_process(there: AtCluster) -> None:
    folder, _ = there.ask(at_cluster.private_names)
    assert folder.startswith(f"celosia-{there.ask(at_cluster.own_process)}-")


def test_statistics_tables_are_those_of_duckdb(there: AtCluster, tmp_path: Path) -> None:
    counted = people({("norte", "h"): 40, ("sur", "m"): 25, ("sur", "h"): 3}, ("zona", "sexo"))
    tables = table("t", category("zona", ["norte", "sur"]), category("sexo", ["h", "m"]), PERSONS, ROWS)
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "lake").mkdir(parents=True)
    here = project(tmp_path / "a", counted, tables)
    pq.write_table(pa.Table.from_pylist(counted), tmp_path / "b" / "lake" / "people.parquet")
    far = project(tmp_path / "b", counted, tables, head=HEAD.replace("../personal.duckdb", "spark:../lake"))
    run_stats(here, now=NOW)
    there.ask(at_cluster.stats_run, far, there.cluster.address)
    assert everything(far) == everything(here)


# --- helpers -------------------------------------------------------------------------------------


def parted(folder: Path, kind: str) -> Path:
    """The rows of the small project in three files."""
    folder.mkdir()
    (folder / "_SUCCESS").touch()
    given = rows()
    for i, part in enumerate((given[:70], given[70:71], given[71:])):
        if kind == "csv":
            (folder / f"parte-{i}.csv").write_text(lines_of(part), "utf-8")
            continue
        columns = [pa.array(column, pa.string()) for column in zip(*part, strict=True)]
        pq.write_table(pa.table(columns, names=list(HEADER)), folder / f"parte-{i}.parquet")
    return folder


def cells(copy: Path) -> list[dict[str, str]]:
    return [row for part in sorted(copy.iterdir()) for row in pq.read_table(part).to_pylist()]


def large_project(place: Path, times: int = 100) -> tuple[Path, bytes]:
    """The people of the small project many times over, and what DuckDB publishes of them."""
    given = [(f"{i}-{row[0]}", *row[1:]) for i in range(times) for row in rows()]
    (place / "egresos.csv").write_text(lines_of(given), "utf-8")
    made = [described(init(place / "egresos.csv", place / name, person="RUN", now=NOW).project.folder) for name in "ab"]
    make_plan(made[1], now=NOW)
    run_plan(made[1], now=NOW)
    return made[0], (made[1] / "private" / "candidate" / "data.csv").read_bytes()


def lines_of(given: Sequence[Sequence[str]]) -> str:
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in (HEADER, *given)]
    return "\n".join(quoted) + "\n"


def written_by_duckdb(given: list[tuple[str, ...]], place: Path) -> bytes:
    names = tuple(f"v{i}" for i in range(len(given[0])))
    columns = [pa.array(column, pa.string()) for column in zip(*given, strict=True)]
    ingest(pa.table(dict(zip(names, columns, strict=True))), place / "working.parquet")
    engine = DuckDBEngine(place)
    try:
        ordered = Table(engine, engine.parquet(place / "working.parquet"), names).ordered_batches(names[:-1])
        write_csv(ordered, names[:-1], place / "duckdb.csv", neutralise_formulas=True)
    finally:
        engine.close()
    return (place / "duckdb.csv").read_bytes()


def grouped(held: list[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    """The rows of each person, whoever it is."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in held:
        neutral = tuple(cell if cell != "=1" and not cell.startswith("=1") else f"'{cell}" for cell in row[:-1])
        found.setdefault(row[-1], []).append(neutral)
    return sorted(sorted(rows) for rows in found.values())
