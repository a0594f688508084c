"""How reading, counting, searching, applying and checking grow from a hundred thousand to ten million rows.

The same invented discharges at every size, each step against a plain DuckDB copy of the same CSV to Parquet. Every job
first does the same on a small project, so that neither imports nor compiling are counted. `apply` runs from the end of
the search to the written file, `check` from there to the verdict on what was read back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.bench_tuples import QUASI, SEED, plain_copy
from bench.frame import Bench, Case, Figure, Job, Scale, Work

if TYPE_CHECKING:
    from celosia.model.plan import Plan
    from celosia.pipeline.candidate.run import RunResult

ROWS, SMALL = (100_000, 316_000, 1_000_000, 3_160_000, 10_000_000), (2_000, 6_320, 20_000)
WARM = 2_000
PUBLISHED = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "MES_EGRESO", "DIAS_ESTADA", "CONDICION_EGRESO", "DIAG1")
ASKED: dict[str, Any] = {"k": 5, "l": 2, "method": "full-domain", "limit": 0.2}
RAW = "egresos.csv"
SERIES = {"read": "read", "frequencies": "frequencies", "search": "search", "apply": "run:apply", "check": "run:check"}


def projects(folder: Path, rows: int) -> Work:
    """The file with its project, and a small one beside them."""
    from celosia.demo.synthetic.discharges import write_discharges
    from celosia.pipeline.intake.dictionary_files import state_purpose
    from celosia.pipeline.intake.init_project import init
    from celosia.pipeline.planning.plan import make_plan

    def work() -> None:
        for place, size in ((folder, rows), (folder / "warm", WARM)):
            place.mkdir(exist_ok=True)
            write_discharges(place / RAW, size, SEED)
            init(place / RAW, place / "project")
            state_purpose(place / "project", list(PUBLISHED), "bench")
        make_plan(folder / "warm" / "project", **ASKED)

    return work


def copied(folder: Path) -> Work:
    """What DuckDB alone needs to turn the file into Parquet."""
    plain_copy(folder / "warm")()
    return plain_copy(folder)


def reading(folder: Path) -> Work:
    """From the file to the working copy."""
    from celosia.data.readers.ingest import ingest

    ingest(folder / "warm" / RAW, folder / "warm" / "read.parquet")

    def work() -> dict[str, int]:
        ingest(folder / RAW, folder / "read.parquet")
        return {"csv_bytes": (folder / RAW).stat().st_size, "copy_bytes": (folder / "read.parquet").stat().st_size}

    return work


def frequencies(folder: Path) -> Work:
    """From the working copy to the tuple table."""
    combinations(folder / "warm" / "project", QUASI)
    return lambda: {"tuples": combinations(folder / "project", QUASI)}


def searching(folder: Path, rows: int) -> Work:
    """From the project to its plan; what the cost depends on is counted after the clock has stopped."""
    from celosia.pipeline.planning.plan import make_plan

    make_plan(folder / "warm" / "project", **ASKED)

    def work() -> Callable[[], dict[str, int]]:
        plan = make_plan(folder / "project", **ASKED).plan
        return lambda: {"rows": rows, **plan_facts(plan, folder / "project")}

    return work


def plan_facts(plan: Plan, project: Path) -> dict[str, int]:
    """What the cost of a plan depends on, besides rows."""
    quasi = tuple(plan.policy["quasi"])
    return {
        "nodes": plan.nodes,
        "nodes_checked": plan.nodes_checked,
        "quasi_tuples": combinations(project, quasi),
        "sensitive_tuples": sum(combinations(project, (*quasi, name)) for name in plan.policy["sensitive"]),
    }


def running(folder: Path) -> Work:
    """From the plan to a candidate that holds; seconds of its two parts."""
    timed_run(folder / "warm" / "project")
    return lambda: timed_run(folder / "project")[1]


def combinations(project: Path, names: Sequence[str]) -> int:
    """How many combinations there are."""
    from celosia.data.engines.duckdb import DuckDBEngine
    from celosia.data.readers.working import working_names
    from celosia.data.table import Table

    parquet = project / "private" / "working.parquet"
    engine = DuckDBEngine(spill=project / "private")
    try:
        return len(Table(engine, engine.parquet(parquet), working_names(parquet)).tuples(names, None).rows)
    finally:
        engine.close()


def timed_run(project: Path, memory: str | None = None) -> tuple[RunResult, dict[str, float]]:
    """A run, and the seconds of its two parts."""
    from celosia.pipeline.candidate.run import run_plan

    last: dict[str, float] = {}
    first: dict[str, float] = {}

    def report(stage: str, share: float) -> None:
        now = time.perf_counter()
        first.setdefault(stage, now)
        last[stage] = now

    ran = run_plan(project, report=report, memory=memory)
    return ran, {"apply": first["check"] - last["search"], "check": time.perf_counter() - first["check"]}


def cases(scale: Scale) -> Iterator[Case]:
    """One for each number of rows."""
    for rows in scale.rows(ROWS, SMALL):
        yield Case(
            f"{rows:,} rows",
            prepare=Job("projects", projects, {"rows": rows}),
            jobs=(
                Job("copy", copied, words="plain DuckDB copy"),
                Job("read", reading),
                Job("frequencies", frequencies),
                Job("search", searching, {"rows": rows}),
                Job("run", running),
            ),
            figures=tuple(Figure(name, (job,), ("copy",), series=name, rows=rows) for name, job in SERIES.items()),
        )


BENCH = Bench("growth", "Growth from 100,000 to 10 million rows", cases)
