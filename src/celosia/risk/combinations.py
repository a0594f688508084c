"""Frequencies of many combinations of columns, all out of one compressed table.

Knows codes, rows and persons. Ignores names, criteria and norms. Counting each combination from the table costs a
pass over it; so combinations are covered by wider ones whose full table is still small, that table is counted
once, and the combinations inside are added up from it, each from the smallest table that holds it (as in a data
cube: Gray and others 1997, Harinarayan and others 1996). Persons do not add up, so their incidence is rolled up
along with the cells (DESIGN §3). What is too wide for a full table is grouped by its keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.tuples.table import Persons, group_codes, pack_keys, roll_up_persons

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Columns = tuple[int, ...]  # positions, ascending
_SMALL_WORK = 1_000_000  # tuples times combinations up to which nothing needs to be compiled
_DENSE = 4  # cells of a full table per tuple up to which it is worth filling
_WIDEST = 1 << 24  # and at most so many
_CACHED = 1 << 18  # cells of a table that others are added up from: it stays in the cache


@dataclass(frozen=True, slots=True)
class CellPersons:
    """Persons behind cells: settled in one, or listed as (cell, person) pairs."""

    settled: Counts
    cell: Counts
    person: Counts


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows and persons of the cells of a combination; cells may be empty."""

    rows: Counts
    people: CellPersons | None
    apart: Flags | None  # cells in which every variable is masked; None where there is none

    @property
    def units(self) -> Counts:
        """Persons of each cell where they are known, rows otherwise."""
        if self.people is None:
            return self.rows
        return self.people.settled + np.bincount(self.people.cell, minlength=len(self.rows))


