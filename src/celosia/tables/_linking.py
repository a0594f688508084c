"""One grid for the tables that share people: which cells are the same, and how all of them add up.

Knows labels and trees of categories. Ignores what is sensitive. Two cells are the same when their pairs
(dimension, category) are. Tables of one population also agree where neither publishes anything: `region × sex` and
`region × cause` have the same persons per region. Such common margins join the grid as cells that nobody offers;
pairwise intersections are enough, because any tables that agree on them are margins of one (signed) whole.

Sources: Fischetti and Salazar-González (2000) for tables as systems of sums; GaussSuppression's LinkedTables for
linking through shared cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from celosia.errors import TablesDisagree
from celosia.tables._cells import ALL, CellTable, Codes
from celosia.tables._grid import Cells, Flags, Grid, Values
from celosia.tuples import group_codes

Pattern = frozenset[int]  # the dimensions, by number, that a set of cells tells apart
_UNKNOWN = np.iinfo(np.int64).min  # no count and no sum


@dataclass(frozen=True, slots=True)
class _Relations:
    """Relations of one kind: a whole per group, and the parts in the order of their groups."""

    wholes: Cells
    starts: Cells
    parts: Cells


@dataclass(frozen=True, slots=True)
class _Tree:
    """The parent of every category of a dimension in one table, by universal number; absent ones are missing."""

    parent: dict[int, int]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A table in universal numbers: its cells, and the trees it tells apart."""

    numbers: Cells
    patterns: frozenset[Pattern]  # sets of cells that were counted
    offered: frozenset[Pattern]  # … and that somebody means to publish, at least in part
    trees: dict[int, _Tree]


@dataclass(slots=True)
class _Register:
    """The cells met so far; numbers are given in the order of meeting."""

    keys: list[tuple[int, ...]] = field(default_factory=list)
    number: dict[tuple[int, ...], int] = field(default_factory=dict)

    def of(self, keys: Codes) -> Cells:
        """The numbers of these cells, new ones for those never met."""
        return np.array([self._one(tuple(line)) for line in keys.tolist()], np.int64)

    def _one(self, key: tuple[int, ...]) -> int:
        found = self.number.setdefault(key, len(self.keys))
        if found == len(self.keys):
            self.keys.append(key)
        return found


def grid_of(
    tables: Sequence[CellTable], measure: str = "persons", *, additive: bool = False
) -> tuple[Grid, list[Cells]]:
    """The grid of tables about the same people, and the number in it of each cell of each table.

    `measure` is "persons", "rows" or a sum of the tables (rounded to whole numbers). Relations between persons are
    sums wherever the counts say so, one by one: where hardly anybody stands in two parts a reader takes every margin
    for a sum, and is right in these. Those of rows and sums always are. `additive=True` declares all of them sums,
    for a table that shows rows or sums beside persons: fit for elimination, which reads no values.

    Hiding costs `1 + value + height × (1 + largest value)`, where the height of a cell is the number of sums
    stacked beneath it: any margin is dearer than any inner cell, and the larger of two equals is the dearer.
    """
    register, sheets = _sheets(tables)
    counted, offered = _counted(tables, sheets, len(register.keys), measure)
    certain = additive or measure != "persons"
    found = [kind for sheet in _sorted_out(register, sheets, counted, certain) for kind in sheet]
    values = _values(counted, found, len(register.keys))
    offered = np.concatenate([offered, np.zeros(len(register.keys) - len(offered), bool)])
    return _grid(values, offered, [kind for kind, _ in found], certain), [sheet.numbers for sheet in sheets]


def _sheets(tables: Sequence[CellTable]) -> tuple[_Register, list[_Sheet]]:
    """Every table in universal numbers of dimensions, categories and cells."""
    dimensions = {name: at for at, name in enumerate(dict.fromkeys(n for table in tables for n in table.names))}
    labels: list[dict[str, int]] = [{} for _ in dimensions]
    register = _Register()
    return register, [_sheet(table, dimensions, labels, register) for table in tables]


def _sheet(table: CellTable, dimensions: dict[str, int], labels: list[dict[str, int]], register: _Register) -> _Sheet:
    keys = np.full((len(table.codes), len(dimensions)), ALL, np.int32)
    trees = {}
    for column, dimension in enumerate(table.dimensions):
        at = dimensions[dimension.name]
        place = [labels[at].setdefault(label, len(labels[at])) for label in dimension.labels]
        universal = np.array([*place, ALL], np.int32)  # the last answers for -1
        keys[:, at] = universal[table.codes[:, column]]
        trees[at] = _Tree({place[i]: int(universal[parent]) for i, parent in enumerate(dimension.parent)})
    kept = keys != ALL
    return _Sheet(register.of(keys), _patterns(kept), _patterns(kept[table.offered]), trees)


