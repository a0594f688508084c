"""Several cuts of one PERSONAL column in linked tables: months and years, narrow and wide bands, zones and regions.

Knows the labels that occur together, asked of the database without counts. Ignores cells and protection. A year is the
sum of its months whatever tables they stand in, so a finer cut becomes a tree with the coarser ones above it; the
categories put above are counted and not offered by that table. Categories that hold the same values are one, under one
name, in every table. Two cuts that cross (18-24, 25-34 and 20-29) are refused: a reader who subtracts one from the
other sees slices that nobody counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from celosia.errors import CutsCross
from celosia.model.stats import UNMAPPED, Dimension, StatsTable
from celosia.stats._count import Derived, Levels
from celosia.tables import CellTable, with_empty

Expression = Any  # an Ibis column or table
Fetch = Callable[[Expression], pa.Table]
Line = tuple[str, ...]  # the label of one value in every cut
MARK = "␟"  # begins the label of a category that another table's cut puts above
_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Cut:
    """One way to group the values of a column; two with the same key are the same."""

    key: str
    labels: Expression


@dataclass(frozen=True, slots=True)
class View:
    """A table as it will be counted: its dimensions by their own cuts, from the coarsest to the finest."""

    table: StatsTable
    cuts: Mapping[str, tuple[Cut, ...]]


@dataclass(frozen=True, slots=True)
class Nested:
    """The levels of a dimension, and under which names all linked tables know it and its categories."""

    levels: Levels
    meaning: str = ""  # empty where no other table cuts the column otherwise
    names: Mapping[str, str] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class _Place:
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


def nested(views: Sequence[View], relation: Expression, fetch: Fetch) -> list[dict[str, Nested]]:
    """The dimensions of linked views with the cuts of the others above their own."""
    made = [{name: Nested(Levels.own(cut.labels for cut in cuts)) for name, cuts in one.cuts.items()} for one in views]
    families: dict[tuple[str, ...], list[_Place]] = {}
    for number, view in enumerate(views):
        for one in view.table.dimensions:
            place = _Place(number, view.table.name, one.name, view.cuts[one.name])
            families.setdefault(tuple(sorted(one.columns)), []).append(place)
    for columns, places in families.items():
        for place, found in _related(", ".join(columns), places, relation, fetch):
            made[place.view][place.dimension] = found
    return made


def _related(column: str, places: Sequence[_Place], relation: Expression, fetch: Fetch) -> list[tuple[_Place, Nested]]:
    if _twice(places):
        _refuse_more_than_once(column, places)
        return [(one, Nested(Levels.own(c.labels for c in one.cuts), "\x1e".join(one.keys))) for one in places]
    if len({place.keys for place in places}) == 1:
        return []
    return _chained(column, places, relation, fetch)


def _twice(places: Sequence[_Place]) -> set[str]:
    """The tables that have two dimensions of one column."""
    met = [(place.view, place.table) for place in places]
    return {table for view, table in met if met.count((view, table)) > 1}


def _refuse_more_than_once(column: str, places: Sequence[_Place]) -> None:
    """A table that crosses two cuts of a column has no tree; others may use one of its cuts, and no more."""
    twice = sorted(_twice(places))
    inside = [place for place in places if place.table in twice]
    views = {place.view for place in inside}
    distinct = all(len({p.keys for p in inside if p.view == v}) == sum(p.view == v for p in inside) for v in views)
    others = {place.keys: place.table for place in places if place.table not in twice}
    known = {place.keys for place in inside}
    if len(twice) > 1 or not distinct or len(others) > 1 or not others.keys() <= known:
        tables = sorted({*twice, *others.values()})
        raise CutsCross(column=column, tables=", ".join(tables))


def _chained(column: str, places: Sequence[_Place], relation: Expression, fetch: Fetch) -> list[tuple[_Place, Nested]]:
    """Every dimension with all coarser cuts above it."""
    cuts, owner = dict[str, Cut](), dict[str, str]()
    for place in places:
        for cut in place.cuts:
            cuts.setdefault(cut.key, cut)
            owner.setdefault(cut.key, place.table)
    lines = _lines(list(cuts.values()), relation, fetch)
    order = _from_coarse_to_fine(lines, list(owner.values()), column)
    names = _names(lines, order)
    ranked = [list(cuts)[at] for at in order]
    ordered = [tuple(line[at] for at in order) for line in lines]
    return [(place, _with_coarser(place, ranked, ordered, names, column)) for place in places]


def _lines(cuts: Sequence[Cut], relation: Expression, fetch: Fetch) -> list[Line]:
    """The labels that occur together; what a rule does not place stops the count of its table, not this."""
    together = relation.select(**{f"c{at}": cut.labels for at, cut in enumerate(cuts)}).distinct()
    found = fetch(together)
    lines = zip(*(found.column(f"c{at}").to_pylist() for at in range(len(cuts))), strict=True)
    return sorted(line for line in lines if UNMAPPED not in line)


def _from_coarse_to_fine(lines: Sequence[Line], owners: Sequence[str], column: str) -> list[int]:
    """The cuts in an order in which each follows from the next; refused where there is none."""
    size = [len({line[at] for line in lines}) for at in range(len(owners))]
    order = sorted(range(len(owners)), key=lambda at: (size[at], at))
    for coarse, fine in pairwise(order):
        if len({(line[coarse], line[fine]) for line in lines}) != size[fine]:
            raise CutsCross(column=column, tables=", ".join(dict.fromkeys((owners[coarse], owners[fine]))))
    return order


def _names(lines: Sequence[Line], order: Sequence[int]) -> list[dict[str, str]]:
    """Per cut, in their order, one name for every category: the same for categories that hold the same values."""
    known: dict[frozenset[str], str] = {}
    found: list[dict[str, str]] = []
    for rank, at in enumerate(order):
        held: dict[str, set[str]] = {}
        for line in lines:
            held.setdefault(line[at], set()).add(line[order[-1]])
        found.append({label: known.setdefault(frozenset(s), f"{rank}\x1f{label}") for label, s in held.items()})
    return found


def _with_coarser(
    place: _Place, ranked: Sequence[str], lines: Sequence[Line], names: Sequence[Mapping[str, str]], column: str
) -> Nested:
    """The own cuts of a dimension, and above its finest one those of other tables, by what they hold of it."""
    own = {cut.key: cut.labels for cut in place.cuts}
    finest = max(rank for rank, key in enumerate(ranked) if key in own)
    levels, known = list[Any](), dict[str, str]()
    for rank, key in enumerate(ranked[: finest + 1]):
        put = "" if key in own else f"{MARK}{rank} "
        levels.append(own[key] if key in own else Derived(_held(lines, rank, finest, put)))
        known = {**{put + label: name for label, name in names[rank].items()}, **known}  # coarser ones go before
    return Nested(Levels(tuple(levels), tuple(key in own for key in ranked[: finest + 1])), column, known)


def _held(lines: Sequence[Line], coarse: int, fine: int, put: str) -> dict[str, list[str]]:
    """The finest labels that each category holds."""
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        found.setdefault(put + line[coarse], {})[line[fine]] = None
    return {category: list(labels) for category, labels in found.items()}


def listed(cells: CellTable, under: int | None = None) -> CellTable:
    """The cells with those of nobody; categories that another table's cut puts above are still not offered."""
    full = with_empty(cells, under)
    offered = full.offered.copy()
    for at, tree in enumerate(full.dimensions):
        put = np.array([*(label.startswith(MARK) for label in tree.labels), False])
        offered &= ~put[full.codes[:, at]]
    return replace(full, offered=offered)
