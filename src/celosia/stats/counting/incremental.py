"""Counting again only the periods in which something changed; the result is that of counting everything.

Knows a column that says when a row last changed, and what each period looked like at the last run: how many rows and
the newest change. Rows that came late, were corrected or moved to another period change both; rows that were deleted
change the first. Periods without a change are taken from a private file of cells. Cells over all periods are counted
anew, for persons of different periods overlap and cannot be added.

It holds where every insertion and correction sets the column to a later moment than before. Whatever else a row is
joined with must count too: a query gives the later of both moments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from celosia.stats.counting.count import Labels, Levels, count, counting
from celosia.stats.declaration.declaration import Dimension, Measure, Personal, StatsTable
from celosia.stats.sources.connections import PersonalSource
from celosia.storage import atomic_write
from celosia.tables.cells import ALL, CellTable
from celosia.tables.cells import Dimension as Tree

FORMAT = "celosia/counted/1"
_META = b"celosia"
_EVERYBODY = "everybody"
Cell = tuple[str | None, ...]
Figures = tuple[int, ...]
Periods = Mapping[str, Sequence[Any]]  # label → rows, rows with a moment, newest moment


@dataclass(frozen=True, slots=True)
class RecountSummary:
    """How much of a table was counted again."""

    full: bool
    touched: tuple[str, ...]  # periods
    reused: int  # cells taken from the last run


@dataclass(frozen=True, slots=True)
class _Stored:
    digest: str
    periods: Periods
    cells: dict[Cell, Figures]


@dataclass(frozen=True, slots=True)
class _Request:
    """What is counted: a table, its labels by dimension, and the sets that link it with others."""

    source: PersonalSource
    personal: Personal
    table: StatsTable
    labels: Labels
    links: Sequence[Sequence[str]]

    def count(self) -> CellTable:
        """Every cell, counted anew."""
        return count(self.source, self.personal, self.table, self.labels, self.links)


def count_incrementally(
    source: PersonalSource,
    personal: Personal,
    table: StatsTable,
    labels: Labels,
    store: Path,
    links: Sequence[Sequence[str]] = (),
) -> tuple[CellTable, RecountSummary]:
    """The cells of a table, counting again only what changed since `store` was written; and what that was."""
    request = _Request(source, personal, table, labels, links)
    period = _period_of(table, labels)
    if period is None or personal.changed is None:
        return request.count(), RecountSummary(True, (), 0)
    digest = _digest(request)
    periods = _periods(source, personal, labels[period])
    before = _read_stored(store)
    if before is None or before.digest != digest:
        cells = request.count()
        _write_stored(store, digest, periods, cells)
        return cells, RecountSummary(True, tuple(sorted(periods)), 0)
    touched = {label for label in {*periods, *before.periods} if periods.get(label) != before.periods.get(label)}
    figures, reused = _renew_cells(request, period, before, touched)
    cells = _table_of(figures, table, links)
    _write_stored(store, digest, periods, cells)
    return cells, RecountSummary(False, tuple(sorted(touched)), reused)


def _renew_cells(
    request: _Request, period: str, before: _Stored, touched: Collection[str]
) -> tuple[dict[Cell, Figures], int]:
    """The cells of the last run with those of the touched periods, and those over all periods, replaced."""
    if not touched:
        return before.cells, len(before.cells)
    at = request.table.dimension_names.index(period)
    unchanged = {cell: f for cell, f in before.cells.items() if cell[at] is not None and cell[at] not in touched}
    with counting(request.source, request.personal, request.table, request.labels, {period: touched}) as inside:
        new = {cell: f for cell, f in _figures(inside.cells(request.links)).items() if cell[at] is not None}
    return unchanged | new | _over_all_periods(request, period), len(unchanged)


def _over_all_periods(request: _Request, period: str) -> dict[Cell, Figures]:
    """The cells in which all periods are together."""
    table = request.table
    others = tuple(dimension for dimension in table.dimensions if dimension.name != period)
    labels = {dimension.name: request.labels[dimension.name] for dimension in others}
    if not others:
        # A count needs a dimension: one in which everybody has the same label.
        others, labels = (Dimension(_EVERYBODY, "category", ()),), {_EVERYBODY: ibis.literal(_EVERYBODY)}
    names = tuple(dimension.name for dimension in others)
    sets = [grouping for grouping in (*table.grouping_sets, *map(tuple, request.links)) if period not in grouping]
    narrower = replace(table, dimensions=others, margins=tuple(dict.fromkeys(sets)))
    figures = _figures(count(request.source, request.personal, narrower, labels))
    at, only = table.dimension_names.index(period), names == (_EVERYBODY,)
    return {
        (None,) if only else (*cell[:at], None, *cell[at:]): values
        for cell, values in figures.items()
        if tuple(name for name, label in zip(names, cell, strict=True) if label is not None) in {*sets, ()}
    }


def _period_of(table: StatsTable, labels: Labels) -> str | None:
    """The dimension of periods; trees are counted in full."""
    if any(len(Levels.of(labels[name]).labels) > 1 for name in table.dimension_names):
        return None
    return next((dimension.name for dimension in table.dimensions if dimension.rule == "period"), None)


def _periods(source: PersonalSource, personal: Personal, label: Any) -> dict[str, list[Any]]:
    relation = source.relation(personal)
    moments = relation.select(label=label, moment=relation[personal.changed])
    periods = moments.group_by("label").aggregate(
        rows=moments.count(), marked=moments["moment"].count(), newest=moments["moment"].max().cast("string")
    )
    return {row["label"]: [row["rows"], row["marked"], row["newest"]] for row in source.fetch(periods).to_pylist()}


def _digest(request: _Request) -> str:
    """Digest of the request: another rule, map, type of column or margin makes every stored cell stale."""
    source, personal, table = request.source, request.personal, request.table
    labels = {f"l{i}": request.labels[name] for i, name in enumerate(table.dimension_names)}
    query = source.sql(source.relation(personal).select(**labels))
    measures = [(m.name, m.kind, m.column, m.dominance) for m in table.measures]
    counted = [FORMAT, query, personal.person, source.columns(personal), table.dimension_names, measures]
    sets = [table.grouping_sets, [list(link) for link in request.links]]
    return hashlib.sha256(json.dumps([counted, sets], sort_keys=True, default=str).encode()).hexdigest()


# --- cells as lines ------------------------------------------------------------------------------


def _names(table: StatsTable) -> tuple[list[str], dict[str, int]]:
    """The sums of a table's cells, and how many of the largest contributions each measure has."""
    added: list[Measure] = [m for m in table.measures if m.kind in ("sum", "mean") and m.column]
    sums = [name for m in added for name in (m.name, f"{m.name}:rows", f"{m.name}:persons")]
    return sums, {m.name: max(m.dominance[0] if m.dominance else 0, 2) for m in added}


