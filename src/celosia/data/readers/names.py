"""The names of a source: which table is read, and its columns, each named once, without those left out.

Knows headers and tables of databases and workbooks. Ignores cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from celosia import messages
from celosia.data.errors import (
    BlankHeader,
    ChooseTable,
    DuplicateHeader,
    EmptyTable,
    GuessedDuplicateHeader,
    HeaderOnly,
    NoTable,
)
from celosia.data.limits import refuse_width
from celosia.data.sniffing import looks_like_data
from celosia.model.errors import NothingChosen
from celosia.model.schema import Schema
from celosia.model.sources import Notice, ReadingChoices

_DATABASES = frozenset(("sqlite", "duckdb", "postgresql", "spark"))
_HIDDEN = "…"  # a header that looks like somebody's data is not repeated in an error


@dataclass(frozen=True, slots=True)
class SelectedColumns:
    """The columns of a source that are read: their positions among all, their names, and the choices with notices."""

    all_names: tuple[str, ...]
    positions: tuple[int, ...]
    choices: ReadingChoices

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that are read."""
        return tuple(self.all_names[i] for i in self.positions)


def select_columns(raw: Sequence[str], choices: ReadingChoices) -> SelectedColumns:
    """The columns to read, named as the source names them; a dropped name that does not exist is an error."""
    names, notices = clean_names(raw, choices)
    schema = Schema(names)
    dropped = {schema.position(name) for name in choices.dropped}
    positions = tuple(i for i in range(len(names)) if i not in dropped)
    if not positions:
        raise NothingChosen(option="drop")
    return SelectedColumns(names, positions, replace(choices, notes=choices.notes + notices))


def numbered_names(width: int) -> tuple[str, ...]:
    """Names by position, for sources without a header."""
    return tuple(messages.text("reading.column", position=str(i)) for i in range(1, width + 1))


def clean_names(raw: Sequence[str], choices: ReadingChoices) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """The column names without surrounding blanks or line ends; blanks and repetitions refused or renamed."""
    refuse_width(len(raw))
    names = tuple(" ".join(name.split()) for name in raw)
    notices: tuple[Notice, ...] = ()
    if choices.rename_duplicates:
        renamed = _rename_duplicates(names)
        changed = sum(1 for old, new in zip(names, renamed, strict=True) if old != new)
        names = renamed
        notices = (Notice.of("renamed", count=changed),) if changed else ()
    blank = [str(position) for position, name in enumerate(names, 1) if not name]
    if blank:
        raise BlankHeader(positions=", ".join(blank))
    _refuse_repeated(names, guessed="header" in choices.guessed)
    return names, notices + _collisions(names)


def _refuse_repeated(names: Sequence[str], guessed: bool) -> None:
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        positions = ", ".join(str(i) for i, other in enumerate(names, 1) if other == name)
        if guessed:  # nobody said that it is a header: it may be a person's row
            raise GuessedDuplicateHeader(positions=positions)
        hidden = any(looks_like_data(other) for other in names)
        raise DuplicateHeader(variable=_HIDDEN if hidden else name, positions=positions)


def _rename_duplicates(names: Sequence[str]) -> tuple[str, ...]:
    taken = set(names)
    seen: set[str] = set()
    result = []
    for position, name in enumerate(names, 1):
        chosen = name or messages.text("reading.column", position=str(position))
        number = 2
        while chosen in seen or (chosen != name and chosen in taken):
            chosen = f"{name or chosen}_{number}"
            number += 1
        seen.add(chosen)
        result.append(chosen)
    return tuple(result)


def _collisions(names: Sequence[str]) -> tuple[Notice, ...]:
    folded = Counter(name.casefold() for name in names)
    alike = [name for name in names if folded[name.casefold()] > 1]
    return (Notice.of("case_collision", variables=", ".join(alike)),) if alike else ()


def no_rows_error(choices: ReadingChoices, source_name: str) -> EmptyTable | HeaderOnly:
    """What is wrong with a source that holds no row: a table has no first line that might be a record."""
    return EmptyTable(table=choices.sheet) if choices.format in _DATABASES else HeaderOnly(path=source_name)


def choose_table(name: str, known: Sequence[str], choices: ReadingChoices, first: bool = False) -> ReadingChoices:
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


def tables_by_name(rows: Iterable[Sequence[str]], plain: str) -> dict[str, str]:
    """Tables by the name a user gives them (with its schema outside the `plain` one) and as SQL takes them."""
    return {
        table if schema == plain else f"{schema}.{table}": f"{quote_name(schema)}.{quote_name(table)}"
        for schema, table in rows
    }


def quote_name(name: str) -> str:
    """A name as SQL takes it, whatever its characters."""
    return '"' + name.replace('"', '""') + '"'
