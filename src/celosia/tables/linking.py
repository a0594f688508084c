"""One grid for linked tables, which share people: which cells are the same, and how all of them add up.

Knows labels and trees of categories. Ignores what is sensitive. Two cells are the same when their pairs
(dimension, category) are. Tables of one population also agree where neither publishes anything: `region × sex` and
`region × cause` have the same persons per region. Such common margins join the grid as cells that are not offered;
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

from celosia.tables.cells import ALL, CellTable, Codes
from celosia.tables.errors import TablesDisagree
from celosia.tables.grid import Cells, Flags, Grid, Values
from celosia.tuples.table import group_codes

Pattern = frozenset[int]  # the dimensions, by number, that break a set of cells down
Parents = dict[int, int]  # per category of a dimension in one table, by universal number: its parent
_UNKNOWN = np.iinfo(np.int64).min  # no count and no sum


@dataclass(frozen=True, slots=True)
class _Relations:
    """Relations of one kind: a whole per group, and the parts in the order of their groups."""

    wholes: Cells
    starts: Cells
    parts: Cells


@dataclass(frozen=True, slots=True)
class _NumberedTable:
    """A table in universal numbers: its cells, and the trees of its dimensions."""

    numbers: Cells
    patterns: frozenset[Pattern]  # sets of cells that were counted
    offered: frozenset[Pattern]  # … and meant to be published, at least in part, or finer than any that is
    trees: dict[int, Parents]


@dataclass(slots=True)
class _CellRegister:
    """The cells of all tables, numbered in order of appearance."""

    keys: list[tuple[int, ...]] = field(default_factory=list)
    number_of: dict[tuple[int, ...], int] = field(default_factory=dict)

    def numbers(self, keys: Codes) -> Cells:
        """The numbers of these cells; new cells get the next ones."""
        return np.array([self._number(tuple(line)) for line in keys.tolist()], np.int64)

    def _number(self, key: tuple[int, ...]) -> int:
        number = self.number_of.setdefault(key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
        return number


def grid_of(
    tables: Sequence[CellTable], measure: str = "persons", *, additive: bool = False
) -> tuple[Grid, list[Cells]]:
    """The grid of tables about the same people, and the number in it of each cell of each table.

    `measure` is "persons", "rows" or a sum of the tables (rounded to whole numbers). Relations between persons are
    sums wherever the counts say so, one by one: where hardly anybody counts in two parts a reader takes every margin
    for a sum, and is right in these. Those of rows and sums always are. `additive=True` declares all of them sums,
    for a table that shows rows or sums beside persons: fit for elimination, which reads no values.

    Hiding costs `1 + value + height × (1 + largest value)`, where the height of a cell is the number of sums
    beneath it: any margin costs more than any inner cell, and the larger of two equals costs more.
    """
    register, sheets = _number_tables(tables)
    counted, offered = _cell_values(tables, sheets, len(register.keys), measure)
    certain = additive or measure != "persons"
    kinds = [kind for sheet in _relations_by_table(register, sheets, counted, certain) for kind in sheet]
    values = _values(counted, kinds, len(register.keys))
    offered = np.concatenate([offered, np.zeros(len(register.keys) - len(offered), bool)])
    return _grid(values, offered, [kind for kind, _ in kinds], certain), [sheet.numbers for sheet in sheets]


def _number_tables(tables: Sequence[CellTable]) -> tuple[_CellRegister, list[_NumberedTable]]:
    """Every table in universal numbers of dimensions, categories and cells."""
    dimensions = {name: at for at, name in enumerate(dict.fromkeys(n for table in tables for n in table.names))}
    labels: list[dict[str, int]] = [{} for _ in dimensions]
    register = _CellRegister()
    return register, [_number_table(table, dimensions, labels, register) for table in tables]


def _number_table(
    table: CellTable, dimensions: dict[str, int], labels: list[dict[str, int]], register: _CellRegister
) -> _NumberedTable:
    keys = np.full((len(table.codes), len(dimensions)), ALL, np.int32)
    trees = {}
    for column, dimension in enumerate(table.dimensions):
        at = dimensions[dimension.name]
        universal_numbers = [labels[at].setdefault(label, len(labels[at])) for label in dimension.labels]
        universal = np.array([*universal_numbers, ALL], np.int32)  # the last entry is for -1
        keys[:, at] = universal[table.codes[:, column]]
        trees[at] = {universal_numbers[i]: int(universal[parent]) for i, parent in enumerate(dimension.parent)}
    pattern = keys != ALL
    counted, offered = _patterns(pattern), _patterns(pattern[table.offered])
    finer = frozenset(pattern for pattern in counted if not any(pattern <= other for other in offered))
    return _NumberedTable(register.numbers(keys), counted, offered | finer, trees)


def _patterns(patterns: NDArray[np.bool_]) -> frozenset[Pattern]:
    return frozenset(frozenset(np.flatnonzero(line).tolist()) for line in np.unique(patterns, axis=0))


def _cell_values(
    tables: Sequence[CellTable], sheets: Sequence[_NumberedTable], size: int, measure: str
) -> tuple[Values, Flags]:
    """The value of every counted cell, and whether it is offered."""
    values = np.full(size, _UNKNOWN, np.int64)
    offered = np.zeros(size, bool)
    for table, sheet in zip(tables, sheets, strict=True):
        counted = _measure_values(table, measure)
        unlike = (values[sheet.numbers] != _UNKNOWN) & (values[sheet.numbers] != counted)
        if unlike.any():
            raise TablesDisagree(dimensions=", ".join(table.names), cells=int(unlike.sum()))
        values[sheet.numbers] = counted
        offered[sheet.numbers] |= table.offered
    return values, offered


def _measure_values(table: CellTable, measure: str) -> Values:
    if measure in ("persons", "rows"):
        return table.persons if measure == "persons" else table.rows
    return np.rint(table.sums[measure]).astype(np.int64)


def _common_margins(offered: Sequence[frozenset[Pattern]]) -> list[Pattern]:
    """The published sets of cells and what any two of them have in common, in a fixed order."""
    published = set().union(*offered)
    common = {first & other for first, other in combinations(published, 2)}
    return sorted(published | common, key=lambda pattern: (-len(pattern), sorted(pattern)))


def _relations_by_table(
    register: _CellRegister, sheets: Sequence[_NumberedTable], counted: Values, certain: bool
) -> Iterator[list[tuple[_Relations, bool]]]:
    """The relations of each table kind by kind, and whether every person is known to count in one part only."""
    joints = _common_margins([sheet.offered for sheet in sheets])
    keys = np.array(register.keys, np.int32).reshape(len(register.keys), -1)
    total = _total(register, counted)
    for sheet in sheets:
        used = [joint for joint in joints if any(joint <= pattern for pattern in sheet.offered)]
        known = sheet.patterns & frozenset(used)
        cells = sheet.numbers[_has_pattern(keys[sheet.numbers], known)]
        kinds = [kind for at in sheet.trees for kind in _tree_relations(register, keys, cells, at, sheet.trees[at])]
        kinds += [
            _margin_relations(register, keys, cells, source, whole, sheet.trees)
            for whole in used
            for source in _next_above(whole, known)
        ]
        exact = certain or _is_partition(keys, counted, cells, sheet, total)
        yield [(kind, exact) for kind in kinds]


def _total(register: _CellRegister, values: Values) -> int:
    """The grand total, if a table has it."""
    width = len(register.keys[0]) if register.keys else 0
    number = register.number_of.get((ALL,) * width)
    return _UNKNOWN if number is None else int(values[number])


def _has_pattern(keys: Codes, patterns: set[Pattern] | frozenset[Pattern]) -> Flags:
    pattern_of_cell = keys != ALL
    chosen = [np.isin(np.arange(keys.shape[1]), sorted(pattern)) for pattern in patterns]
    return (
        np.logical_or.reduce([(pattern_of_cell == line).all(axis=1) for line in chosen])
        if chosen
        else np.zeros(len(keys), bool)
    )


def _is_partition(keys: Codes, values: Values, cells: Cells, sheet: _NumberedTable, total: int) -> bool:
    """Whether every person counts in one innermost cell: these cells add up to the known total."""
    finest = max(sheet.offered, key=lambda pattern: (len(pattern), sorted(pattern)))
    inner = cells[_has_pattern(keys[cells], {finest})]
    for at in finest:
        inner = inner[~np.isin(keys[inner, at], sorted(set(sheet.trees[at].values())))]
    return len(finest) == len(sheet.trees) and int(values[inner].sum()) == total


def _next_above(whole: Pattern, counted: set[Pattern] | frozenset[Pattern]) -> list[Pattern]:
    """The counted sets of cells from which a margin follows without another counted one in between."""
    above = [pattern for pattern in counted if whole < pattern]
    nearest = [pattern for pattern in above if not any(other < pattern for other in above)]
    return sorted(nearest, key=sorted)


def _tree_relations(register: _CellRegister, keys: Codes, cells: Cells, at: int, tree: Parents) -> Iterator[_Relations]:
    """A category is the sum of those directly under it, all other things equal: one kind per set of dimensions."""
    lines = keys[cells]
    parents = np.array([tree.get(label, ALL) for label in range(int(lines[:, at].max(initial=-1)) + 1)] + [ALL])
    below = (lines[:, at] != ALL) & (parents[lines[:, at]] != ALL)
    if not below.any():
        return
    children, wholes = cells[below], lines[below].copy()
    wholes[:, at] = parents[wholes[:, at]]
    patterns = wholes != ALL
    for pattern in np.unique(patterns, axis=0):
        chosen = (patterns == pattern).all(axis=1)
        kind = _group_relations(register, wholes[chosen], children[chosen])
        if (kind.wholes >= len(keys)).any():
            raise ValueError("a category was counted without the one it lies under: count every level")
        yield kind


def _margin_relations(
    register: _CellRegister, keys: Codes, cells: Cells, source: Pattern, whole: Pattern, trees: dict[int, Parents]
) -> _Relations:
    """A margin is the sum of the cells of a finer set, taken at the top of the trees that it collapses."""
    parts = cells[_has_pattern(keys[cells], {source})]
    for at in source - whole:
        top = [label for label, parent in trees[at].items() if parent == ALL]
        parts = parts[np.isin(keys[parts, at], top)]
    wholes = keys[parts].copy()
    wholes[:, sorted(source - whole)] = ALL
    return _group_relations(register, wholes, parts)


def _group_relations(register: _CellRegister, wholes: Codes, parts: Cells) -> _Relations:
    sizes = (wholes.max(axis=0, initial=ALL) + 2).tolist()
    first, label = group_codes(wholes + 1, sizes)
    order = np.lexsort((parts, label))
    starts = np.concatenate([[0], np.cumsum(np.bincount(label, minlength=len(first)))]).astype(np.int64)
    return _Relations(register.numbers(wholes[first]), starts, parts[order])


def _values(counted: Values, kinds: Sequence[tuple[_Relations, bool]], size: int) -> Values:
    """The values with those of common margins: a sum where everybody counts once, else the least it can be.

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
    """Each relation once; linked tables repeat many of them."""
    number_of: dict[tuple[int, bytes], int] = {}
    for number, whole in enumerate(totals.tolist()):
        number_of.setdefault((whole, parts[starts[number] : starts[number + 1]].tobytes()), number)
    first = np.array(list(number_of.values()), np.int64)
    inside = np.repeat(np.isin(np.arange(len(totals)), first), np.diff(starts))
    sizes = np.diff(starts)[first]
    return totals[first], np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), parts[inside], sums[first]


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
