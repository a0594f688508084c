"""From ten million personal events to cells, inside DuckDB, as a ratio of the plain GROUP BY over the same labels.

The plain query counts distinct persons of the inner cells alone; ours counts them and every margin besides, from the
same PERSONAL file. Goal: at most 1.5 times.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

from bench.frame import Bench, Case, Figure, Job, Scale, Work

ROWS, SMALL = (10_000_000,), (20_000,)
PERSONS = 10  # events of each, on average
GOAL = 1.5
FILE = "personal.duckdb"
REGIONS = tuple(f"{number:02}" for number in range(1, 18))
MAKE = """
    CREATE TABLE events AS
    SELECT person AS user_id,
           TIMESTAMP '2023-01-01' + to_minutes((hash(i, 1) % 525600)::BIGINT) AS created_at,
           lpad((1 + hash(person, 2) % 17)::VARCHAR, 2, '0') AS region,
           DATE '1944-01-01' + (hash(person, 3) % 22000)::INTEGER AS birth_date
    FROM (SELECT i, (hash(i) % {persons})::BIGINT AS person FROM range({rows}) AS numbers(i))
"""


def made(folder: Path, rows: int) -> Work:
    """Invented events: when, and the region and birth date of who."""
    import duckdb

    def work() -> None:
        with duckdb.connect(str(folder / FILE)) as connection:
            connection.execute(MAKE.format(rows=rows, persons=rows // PERSONS))

    return work


def plain(folder: Path) -> Work:
    """The inner cells by one query."""
    source, relation, labels = _opened(folder)
    labelled = relation.select(**labels, person=relation["user_id"])

    def work() -> None:
        source.fetch(labelled.group_by(list(labels)).aggregate(persons=labelled["person"].nunique()))

    return work


def counted(folder: Path) -> Work:
    """The inner cells and every margin."""
    from celosia.stats.counting.count import count

    source, _, labels = _opened(folder)

    def work() -> None:
        count(source, *_asked(), labels)

    return work


def _opened(folder: Path):  # type: ignore[no-untyped-def]
    from celosia.stats.rules.rules import RuleSpec, labels_of
    from celosia.stats.sources.connections import open_source

    personal, table = _asked()
    source = open_source(FILE, folder)
    relation = source.relation(personal)
    spec = RuleSpec("duckdb", date(2024, 1, 31), "America/Asuncion")
    return source, relation, {dimension.name: labels_of(dimension, spec, relation) for dimension in table.dimensions}


def _asked():  # type: ignore[no-untyped-def]
    from celosia.stats.declaration.declaration import Dimension, Measure, Personal, StatsTable, every_margin

    names = ("month", "region", "age")
    dimensions = (
        Dimension("month", "period", ("created_at",), {"by": "month", "stored": "local"}),
        Dimension("region", "category", ("region",), {"values": REGIONS}),
        Dimension("age", "age", ("birth_date",), {"at": "2024-01-31", "bands": (18, 25, 35, 45), "stored": "local"}),
    )
    measures = (Measure("persons", "persons"), Measure("rows", "rows"))
    table = StatsTable("events", "events", dimensions, measures, ("internal",), margins=every_margin(names))
    return Personal("events", "user_id", table="events"), table


def cases(scale: Scale) -> Iterator[Case]:
    """One for each number of events."""
    for rows in scale.rows(ROWS, SMALL):
        yield Case(
            f"{rows:,} events of {rows // PERSONS:,} persons, month × region × age",
            prepare=Job("data", made, {"rows": rows}),
            jobs=(Job("plain", plain, words="plain GROUP BY of the inner cells"), Job("count", counted)),
            figures=(Figure("cells with all margins", ("count",), ("plain",), GOAL),),
            repeats=3,
        )


BENCH = Bench("stats", "From personal events to a table of counts", cases)
