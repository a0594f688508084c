"""From ten million personal events to cells, inside DuckDB, as a ratio of the plain GROUP BY over the same labels.

The plain query counts distinct persons of the inner cells alone; ours counts them and every margin besides, from the
same PERSONAL file. Each job runs in a process of its own, so that its peak memory is its own. Goal: at most 1.5 times.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

ROWS = 10_000_000
PERSONS = 1_000_000
GOAL = 1.5
REPEATS = 3
REGIONS = tuple(f"{number:02}" for number in range(1, 18))
MAKE = """
    CREATE TABLE events AS
    SELECT person AS user_id,
           TIMESTAMP '2023-01-01' + to_minutes((hash(i, 1) % 525600)::BIGINT) AS created_at,
           lpad((1 + hash(person, 2) % 17)::VARCHAR, 2, '0') AS region,
           DATE '1944-01-01' + (hash(person, 3) % 22000)::INTEGER AS birth_date
    FROM (SELECT i, (hash(i) % {persons})::BIGINT AS person FROM range({rows}) AS numbers(i))
"""


def make(path: Path, rows: int, persons: int) -> None:
    """Invented events: when, and the region and birth date of who."""
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute(MAKE.format(rows=rows, persons=persons))


def _asked():  # type: ignore[no-untyped-def]
    from celosia.model.stats import Dimension, Measure, Personal, StatsTable, every_margin

    names = ("month", "region", "age")
    dimensions = (
        Dimension("month", "period", ("created_at",), {"by": "month", "stored": "local"}),
        Dimension("region", "category", ("region",), {"values": REGIONS}),
        Dimension("age", "age", ("birth_date",), {"at": "2024-01-31", "bands": (18, 25, 35, 45), "stored": "local"}),
    )
    measures = (Measure("persons", "persons"), Measure("rows", "rows"))
    table = StatsTable("events", "events", dimensions, measures, ("internal",), margins=every_margin(names))
    return Personal("events", "user_id", table="events"), table


def _job(job: str, path: Path) -> float:
    from celosia.stats._connections import open_source
    from celosia.stats._count import count
    from celosia.stats._rules import RuleSpec, labels_of

    personal, table = _asked()
    source = open_source(path.name, path.parent)
    relation = source.relation(personal)
    spec = RuleSpec("duckdb", date(2024, 1, 31), "America/Asuncion")
    labels = {dimension.name: labels_of(dimension, spec, relation) for dimension in table.dimensions}
    start = time.perf_counter()
    if job == "plain":
        labelled = relation.select(**labels, person=relation["user_id"])
        source.fetch(labelled.group_by(list(labels)).aggregate(persons=labelled["person"].nunique()))
    else:
        count(source, personal, table, labels)
    seconds = time.perf_counter() - start
    source.close()
    return seconds


def _measured(job: str, path: Path) -> tuple[float, float]:
    """Seconds (the least of some) and peak gigabytes of one job, alone in its process."""
    command = [sys.executable, "-m", "bench.bench_stats", job, str(path)]
    found = [
        json.loads(subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[1]).stdout)
        for _ in range(REPEATS)
    ]
    return min(seconds for seconds, _ in found), max(kilobytes for _, kilobytes in found) / 1024**2


def run(report: Callable[[str], None], rows: int = ROWS, persons: int = PERSONS) -> None:
    """Print seconds, peak memory and the ratio to the plain query."""
    with tempfile.TemporaryDirectory(prefix="celosia-bench-") as folder:
        path = Path(folder) / "personal.duckdb"
        make(path, rows, persons)
        found = {job: _measured(job, path) for job in ("plain", "count")}
    report(f"{rows:,} events of {persons:,} persons: month × region × age")
    for job, (seconds, peak) in found.items():
        report(f"  {job:8} {seconds:7.2f} s  {peak:5.2f} GB")
    ratio = found["count"][0] / found["plain"][0]
    report(f"  cells with all margins = {ratio:.2f}× the plain GROUP BY (goal {GOAL:g}×: {_verdict(ratio)})")


def _verdict(ratio: float) -> str:
    return "reached" if ratio <= GOAL else "MISSED"


def main(arguments: list[str]) -> None:
    """Without arguments the bench; with them one job, which prints its seconds and peak kilobytes."""
    if not arguments:
        run(lambda line: print(line, flush=True))
        return
    seconds = _job(arguments[0], Path(arguments[1]))
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))


if __name__ == "__main__":
    main(sys.argv[1:])
