"""`cross_table`: one or two variables crossed, with nothing in the table that tells of fewer than k persons.

Knows what was asked and walks the room `tables`: count, merge, hide, hide what would give it back, audit. Ignores how
each of them works. Empty and masked cells of the data are categories of their own.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from celosia import messages
from celosia.data.files import PRIVATE_FILE, private_folder, reading_from, replacing
from celosia.data.suggest import suggest
from celosia.errors import RepeatedVariable, TableOfIdentifiers, TableUnprotectable, TooManyCells, ValueOutOfRange
from celosia.model.tables import CellStatus, Reason, TableCell, TableReport
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import Role
from celosia.pipeline._open import Opened, opened
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._suggest import column_facts
from celosia.tables import (
    CellTable,
    Dimension,
    Flags,
    Merge,
    beneath_small,
    cell_table,
    free_label,
    grid_of,
    merge_small,
    never_empty,
    with_empty,
)
from celosia.tuples import Tuples, person_counts, project, roll_up

MOST_CELLS = 1_000_000
_STATUS = (CellStatus.PUBLISHED, CellStatus.PRIMARY, CellStatus.SECONDARY)
_VEILED = {  # a reason that tells the value: an empty cell must look like a small one, a full one like a helper
    Reason.ZERO: (CellStatus.PRIMARY, Reason.THRESHOLD),
    Reason.FULL: (CellStatus.SECONDARY, Reason.COMPLEMENT),
}
_KEY_BYTES = 32
_WORDS: dict[str, tuple[str | None, ...]] = {
    "action": ("suppress", "merge", "both"),
    "zeros": ("show", "hide"),
    "percent": (None, "rows", "columns", "all"),
}


@dataclass(frozen=True, slots=True)
class TableRequest:
    """What to cross and how to protect it."""

    rows: str
    columns: str | None = None
    k: int = 5
    margins: bool = False
    person: str | None = None
    action: str = "suppress"  # suppress | merge | both
    others: str | None = None  # the variable whose small categories are merged; the rows unless said
    zeros: str = "show"  # show | hide
    width: int = 1
    base: int | None = None  # round randomly to multiples of it instead of hiding
    percent: str | None = None  # rows | columns | all

    @property
    def names(self) -> tuple[str, ...]:
        """The variables crossed."""
        return (self.rows,) if self.columns is None else (self.rows, self.columns)

    @property
    def named(self) -> tuple[str | None, ...]:
        """Every variable that the request names."""
        return (*self.names, self.person)

    @property
    def with_margins(self) -> bool:
        """Whether totals are shown: a percentage tells its base, so it brings them."""
        return self.margins or self.percent is not None


@dataclass(frozen=True, slots=True)
class _Shown:
    """What is shown of the cells of a table, each in its place."""

    table: CellTable
    values: Sequence[int | None]
    status: Sequence[CellStatus]
    reasons: Sequence[Reason | None]
    figures: dict[str, Any]


def cross_table(source: Any, rows: str, columns: str | None = None, **choices: Any) -> TableReport:
    """The protected cross table of a file, database, project or frame.

    `choices` are those of `TableRequest` (k, margins, person, action, …) and how the source is to be read.
    """
    own = {name: choices.pop(name) for name in TableRequest.__dataclass_fields__ if name in choices}
    asked = TableRequest(rows, columns, **own)
    with opened(source, described=False, naming=asked.named, **choices) as found:
        return cross_table_of(found, asked)


def cross_table_of(found: Opened, asked: TableRequest, report: Progress = None) -> TableReport:
    """The protected cross table of an opened file or project."""
    found.table.schema.chosen(asked.names, "--rows")
    key = asked.person or found.person
    if key is not None:
        found.table.schema.position(key)
    if key in asked.names:  # the table would list the persons themselves
        raise RepeatedVariable(variable=key)
    _refuse_impossible(asked)
    tuples = _labelled(found.table.tuples(asked.names, key))
    tuples, merge = _merged(tuples, asked)
    _refuse_huge(tuples, asked)
    _refuse_identifiers(found, asked)
    table = _cells(tuples, asked, merge)
    shown = _rounded(table, asked, found.folder) if asked.base else _hidden(table, asked, merge, report)
    unit = "rows" if key is None else "persons"
    figures: dict[str, Any] = {
        "margins": asked.with_margins,
        "percent": asked.percent,
        "merged": _merge_dict(merge, asked),
    }
    cells = _derived(_dense(shown, asked), asked.percent)
    figures |= {f"cells_{word}": sum(cell.status == word for cell in cells) for word in _STATUS}
    return TableReport(asked.rows, asked.columns, asked.k, unit, cells, figures | shown.figures)


def _refuse_impossible(asked: TableRequest) -> None:
    _refuse_less("k", asked.k, 2, "≥ 2")
    _refuse_less("width", asked.width, 1, "≥ 1")
    if asked.base is not None:
        _refuse_less("round", asked.base, asked.k, f"≥ k = {asked.k}")
    for name, allowed in _WORDS.items():
        if getattr(asked, name) not in allowed:
            words = ", ".join(filter(None, allowed))
            raise ValueOutOfRange(parameter=name, given=getattr(asked, name), allowed=words)
    if asked.others is not None and asked.others not in asked.names:
        raise ValueOutOfRange(parameter="others", given=asked.others, allowed=", ".join(asked.names))


def _refuse_less(name: str, given: object, least: int, allowed: str) -> None:
    """A number below the least, or what is no whole number: a width of 0 would protect nothing."""
    if not isinstance(given, Integral) or isinstance(given, bool) or int(given) < least:
        raise ValueOutOfRange(parameter=name, given=given, allowed=allowed)


def _refuse_identifiers(found: Opened, asked: TableRequest) -> None:
    """A category is printed as it is: those of a direct identifier name people, whatever the cells hide.

    A project's dictionary says which they are; of a file without one, the columns asked for are looked at.
    """
    known = found.variables or suggest(column_facts(found.table, list(dict.fromkeys(asked.names))))
    direct = {variable.name for variable in known if variable.role == Role.IDENTIFIER}
    shown = [name for name in asked.names if name in direct]
    if shown:
        raise TableOfIdentifiers(variables=", ".join(dict.fromkeys(shown)))


def _refuse_huge(tuples: Tuples, asked: TableRequest) -> None:
    cells = int(np.prod([size + 1 for size in tuples.sizes]))
    if cells > MOST_CELLS:
        raise TooManyCells(rows=asked.rows, columns=asked.columns or "–", cells=cells, limit=MOST_CELLS)


# --- categories ----------------------------------------------------------------------------------


def _labelled(tuples: Tuples) -> Tuples:
    """The tuples with words for what is missing or masked."""
    vocabularies, maps = [], []
    for vocabulary in tuples.vocabularies:
        labels = _labels(vocabulary)
        place = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        vocabularies.append(tuple(place))
        maps.append(np.array([place[label] for label in labels], np.int32))
    return roll_up(tuples, maps, vocabularies)[0]


def _labels(vocabulary: Sequence[str]) -> list[str]:
    """Plain values first, as they are; what is missing or masked at the end, in words no value uses."""
    missing, masked = (free_label(messages.text(f"tables.{kind}"), vocabulary) for kind in ("missing", "masked"))
    return [missing if value == MISSING else masked if is_masked(value) else value for value in vocabulary]


def _last(vocabulary: Sequence[str], last: Sequence[str]) -> tuple[str, ...]:
    """The labels in their order, with some moved to the end."""
    return (*(label for label in vocabulary if label not in last), *(label for label in last if label in vocabulary))


def _merged(tuples: Tuples, asked: TableRequest) -> tuple[Tuples, Merge | None]:
    """The tuples with the small categories of one variable together, if that was asked for."""
    if asked.action == "suppress" or asked.base is not None:
        return tuples, None
    at = asked.names.index(asked.others or asked.rows)
    strict = asked.action == "merge"
    others = messages.text("tables.others")
    label = free_label(others, tuples.vocabularies[at])

    def recount(labels: Sequence[str]) -> int:
        joined = _joined(tuples, at, labels, label)
        alone = strict and _weights(joined, at, False)[label] <= len(labels)  # one person each: their count tells it
        return 0 if alone else _weights(joined, at, strict)[label]

    merge = merge_small(_weights(tuples, at, strict), asked.k, recount, others, of_categories=not strict)
    return (_joined(tuples, at, merge.joined, label) if merge.joined else tuples), merge


def _weights(tuples: Tuples, at: int, strict: bool) -> dict[str, int]:
    """Persons of each category; strictly, those of its smallest cell: every cell must then reach k."""
    counted = tuples if strict else project(tuples, [tuples.names[at]])[0]
    column = counted.codes[:, at if strict else 0]
    least = np.full(tuples.sizes[at], np.iinfo(np.int64).max)
    np.minimum.at(least, column, person_counts(counted))
    met = np.unique(column).tolist()
    return {tuples.vocabularies[at][code]: int(least[code]) for code in met}


def _joined(tuples: Tuples, at: int, labels: Sequence[str], label: str) -> Tuples:
    """The tuples with some categories of a variable made one."""
    kept = [word for word in tuples.vocabularies[at] if word not in labels]
    place = {word: code for code, word in enumerate([*kept, label])}
    recoding = np.array([place[label if word in labels else word] for word in tuples.vocabularies[at]], np.int32)
    maps = [recoding if column == at else None for column in range(len(tuples.names))]
    vocabularies = list(tuples.vocabularies)
    vocabularies[at] = tuple(place)
    return roll_up(tuples, maps, vocabularies)[0]


def _cells(tuples: Tuples, asked: TableRequest, merge: Merge | None) -> CellTable:
    last = [*([merge.label] if merge else []), *(messages.text(f"tables.{kind}") for kind in ("missing", "masked"))]
    dimensions = [
        Dimension.flat(name, _last(vocabulary, last))
        for name, vocabulary in zip(tuples.names, tuples.vocabularies, strict=True)
    ]
    table = cell_table(tuples, dimensions, "all" if asked.with_margins else "none")
    return with_empty(table) if asked.zeros == "hide" else table


# --- what is shown -------------------------------------------------------------------------------


def _hidden(table: CellTable, asked: TableRequest, merge: Merge | None, report: Progress) -> _Shown:
    """The table with what must be hidden, and what would give it back.

    Where the zeros that are shown would give something away, those beneath small totals are hidden too.
    """
    _refuse_narrow(table, asked)
    try:
        return _protected(table, asked, merge, report)
    except TableUnprotectable:
        if asked.zeros == "hide":
            raise
    return _protected(with_empty(table, asked.k), asked, merge, report)


def _refuse_narrow(table: CellTable, asked: TableRequest) -> None:
    """Between 1 and k - 1, or 0 and k - 1, there must be as many values as are to stay possible."""
    least = asked.width + (2 if asked.zeros == "show" else 1)
    if asked.k < least and ((table.persons > 0) & (table.persons < asked.k)).any():
        other = f"; --zeros hide: ≥ {least - 1}" if asked.zeros == "show" else ""
        raise ValueOutOfRange(parameter="k", given=asked.k, allowed=f"≥ {least} (width = {asked.width}{other})")


def _protected(table: CellTable, asked: TableRequest, merge: Merge | None, report: Progress) -> _Shown:
    from celosia.tables import below_threshold, empty, full, protect, recoverable, threshold_bounds, together

    grid, _ = grid_of([table])
    rules = [below_threshold(table.persons, asked.k), empty(table.persons)]  # zeros that are shown are not listed
    rules += [full(table)] if asked.zeros == "hide" else []
    primary, reasons = together(rules, grid.size)
    hidden = _futile(table, merge) & ~primary
    reasons[hidden] = Reason.COMPLEMENT
    # Who knows how this works knows where a hidden zero may be.
    somebody = (table.persons > 0) & ~beneath_small(table, asked.k) if asked.zeros == "show" else hidden
    somebody = somebody | never_empty(table)
    found = protect(
        grid,
        primary,
        reasons,
        lambda status: threshold_bounds(status, asked.k, reasons=reasons, zeros=asked.zeros == "hide").narrowed(
            somebody, 1, np.inf
        ),
        k=asked.k,
        width=asked.width,
        hidden=hidden,
        singletons=grid.values == 1,
        report=_counted(report),
    )
    shown = [_VEILED.get(reason, (_STATUS[s], reason)) for s, reason in zip(found.status, found.reason, strict=True)]
    # Of the cells that look primary: a figure over the veiled ones would tell which they are.
    primary = np.array([status == CellStatus.PRIMARY for status, _ in shown], bool)
    figures = {
        "method": "suppress",
        "action": asked.action,
        "zeros": asked.zeros,
        "width": asked.width,
        "recoverable_without": int((recoverable(grid, primary) & primary).sum()) if len(grid.totals) else 0,
    }
    values = [None if status else int(value) for status, value in zip(found.status, grid.values, strict=True)]
    return _Shown(table, values, [status for status, _ in shown], [reason for _, reason in shown], figures)


def _counted(report: Progress) -> Callable[[int, int], None] | None:
    """The progress of the audit, which tells how many cells of how many are settled."""
    told = stage(report, "audit")
    return None if told is None else lambda done, total: told(done / max(total, 1))


def _futile(table: CellTable, merge: Merge | None) -> Flags:
    """Cells of categories that could only have been merged into everything: in a one-way table they are hidden."""
    if merge is None or len(table.dimensions) > 1:
        return np.zeros(len(table.codes), bool)
    labels = table.dimensions[0].labels
    return np.array([code >= 0 and labels[code] in merge.suppressed for code in table.codes[:, 0]], bool)


def _rounded(table: CellTable, asked: TableRequest, folder: Path | None) -> _Shown:
    """The table rounded at random, margins apart; the key of a project makes the same cell round alike always."""
    from celosia.tables.rounding import round_randomly

    names = [_name(table, cell) for cell in range(len(table.codes))]
    values = round_randomly(table.persons, asked.base or 1, _rounding_key(folder), names)
    size = len(names)
    figures = {"method": "round", "base": asked.base, "repeatable": folder is not None}
    return _Shown(table, [int(value) for value in values], [CellStatus.PUBLISHED] * size, [None] * size, figures)


def _name(table: CellTable, cell: int) -> str:
    """A cell by its variables and categories, the same in every table that shows it."""
    pairs = zip(table.names, table.labels(cell), strict=True)
    return json.dumps(sorted([name, label] for name, label in pairs if label is not None), ensure_ascii=False)


def _rounding_key(folder: Path | None) -> bytes:
    if folder is None:
        return secrets.token_bytes(_KEY_BYTES)
    path = folder / "private" / "rounding.key"
    if not path.exists():
        private_folder(path.parent)
        with replacing(path, PRIVATE_FILE) as draft:
            draft.write_text(secrets.token_hex(_KEY_BYTES), "ascii")
    with reading_from(path):
        return bytes.fromhex(path.read_text("ascii"))


# --- the full cross product ----------------------------------------------------------------------


def _dense(shown: _Shown, asked: TableRequest) -> tuple[TableCell, ...]:
    """Every cell in reading order, the empty ones with their 0; margins last."""
    table = shown.table
    place = {table.labels(cell): cell for cell in range(len(table.codes))}
    axes: list[tuple[str | None, ...]] = [
        (*dimension.labels, None) if asked.with_margins else dimension.labels for dimension in table.dimensions
    ]
    return tuple(_cell(key, place.get(key), shown) for key in product(*axes))


def _cell(key: tuple[str | None, ...], cell: int | None, shown: _Shown) -> TableCell:
    categories = key if len(key) > 1 else (*key, None)
    if cell is None:
        return TableCell(categories, 0, CellStatus.PUBLISHED)
    return TableCell(categories, shown.values[cell], shown.status[cell], shown.reasons[cell])


def _derived(cells: tuple[TableCell, ...], percent: str | None) -> tuple[TableCell, ...]:
    """Percentages of published cells over published bases; what comes from a hidden one is hidden."""
    if percent is None:
        return cells
    values = {cell.categories: cell.value for cell in cells}
    return tuple(_share(cell, values[_base(cell.categories, percent)]) for cell in cells)


def _base(categories: tuple[str | None, ...], percent: str) -> tuple[str | None, ...]:
    row, column = categories
    return (row if percent == "rows" else None, column if percent == "columns" else None)


def _share(cell: TableCell, base: int | float | None) -> TableCell:
    if cell.value is None:
        return cell
    if base is None:
        return replace(cell, value=None, status=CellStatus.SECONDARY, reason=Reason.DERIVED)
    return replace(cell, value=round(100 * cell.value / base, 2) if base else 0.0)


def _merge_dict(merge: Merge | None, asked: TableRequest) -> dict[str, Any] | None:
    """Which categories stand behind the merged one."""
    if merge is None or not merge.joined:
        return None
    return {"variable": asked.others or asked.rows, "label": merge.label, "categories": sorted(merge.joined)}
