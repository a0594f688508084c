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

from celosia.attacks.attack_input import PublishedColumn, Records, chain_covers, sorted_covers
from celosia.tuples.table import group_codes

Longs = NDArray[np.int64]
Piece = tuple[Longs, Longs]  # tuples of the release and of the other file, by position

MOST_PAIRS = 400_000_000
SEVERAL = -2  # in place of a person: more than one
NOBODY = -1
_PIECE = 1 << 21


class TooManyPairs(Exception):
    """The files are so vague that nearly everything goes with everything."""


@dataclass(frozen=True, slots=True)
class DistinctTuples:
    """The distinct tuples of a file, in the order of their codes."""

    codes: NDArray[np.int32]  # (tuples, columns)
    of_row: Longs  # the tuple of each record
    rows: Longs  # records of each tuple
    who: Longs  # the only person of each tuple, or SEVERAL


def distinct_tuples(records: Records, sizes: Sequence[int]) -> DistinctTuples:
    """The distinct tuples of coded records."""
    first, label = group_codes(records.codes, sizes)
    codes = np.ascontiguousarray(records.codes[first], np.int32)
    rows = np.bincount(label, minlength=len(first)).astype(np.int64)
    return DistinctTuples(codes, label, rows, only_person(label, records.owners, len(first)))


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

    columns: tuple[PublishedColumn, ...]
    order: tuple[int, ...]  # places of those columns in the files
    released: DistinctTuples
    external: DistinctTuples

    @property
    def shape(self) -> tuple[int, int]:
        """Distinct tuples on each side."""
        return len(self.released.rows), len(self.external.rows)


def join(columns: Sequence[PublishedColumn], released: Records, external: Records, last: int | None = None) -> Join:
    """The two files made ready; `last` is the place of a column that must come last."""
    order = _column_order(columns, released, external)
    if last is not None:
        order = [column for column in order if column != last] + [last]
    chosen = tuple(columns[column] for column in order)
    labels = [max(column.covers.shape[0], 1) for column in chosen]
    values = [max(column.covers.shape[1], 1) for column in chosen]
    return Join(
        chosen,
        tuple(order),
        distinct_tuples(released.select_columns(order), labels),
        distinct_tuples(external.select_columns(order), values),
    )


def _column_order(columns: Sequence[PublishedColumn], released: Records, external: Records) -> list[int]:
    """Columns by the share of pairs of records that they let through, the smallest first."""
    through = [
        share_passing(column, released.codes[:, index], external.codes[:, index])
        for index, column in enumerate(columns)
    ]
    return sorted(range(len(columns)), key=lambda index: (through[index], index))


def share_passing(column: PublishedColumn, labels: NDArray[np.integer], values: NDArray[np.integer]) -> float:
    """Share of pairs of records that go together in a column."""
    if not len(labels) or not len(values):
        return 0.0
    return float(
        code_shares(labels, column.covers.shape[0]) @ (column.covers @ code_shares(values, column.covers.shape[1]))
    )


def code_shares(codes: NDArray[np.integer], size: int) -> NDArray[np.float64]:
    """The share of records with each code."""
    return np.bincount(codes, minlength=size) / max(len(codes), 1)


def pair_pieces(tuple_join: Join, *, odd_last: bool = False, most: int = MOST_PAIRS) -> Iterator[Piece]:
    """All pairs of tuples that go together, or with `odd_last` those that differ in the last column alone."""
    from celosia.kernels.joining import join_pairs, run_ends

    left, right = tuple_join.released.codes, tuple_join.external.codes
    if not len(left) or not len(right):
        return
    fixed = (left, run_ends(left), right, run_ends(right), *_chain_both_ways(tuple_join.columns), odd_last)
    size = max(_PIECE, len(right))
    stack, top, n_pairs = np.array([[0, 0, len(left), 0, len(right)]], np.int64), 1, 0
    while top > 0:
        released_tuples, external_tuples = np.empty(size, np.int64), np.empty(size, np.int64)
        stack, top, count = join_pairs(stack, top, *fixed, released_tuples, external_tuples)
        n_pairs += count
        if n_pairs > most:
            raise TooManyPairs
        yield released_tuples[:count], external_tuples[:count]


def _chain_both_ways(columns: Sequence[PublishedColumn]) -> tuple[Longs, Longs, Longs, Longs, Longs]:
    """The covers of all columns one after another, both ways, and where each column begins."""
    starts, items, first = chain_covers([sorted_covers(column.covers) for column in columns])
    back_starts, back_items, back_first = chain_covers([sorted_covers(column.covers.T) for column in columns])
    return starts, items, back_starts, back_items, np.stack([first, back_first], axis=1)
