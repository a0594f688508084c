"""Reading a CSV and making its tuple table, as a ratio of a plain DuckDB copy of the same file.

Goal: both together at most twice the plain copy. The file is made of invented hospital discharges: 32 columns, `;`,
latin-1, CRLF. Importing the libraries is part of each job, as it is for a person.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.frame import Bench, Case, Figure, Job, Scale, Work

ROWS, SMALL = (1_000_000, 10_000_000), (20_000,)
QUASI = ("SEXO", "EDAD_AÑOS", "COMUNA", "PREVISION", "PAIS_ORIGEN", "MES_EGRESO")
PERSON = "RUN"
GOAL = 2.0
SEED = 20_240_131


def discharges(folder: Path, rows: int) -> Work:
    """The file that the jobs read."""
    from celosia.demo.synthetic.discharges import write_discharges

    return lambda: {"bytes": write_discharges(folder / "egresos.csv", rows, SEED).stat().st_size}


def plain_copy(folder: Path) -> Work:
    """What DuckDB alone needs to turn the file into Parquet."""
    query = (
        f"COPY (FROM read_csv('{folder / 'egresos.csv'}', all_varchar=true, delim=';', encoding='latin-1', "
        f"header=true)) TO '{folder / 'plain.parquet'}' (FORMAT parquet)"
    )

    def work() -> None:
        import duckdb

        duckdb.connect().execute(query)

    return work


def reading(folder: Path) -> Work:
    """From the file to the working copy."""

    def work() -> None:
        from celosia.data.readers.ingest import ingest

        ingest(folder / "egresos.csv", folder / "working.parquet")

    return work


def tuple_table(folder: Path, person: str | None) -> Work:
    """From the working copy to the tuple table."""
    parquet = folder / "working.parquet"

    def work() -> dict[str, int]:
        from celosia.data.engines.duckdb import DuckDBEngine
        from celosia.data.readers.working import working_names
        from celosia.data.table import Table

        engine = DuckDBEngine(spill=folder)
        found = Table(engine, engine.parquet(parquet), working_names(parquet)).tuples(QUASI, person)
        engine.close()
        return {"tuples": len(found.rows)}

    return work


def cases(scale: Scale) -> Iterator[Case]:
    """One for each number of rows."""
    for rows in scale.rows(ROWS, SMALL):
        yield Case(
            f"{rows:,} rows",
            prepare=Job("data", discharges, {"rows": rows}),
            jobs=(
                Job("copy", plain_copy, words="plain DuckDB copy"),
                Job("read", reading),
                Job("tuples", tuple_table, {"person": None}),
                Job("persons", tuple_table, {"person": PERSON}, "tuples with persons"),
            ),
            figures=(
                Figure("read + tuples", ("read", "tuples"), ("copy",), GOAL),
                Figure("read", ("read",), ("copy",)),
                Figure("tuples", ("tuples",), ("copy",)),
                Figure("tuples with persons", ("persons",), ("copy",)),
            ),
        )


BENCH = Bench("tuples", "From a CSV to its tuple table", cases)