def _figures(cells: CellTable) -> dict[Cell, Figures]:
    """Every figure of every cell, by its labels."""
    columns = [cells.persons, cells.rows, *cells.sums.values()]
    columns += [column for table in cells.largest.values() for column in np.asarray(table).T]
    lines = np.stack(columns, axis=1).tolist() if len(cells.persons) else []
    return {cells.labels(number): tuple(map(int, line)) for number, line in enumerate(lines)}


def _table_of(figures_by_cell: Mapping[Cell, Figures], table: StatsTable, links: Sequence[Sequence[str]]) -> CellTable:
    """The lines as a table of cells, in the order in which a full count gives them."""
    labels = [
        sorted({label for cell in figures_by_cell if (label := cell[at]) is not None})
        for at in range(len(table.dimensions))
    ]
    trees = tuple(Tree.flat(name, known) for name, known in zip(table.dimension_names, labels, strict=True))
    places: list[dict[str | None, int]] = [
        {None: ALL, **{label: n for n, label in enumerate(known)}} for known in labels
    ]
    also = [
        grouping_set
        for grouping_set in dict.fromkeys((*map(tuple, links), ()))
        if grouping_set not in table.grouping_sets
    ]
    order = {frozenset(grouping_set): number for number, grouping_set in enumerate((*table.grouping_sets, *also))}

    def place(cell: Cell) -> tuple[int, ...]:
        grouping_set = frozenset(n for n, label in zip(table.dimension_names, cell, strict=True) if label is not None)
        return order[grouping_set], *(places[at][label] for at, label in enumerate(cell))

    lines = sorted((place(cell), figures) for cell, figures in figures_by_cell.items())
    codes = np.array([where[1:] for where, _ in lines], np.int32).reshape(len(lines), len(trees))
    offered = np.array([where[0] < len(table.grouping_sets) for where, _ in lines], bool)
    return _assemble(trees, codes, [figures for _, figures in lines], offered, _names(table))


def _assemble(
    trees: tuple[Tree, ...], codes: Any, lines: Sequence[Figures], offered: Any, names: tuple[list[str], dict[str, int]]
) -> CellTable:
    sums, contributors = names
    width = 2 + len(sums) + sum(contributors.values())
    columns = list(np.array(lines, np.int64).reshape(len(lines), width).T)
    persons, rows = columns[:2]
    added = dict(zip(sums, columns[2 : 2 + len(sums)], strict=True))
    largest, start = {}, 2 + len(sums)
    for name, size in contributors.items():
        largest[name] = np.stack(columns[start : start + size], axis=1)
        start += size
    return CellTable(trees, codes, persons, rows, added, offered, largest)


# --- the private file ----------------------------------------------------------------------------


def _write_stored(store: Path, digest: str, periods: Periods, cells: CellTable) -> None:
    figures_by_cell = _figures(cells)
    texts = list(zip(*figures_by_cell, strict=True)) if figures_by_cell else [()] * len(cells.dimensions)
    figures = list(zip(*figures_by_cell.values(), strict=True)) if figures_by_cell else []
    columns = {f"l{i}": pa.array(values, pa.string()) for i, values in enumerate(texts)}
    columns |= {f"f{i}": pa.array(values, pa.int64()) for i, values in enumerate(figures)}
    meta = json.dumps({"format": FORMAT, "digest": digest, "periods": periods})
    with atomic_write(store) as draft:  # mode 0600
        pq.write_table(pa.table(columns).replace_schema_metadata({_META: meta.encode()}), draft)


def _read_stored(store: Path) -> _Stored | None:
    """The cells of the last run; None when they cannot be read, for then all is counted."""
    try:
        table = pq.read_table(store)
        meta = json.loads((table.schema.metadata or {})[_META])
        if meta["format"] != FORMAT:
            return None
        labels = [table.column(name).to_pylist() for name in table.column_names if name.startswith("l")]
        figures = [table.column(name).to_pylist() for name in table.column_names if name.startswith("f")]
        cells = dict(zip(zip(*labels, strict=True), zip(*figures, strict=True), strict=True))
        return _Stored(str(meta["digest"]), dict(meta["periods"]), cells)
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError):
        return None
