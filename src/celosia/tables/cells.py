"""The cells of a table over trees of categories, counted from a tuple table.

Knows categories by label and counts of persons and rows per cell. Ignores which cells are sensitive and what will be
hidden. Persons are counted anew for every cell and every margin, never added (DESIGN §3). Empty cells are left out:
a cell that a table does not list is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.tables.grid import Flags, Values
from celosia.tuples.table import Tuples, group_codes, pack_keys, person_counts, roll_up_persons

ALL = -1  # in the codes of a cell: every category of the dimension together

Codes = NDArray[np.int32]
Margins = Literal["all", "none"] | Sequence[Sequence[str]]
DimensionSet = tuple[int, ...]  # positions of the dimensions that break a set of cells down; the others are collapsed


@dataclass(frozen=True, slots=True)
class Dimension:
    """The categories of a variable as a tree; those with parent -1 are directly under the total."""

    name: str
    labels: tuple[str, ...]
    parent: tuple[int, ...]

    @classmethod
    def flat(cls, name: str, labels: Sequence[str]) -> Dimension:
        """Categories without levels."""
        return cls(name, tuple(labels), (ALL,) * len(labels))

    @property
    def depth(self) -> NDArray[np.int32]:
        """Depth of each category in the tree: 1 for those directly under the total."""
        return np.array([len(list(self._upwards(node))) for node in range(len(self.labels))], np.int32)

    def at_depth(self, depth: int) -> Codes:
        """The ancestor of each category at this depth, or itself; -1 where the category is higher up."""
        lines = [list(self._upwards(node))[::-1] for node in range(len(self.labels))]
        return np.array([line[depth - 1] if len(line) >= depth else ALL for line in lines], np.int32)

    def under(self, node: int) -> tuple[int, ...]:
        """The category and its descendants; all categories for -1."""
        every = range(len(self.labels))
        return tuple(other for other in every if node == ALL or node in self._upwards(other))

    def _upwards(self, node: int) -> Iterator[int]:
        while node != ALL:
            yield node
            node = self.parent[node]


@dataclass(frozen=True, slots=True)
class CellTable:
    """The non-empty cells of a table: every level of every tree, and the margins requested.

    A set of cells broken down by some dimensions is there with all its levels or not at all. Cells that are not
    `offered` are counted because relations run through them; they are never published.
    """

    dimensions: tuple[Dimension, ...]
    codes: Codes  # (cells, dimensions): position of the category in its dimension, -1 = all
    persons: Values
    rows: Values
    sums: Mapping[str, NDArray[np.number]]  # per measure, one per cell; whole numbers (cents) keep rules exact
    offered: Flags
    largest: Mapping[str, NDArray[np.number]] = field(default_factory=dict)  # (cells, n): per person, largest first

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dimensions."""
        return tuple(dimension.name for dimension in self.dimensions)

    def labels(self, cell: int) -> tuple[str | None, ...]:
        """The categories of a cell; None where all are together."""
        line = self.codes[cell]
        return tuple(None if c == ALL else d.labels[c] for c, d in zip(line, self.dimensions, strict=True))


def dimension_sets(names: Sequence[str], margins: Margins) -> tuple[DimensionSet, ...]:
    """Dimensions of each published set of cells: the whole table first, then its margins."""
    whole = tuple(range(len(names)))
    if margins == "none":
        return (whole,)
    if margins == "all":
        return tuple(chain.from_iterable(combinations(whole, n) for n in range(len(names), -1, -1)))
    requested = (tuple(sorted(names.index(name) for name in margin)) for margin in margins)
    return tuple(dict.fromkeys((whole, *requested)))


