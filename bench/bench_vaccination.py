"""Peru's vaccinations, 2.2 million rows with persons as unit, from the file to a checked candidate on two engines.

DuckDB on this machine and a Spark cluster of a master and two workers on loopback, started for the job; both must
publish the same bytes. The plain DuckDB copy of the same Parquet file, sorted by all columns, is what they are divided
by. On two cores a cluster of two can only be slower than one process: it is here for the bytes, not for the speed.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.frame import SECONDS, Bench, Case, Figure, Fixed, Job, Same, Scale, Skip, Work

SOURCE = Path(__file__).resolve().parents[2] / "shared" / "data" / "pe_vaccination_2021w06_w18.parquet"
PERSON = "id_persona"
ROLES = {"edad": "quasi", "sexo": "quasi", "ubigeo_persona": "quasi", "grupo_riesgo": "sensitive",
         "dosis": "plain", "fabricante": "plain"}  # fmt: skip
MINUTE = 60.0
POLICY = """
[policy]
criteria = [{criterion = "k", k = 3}]
limit = 0.5

[hierarchies.edad]
builder = "intervals"
width = 5
end = 130
factor = 2
top = true

[hierarchies.ubigeo_persona]
builder = "mask"
steps = [2, 4, 6]
"""


def sorted_copy(folder: Path) -> Work:
    """What DuckDB alone needs to copy the file, sorted by all its columns, to CSV."""
    import duckdb

    _refuse_absent()

    def work() -> None:
        rows = f"SELECT * FROM read_parquet('{SOURCE}') ORDER BY ALL"
        duckdb.connect().execute(f"COPY ({rows}) TO '{folder / 'sorted.csv'}' (FORMAT csv)")

    return work


def walked(folder: Path, engine: str) -> Work:
    """init, plan and run; on the cluster, one session for all three, opened before the clock starts."""
    _refuse_absent()
    stack = contextlib.ExitStack()
    address = engine if engine == "duckdb" else stack.enter_context(_cluster(folder))

    def work() -> dict[str, object]:
        from celosia.pipeline.candidate.run import run_plan
        from celosia.pipeline.intake.init_project import init
        from celosia.pipeline.planning.plan import make_plan

        with stack:
            place = folder / engine
            shutil.rmtree(place, ignore_errors=True)
            init(SOURCE, place, person=PERSON, engine=address)
            _describe(place)
            make_plan(place, engine=address)
            ran = run_plan(place, engine=address)
            digest = hashlib.sha256(ran.candidate.read_bytes()).hexdigest()
        return {"sha256": digest, "rows": ran.check.rows, "k_persons": ran.check.k_persons}

    return work


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[str]:
    from celosia.data.engines.spark import SparkEngine
    from tests.spark_cluster import run_cluster

    with run_cluster() as cluster, contextlib.closing(SparkEngine(cluster.address, folder, 4 * 10**9)):
        yield cluster.address


def _describe(folder: Path) -> None:
    """State roles, purposes and policy as a person would."""
    from celosia.model import dictionary
    from celosia.model.variables import Role, Treatment
    from celosia.pipeline.project.folder import open_project

    stated = [
        replace(v, label=v.name, role=Role(ROLES[v.name]), purpose="bench", treatment=Treatment.KEEP)
        if v.name in ROLES
        else replace(v, role=Role.IDENTIFIER, purpose="", treatment=Treatment.REMOVE)
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    path = folder / "celosia.toml"
    path.write_text(path.read_text("utf-8") + POLICY, "utf-8")


def _refuse_absent() -> None:
    if not SOURCE.is_file():
        raise Skip("needs Peru's vaccinations in ../shared")


def cases(scale: Scale) -> Iterator[Case]:
    """The one file, on both engines."""
    yield Case(
        "2,210,465 rows",
        jobs=(
            Job("copy", sorted_copy, words="sorted copy by DuckDB"),
            Job("duckdb", walked, {"engine": "duckdb"}, words="init, plan and run on DuckDB"),
            Job("cluster", walked, {"engine": "cluster"}, words="the same on two workers", timeout=3600),
        ),
        figures=(
            Figure("whole walk on DuckDB", ("duckdb",), ("copy",)),
            Figure("whole walk on DuckDB, of a minute", ("duckdb",), Fixed(MINUTE, "one minute"), of=SECONDS, goal=1.0),
            Figure("whole walk on two workers", ("cluster",), ("duckdb",)),
        ),
        same=(Same("sha256", ("duckdb", "cluster")), Same("k_persons", ("duckdb", "cluster"))),
        repeats=1,
    )


BENCH = Bench("vaccination", "Peru's vaccinations on DuckDB and on a cluster", cases)