def _patterns(kept: NDArray[np.bool_]) -> frozenset[Pattern]:
    return frozenset(frozenset(np.flatnonzero(line).tolist()) for line in np.unique(kept, axis=0))


def _counted(tables: Sequence[CellTable], sheets: Sequence[_Sheet], size: int, measure: str) -> tuple[Values, Flags]:
    """The value of every counted cell, and whether anybody offers it."""
    values = np.full(size, _UNKNOWN, np.int64)
    offered = np.zeros(size, bool)
    for table, sheet in zip(tables, sheets, strict=True):
        counted = _measured(table, measure)
        unlike = (values[sheet.numbers] != _UNKNOWN) & (values[sheet.numbers] != counted)
        if unlike.any():
            raise TablesDisagree(dimensions=", ".join(table.names), cells=int(unlike.sum()))
        values[sheet.numbers] = counted
        offered[sheet.numbers] |= table.offered
    return values, offered


def _measured(table: CellTable, measure: str) -> Values:
    if measure in ("persons", "rows"):
        return table.persons if measure == "persons" else table.rows
    return np.rint(table.sums[measure]).astype(np.int64)


def _joints(offered: Sequence[frozenset[Pattern]]) -> list[Pattern]:
    """The published sets of cells and what any two of them have in common, in a fixed order."""
    published = set().union(*offered)
    common = {one & other for one, other in combinations(published, 2)}
    return sorted(published | common, key=lambda pattern: (-len(pattern), sorted(pattern)))


def _sorted_out(
    register: _Register, sheets: Sequence[_Sheet], counted: Values, certain: bool
) -> Iterator[list[tuple[_Relations, bool]]]:
    """The relations of each table kind by kind, and whether everybody is known to stand in one part only."""
    joints = _joints([sheet.offered for sheet in sheets])
    keys = np.array(register.keys, np.int32).reshape(len(register.keys), -1)
    total = _total(register, counted)
    for sheet in sheets:
        used = [joint for joint in joints if any(joint <= pattern for pattern in sheet.offered)]
        known = sheet.patterns & frozenset(used)
        cells = sheet.numbers[_among(keys[sheet.numbers], known)]
        kinds = [kind for at in sheet.trees for kind in _inside_tree(register, keys, cells, at, sheet.trees[at])]
        kinds += [
            _collapsed(register, keys, cells, source, whole, sheet.trees)
            for whole in used
            for source in _next_above(whole, known)
        ]
        exact = certain or _each_once(keys, counted, cells, sheet, total)
        yield [(kind, exact) for kind in kinds]


def _total(register: _Register, values: Values) -> int:
    """How many there are in all, where a table says it."""
    width = len(register.keys[0]) if register.keys else 0
    found = register.number.get((ALL,) * width)
    return _UNKNOWN if found is None else int(values[found])


def _among(keys: Codes, patterns: set[Pattern] | frozenset[Pattern]) -> Flags:
    kept = keys != ALL
    chosen = [np.isin(np.arange(keys.shape[1]), sorted(pattern)) for pattern in patterns]
    return (
        np.logical_or.reduce([(kept == line).all(axis=1) for line in chosen]) if chosen else np.zeros(len(keys), bool)
    )


def _each_once(keys: Codes, values: Values, cells: Cells, sheet: _Sheet, total: int) -> bool:
    """Whether every person stands in one innermost cell: the innermost cells add up to the known total."""
    finest = max(sheet.offered, key=lambda pattern: (len(pattern), sorted(pattern)))
    inner = cells[_among(keys[cells], {finest})]
    for at in finest:
        inner = inner[~np.isin(keys[inner, at], sorted(set(sheet.trees[at].parent.values())))]
    return len(finest) == len(sheet.trees) and int(values[inner].sum()) == total


def _next_above(whole: Pattern, counted: set[Pattern] | frozenset[Pattern]) -> list[Pattern]:
    """The counted sets of cells from which a margin follows without another counted one in between."""
    above = [pattern for pattern in counted if whole < pattern]
    nearest = [pattern for pattern in above if not any(other < pattern for other in above)]
    return sorted(nearest, key=sorted)