def cell_table(
    tuples: Tuples, dimensions: Sequence[Dimension], margins: Margins = "all", also: Sequence[Sequence[str]] = ()
) -> CellTable:
    """The cells of a tuple table with their distinct persons; margins in `also` are counted and not offered.

    The columns of the tuple table have the names of the dimensions, and their values are labels of the trees.
    """
    names = [dimension.name for dimension in dimensions]
    offered = dimension_sets(names, margins)
    hidden = [dimension_set for dimension_set in dimension_sets(names, also)[1:] if dimension_set not in offered]
    nodes = _tuple_categories(tuples, dimensions)
    counts = [
        (*_count_set(tuples, nodes, dimensions, dimension_set), dimension_set in offered)
        for dimension_set in (*offered, *hidden)
    ]
    return CellTable(
        tuple(dimensions),
        np.concatenate([codes for codes, _, _, _ in counts]),
        np.concatenate([persons for _, persons, _, _ in counts]),
        np.concatenate([rows for _, _, rows, _ in counts]),
        {},
        np.concatenate([np.full(len(rows), flag) for _, _, rows, flag in counts]),
    )


def with_empty(table: CellTable, under: int | None = None) -> CellTable:
    """The table with its empty cells: all of them, or those beneath margins of 1 to `under - 1` persons.

    The latter matter where zeros are shown: a margin known to be at most 4 with four parts known to be at least 1
    discloses all of them. Hidden, the zeros beneath it could be persons as well.
    """
    patterns = np.unique(table.codes[table.offered] != ALL, axis=0)[::-1]
    tops = np.full((1, len(table.dimensions)), ALL, np.int32)
    if under is not None:
        tops = table.codes[(table.persons > 0) & (table.persons < under) & _has_children(table)]
    every = [
        _combinations_under(table.dimensions, top, pattern)
        for top in tops
        for pattern in patterns
        if pattern[top != ALL].all()
    ]
    listed = _unlisted_codes(table, np.concatenate([table.codes[:0], *every]))
    if under is not None:
        # A published empty margin would disclose the zeros in it.
        listed = _unlisted_codes(table, np.concatenate([listed, *_margins_over(table, listed, patterns)]))
    return _append_empty(table, listed)


def _unlisted_codes(table: CellTable, codes: Codes) -> Codes:
    """The codes that are not yet cells of the table, without repetition."""
    keys = np.concatenate([table.codes, codes])
    first, _ = group_codes(keys + 1, [len(dimension.labels) + 1 for dimension in table.dimensions])
    return keys[np.sort(first[first >= len(table.codes)])]


def _margins_over(table: CellTable, codes: Codes, patterns: NDArray[np.bool_]) -> list[Codes]:
    """Every margin of these patterns that contains one of the cells."""
    margins = []
    for depths in product(*(range(int(dimension.depth.max(initial=0)) + 1) for dimension in table.dimensions)):
        above = _ancestors(table.dimensions, codes, depths)
        met = ((above != ALL)[:, None, :] == patterns[None]).all(axis=2).any(axis=1)
        margins.append(above[met])
    return margins


def cells_inside_small(table: CellTable, under: int) -> Flags:
    """Cells inside another of 1 to `under - 1` persons: the only hidden ones that may be zeros of `with_empty`."""
    sizes = [len(dimension.labels) + 1 for dimension in table.dimensions]
    small = table.codes[(table.persons > 0) & (table.persons < under)]
    flags = np.zeros(len(table.codes), bool)
    for depths in product(*(range(int(dimension.depth.max(initial=0)) + 1) for dimension in table.dimensions)):
        above = _ancestors(table.dimensions, table.codes, depths)
        keys = pack_keys(np.concatenate([above, small]) + 1, sizes)
        flags |= (above != table.codes).any(axis=1) & np.isin(keys[: len(above)], keys[len(above) :])
    return flags


def _ancestors(dimensions: Sequence[Dimension], codes: Codes, depths: Sequence[int]) -> Codes:
    """The cell at these depths that contains each cell; depth 0 is all categories together."""
    columns = []
    for at, (dimension, depth) in enumerate(zip(dimensions, depths, strict=True)):
        node = dimension.at_depth(depth) if depth else np.full(len(dimension.labels), ALL, np.int32)
        columns.append(np.append(node, np.int32(ALL))[codes[:, at]])  # the last entry is for -1
    return np.stack(columns, axis=1)


def _has_children(table: CellTable) -> Flags:
    """Cells with other cells beneath them."""
    flags = np.zeros(len(table.codes), bool)
    for at, dimension in enumerate(table.dimensions):
        flags |= np.isin(table.codes[:, at], [ALL, *dimension.parent])
    return flags


