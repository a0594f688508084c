"""Reading a CSV and making its tuple table, as a ratio of a plain DuckDB copy of the same file.

Each job runs in a process of its own, so that its peak memory is its own. Goal: at most twice the plain copy.
The file is made of invented hospital discharges: 32 columns, `;`, latin-1, CRLF.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROWS = (1_000_000, 10_000_000)
QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "PAIS_ORIGEN", "MES_EGRESO")
PERSON = "RUN"
GOAL = 2.0
SEED = 20_240_131


def plain_copy(csv: Path, parquet: Path) -> None:
    """What DuckDB alone needs to turn the file into Parquet."""
    import duckdb

    duckdb.connect().execute(
        f"COPY (FROM read_csv('{csv}', all_varchar=true, delim=';', encoding='latin-1', header=true)) "
        f"TO '{parquet}' (FORMAT parquet)"
    )


def reading(csv: Path, parquet: Path) -> None:
    """From the file to the working copy."""
    from celosia.data.readers import ingest

    ingest(csv, parquet)


def tuple_table(parquet: Path, person: str | None) -> None:
    """From the working copy to the tuple table."""
    from celosia.data.engines.duckdb import DuckDBEngine
    from celosia.data.readers import working_names
    from celosia.data.table import Table

    engine = DuckDBEngine(spill=parquet.parent)
    Table(engine, engine.parquet(parquet), working_names(parquet)).tuples(QUASI, person)
    engine.close()


def _job(job: str, folder: Path) -> None:
    csv, working = folder / "egresos.csv", folder / "working.parquet"
    if job == "copy":
        plain_copy(csv, folder / "plain.parquet")
    elif job == "read":
        reading(csv, working)
    else:
        tuple_table(working, PERSON if job == "persons" else None)


def _measured(job: str, folder: Path) -> tuple[float, float]:
    """Seconds and peak gigabytes of one job, alone in its process; starting Python is not counted."""
    command = [sys.executable, "-m", "bench.bench_tuples", job, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).resolve().parents[1])
    seconds, kilobytes = json.loads(done.stdout)
    return seconds, kilobytes / 1024**2


def run(report: Callable[[str], None], sizes: tuple[int, ...] = ROWS) -> None:
    """Print seconds, peak memory and the ratio to the plain copy for each size."""
    from celosia.data.synthetic import write_discharges

    for rows in sizes:
        with tempfile.TemporaryDirectory(prefix="celosia-bench-") as folder:
            csv = write_discharges(Path(folder) / "egresos.csv", rows, SEED)
            report(f"{rows:,} rows, {csv.stat().st_size / 1e9:.2f} GB of CSV")
            found = {job: _measured(job, Path(folder)) for job in ("copy", "read", "tuples", "persons")}
        for job, (seconds, peak) in found.items():
            report(f"  {job:8} {seconds:7.2f} s  {peak:5.2f} GB")
        ratio = (found["read"][0] + found["tuples"][0]) / found["copy"][0]
        verdict = "reached" if ratio <= GOAL else "MISSED"
        report(f"  read + tuples = {ratio:.2f}× a plain copy (goal {GOAL:g}×: {verdict})")


def main(arguments: list[str]) -> None:
    """Without arguments the bench; with them one job, which prints its seconds and peak kilobytes."""
    if not arguments:
        run(lambda line: print(line, flush=True))
        return
    start = time.perf_counter()
    _job(arguments[0], Path(arguments[1]))
    seconds = time.perf_counter() - start
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))


if __name__ == "__main__":
    main(sys.argv[1:])
