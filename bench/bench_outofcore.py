"""A file larger than the memory, from the file to the checked candidate: init, plan and run within a memory budget.

Up to 50 million rows of eight columns, about 2.5 GB of CSV, with `memory = "4GB"`, once counting persons and once rows.
The figure is the highest memory of the process and its children as a share of the budget; the seconds of each phase
stand beside it, for the cost model.
What the engine cannot hold spills into the project's private folder; that nothing of it stays is checked as well.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bench.bench_growth import plan_facts, timed_run
from bench.frame import PEAK, Bench, Case, Figure, Fixed, Job, Scale, Work

ROWS, SMALL = (1_000_000, 10_000_000, 50_000_000), (50_000,)
BUDGET = 4 * 10**9
ROLES = {"SEXO": "quasi", "EDAD": "quasi", "REGION": "quasi", "PREVISION": "quasi", "DIAG": "sensitive"}
UNITS = ("persons", "rows")
CHUNK = 1_000_000
SEED = 20_240_131


def source(folder: Path, rows: int) -> Work:
    """Invented rows, skewed as real ones are, written in chunks."""
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    def drawn(rng: np.random.Generator, texts: list[str], count: int) -> pa.Array:
        weights = 1 / np.arange(1, len(texts) + 1)
        return pa.array(texts).take(pa.array(rng.choice(len(texts), count, p=weights / weights.sum())))

    def chunk(start: int, count: int) -> pa.Table:
        rng = np.random.default_rng([SEED, start])
        texts = {
            "SEXO": ["1", "2", "3"],
            "EDAD": [str(age) for age in range(100)],
            "REGION": [f"{region:02d}" for region in range(1, 17)],
            "PREVISION": ["A", "B", "C", "D", "E"],
            "MES": [f"{month:02d}" for month in range(1, 13)],
            "DIAS": [str(days) for days in range(1, 61)],
            "DIAG": [f"{letter}{number:02d}" for letter in "ABCDEFGHIJ" for number in range(20)],
        }
        persons = pa.array(rng.integers(0, 2 * rows, count) + 100_000_000).cast(pa.string())
        return pa.table({"RUN": persons} | {name: drawn(rng, values, count) for name, values in texts.items()})

    def work() -> dict[str, int]:
        path = folder / "datos.csv"
        with path.open("wb") as sink:
            for start in range(0, rows, CHUNK):
                options = csv.WriteOptions(include_header=start == 0, quoting_style="none")
                csv.write_csv(chunk(start, min(CHUNK, rows - start)), sink, options)
        return {"bytes": path.stat().st_size}

    return work


def walked(folder: Path, unit: str) -> Work:
    """From the file to the checked candidate; what the cost depends on is counted after the clock has stopped."""
    from celosia.pipeline.intake.init_project import init
    from celosia.pipeline.planning.plan import make_plan

    place, memory = folder / unit, f"{BUDGET // 10**9}GB"
    shutil.rmtree(place, ignore_errors=True)

    def work() -> Callable[[], dict[str, float]]:
        start = time.perf_counter()
        init(str(folder / "datos.csv"), place, (), memory=memory)
        read = time.perf_counter()
        _describe(place, unit)
        plan = make_plan(place, k=5, l=2, method="full-domain", limit=0.2, memory=memory).plan
        searched = time.perf_counter()
        ran, seconds = timed_run(place, memory)
        left = [path.name for path in (place / "private").iterdir() if path.name.startswith((".celosia-", "celosia-"))]
        if left or not ran.check.holds:
            raise RuntimeError(f"{len(left)} temporary folders left, or the release does not hold")
        taken = {"read": read - start, "search": searched - read, **seconds}
        return lambda: {"rows": ran.check.rows, "classes": ran.check.classes, **taken, **plan_facts(plan, place)}

    return work


def _describe(folder: Path, unit: str) -> None:
    """State roles and purposes, and whose rows they are, as a person would."""
    from celosia.model import dictionary
    from celosia.model.variables import Role
    from celosia.pipeline.project.folder import open_project

    stated = [
        replace(v, purpose="" if v.name == "RUN" else "estudio", role=Role(ROLES.get(v.name, "plain")))
        for v in open_project(folder).variables
    ]
    stated = [replace(v, role=Role.IDENTIFIER) if v.name == "RUN" else v for v in stated]
    (folder / "dictionary.csv").write_text(dictionary.dump(stated), "utf-8")
    path = folder / "celosia.toml"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("person ")]
    if unit == "persons":
        lines.insert(lines.index("[unit]") + 1, 'person = "RUN"')
    path.write_text("\n".join(lines) + "\n", "utf-8")


def cases(scale: Scale) -> Iterator[Case]:
    """The largest file a single machine is promised to take, in both units."""
    for rows in scale.rows(ROWS, SMALL):
        yield Case(
            f"{rows:,} rows",
            prepare=Job("file", source, {"rows": rows}),
            jobs=tuple(Job(unit, walked, {"unit": unit}, words=f"init, plan and run, in {unit}") for unit in UNITS),
            figures=tuple(
                Figure(f"memory of the whole walk ({unit})", (unit,), Fixed(BUDGET, "4 GB"), goal=1.0, of=PEAK)
                for unit in UNITS
            ),
            repeats=1,
        )


BENCH = Bench("outofcore", "A file larger than the memory", cases)
