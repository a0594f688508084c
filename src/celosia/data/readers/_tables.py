"""Which table of a database or sheet of a workbook is read. Knows names; ignores what the tables hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from celosia.errors import CelosiaError, ChooseTable, EmptyTable, HeaderOnly, NoTable
from celosia.model.sources import Notice, ReadingChoices

_DATABASES = frozenset(("sqlite", "duckdb", "postgresql", "spark"))


def without_rows(choices: ReadingChoices, place: str) -> CelosiaError:
    """What is wrong with a source that holds no row: a table has no first line that might be a record."""
    return EmptyTable(table=choices.sheet) if choices.format in _DATABASES else HeaderOnly(path=place)


def chosen_table(name: str, known: Sequence[str], choices: ReadingChoices, first: bool = False) -> ReadingChoices:
    """The choices with their table settled: the one named, the only one, or the first where that is usual."""
    if not known:
        raise NoTable(name=name)
    if choices.sheet:
        if choices.sheet not in known:
            raise ChooseTable(name=name, known=", ".join(known))
        return choices
    if len(known) > 1 and not first:
        raise ChooseTable(name=name, known=", ".join(known))
    notes = choices.notes
    if len(known) > 1:
        notes += (Notice.of("sheet", sheet=known[0], others=", ".join(known[1:])),)
    return replace(choices, sheet=known[0], guessed=(*choices.guessed, "sheet"), notes=notes)


def shown_tables(rows: Iterable[Sequence[str]], plain: str) -> dict[str, str]:
    """Tables by the name a user gives them (with its schema outside the `plain` one) and as SQL takes them."""
    return {
        table if schema == plain else f"{schema}.{table}": f"{quoted_name(schema)}.{quoted_name(table)}"
        for schema, table in rows
    }


def quoted_name(name: str) -> str:
    """A name as SQL takes it, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'