def _inside_tree(register: _Register, keys: Codes, cells: Cells, at: int, tree: _Tree) -> Iterator[_Relations]:
    """A category is the sum of those directly under it, all other things equal: one kind per set of dimensions."""
    lines = keys[cells]
    parents = np.array([tree.parent.get(label, ALL) for label in range(int(lines[:, at].max(initial=-1)) + 1)] + [ALL])
    below = (lines[:, at] != ALL) & (parents[lines[:, at]] != ALL)
    if not below.any():
        return
    children, wholes = cells[below], lines[below].copy()
    wholes[:, at] = parents[wholes[:, at]]
    kept = wholes != ALL
    for pattern in np.unique(kept, axis=0):
        chosen = (kept == pattern).all(axis=1)
        kind = _grouped(register, wholes[chosen], children[chosen])
        if (kind.wholes >= len(keys)).any():
            raise ValueError("a category was counted without the one it lies under: count every level")
        yield kind


def _collapsed(
    register: _Register, keys: Codes, cells: Cells, source: Pattern, whole: Pattern, trees: dict[int, _Tree]
) -> _Relations:
    """A margin is the sum of the cells of a finer set, taken at the top of the trees that it collapses."""
    parts = cells[_among(keys[cells], {source})]
    for at in source - whole:
        top = [label for label, parent in trees[at].parent.items() if parent == ALL]
        parts = parts[np.isin(keys[parts, at], top)]
    wholes = keys[parts].copy()
    wholes[:, sorted(source - whole)] = ALL
    return _grouped(register, wholes, parts)


def _grouped(register: _Register, wholes: Codes, parts: Cells) -> _Relations:
    sizes = (wholes.max(axis=0, initial=ALL) + 2).tolist()
    first, label = group_codes(wholes + 1, sizes)
    order = np.lexsort((parts, label))
    starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=len(first)))]).astype(np.int64)
    return _Relations(register.of(wholes[first]), starts, parts[order])


def _values(counted: Values, kinds: Sequence[tuple[_Relations, bool]], size: int) -> Values:
    """The values with those of common margins: a sum where everybody stands once, else the least it can be.

    That least, the largest part of any relation, lies between largest and sum for each of them.
    """
    exact = np.concatenate([counted, np.full(size - len(counted), _UNKNOWN, np.int64)])
    least = exact.copy()
    for kind, once in kinds:
        new = kind.wholes >= len(counted)
        np.maximum.at(least, kind.wholes[new], _largest(exact, kind)[new])
        if once:
            exact[kind.wholes[new]] = _sums(exact, kind)[new]
    return np.where(exact == _UNKNOWN, least, exact)


def _grid(values: Values, offered: Flags, kinds: Sequence[_Relations], certain: bool) -> Grid:
    additive = [certain | (values[kind.wholes] == _sums(values, kind)) for kind in kinds]
    sizes = [np.diff(kind.starts) for kind in kinds]
    none = [np.zeros(0, np.int64)]
    totals, parts = (np.concatenate(none + [getattr(kind, what) for kind in kinds]) for what in ("wholes", "parts"))
    starts = np.concatenate([[0], np.cumsum(np.concatenate(none + sizes))]).astype(np.int64)
    sums = np.concatenate([np.zeros(0, bool), *additive])
    totals, starts, parts, sums = _distinct(totals, starts, parts, sums)
    return Grid(values, totals, starts, parts, sums, _cost(values, totals, starts, parts), offered)


def _distinct(totals: Cells, starts: Cells, parts: Cells, sums: Flags) -> tuple[Cells, Cells, Cells, Flags]:
    """Each relation once; linked tables say many of them twice."""
    met: dict[tuple[int, bytes], int] = {}
    for number, whole in enumerate(totals.tolist()):
        met.setdefault((whole, parts[starts[number] : starts[number + 1]].tobytes()), number)
    kept = np.array(list(met.values()), np.int64)
    inside = np.repeat(np.isin(np.arange(len(totals)), kept), np.diff(starts))
    sizes = np.diff(starts)[kept]
    return totals[kept], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), parts[inside], sums[kept]


def _cost(values: Values, totals: Cells, starts: Cells, parts: Cells) -> Values:
    height = np.zeros(len(values), np.int64)
    while len(parts):
        grown = height.copy()
        np.maximum.at(grown, totals, np.maximum.reduceat(height[parts], starts[:-1]) + 1)
        if (grown == height).all():
            break
        height = grown
    size = np.abs(values)
    return 1 + size + height * (1 + size.max(initial=0))


def _sums(values: Values, kind: _Relations) -> Values:
    return np.add.reduceat(values[kind.parts], kind.starts[:-1]) if len(kind.parts) else np.zeros(0, np.int64)


def _largest(values: Values, kind: _Relations) -> Values:
    return np.maximum.reduceat(values[kind.parts], kind.starts[:-1]) if len(kind.parts) else np.zeros(0, np.int64)
