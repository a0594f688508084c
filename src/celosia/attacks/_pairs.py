"""Two files of coded records as distinct tuples, and the pairs of tuples that go together.

Knows codes, and per column which label covers which value. Ignores texts and who is right. Records are first reduced to
distinct tuples; pairs of tuples are then found column by column, the most telling column first (`kernels.joining`), and
handed over in pieces: what an attack keeps of them is its own affair. Beyond a given number of pairs it gives up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.attacks._scene import Column, Records
from celosia.tuples import group_codes

Longs = NDArray[np.int64]
Piece = tuple[Longs, Longs]  # tuples of the release and of the other file, by position

MOST_PAIRS = 400_000_000
SEVERAL = -2  # in place of a person: more than one
NOBODY = -1
_PIECE = 1 << 21


class TooManyPairs(Exception):
    """The files are so vague that nearly everything goes with everything."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """The distinct tuples of a file, in the order of their codes."""

    codes: NDArray[np.int32]  # (tuples, columns)
    of_row: Longs  # the tuple of each record
    rows: Longs  # records of each tuple
    who: Longs  # the only person of each tuple, or SEVERAL


def distinct(records: Records, sizes: Sequence[int]) -> Distinct:
    """The distinct tuples of coded records."""
    first, label = group_codes(records.codes, sizes)
    codes = np.ascontiguousarray(records.codes[first], np.int32)
    rows = np.bincount(label, minlength=len(first)).astype(np.int64)
    return Distinct(codes, label, rows, only_person(label, records.owners, len(first)))


def only_person(group: Longs, owners: Longs, groups: int) -> Longs:
    """The only person of each group, SEVERAL where there are more, NOBODY where it is empty."""
    who = np.full(groups, NOBODY, np.int64)
    who[group] = owners  # the last record's owner stands for the group …
    other = owners != who[group]  # … and is contradicted by any other
    who[group[other]] = SEVERAL
    return who


@dataclass(frozen=True, slots=True)
class Join:
    """Two files over the same columns, reduced to tuples, most telling column first."""

    columns: tuple[Column, ...]
    order: tuple[int, ...]  # places of those columns in the files
    released: Distinct
    external: Distinct

    @property
    def shape(self) -> tuple[int, int]:
        """Distinct tuples on each side."""
        return len(self.released.rows), len(self.external.rows)


def join(columns: Sequence[Column], released: Records, external: Records, last: int | None = None) -> Join:
    """The two files made ready; `last` is the place of a column that must come last."""
    order = _order(columns, released, external)
    if last is not None:
        order = [place for place in order if place != last] + [last]
    chosen = tuple(columns[place] for place in order)
    labels = [max(column.covers.shape[0], 1) for column in chosen]
    values = [max(column.covers.shape[1], 1) for column in chosen]
    return Join(chosen, tuple(order), distinct(released.pick(order), labels), distinct(external.pick(order), values))


def _order(columns: Sequence[Column], released: Records, external: Records) -> list[int]:
    """Columns by the share of pairs of records that they let through, the smallest first."""
    through = [
        passing(column, released.codes[:, place], external.codes[:, place]) for place, column in enumerate(columns)
    ]
    return sorted(range(len(columns)), key=lambda place: (through[place], place))


def passing(column: Column, labels: NDArray[np.integer], values: NDArray[np.integer]) -> float:
    """Share of pairs of records that go together in a column."""
    if not len(labels) or not len(values):
        return 0.0
    return float(shares(labels, column.covers.shape[0]) @ (column.covers @ shares(values, column.covers.shape[1])))


def shares(codes: NDArray[np.integer], size: int) -> NDArray[np.float64]:
    """The share of records with each code."""
    return np.bincount(codes, minlength=size) / max(len(codes), 1)


def pieces(made: Join, *, odd_last: bool = False, most: int = MOST_PAIRS) -> Iterator[Piece]:
    """All pairs of tuples that go together, or with `odd_last` those that differ in the last column alone."""
    from celosia.kernels.joining import run_ends, walk

    left, right = made.released.codes, made.external.codes
    if not len(left) or not len(right):
        return
    fixed = (left, run_ends(left), right, run_ends(right), *_covering(made.columns), odd_last)
    size = max(_PIECE, len(right))
    stack, top, seen = np.array([[0, 0, len(left), 0, len(right)]], np.int64), 1, 0
    while top > 0:
        one, other = np.empty(size, np.int64), np.empty(size, np.int64)
        stack, top, count = walk(stack, top, *fixed, one, other)
        seen += count
        if seen > most:
            raise TooManyPairs
        yield one[:count], other[:count]


def _covering(columns: Sequence[Column]) -> tuple[Longs, Longs, Longs, Longs, Longs]:
    """The covers of all columns one after another, both ways, and where each column begins."""
    forth = [_sorted(column.covers) for column in columns]
    back = [_sorted(column.covers.T) for column in columns]
    starts, items, first = _chained(forth)
    back_starts, back_items, back_first = _chained(back)
    return starts, items, back_starts, back_items, np.stack([first, back_first], axis=1)


def _sorted(covers: sparse.csr_array) -> sparse.csr_array:
    found = sparse.csr_array(covers, copy=True)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def _chained(matrices: Sequence[sparse.csr_array]) -> tuple[Longs, Longs, Longs]:
    base = np.cumsum([0, *(found.nnz for found in matrices)])
    starts = [found.indptr.astype(np.int64) + at for found, at in zip(matrices, base, strict=False)]
    items = [found.indices.astype(np.int64) for found in matrices]
    first = np.cumsum([0, *(len(part) for part in starts)])[:-1]
    return np.concatenate(starts), np.concatenate(items), first.astype(np.int64)


def covered(column: Column, labels: NDArray[np.integer], values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether each label covers the value beside it."""
    found = _sorted(column.covers)
    width = max(found.shape[1], 1)
    keys = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr)) * width + found.indices
    wanted = np.asarray(labels, np.int64) * width + values
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.asarray(keys[at] == wanted, bool) if len(keys) else np.zeros(len(wanted), bool)
