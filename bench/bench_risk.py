"""Risk at a million rows. Each part is a job of its own process, so that its peak memory is its own.

`combinations`: all three-way combinations of 15 variables as risk scenarios, against a plain group-by per
combination in the same run, each peer from where it starts: DuckDB, on a table already in memory, against us from
the working copy in Parquet to the ordered report; NumPy, on columns already coded, against our counting from the
tuple table. Goal: at least five times faster.
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.table import Table
from celosia.model.scenarios import Scenario, ScenarioReport
from celosia.risk.scenarios import scenario_report

ROWS = 1_000_000
SIZES = (2, 18, 16, 60, 5, 4, 12, 6, 200, 3, 8, 10, 7, 2, 30)  # values of each variable
NAMES = tuple(f"v{place:02}" for place in range(len(SIZES)))
WIDTH = 3
LARGEST = 3  # RI >= 0.3
GOAL = 5
SEED = 20_240_131
TRIPLES = tuple(itertools.combinations(range(len(SIZES)), WIDTH))


def write_table(path: Path, rows: int) -> None:
    """Skewed text columns, a few frequent values and many rare ones, as a working copy holds them."""
    rng = np.random.default_rng(SEED)
    columns = {}
    for place, size in enumerate(SIZES):
        weights = 1 / np.arange(1, size + 1)
        labels = pa.array([f"{value:03}" for value in range(size)])
        columns[f"c{place}"] = labels.take(pa.array(rng.choice(size, rows, p=weights / weights.sum())))
    pq.write_table(pa.table(columns), path)


def ours(path: Path) -> tuple[float, list[int]]:
    """From the working copy: one tuple table, every scenario out of it."""
    table, asked = _prepared(path)
    start = time.perf_counter()
    report = scenario_report(table.tuples(NAMES), asked)
    return time.perf_counter() - start, _in_order(report)


def counting(path: Path) -> tuple[float, list[int]]:
    """From the tuple table alone."""
    table, asked = _prepared(path)
    tuples = table.tuples(NAMES)
    start = time.perf_counter()
    report = scenario_report(tuples, asked)
    return time.perf_counter() - start, _in_order(report)


def _prepared(path: Path) -> tuple[Table, list[Scenario]]:
    """The table and the scenarios; the loops are compiled before the clock runs."""
    asked = [Scenario(tuple(NAMES[place] for place in triple)) for triple in TRIPLES]
    engine = DuckDBEngine(spill=path.parent)
    table = Table(engine, engine.parquet(path), NAMES)
    scenario_report(table.where(NAMES[3], ["007"]).tuples(NAMES), asked)
    return table, asked


def _in_order(report: ScenarioReport) -> list[int]:
    found = {risk.scenario.variables: risk.at_risk for risk in report.scenarios}
    return [found[tuple(NAMES[place] for place in triple)] for triple in TRIPLES]


def duckdb_groups(path: Path) -> tuple[float, list[int]]:
    """A group-by for each combination, with all its threads."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS FROM read_parquet('{path}')")
    start = time.perf_counter()
    found = [connection.execute(_query(triple)).fetchone() for triple in TRIPLES]
    return time.perf_counter() - start, [int(one[0]) for one in found if one]


def _query(triple: Sequence[int]) -> str:
    grouped = f"SELECT count(*) f FROM t GROUP BY {', '.join(f'c{place}' for place in triple)}"
    return f"SELECT coalesce(sum(f) FILTER (f <= {LARGEST}), 0) FROM ({grouped})"


def numpy_groups(path: Path) -> tuple[float, list[int]]:
    """`np.unique` of the packed codes for each combination."""
    table = pq.read_table(path)
    codes = [column.combine_chunks().dictionary_encode().indices.to_numpy() for column in table.columns]
    start = time.perf_counter()
    found = []
    for one, two, three in TRIPLES:
        keys = (codes[one].astype(np.int64) * SIZES[two] + codes[two]) * SIZES[three] + codes[three]
        _, counts = np.unique(keys, return_counts=True)
        found.append(int(counts[counts <= LARGEST].sum()))
    return time.perf_counter() - start, found


JOBS: dict[str, Callable[[Path], tuple[float, list[int]]]] = {
    "celosia": ours,
    "counting": counting,
    "duckdb": duckdb_groups,
    "numpy": numpy_groups,
}


RIVALS = {"duckdb": "celosia", "numpy": "counting"}  # who starts from the same place


def combinations(report: Callable[[str], None], rows: int = ROWS) -> None:
    """Seconds and peak memory of each way, and how many times faster ours is; all must count alike."""
    report(f"combinations: {len(TRIPLES)} three-way scenarios of {len(SIZES)} variables, {rows:,} rows")
    with tempfile.TemporaryDirectory(prefix="celosia-bench-") as folder:
        path = Path(folder) / "working.parquet"
        write_table(path, rows)
        found = {job: _measured(job, path) for job in JOBS}
    for job, (seconds, peak, counts) in found.items():
        same = "the same counts" if counts == found["celosia"][2] else "OTHER COUNTS"
        ratio = seconds / found[RIVALS.get(job, job)][0]
        verdict = f", {ratio:.1f}× {RIVALS[job]} (goal {GOAL}×: {_verdict(ratio)}), {same}" if job in RIVALS else ""
        report(f"  {job:8} {seconds:7.2f} s  {peak:5.2f} GB{verdict}")


def _verdict(ratio: float) -> str:
    return "reached" if ratio >= GOAL else "MISSED"


def _measured(job: str, path: Path) -> tuple[float, float, list[int]]:
    command = [sys.executable, "-m", "bench.bench_risk", job, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).resolve().parents[1])
    seconds, kilobytes, counts = json.loads(done.stdout)
    return seconds, kilobytes / 1024**2, counts


PARTS = (combinations,)


def main(arguments: list[str]) -> None:
    """Without arguments every part; with them one job, which prints its seconds, peak kilobytes and counts."""
    if not arguments:
        for part in PARTS:
            part(lambda line: print(line, flush=True))
        return
    seconds, counts = JOBS[arguments[0]](Path(arguments[1]))
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, counts]))


if __name__ == "__main__":
    main(sys.argv[1:])
