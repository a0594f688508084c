"""Frequencies of many combinations of columns, all out of one compressed table.

Knows codes, rows and persons. Ignores names, criteria and norms. Counting each combination from the table costs a
pass over it; so combinations are gathered into wider ones whose full table is still small, that table is counted
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

from celosia.tuples import Persons, group_codes, pack_keys, roll_up_persons

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]
Columns = tuple[int, ...]  # positions, ascending
_SMALL_WORK = 1_000_000  # tuples times combinations up to which nothing needs to be compiled
_DENSE = 4  # cells of a full table per tuple up to which it is worth filling
_WIDEST = 1 << 24  # and at most so many
_GATHERED = 1 << 18  # cells of a table that others are added up from: it stays in the cache


@dataclass(frozen=True, slots=True)
class People:
    """Persons behind cells: settled in one, or listed as (cell, person) pairs."""

    settled: Counts
    cell: Counts
    person: Counts


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows and persons of the cells of a combination; cells may be empty."""

    rows: Counts
    people: People | None
    apart: Flags | None  # cells in which every variable is masked; None where there is none

    @property
    def units(self) -> Counts:
        """Persons of each cell where they are known, rows otherwise."""
        if self.people is None:
            return self.rows
        return self.people.settled + np.bincount(self.people.cell, minlength=len(self.rows))


@dataclass(frozen=True)
class Coded:
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
    def people(self) -> People | None:
        """The persons with their pairs ordered by person, as the compiled loops take them."""
        if self.persons is None:
            return None
        order = np.lexsort((self.persons.tuple_index, self.persons.ordinal))
        return People(self.persons.settled, self.persons.tuple_index[order], self.persons.ordinal[order])

    def cells_of(self, columns: Sequence[int]) -> int:
        """Cells of the full table of some columns."""
        return math.prod(self.sizes[column] for column in columns)


def count_combinations(
    coded: Coded, wanted: Sequence[Columns], told: Callable[[float], None] | None = None
) -> Iterator[tuple[Columns, Cells]]:
    """The cells of every wanted combination, each once, in an order of our own; `told` hears how far it is."""
    if coded.codes.shape[1] * len(wanted) <= _SMALL_WORK:
        parts: Iterator[tuple[Columns, Cells]] = ((columns, grouped(coded, columns)) for columns in wanted)
    else:
        parts = _counted(coded, wanted)
    for done, part in enumerate(parts, start=1):
        yield part
        if told is not None:
            told(done / len(wanted))


def grouped(coded: Coded, columns: Columns) -> Cells:
    """The cells that occur, in the order of their codes: the plain way."""
    _, label = group_codes(coded.codes[list(columns)].T, [coded.sizes[column] for column in columns])
    groups = int(label.max(initial=-1)) + 1
    people = None
    if coded.persons is not None:
        rolled = roll_up_persons(coded.persons, label, groups)
        people = People(rolled.settled, rolled.tuple_index, rolled.ordinal)
    return Cells(_added(coded.rows, label, groups), people, _apart_groups(coded, columns, label, groups))