def never_empty(table: CellTable) -> Flags:
    """Cells of whole categories, and the total: everybody knows that a listed category has persons."""
    several = np.array([len(dimension.labels) > 1 for dimension in table.dimensions])
    return np.asarray(((table.codes != ALL) & several).sum(axis=1) <= 1)


def _combinations_under(dimensions: Sequence[Dimension], top: Codes, pattern: NDArray[np.bool_]) -> Codes:
    """Every combination of categories inside a cell, broken down by the dimensions of the pattern."""
    axes = [
        dimension.under(int(node)) if separate else (ALL,)
        for dimension, node, separate in zip(dimensions, top, pattern, strict=True)
    ]
    return np.array(list(product(*axes)), np.int32).reshape(-1, len(dimensions))


def _append_empty(table: CellTable, codes: Codes) -> CellTable:
    nobody = np.zeros(len(codes), np.int64)
    return CellTable(
        table.dimensions,
        np.concatenate([table.codes, codes]),
        np.concatenate([table.persons, nobody]),
        np.concatenate([table.rows, nobody]),
        {name: np.concatenate([sums, nobody]) for name, sums in table.sums.items()},
        np.concatenate([table.offered, np.ones(len(codes), bool)]),
        {
            name: np.concatenate([most, np.zeros((len(codes), most.shape[1]), most.dtype)])
            for name, most in table.largest.items()
        },
    )


def _tuple_categories(tuples: Tuples, dimensions: Sequence[Dimension]) -> Codes:
    """The category of each tuple in each dimension."""
    columns = []
    for dimension in dimensions:
        position = tuples.position(dimension.name)
        node_of = {label: node for node, label in enumerate(dimension.labels)}
        nodes = np.array([node_of[value] for value in tuples.vocabularies[position]], np.int32)
        columns.append(nodes[tuples.codes[:, position]])
    return np.stack(columns, axis=1) if columns else np.zeros((len(tuples.rows), 0), np.int32)


def _count_set(
    tuples: Tuples, nodes: Codes, dimensions: Sequence[Dimension], dimension_set: DimensionSet
) -> tuple[Codes, Values, Values]:
    """Codes, persons and rows of the cells broken down by these dimensions, at every level of their trees."""
    depths = [range(1, int(dimensions[at].depth.max(initial=1)) + 1) for at in dimension_set]
    counts = [
        _count_level(tuples, nodes, dimensions, dict(zip(dimension_set, levels, strict=True)))
        for levels in product(*depths)
    ]
    codes, persons, rows = (np.concatenate([part[i] for part in counts]) for i in range(3))
    return codes, persons, rows


def _count_level(
    tuples: Tuples, nodes: Codes, dimensions: Sequence[Dimension], levels: Mapping[int, int]
) -> tuple[Codes, Values, Values]:
    codes = np.full(nodes.shape, ALL, np.int32)
    inside = np.ones(len(nodes), bool)
    for at, depth in levels.items():
        codes[:, at] = dimensions[at].at_depth(depth)[nodes[:, at]]
        inside &= codes[:, at] != ALL
    first, label = group_codes(codes[inside] + 1, [len(dimension.labels) + 1 for dimension in dimensions])
    group = np.full(len(nodes), len(first), np.int64)  # who stands higher in a tree falls in a last group, dropped
    group[inside] = label
    rows = np.bincount(group, weights=tuples.rows, minlength=len(first) + 1).astype(np.int64)
    return codes[inside][first], _distinct_persons(tuples, group, len(first) + 1)[:-1], rows[:-1]


def _distinct_persons(tuples: Tuples, label: Values, groups: int) -> Values:
    """Distinct persons in each group of tuples; rows where no person key exists."""
    if tuples.persons is None:
        return np.bincount(label, weights=tuples.rows, minlength=groups).astype(np.int64)
    persons = roll_up_persons(tuples.persons, label, groups)
    empty = np.zeros((groups, 0), np.int32)
    return person_counts(Tuples((), (), empty, np.zeros(groups, np.int64), persons))
