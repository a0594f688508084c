"""`cross_table`: one or two variables crossed, with nothing in the table that discloses fewer than k persons.

Knows the request and the steps of the package `tables`: count, merge, primary and complementary suppression, audit.
Ignores how each of them works. Empty and masked cells of the data are categories of their own.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from celosia import messages
from celosia.data.writers.csv import write_csv
from celosia.data.writers.dialect import neutralise_batch
from celosia.model.errors import RepeatedVariable
from celosia.model.reports.tables import CellStatus, Reason, TableCell, TableReport
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import MISSING, is_masked
from celosia.model.variables import Role
from celosia.pipeline.assessment.errors import TableOfIdentifiers, TooManyCells, UnknownExtension
from celosia.pipeline.assessment.frame_kinds import remember_frame_kind
from celosia.pipeline.intake.open_table import OpenTable, open_table
from celosia.pipeline.intake.proposed_dictionary import column_facts
from celosia.pipeline.project.arguments import PathArg, check_arguments
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.progress import Progress, count_progress
from celosia.proposals.propose import suggest
from celosia.storage import PRIVATE_FILE, AlreadyExists, atomic_write, make_private_folder, translate_read_errors
from celosia.tables.cells import CellTable, Dimension, cell_table, cells_inside_small, never_empty, with_empty
from celosia.tables.errors import TableUnprotectable
from celosia.tables.exact_disclosure import recoverable
from celosia.tables.grid import Bounds, Flags, Status, threshold_bounds
from celosia.tables.linking import grid_of
from celosia.tables.merge import Merge, free_label, merge_small
from celosia.tables.primary import below_threshold, combine_rules, empty_cells, full_cells
from celosia.tables.protect import protect
from celosia.tuples.table import Tuples, person_counts, project, roll_up

MOST_CELLS = 1_000_000
_STATUS = (CellStatus.PUBLISHED, CellStatus.PRIMARY, CellStatus.SECONDARY)
# Reasons that disclose the value: an empty cell must look like a small one, a full one like a complementary one.
_VEILED = {
    Reason.ZERO: (CellStatus.PRIMARY, Reason.THRESHOLD),
    Reason.FULL: (CellStatus.SECONDARY, Reason.COMPLEMENT),
}
_KEY_BYTES = 32
_ALLOWED: dict[str, tuple[str | None, ...]] = {
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
    def named_variables(self) -> tuple[str | None, ...]:
        """Every variable that the request names."""
        return (*self.names, self.person)

    @property
    def with_margins(self) -> bool:
        """Whether totals are shown: a percentage discloses its base, so it includes them."""
        return self.margins or self.percent is not None


@dataclass(frozen=True, slots=True)
class _ShownTable:
    """What is shown of the cells of a table, in their order."""

    table: CellTable
    values: Sequence[int | None]
    status: Sequence[CellStatus]
    reasons: Sequence[Reason | None]
    figures: dict[str, Any]


@check_arguments
@remember_frame_kind
def cross_table(
    source: Any,
    rows: str,
    columns: str | None = None,
    *,
    k: int = 5,
    margins: bool = False,
    person: str | None = None,
    action: Literal["suppress", "merge", "both"] = "suppress",
    others: str | None = None,
    zeros: Literal["show", "hide"] = "show",
    width: int = 1,
    base: int | None = None,
    percent: Literal["rows", "columns", "all"] | None = None,
    **reading: Any,
) -> TableReport:
    """The protected cross table of a file, database, project or frame."""
    request = TableRequest(rows, columns, k, margins, person, action, others, zeros, width, base, percent)
    with open_table(source, described=False, naming=request.named_variables, **reading) as data:
        return cross_table_of(data, request)


def cross_table_of(data: OpenTable, request: TableRequest, report: Progress = None) -> TableReport:
    """The protected cross table of an open file or project."""
    data.table.schema.checked_names(request.names, "--rows")
    key = data.person_key(request.person)
    # The table would list the persons themselves.
    if key in request.names:
        raise RepeatedVariable(variable=key)
    _refuse_impossible(request)
    tuples = _label_categories(data.table.tuples(request.names, key))
    tuples, merge = _merge_categories(tuples, request)
    _refuse_huge(tuples, request)
    _refuse_identifiers(data, request)
    table = _cells(tuples, request, merge)
    shown_table = _round(table, request, data.project) if request.base else _suppress(table, request, merge, report)
    unit = "rows" if key is None else "persons"
    figures: dict[str, Any] = {"margins": request.with_margins, "percent": request.percent}
    figures["merged"] = _merge_dict(merge, request)
    cells = _percentages(_dense(shown_table, request), request.percent)
    figures |= {f"cells_{word}": sum(cell.status == word for cell in cells) for word in _STATUS}
    return TableReport(request.rows, request.columns, request.k, unit, cells, figures | shown_table.figures)


def _refuse_impossible(request: TableRequest) -> None:
    _refuse_below_least("k", request.k, 2, "≥ 2")
    _refuse_below_least("width", request.width, 1, "≥ 1")
    if request.base is not None:
        _refuse_below_least("round", request.base, request.k, f"≥ k = {request.k}")
    for name, allowed in _ALLOWED.items():
        if getattr(request, name) not in allowed:
            allowed_text = ", ".join(filter(None, allowed))
            raise ValueOutOfRange(parameter=name, given=getattr(request, name), allowed=allowed_text)
    if request.others is not None and request.others not in request.names:
        raise ValueOutOfRange(parameter="others", given=request.others, allowed=", ".join(request.names))


def _refuse_below_least(name: str, value: object, least: int, allowed: str) -> None:
    """Refuse a number below the least, or what is no whole number: a width of 0 would protect nothing."""
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueOutOfRange(parameter=name, given=value, allowed=allowed)


def _refuse_identifiers(data: OpenTable, request: TableRequest) -> None:
    """Refuse direct identifiers: categories are printed, and theirs identify people whatever the cells hide.

    A project's dictionary says which they are; of a file without one, the columns asked for are examined.
    """
    variables = data.variables or suggest(column_facts(data.table, list(dict.fromkeys(request.names))))
    direct = {variable.name for variable in variables if variable.role == Role.IDENTIFIER}
    identifiers = [name for name in request.names if name in direct]
    if identifiers:
        raise TableOfIdentifiers(variables=", ".join(dict.fromkeys(identifiers)))


def _refuse_huge(tuples: Tuples, request: TableRequest) -> None:
    cells = int(np.prod([size + 1 for size in tuples.sizes]))
    if cells > MOST_CELLS:
        raise TooManyCells(rows=request.rows, columns=request.columns or "–", cells=cells, limit=MOST_CELLS)


def _label_categories(tuples: Tuples) -> Tuples:
    """The tuples with words for what is missing or masked."""
    vocabularies, maps = [], []
    for vocabulary in tuples.vocabularies:
        labels = _labels(vocabulary)
        code_by_label = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        vocabularies.append(tuple(code_by_label))
        maps.append(np.array([code_by_label[label] for label in labels], np.int32))
    return roll_up(tuples, maps, vocabularies)[0]


def _labels(vocabulary: Sequence[str]) -> list[str]:
    """Plain values first, as they are; what is missing or masked at the end, in words no value uses."""
    missing, masked = (free_label(messages.text(f"tables.{kind}"), vocabulary) for kind in ("missing", "masked"))
    return [missing if value == MISSING else masked if is_masked(value) else value for value in vocabulary]


def _move_to_end(vocabulary: Sequence[str], last: Sequence[str]) -> tuple[str, ...]:
    """The labels in their order, with some moved to the end."""
    return (*(label for label in vocabulary if label not in last), *(label for label in last if label in vocabulary))


def _merge_categories(tuples: Tuples, request: TableRequest) -> tuple[Tuples, Merge | None]:
    """The tuples with the small categories of one variable together, if that was asked for."""
    if request.action == "suppress" or request.base is not None:
        return tuples, None
    at = request.names.index(request.others or request.rows)
    strict = request.action == "merge"
    others = messages.text("tables.others")
    label = free_label(others, tuples.vocabularies[at])

    def recount(labels: Sequence[str]) -> int:
        joined = _join_categories(tuples, at, labels, label)
        # Where each category has one person, their number discloses it.
        one_each = strict and _weights(joined, at, False)[label] <= len(labels)
        return 0 if one_each else _weights(joined, at, strict)[label]

    # In a table of one variable the smallest cell of a category is the category itself.
    whole = not strict or len(request.names) == 1
    merge = merge_small(_weights(tuples, at, strict), request.k, recount, others, of_categories=whole)
    return (_join_categories(tuples, at, merge.joined, label) if merge.joined else tuples), merge


def _weights(tuples: Tuples, at: int, strict: bool) -> dict[str, int]:
    """Persons of each category; strictly, those of its smallest cell: every cell must then reach k."""
    cells = tuples if strict else project(tuples, [tuples.names[at]])[0]
    column = cells.codes[:, at if strict else 0]
    least = np.full(tuples.sizes[at], np.iinfo(np.int64).max)
    np.minimum.at(least, column, person_counts(cells))
    present = np.unique(column).tolist()
    return {tuples.vocabularies[at][code]: int(least[code]) for code in present}


def _join_categories(tuples: Tuples, at: int, labels: Sequence[str], label: str) -> Tuples:
    """The tuples with some categories of a variable made one."""
    vocabulary = tuples.vocabularies[at]
    others = [word for word in vocabulary if word not in labels]
    code_by_label = {word: code for code, word in enumerate([*others, label])}
    recoding = np.array([code_by_label[label if word in labels else word] for word in vocabulary], np.int32)
    maps = [recoding if column == at else None for column in range(len(tuples.names))]
    vocabularies = list(tuples.vocabularies)
    vocabularies[at] = tuple(code_by_label)
    return roll_up(tuples, maps, vocabularies)[0]


def _cells(tuples: Tuples, request: TableRequest, merge: Merge | None) -> CellTable:
    last = [*([merge.label] if merge else []), messages.text("tables.missing"), messages.text("tables.masked")]
    vocabularies = [_move_to_end(vocabulary, last) for vocabulary in tuples.vocabularies]
    dimensions = [Dimension.flat(name, labels) for name, labels in zip(tuples.names, vocabularies, strict=True)]
    table = cell_table(tuples, dimensions, "all" if request.with_margins else "none")
    return with_empty(table) if request.zeros == "hide" else table


def _suppress(table: CellTable, request: TableRequest, merge: Merge | None, report: Progress) -> _ShownTable:
    """The table after primary and complementary suppression.

    Where the zeros that are shown would disclose something, those beneath small totals are suppressed too.
    """
    _refuse_narrow_intervals(table, request)
    try:
        return _protect(table, request, merge, report)
    except TableUnprotectable:
        if request.zeros == "hide":
            raise
    return _protect(with_empty(table, request.k), request, merge, report)


def _refuse_narrow_intervals(table: CellTable, request: TableRequest) -> None:
    """Refuse a k below which no interval is wide enough: values run from 1 (or 0, where hidden) to k - 1."""
    least = request.width + (2 if request.zeros == "show" else 1)
    if request.k < least and ((table.persons > 0) & (table.persons < request.k)).any():
        other = f"; --zeros hide: ≥ {least - 1}" if request.zeros == "show" else ""
        raise ValueOutOfRange(parameter="k", given=request.k, allowed=f"≥ {least} (width = {request.width}{other})")


def _protect(table: CellTable, request: TableRequest, merge: Merge | None, report: Progress) -> _ShownTable:
    grid, _ = grid_of([table])
    hides_zeros = request.zeros == "hide"
    # Zeros that are shown are not in the table.
    rules = [below_threshold(table.persons, request.k), empty_cells(table.persons)]
    rules += [full_cells(table)] if hides_zeros else []
    primary, reasons = combine_rules(rules, grid.size)
    hidden = _unmergeable_cells(table, merge) & ~primary
    reasons[hidden] = Reason.COMPLEMENT
    # An attacker who knows the method knows where a hidden zero may be.
    not_empty = hidden if hides_zeros else (table.persons > 0) & ~cells_inside_small(table, request.k)
    not_empty = not_empty | never_empty(table)

    def bounds(status: Status) -> Bounds:
        known = threshold_bounds(status, request.k, reasons=reasons, zeros=hides_zeros)
        return known.intersect(not_empty, 1, np.inf)

    protection = protect(
        grid,
        primary,
        reasons,
        bounds,
        k=request.k,
        width=request.width,
        hidden=hidden,
        singletons=grid.values == 1,
        report=count_progress(report, "audit"),
    )
    states = zip(protection.status, protection.reason, strict=True)
    shown = [_VEILED.get(reason, (_STATUS[state], reason)) for state, reason in states]
    # Of the cells that look primary: a figure over the veiled ones would disclose which they are.
    looks_primary = np.array([status == CellStatus.PRIMARY for status, _ in shown], bool)
    recovered = int((recoverable(grid, looks_primary) & looks_primary).sum()) if len(grid.totals) else 0
    figures = {"method": "suppress", **{name: getattr(request, name) for name in ("action", "zeros", "width")}}
    figures["recoverable_without"] = recovered
    values = [None if hides else int(value) for hides, value in zip(protection.status, grid.values, strict=True)]
    return _ShownTable(table, values, [status for status, _ in shown], [reason for _, reason in shown], figures)


def _unmergeable_cells(table: CellTable, merge: Merge | None) -> Flags:
    """Cells of categories that could only have been merged into everything: in a one-way table they are hidden."""
    if merge is None or len(table.dimensions) > 1:
        return np.zeros(len(table.codes), bool)
    labels = table.dimensions[0].labels
    return np.array([code >= 0 and labels[code] in merge.suppressed for code in table.codes[:, 0]], bool)


def _round(table: CellTable, request: TableRequest, project: Project | None) -> _ShownTable:
    """The table rounded at random, margins apart; with the key of a project the same cell is always rounded alike."""
    from celosia.tables.rounding import round_randomly

    names = [_name(table, cell) for cell in range(len(table.codes))]
    values = round_randomly(table.persons, request.base or 1, _rounding_key(project), names)
    size = len(names)
    figures = {"method": "round", "base": request.base, "repeatable": project is not None}
    return _ShownTable(table, [int(value) for value in values], [CellStatus.PUBLISHED] * size, [None] * size, figures)


def _name(table: CellTable, cell: int) -> str:
    """A cell by its variables and categories, the same in every table that shows it."""
    pairs = zip(table.names, table.labels(cell), strict=True)
    return json.dumps(sorted([name, label] for name, label in pairs if label is not None), ensure_ascii=False)


def _rounding_key(project: Project | None) -> bytes:
    if project is None:
        return secrets.token_bytes(_KEY_BYTES)
    path = project.paths.rounding_key
    if not path.exists():
        make_private_folder(path.parent)
        with atomic_write(path, PRIVATE_FILE) as draft:
            draft.write_text(secrets.token_hex(_KEY_BYTES), "ascii", newline="\n")
    with translate_read_errors(path):
        return bytes.fromhex(path.read_text("ascii"))


def _dense(shown_table: _ShownTable, request: TableRequest) -> tuple[TableCell, ...]:
    """Every cell in reading order, the empty ones with their 0; margins last."""
    table = shown_table.table
    cell_by_labels = {table.labels(cell): cell for cell in range(len(table.codes))}
    axes: list[tuple[str | None, ...]] = [
        (*dimension.labels, None) if request.with_margins else dimension.labels for dimension in table.dimensions
    ]
    return tuple(_cell(key, cell_by_labels.get(key), shown_table) for key in product(*axes))


def _cell(key: tuple[str | None, ...], cell: int | None, shown_table: _ShownTable) -> TableCell:
    categories = key if len(key) > 1 else (*key, None)
    if cell is None:
        return TableCell(categories, 0, CellStatus.PUBLISHED)
    return TableCell(categories, shown_table.values[cell], shown_table.status[cell], shown_table.reasons[cell])


def _percentages(cells: tuple[TableCell, ...], percent: str | None) -> tuple[TableCell, ...]:
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


def _merge_dict(merge: Merge | None, request: TableRequest) -> dict[str, Any] | None:
    """The categories of the merged one."""
    if merge is None or not merge.joined:
        return None
    return {"variable": request.others or request.rows, "label": merge.label, "categories": sorted(merge.joined)}


def write_table(table: TableReport, out: PathArg, *, overwrite: bool = False) -> Path:
    """Write the table as CSV, numbers without marks for thousands; what a spreadsheet would run is made harmless."""
    target = Path(out)
    if target.suffix.lower() != ".csv":
        raise UnknownExtension(path=str(target), known=".csv")
    if target.is_dir() or (target.exists() and not overwrite):
        raise AlreadyExists(path=str(target))
    lines: dict[str | None, list[str]] = {}
    for cell in table.cells:
        text = messages.text("tables.hidden_mark") if cell.value is None else str(cell.value)
        lines.setdefault(cell.categories[0], []).append(text)
    columns = list(dict.fromkeys(cell.categories[1] if table.columns else None for cell in table.cells))
    heads = [_label(column) if table.columns else messages.text(f"tables.unit.{table.unit}") for column in columns]
    # A category may be a formula in the header too.
    header = _harmless_texts([[table.rows, *heads]])
    cells = _harmless_texts([[_label(row) for row in lines], *zip(*lines.values(), strict=True)])
    write_csv([cells], header.column(0).to_pylist(), target)
    return target


def _harmless_texts(columns: Iterable[Sequence[str]]) -> pa.RecordBatch:
    """Columns of text that no spreadsheet runs."""
    arrays = [pa.array(column, pa.string()) for column in columns]
    return neutralise_batch(pa.record_batch(arrays, names=[f"c{i}" for i in range(len(arrays))]))


def _label(category: str | None) -> str:
    return messages.text("tables.total") if category is None else category
