"""Several cuts of one PERSONAL column in linked tables: months and years, narrow and wide bands, zones and regions.

Knows the labels that occur together, read from the database without counts. Ignores cells and protection. A year is the
sum of its months whatever tables show them, so a finer cut becomes a tree with the coarser ones above it; the
categories placed above are counted and not offered by that table. Categories with the same values are one, under one
name, in every table. Two cuts that cross (18-24, 25-34 and 20-29) are refused: a reader who subtracts one from the
other obtains groups that were never counted or protected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from celosia.stats.counting.count import DerivedLevel, Levels
from celosia.stats.declaration.declaration import UNMAPPED, Dimension, StatsTable
from celosia.stats.errors import CutsCross
from celosia.tables.cells import CellTable, with_empty

Expression = Any  # an Ibis column or table
Fetch = Callable[[Expression], pa.Table]
LabelTuple = tuple[str, ...]  # the label of one value in every cut
MARK = "␟"  # begins the label of a category that comes from another table's cut
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Cut:
    """One way to group the values of a column; two with the same key are the same."""

    key: str
    labels: Expression


@dataclass(frozen=True, slots=True)
class TableBreakdowns:
    """A table as it will be counted: its dimensions by their own cuts, from the coarsest to the finest."""

    table: StatsTable
    cuts: Mapping[str, tuple[Cut, ...]]


@dataclass(frozen=True, slots=True)
class NestedLevels:
    """The levels of a dimension, and under which names all linked tables know it and its categories."""

    levels: Levels
    meaning: str = ""  # empty where no other table cuts the column otherwise
    names: Mapping[str, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class _DimensionUse:
    """A dimension of a view."""

    view: int
    table: str
    dimension: str
    cuts: tuple[Cut, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(cut.key for cut in self.cuts)


def cut_key(dimension: Dimension, *more: str) -> str:
    """A cut by what makes it: the rule, its columns and every setting."""
    settings = sorted((name, str(value)) for name, value in dimension.settings.items())
    return "\x1f".join([dimension.rule, *dimension.columns, *(f"{name}={value}" for name, value in settings), *more])


def nest_breakdowns(
    views: Sequence[TableBreakdowns], relation: Expression, fetch: Fetch
) -> list[dict[str, NestedLevels]]:
    """The dimensions of linked views with the cuts of the others above their own."""
    result = [
        {name: NestedLevels(Levels.own(cut.labels for cut in cuts)) for name, cuts in dimension.cuts.items()}
        for dimension in views
    ]
    families: dict[tuple[str, ...], list[_DimensionUse]] = {}
    for number, view in enumerate(views):
        for dimension in view.table.dimensions:
            use = _DimensionUse(number, view.table.name, dimension.name, view.cuts[dimension.name])
            families.setdefault(tuple(sorted(dimension.columns)), []).append(use)
    for columns, places in families.items():
        for use, nested_levels in _relate_uses(", ".join(columns), places, relation, fetch):
            result[use.view][use.dimension] = nested_levels
    return result


def _relate_uses(
    column: str, places: Sequence[_DimensionUse], relation: Expression, fetch: Fetch
) -> list[tuple[_DimensionUse, NestedLevels]]:
    if _tables_with_two_cuts(places):
        _refuse_more_than_once(column, places)
        return [(use, NestedLevels(Levels.own(c.labels for c in use.cuts), "\x1e".join(use.keys))) for use in places]
    if len({place.keys for place in places}) == 1:
        return []
    return _chain_cuts(column, places, relation, fetch)


def _tables_with_two_cuts(places: Sequence[_DimensionUse]) -> set[str]:
    """The tables that have two dimensions of one column."""
    tables = [(place.view, place.table) for place in places]
    return {table for view, table in tables if tables.count((view, table)) > 1}


def _refuse_more_than_once(column: str, places: Sequence[_DimensionUse]) -> None:
    """A table that crosses two cuts of a column has no tree; others may use one of its cuts, and no more."""
    twice = sorted(_tables_with_two_cuts(places))
    inside = [place for place in places if place.table in twice]
    views = {place.view for place in inside}
    distinct = all(len({p.keys for p in inside if p.view == v}) == sum(p.view == v for p in inside) for v in views)
    others = {place.keys: place.table for place in places if place.table not in twice}
    known = {place.keys for place in inside}
    if len(twice) > 1 or not distinct or len(others) > 1 or not others.keys() <= known:
        tables = sorted({*twice, *others.values()})
        raise CutsCross(column=column, tables=", ".join(tables))


def _chain_cuts(
    column: str, places: Sequence[_DimensionUse], relation: Expression, fetch: Fetch
) -> list[tuple[_DimensionUse, NestedLevels]]:
    """Every dimension with all coarser cuts above it."""
    cuts, owner = dict[str, Cut](), dict[str, str]()
    for use in places:
        for cut in use.cuts:
            cuts.setdefault(cut.key, cut)
            owner.setdefault(cut.key, use.table)
    lines = _lines(list(cuts.values()), relation, fetch)
    order = _order_coarse_to_fine(lines, list(owner.values()), column)
    names = _names(lines, order)
    ranked = [list(cuts)[at] for at in order]
    ordered = [tuple(line[at] for at in order) for line in lines]
    return [(use, _add_coarser_cuts(use, ranked, ordered, names, column)) for use in places]


def _lines(cuts: Sequence[Cut], relation: Expression, fetch: Fetch) -> list[LabelTuple]:
    """The labels that occur together; a value without a category stops the count of its table, not this."""
    together = relation.select(**{f"c{at}": cut.labels for at, cut in enumerate(cuts)}).distinct()
    labels = fetch(together)
    lines = zip(*(labels.column(f"c{at}").to_pylist() for at in range(len(cuts))), strict=True)
    return sorted(line for line in lines if UNMAPPED not in line)


def _order_coarse_to_fine(lines: Sequence[LabelTuple], owners: Sequence[str], column: str) -> list[int]:
    """The cuts in an order in which each follows from the next; refused where there is none."""
    size = [len({line[at] for line in lines}) for at in range(len(owners))]
    order = sorted(range(len(owners)), key=lambda at: (size[at], at))
    for coarse, fine in pairwise(order):
        if len({(line[coarse], line[fine]) for line in lines}) != size[fine]:
            raise CutsCross(column=column, tables=", ".join(dict.fromkeys((owners[coarse], owners[fine]))))
    return order


def _names(lines: Sequence[LabelTuple], order: Sequence[int]) -> list[dict[str, str]]:
    """Per cut, in their order, one name for every category: the same for categories that hold the same values."""
    known: dict[frozenset[str], str] = {}
    names: list[dict[str, str]] = []
    for rank, at in enumerate(order):
        leaves: dict[str, set[str]] = {}
        for line in lines:
            leaves.setdefault(line[at], set()).add(line[order[-1]])
        names.append({label: known.setdefault(frozenset(s), f"{rank}\x1f{label}") for label, s in leaves.items()})
    return names


def _add_coarser_cuts(
    use: _DimensionUse,
    ranked: Sequence[str],
    lines: Sequence[LabelTuple],
    names: Sequence[Mapping[str, str]],
    column: str,
) -> NestedLevels:
    """The own cuts of a dimension, and above its finest one those of other tables, by what they hold of it."""
    own = {cut.key: cut.labels for cut in use.cuts}
    finest = max(rank for rank, key in enumerate(ranked) if key in own)
    levels, known = list[Any](), dict[str, str]()
    for rank, key in enumerate(ranked[: finest + 1]):
        put = "" if key in own else f"{MARK}{rank} "
        levels.append(own[key] if key in own else DerivedLevel(_leaves_by_category(lines, rank, finest, put)))
        known = {**{put + label: name for label, name in names[rank].items()}, **known}  # coarser levels first
    return NestedLevels(Levels(tuple(levels), tuple(key in own for key in ranked[: finest + 1])), column, known)


def _leaves_by_category(lines: Sequence[LabelTuple], coarse: int, fine: int, put: str) -> dict[str, list[str]]:
    """The finest labels that each category holds."""
    leaves: dict[str, dict[str, None]] = {}
    for line in lines:
        leaves.setdefault(put + line[coarse], {})[line[fine]] = None
    return {category: list(labels) for category, labels in leaves.items()}


def list_empty_cells(cells: CellTable, under: int | None = None) -> CellTable:
    """The cells with the empty ones; categories from another table's cut are still not offered."""
    full = with_empty(cells, under)
    offered = full.offered.copy()
    for at, tree in enumerate(full.dimensions):
        put = np.array([*(label.startswith(MARK) for label in tree.labels), False])
        offered &= ~put[full.codes[:, at]]
    return replace(full, offered=offered)