def _counted(coded: Coded, wanted: Sequence[Columns]) -> Iterator[tuple[Columns, Cells]]:
    tuples = coded.codes.shape[1]
    widest = min(_DENSE * tuples, _WIDEST)
    dense = [columns for columns in wanted if coded.cells_of(columns) <= widest]
    for columns in wanted:
        if coded.cells_of(columns) > widest:
            yield columns, _hashed(coded, columns)
    room = min(_GATHERED, tuples // 4)
    for parent, inside in gathered(dense, coded.sizes, room):
        yield from _from_parent(coded, parent, inside)


def gathered(wanted: Sequence[Columns], sizes: Sequence[int], room: int) -> Iterator[tuple[Columns, list[Columns]]]:
    """Wider combinations of at most `room` cells that together hold all wanted ones, each with its own.

    Greedy: the largest one left is widened by the column that takes in most others for its size.
    """
    order = sorted(wanted, key=lambda columns: (-math.prod(sizes[c] for c in columns), columns))
    holds = np.zeros((len(order), len(sizes)), bool)
    for line, columns in enumerate(order):
        holds[line, list(columns)] = True
    weight = np.log2(np.maximum(np.asarray(sizes, np.float64), 1) + 1)
    left = np.ones(len(order), bool)
    for line, columns in enumerate(order):
        if left[line]:
            parent = _widened(columns, holds[left], sizes, weight, room)
            inside = left & ~holds[:, [c for c in range(len(sizes)) if c not in parent]].any(axis=1)
            left &= ~inside
            yield parent, [order[i] for i in np.flatnonzero(inside)]


def _widened(columns: Columns, holds: Flags, sizes: Sequence[int], weight: NDArray[np.float64], room: int) -> Columns:
    parent = set(columns)
    cells = math.prod(sizes[c] for c in parent)
    lacking = holds.sum(axis=1) - holds[:, sorted(parent)].sum(axis=1)
    while True:
        gain = holds[lacking == 1].sum(axis=0) / weight
        fits = [c for c in range(len(sizes)) if c not in parent and cells * sizes[c] <= room and gain[c] > 0]
        if not fits:
            return tuple(sorted(parent))
        best = max(fits, key=lambda c: (gain[c], -c))
        parent.add(best)
        cells *= sizes[best]
        lacking = lacking - holds[:, best]


def _from_parent(coded: Coded, parent: Columns, inside: Sequence[Columns]) -> Iterator[tuple[Columns, Cells]]:
    """The combinations inside a parent, wide ones first, each from the smallest table that holds it."""
    tables = {parent: _dense(coded, parent)}
    for columns in sorted(inside, key=lambda each: (-coded.cells_of(each), each)):
        if columns not in tables:
            holding = [held for held in tables if set(columns) <= set(held)]
            source = min(holding, key=coded.cells_of)
            tables[columns] = _folded(coded, source, tables[source], columns)
        yield columns, tables[columns]


def _dense(coded: Coded, columns: Columns) -> Cells:
    """The full table of some columns, counted from the tuples."""
    from celosia.kernels.combinations import address, count_cells

    chosen = np.array(columns, np.int64)
    sizes = [coded.sizes[column] for column in columns]
    stride = np.array([math.prod(sizes[place + 1 :]) for place in range(len(sizes))], np.int64)
    cells = math.prod(sizes)
    rows = count_cells(coded.codes, chosen, stride, coded.rows, cells)
    people = None if coded.people is None else _merged(coded.people, address(coded.codes, chosen, stride), cells)
    return Cells(rows, people, _apart_cells(coded, columns))


def _folded(coded: Coded, source: Columns, cells: Cells, columns: Columns) -> Cells:
    """The full table of fewer columns, added up from that of more."""
    shape = [coded.sizes[column] for column in source]
    gone = tuple(place for place, column in enumerate(source) if column not in columns)
    rows = cells.rows.reshape(shape).sum(axis=gone).reshape(-1)
    people = None
    if cells.people is not None:
        kept = [1 if place in gone else size for place, size in enumerate(shape)]
        label = np.broadcast_to(np.arange(len(rows)).reshape(kept), shape).reshape(-1)
        people = _merged(cells.people, label, len(rows))
    return Cells(rows, people, _apart_cells(coded, columns))


def _hashed(coded: Coded, columns: Columns) -> Cells:
    """The cells that occur, where the full table would be too wide."""
    from celosia.kernels.combinations import number_keys

    sizes = [coded.sizes[column] for column in columns]
    label, groups = number_keys(pack_keys(coded.codes[list(columns)].T, sizes))
    people = None if coded.people is None else _merged(coded.people, label, groups)
    return Cells(_added(coded.rows, label, groups), people, _apart_groups(coded, columns, label, groups))


def _merged(people: People, label: Counts, cells: int) -> People:
    """Persons after cells merge as `label` says: each counted once per cell."""
    from celosia.kernels.rollup import roll_persons

    _, settled, cell, person = roll_persons(label, cells, people.settled, people.cell, people.person)
    return People(settled, cell, person)


def _added(rows: Counts, label: Counts, groups: int) -> Counts:
    """Rows of each group; sums below 2**53 are exact in the doubles that bincount makes."""
    return np.bincount(label, weights=rows, minlength=groups).astype(np.int64)


def _apart_cells(coded: Coded, columns: Columns) -> Flags | None:
    flags = [coded.masked[column] for column in columns]
    if not all(each.any() for each in flags):
        return None
    apart = flags[0]
    for each in flags[1:]:
        apart = np.logical_and.outer(apart, each)
    return apart.reshape(-1)


def _apart_groups(coded: Coded, columns: Columns, label: Counts, groups: int) -> Flags | None:
    if not all(coded.masked[column].any() for column in columns):
        return None
    starred = np.ones(len(label), bool)
    for column in columns:
        starred &= coded.masked[column][coded.codes[column]]
    apart = np.zeros(groups, bool)
    apart[label[starred]] = True
    return apart
