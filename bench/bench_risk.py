"""All three-way combinations of 15 variables of a million rows as risk scenarios, against a plain group-by for each.

Each peer from where it starts: DuckDB, on a table already in memory, against us from the working copy in Parquet to
the ordered report; NumPy, on columns already coded, against our counting from the tuple table. All must count alike.
Goal: at least five times faster.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.frame import Bench, Case, Figure, Job, Same, Scale, Work
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.table import Table
from celosia.model.reports.scenarios import Scenario, ScenarioReport
from celosia.risk.scenarios import scenario_report

ROWS, SMALL = (1_000_000,), (5_000,)
SIZES = (2, 18, 16, 60, 5, 4, 12, 6, 200, 3, 8, 10, 7, 2, 30)  # values of each variable
NAMES = tuple(f"v{place:02}" for place in range(len(SIZES)))
WIDTH = 3
LARGEST = 3  # RI >= 0.3
GOAL = 1 / 5
SEED = 20_240_131
TRIPLES = tuple(itertools.combinations(range(len(SIZES)), WIDTH))
WORKING = "working.parquet"


def working_copy(folder: Path, rows: int) -> Work:
    """Skewed text columns, a few frequent values and many rare ones, as a working copy holds them."""
    rng = np.random.default_rng(SEED)

    def work() -> None:
        columns = {}
        for place, size in enumerate(SIZES):
            weights = 1 / np.arange(1, size + 1)
            labels = pa.array([f"{value:03}" for value in range(size)])
            columns[f"c{place}"] = labels.take(pa.array(rng.choice(size, rows, p=weights / weights.sum())))
        pq.write_table(pa.table(columns), folder / WORKING)

    return work


def ours(folder: Path) -> Work:
    """From the working copy: one tuple table, every scenario out of it."""
    table, asked = _prepared(folder)
    return lambda: _told(_in_order(scenario_report(table.tuples(NAMES), asked)))


def counting(folder: Path) -> Work:
    """From the tuple table alone."""
    table, asked = _prepared(folder)
    tuples = table.tuples(NAMES)
    return lambda: _told(_in_order(scenario_report(tuples, asked)))


def duckdb_groups(folder: Path) -> Work:
    """A group-by for each combination, with all its threads."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS FROM read_parquet('{folder / WORKING}')")

    def work() -> dict[str, str]:
        found = [connection.execute(_query(triple)).fetchone() for triple in TRIPLES]
        return _told([int(one[0]) for one in found if one])

    return work


def numpy_groups(folder: Path) -> Work:
    """`np.unique` of the packed codes for each combination."""
    table = pq.read_table(folder / WORKING)
    codes = [column.combine_chunks().dictionary_encode().indices.to_numpy() for column in table.columns]

    def work() -> dict[str, str]:
        found = []
        for one, two, three in TRIPLES:
            keys = (codes[one].astype(np.int64) * SIZES[two] + codes[two]) * SIZES[three] + codes[three]
            _, counts = np.unique(keys, return_counts=True)
            found.append(int(counts[counts <= LARGEST].sum()))
        return _told(found)

    return work


def _prepared(folder: Path) -> tuple[Table, list[Scenario]]:
    """The table and the scenarios; the loops are compiled before the clock runs."""
    asked = [Scenario(tuple(NAMES[place] for place in triple)) for triple in TRIPLES]
    engine = DuckDBEngine(spill=folder)
    table = Table(engine, engine.parquet(folder / WORKING), NAMES)
    scenario_report(table.where(NAMES[3], ["007"]).tuples(NAMES), asked)
    return table, asked


def _in_order(report: ScenarioReport) -> list[int]:
    found = {risk.scenario.variables: risk.at_risk for risk in report.scenarios}
    return [found[tuple(NAMES[place] for place in triple)] for triple in TRIPLES]


def _query(triple: Sequence[int]) -> str:
    grouped = f"SELECT count(*) f FROM t GROUP BY {', '.join(f'c{place}' for place in triple)}"
    return f"SELECT coalesce(sum(f) FILTER (f <= {LARGEST}), 0) FROM ({grouped})"


def _told(counts: Sequence[int]) -> dict[str, str]:
    """All the counts as one digest."""
    return {"counts": hashlib.sha256(repr(list(counts)).encode()).hexdigest()[:16]}


def cases(scale: Scale) -> Iterator[Case]:
    """One for each number of rows."""
    for rows in scale.rows(ROWS, SMALL):
        yield Case(
            f"{len(TRIPLES)} scenarios of {len(SIZES)} variables, {rows:,} rows",
            prepare=Job("data", working_copy, {"rows": rows}),
            jobs=(
                Job("celosia", ours),
                Job("duckdb", duckdb_groups, words=f"{len(TRIPLES)} group-bys in DuckDB"),
                Job("counting", counting),
                Job("numpy", numpy_groups, words=f"{len(TRIPLES)} np.unique"),
            ),
            figures=(
                Figure("from the working copy", ("celosia",), ("duckdb",), GOAL),
                Figure("from the tuple table", ("counting",), ("numpy",), GOAL),
            ),
            same=(Same("counts", ("celosia", "counting", "duckdb", "numpy")),),
        )


BENCH = Bench("risk", "Risk of every combination of three variables", cases)
