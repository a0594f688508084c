"""A table of PostgreSQL counted where it lives: no working copy, only its names and where it is.

Knows the engine and the rules of the readers for names, kinds and blanks, so that a table counted in place and the same
table copied hold the same cells. Ignores projects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from celosia.data.engines.base import Engine
from celosia.data.engines.postgres import PostgresEngine
from celosia.data.errors import EmptyTable
from celosia.data.readers.canonical import unsupported_column
from celosia.data.readers.names import choose_table, select_columns
from celosia.data.table import Table
from celosia.model.place import InPlace
from celosia.model.sources import Ingested, ReadingChoices, Source


@dataclass(frozen=True, slots=True)
class TableInPlace:
    """A table found in its place: its rows, where it is, and what is said of it as a source."""

    table: Table
    place: InPlace
    ingested: Ingested


def locate_table(engine: Engine, choices: ReadingChoices, variable: str) -> TableInPlace:
    """The table that the choices name, as a source that is not copied; `variable` will hold the address."""
    server = cast(PostgresEngine, engine)
    known = server.tables()
    chosen = choose_table(server.name, list(known), choices)
    schema, table = known[chosen.sheet]
    columns = server.columns(table, schema)
    selected = select_columns([column.name for column in columns], chosen)
    for position in selected.positions:
        if kind := columns[position].refusal():
            raise unsupported_column(selected.all_names[position], kind)
    place = InPlace(schema, table, tuple(columns[i].name for i in selected.positions), selected.names, variable)
    rows = rows_in_place(engine, place)
    count = rows.count_rows()
    if count == 0:
        raise EmptyTable(table=chosen.sheet)
    source = Source(chosen.sheet, rows.fingerprint(), count, len(place.names), selected.choices)
    return TableInPlace(rows, place, Ingested(source, place.names))


def rows_in_place(engine: Engine, place: InPlace) -> Table:
    """The rows of a table that stays where it is."""
    expression, _ = cast(PostgresEngine, engine).source(place.table, place.schema, place.columns)
    return Table(engine, expression, place.names)
