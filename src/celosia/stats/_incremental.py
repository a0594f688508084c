"""Counting again only the periods in which something changed; the result is that of counting everything.

Knows a column that says when a row last changed, and what each period looked like at the last run: how many rows and
the newest change. Rows that came late, were corrected or moved to another period change both; rows that were deleted
change the first. What a change leaves untouched is taken from a private file of cells. Cells over all periods are
counted anew, for persons of different periods overlap and cannot be added.

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

from celosia.data.files import replacing
from celosia.model.stats import Dimension, Measure, Personal, StatsTable
from celosia.stats._connections import PersonalSource
from celosia.stats._count import Labels, Levels, count, counting
from celosia.tables import ALL, CellTable
from celosia.tables import Dimension as Tree

FORMAT = "celosia/counted/1"
_META = b"celosia"
_EVERYBODY = "everybody"
Cell = tuple[str | None, ...]
Figures = tuple[int, ...]
Periods = Mapping[str, Sequence[Any]]  # label → rows, rows with a moment, newest moment


@dataclass(frozen=True, slots=True)
class Recounted:
    """How much of a table was counted again."""

    full: bool
    touched: tuple[str, ...]  # periods
    reused: int  # cells taken from the last run


@dataclass(frozen=True, slots=True)
class _Stored:
    digest: str
    periods: Periods
    cells: dict[Cell, Figures]


def count_incrementally(
    source: PersonalSource,
    personal: Personal,
    table: StatsTable,
    labels: Labels,
    store: Path,
    links: Sequence[Sequence[str]] = (),
) -> tuple[CellTable, Recounted]:
    """The cells of a table, counting again only what changed since `store` was written; and what that was."""
    period = _period_of(table, labels)
    if period is None or personal.changed is None:
        return count(source, personal, table, labels, links), Recounted(True, (), 0)
    digest = _digest(source, personal, table, labels, links)
    periods = _periods(source, personal, labels[period])
    before = _read(store)
    if before is None or before.digest != digest:
        cells = count(source, personal, table, labels, links)
        _write(store, digest, periods, cells)
        return cells, Recounted(True, tuple(sorted(periods)), 0)
    touched = {label for label in {*periods, *before.periods} if periods.get(label) != before.periods.get(label)}
    found, reused = _renewed(source, personal, table, labels, links, period, before, touched)
    cells = _table_of(found, table, links, _names(table))
    _write(store, digest, periods, cells)
    return cells, Recounted(False, tuple(sorted(touched)), reused)


def _renewed(
    source: PersonalSource,
    personal: Personal,
    table: StatsTable,
    labels: Labels,
    links: Sequence[Sequence[str]],
    period: str,
    before: _Stored,
    touched: Collection[str],
) -> tuple[dict[Cell, Figures], int]:
    """The cells of the last run with those of the touched periods, and those over all periods, replaced."""
    if not touched:
        return before.cells, len(before.cells)
    at = table.dimension_names.index(period)
    kept = {cell: figures for cell, figures in before.cells.items() if cell[at] is not None and cell[at] not in touched}
    with counting(source, personal, table, labels, {period: touched}) as inside:
        new = {cell: f for cell, f in _figures(inside.cells(links)).items() if cell[at] is not None}
    over_all = _over_all_periods(source, personal, table, labels, links, period)
    return kept | new | over_all, len(kept)


def _over_all_periods(
    source: PersonalSource,
    personal: Personal,
    table: StatsTable,
    labels: Labels,
    links: Sequence[Sequence[str]],
    period: str,
) -> dict[Cell, Figures]:
    """The cells in which all periods are together."""
    others = tuple(one for one in table.dimensions if one.name != period)
    chosen = {one.name: labels[one.name] for one in others}
    if not others:  # something must be told apart: everybody has the same label
        others, chosen = (Dimension(_EVERYBODY, "category", ()),), {_EVERYBODY: ibis.literal(_EVERYBODY)}
    names = tuple(one.name for one in others)
    asked = [kept for kept in (*table.grouping_sets, *map(tuple, links)) if period not in kept]
    narrower = replace(table, dimensions=others, margins=tuple(dict.fromkeys(asked)))
    wanted = {*asked, ()}
    found = _figures(count(source, personal, narrower, chosen))
    at, only = table.dimension_names.index(period), names == (_EVERYBODY,)
    return {
        (None,) if only else (*cell[:at], None, *cell[at:]): figures
        for cell, figures in found.items()
        if tuple(name for name, label in zip(names, cell, strict=True) if label is not None) in wanted
    }


def _period_of(table: StatsTable, labels: Labels) -> str | None:
    """The dimension of periods; trees are counted in full."""
    if any(len(Levels.of(labels[name]).labels) > 1 for name in table.dimension_names):
        return None
    return next((one.name for one in table.dimensions if one.rule == "period"), None)


def _periods(source: PersonalSource, personal: Personal, label: Any) -> dict[str, list[Any]]:
    relation = source.relation(personal)
    moments = relation.select(label=label, moment=relation[personal.changed])
    found = moments.group_by("label").aggregate(
        rows=moments.count(), marked=moments["moment"].count(), newest=moments["moment"].max().cast("string")
    )
    return {row["label"]: [row["rows"], row["marked"], row["newest"]] for row in source.fetch(found).to_pylist()}


def _digest(
    source: PersonalSource, personal: Personal, table: StatsTable, labels: Labels, links: Sequence[Sequence[str]]
) -> str:
    """What was asked: another rule, map, type of column or margin makes every stored cell stale."""
    relation = source.relation(personal)
    query = source.sql(relation.select(**{f"l{i}": labels[name] for i, name in enumerate(table.dimension_names)}))
    measures = [(m.name, m.kind, m.column, m.dominance) for m in table.measures]
    asked = [FORMAT, query, personal.person, source.columns(personal), table.dimension_names, measures]
    sets = [table.grouping_sets, [list(link) for link in links]]
    return hashlib.sha256(json.dumps([asked, sets], sort_keys=True, default=str).encode()).hexdigest()


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


def _table_of(
    found: Mapping[Cell, Figures],
    table: StatsTable,
    links: Sequence[Sequence[str]],
    names: tuple[list[str], dict[str, int]],
) -> CellTable:
    """The lines as a table of cells, in the order in which a full count gives them."""
    labels = [
        sorted({label for cell in found if (label := cell[at]) is not None}) for at in range(len(table.dimensions))
    ]
    trees = tuple(Tree.flat(name, known) for name, known in zip(table.dimension_names, labels, strict=True))
    places: list[dict[str | None, int]] = [
        {None: ALL, **{label: n for n, label in enumerate(known)}} for known in labels
    ]
    also = [kept for kept in dict.fromkeys((*map(tuple, links), ())) if kept not in table.grouping_sets]
    order = {frozenset(kept): number for number, kept in enumerate((*table.grouping_sets, *also))}

    def place(cell: Cell) -> tuple[int, ...]:
        kept = frozenset(n for n, label in zip(table.dimension_names, cell, strict=True) if label is not None)
        return order[kept], *(places[at][label] for at, label in enumerate(cell))

    lines = sorted((place(cell), figures) for cell, figures in found.items())
    codes = np.array([where[1:] for where, _ in lines], np.int32).reshape(len(lines), len(trees))
    offered = np.array([where[0] < len(table.grouping_sets) for where, _ in lines], bool)
    return _assembled(trees, codes, [figures for _, figures in lines], offered, names)


def _assembled(
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


def _write(store: Path, digest: str, periods: Periods, cells: CellTable) -> None:
    found = _figures(cells)
    texts = list(zip(*found, strict=True)) if found else [()] * len(cells.dimensions)
    figures = list(zip(*found.values(), strict=True)) if found else []
    columns = {f"l{i}": pa.array(values, pa.string()) for i, values in enumerate(texts)}
    columns |= {f"f{i}": pa.array(values, pa.int64()) for i, values in enumerate(figures)}
    meta = json.dumps({"format": FORMAT, "digest": digest, "periods": periods})
    with replacing(store) as draft:  # mode 0600
        pq.write_table(pa.table(columns).replace_schema_metadata({_META: meta.encode()}), draft)


def _read(store: Path) -> _Stored | None:
    """What the last run left; nothing when it cannot be read, for then all is counted."""
    try:
        found = pq.read_table(store)
        meta = json.loads((found.schema.metadata or {})[_META])
        if meta["format"] != FORMAT:
            return None
        labels = [found.column(name).to_pylist() for name in found.column_names if name.startswith("l")]
        figures = [found.column(name).to_pylist() for name in found.column_names if name.startswith("f")]
        cells = dict(zip(zip(*labels, strict=True), zip(*figures, strict=True), strict=True))
        return _Stored(str(meta["digest"]), dict(meta["periods"]), cells)
    except (OSError, pa.ArrowException, KeyError, ValueError, TypeError):
        return None