@dataclass(frozen=True)
class CodedTable:
    """The compressed table as an array per column; `masked` flags the masked values of each vocabulary."""

    codes: NDArray[np.int32]  # (columns, tuples)
    masked: tuple[Flags, ...]
    rows: Counts
    persons: Persons | None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of values of each column."""
        return tuple(len(flags) for flags in self.masked)

    @cached_property
    def people(self) -> CellPersons | None:
        """The persons with their pairs ordered by person, as the compiled loops take them."""
        if self.persons is None:
            return None
        order = np.lexsort((self.persons.tuple_index, self.persons.ordinal))
        return CellPersons(self.persons.settled, self.persons.tuple_index[order], self.persons.ordinal[order])

    def cells_of(self, columns: Sequence[int]) -> int:
        """Cells of the full table of some columns."""
        return math.prod(self.sizes[column] for column in columns)


def count_combinations(
    coded: CodedTable, combinations: Sequence[Columns], progress: Callable[[float], None] | None = None
) -> Iterator[tuple[Columns, Cells]]:
    """The cells of every combination, each once and in any order; `progress` is called with the share done."""
    if coded.codes.shape[1] * len(combinations) <= _SMALL_WORK:
        parts: Iterator[tuple[Columns, Cells]] = ((columns, group_cells(coded, columns)) for columns in combinations)
    else:
        parts = _count_from_parents(coded, combinations)
    for done, part in enumerate(parts, start=1):
        yield part
        if progress is not None:
            progress(done / len(combinations))


def group_cells(coded: CodedTable, columns: Columns) -> Cells:
    """The cells that occur, in the order of their codes: the plain way."""
    _, label = group_codes(coded.codes[list(columns)].T, [coded.sizes[column] for column in columns])
    groups = int(label.max(initial=-1)) + 1
    people = None
    if coded.persons is not None:
        rolled = roll_up_persons(coded.persons, label, groups)
        people = CellPersons(rolled.settled, rolled.tuple_index, rolled.ordinal)
    return Cells(_group_rows(coded.rows, label, groups), people, _apart_groups(coded, columns, label, groups))


def _count_from_parents(coded: CodedTable, combinations: Sequence[Columns]) -> Iterator[tuple[Columns, Cells]]:
    tuples = coded.codes.shape[1]
    widest = min(_DENSE * tuples, _WIDEST)
    dense = [columns for columns in combinations if coded.cells_of(columns) <= widest]
    for columns in combinations:
        if coded.cells_of(columns) > widest:
            yield columns, _group_by_hash(coded, columns)
    for parent, inside in cover(dense, coded.sizes, min(_CACHED, tuples // 4)):
        yield from _combinations_of_parent(coded, parent, inside)


def cover(
    combinations: Sequence[Columns], sizes: Sequence[int], most_cells: int
) -> Iterator[tuple[Columns, list[Columns]]]:
    """Wider combinations of at most `most_cells` cells that together contain all given ones, each with its own.

    Greedy: the largest one left is widened by the column that takes in most others for its size.
    """
    order = sorted(combinations, key=lambda columns: (-math.prod(sizes[c] for c in columns), columns))
    holds = np.zeros((len(order), len(sizes)), bool)
    for line, columns in enumerate(order):
        holds[line, list(columns)] = True
    weight = np.log2(np.maximum(np.asarray(sizes, np.float64), 1) + 1)
    left = np.ones(len(order), bool)
    for line, columns in enumerate(order):
        if left[line]:
            parent = _widen(columns, holds[left], sizes, weight, most_cells)
            inside = left & ~holds[:, [c for c in range(len(sizes)) if c not in parent]].any(axis=1)
            left &= ~inside
            yield parent, [order[i] for i in np.flatnonzero(inside)]


def _widen(
    columns: Columns, holds: Flags, sizes: Sequence[int], weight: NDArray[np.float64], most_cells: int
) -> Columns:
    parent = set(columns)
    cells = math.prod(sizes[c] for c in parent)
    lacking = holds.sum(axis=1) - holds[:, sorted(parent)].sum(axis=1)
    while True:
        gain = holds[lacking == 1].sum(axis=0) / weight
        fits = [c for c in range(len(sizes)) if c not in parent and cells * sizes[c] <= most_cells and gain[c] > 0]
        if not fits:
            return tuple(sorted(parent))
        best = max(fits, key=lambda c: (gain[c], -c))
        parent.add(best)
        cells *= sizes[best]
        lacking = lacking - holds[:, best]


def _combinations_of_parent(
    coded: CodedTable, parent: Columns, inside: Sequence[Columns]
) -> Iterator[tuple[Columns, Cells]]:
    """The combinations inside a parent, wide ones first, each from the smallest table that holds it."""
    tables = {parent: _count_dense(coded, parent)}
    for columns in sorted(inside, key=lambda columns: (-coded.cells_of(columns), columns)):
        if columns not in tables:
            source = min((wide for wide in tables if set(columns) <= set(wide)), key=coded.cells_of)
            tables[columns] = _sum_out(coded, source, tables[source], columns)
        yield columns, tables[columns]


def _count_dense(coded: CodedTable, columns: Columns) -> Cells:
    """The full table of some columns, counted from the tuples."""
    from celosia.kernels.combinations import address, count_cells

    chosen = np.array(columns, np.int64)
    sizes = [coded.sizes[column] for column in columns]
    stride = np.array([math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))], np.int64)
    cells = math.prod(sizes)
    rows = count_cells(coded.codes, chosen, stride, coded.rows, cells)
    people = None if coded.people is None else _merge_people(coded.people, address(coded.codes, chosen, stride), cells)
    return Cells(rows, people, _apart_cells(coded, columns))


def _sum_out(coded: CodedTable, source: Columns, cells: Cells, columns: Columns) -> Cells:
    """The full table of fewer columns, added up from that of more."""
    shape = [coded.sizes[column] for column in source]
    summed = tuple(axis for axis, column in enumerate(source) if column not in columns)
    rows = cells.rows.reshape(shape).sum(axis=summed).reshape(-1)
    people = None
    if cells.people is not None:
        left = [1 if axis in summed else size for axis, size in enumerate(shape)]
        label = np.broadcast_to(np.arange(len(rows)).reshape(left), shape).reshape(-1)
        people = _merge_people(cells.people, label, len(rows))
    return Cells(rows, people, _apart_cells(coded, columns))


def _group_by_hash(coded: CodedTable, columns: Columns) -> Cells:
    """The cells that occur, where the full table would be too wide."""
    from celosia.kernels.numbering import number_keys

    sizes = [coded.sizes[column] for column in columns]
    number, first = number_keys(pack_keys(coded.codes[list(columns)].T, sizes))
    label, groups = number.astype(np.int64), len(first)
    people = None if coded.people is None else _merge_people(coded.people, label, groups)
    return Cells(_group_rows(coded.rows, label, groups), people, _apart_groups(coded, columns, label, groups))


def _merge_people(people: CellPersons, label: Counts, cells: int) -> CellPersons:
    """Persons after cells merge as `label` says: each counted once per cell."""
    from celosia.kernels.rollup import roll_persons

    # One kind of array for one compiled kernel: labels come lent, or as one number said for everybody.
    own = np.require(label, np.int64, ["C", "W"])
    _, settled, cell, person = roll_persons(own, cells, people.settled, people.cell, people.person)
    return CellPersons(settled, cell, person)


def _group_rows(rows: Counts, label: Counts, groups: int) -> Counts:
    """Rows of each group; sums below 2**53 are exact in the doubles that bincount makes."""
    return np.bincount(label, weights=rows, minlength=groups).astype(np.int64)


def _apart_cells(coded: CodedTable, columns: Columns) -> Flags | None:
    flags = [coded.masked[column] for column in columns]
    if not all(masked.any() for masked in flags):
        return None
    apart = flags[0]
    for masked in flags[1:]:
        apart = np.logical_and.outer(apart, masked)
    return apart.reshape(-1)


def _apart_groups(coded: CodedTable, columns: Columns, label: Counts, groups: int) -> Flags | None:
    if not all(coded.masked[column].any() for column in columns):
        return None
    masked = np.ones(len(label), bool)
    for column in columns:
        masked &= coded.masked[column][coded.codes[column]]
    apart = np.zeros(groups, bool)
    apart[label[masked]] = True
    return apart
