"""Tuples with row counts and person incidence, the grouping of equal codes, and roll-up.

Distinct persons do not add up when tuples merge. So a table holds, per tuple, the number of *settled*
persons (all their rows lie in this tuple) and a list of (tuple, person) for everybody else; roll-up removes
duplicates in that list and settles those whose rows have come together (DESIGN §3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer]
Counts = NDArray[np.int64]
_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class Persons:
    """Who is behind the tuples, as meaningless ordinals that never leave the working folder."""

    total: int
    settled: Counts  # per tuple: persons whose rows all lie in it
    tuple_index: Counts  # incidence of the others: this tuple …
    ordinal: Counts  # … holds a row of this person; pairs are distinct and sorted


@dataclass(frozen=True, slots=True)
class Tuples:
    """Distinct combinations of the columns, as codes into their vocabularies."""

    names: tuple[str, ...]
    vocabularies: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int32]  # (tuples, columns), rows in lexicographic order
    rows: Counts
    persons: Persons | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of values in each vocabulary."""
        return tuple(len(vocabulary) for vocabulary in self.vocabularies)

    @property
    def n_rows(self) -> int:
        """Rows of the table behind."""
        return int(self.rows.sum())

    def position(self, name: str) -> int:
        """Position of a column among the codes."""
        return self.names.index(name)


def pack_keys(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int64]:
    """One int64 key per row whose order is the lexicographic order of the rows.

    Where the product of the sizes would overflow, the key so far is replaced by its rank: wider tables
    cost a sort more, never a wrong answer.
    """
    key = np.zeros(len(codes), np.int64)
    span = 1
    for column, size in enumerate(sizes):
        width = max(size, 1)
        if span > _LIMIT // width:
            _, key = np.unique(key, return_inverse=True)
            span = int(key.max(initial=-1)) + 1
        key = key * width + codes[:, column]
        span *= width
    return key


def group_codes(codes: Codes, sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First row and label of each group of equal rows; groups are in lexicographic order of their codes."""
    _, first, label = np.unique(pack_keys(codes, sizes), return_index=True, return_inverse=True)
    return first.astype(np.int64), label.reshape(-1).astype(np.int64)


def person_counts(tuples: Tuples) -> Counts:
    """Distinct persons behind each tuple; rows where no person key exists."""
    if tuples.persons is None:
        return tuples.rows
    persons = tuples.persons
    return persons.settled + np.bincount(persons.tuple_index, minlength=len(tuples.rows))


def roll_up(
    tuples: Tuples,
    maps: Sequence[NDArray[np.integer] | None],
    vocabularies: Sequence[tuple[str, ...]],
) -> tuple[Tuples, Counts]:
    """The table after recoding each column (None leaves it), and the new tuple of each old one."""
    codes = tuples.codes.copy()
    for column, new_codes in enumerate(maps):
        if new_codes is not None:
            codes[:, column] = np.asarray(new_codes)[codes[:, column]]
    return _regroup(tuples, tuples.names, codes, tuple(vocabularies))


def project(tuples: Tuples, names: Sequence[str]) -> tuple[Tuples, Counts]:
    """The table over fewer columns, and the new tuple of each old one."""
    positions = [tuples.position(name) for name in names]
    vocabularies = tuple(tuples.vocabularies[position] for position in positions)
    return _regroup(tuples, tuple(names), tuples.codes[:, positions], vocabularies)


def pick(tuples: Tuples, index: Counts) -> Tuples:
    """Some tuples of a table, by ascending positions; a person is then known by the rows that lie in them."""
    if len(index) == len(tuples.rows):
        return tuples
    persons = tuples.persons
    if persons is not None:
        position = np.full(len(tuples.rows), -1, np.int64)
        position[index] = np.arange(len(index))
        inside = position[persons.tuple_index] >= 0
        persons = Persons(
            persons.total, persons.settled[index], position[persons.tuple_index[inside]], persons.ordinal[inside]
        )
    return Tuples(tuples.names, tuples.vocabularies, tuples.codes[index], tuples.rows[index], persons)


def _regroup(
    tuples: Tuples,
    names: tuple[str, ...],
    codes: NDArray[np.int32],
    vocabularies: tuple[tuple[str, ...], ...],
) -> tuple[Tuples, Counts]:
    first, label = group_codes(codes, [len(vocabulary) for vocabulary in vocabularies])
    rows = _sum_by_group(tuples.rows, label, len(first))
    persons = None if tuples.persons is None else roll_up_persons(tuples.persons, label, len(first))
    return Tuples(names, vocabularies, codes[first], rows, persons), label


def roll_up_persons(persons: Persons, label: Counts, groups: int) -> Persons:
    """Persons after tuples merge as `label` says: each counted once per group."""
    settled = _sum_by_group(persons.settled, label, groups)
    ordinal, group = distinct_pairs(persons.ordinal, label[persons.tuple_index], groups)
    changes = np.ones(len(ordinal) + 1, bool)
    changes[1:-1] = ordinal[1:] != ordinal[:-1]
    alone = changes[:-1] & changes[1:]
    settled += np.bincount(group[alone], minlength=groups)
    others = int(ordinal.max(initial=-1)) + 1
    index, whose = distinct_pairs(group[~alone], ordinal[~alone], others)
    return Persons(persons.total, settled, index, whose)


def persons_in_groups(persons: Persons, label: Counts, groups: int) -> Counts:
    """Distinct persons behind each group when tuples merge as `label` says."""
    group = label[persons.tuple_index]
    # Where no two tuples come together the pairs stay distinct.
    if np.bincount(label, minlength=1).max() > 1:
        _, group = distinct_pairs(persons.ordinal, group, groups)
    return _sum_by_group(persons.settled, label, groups) + np.bincount(group, minlength=groups)


def labels_over(tuples: Tuples, names: Sequence[str]) -> Counts:
    """The tuple over fewer columns that each tuple belongs to: what `project` gives beside the table."""
    positions = [tuples.position(name) for name in names]
    return group_codes(tuples.codes[:, positions], [tuples.sizes[position] for position in positions])[1]


def _sum_by_group(counts: Counts, label: Counts, groups: int) -> Counts:
    total = np.zeros(groups, np.int64)
    np.add.at(total, label, counts)
    return total


def distinct_pairs(first: Counts, second: Counts, span: int) -> tuple[Counts, Counts]:
    """The distinct pairs, sorted; `second` lies below `span`. One number per pair sorts far faster than two."""
    # No memory holds a table this large, but no number may overflow.
    if int(first.max(initial=0)) >= _LIMIT // max(span, 1):
        pairs = np.unique(np.stack([first, second], axis=1), axis=0)
        return pairs[:, 0], pairs[:, 1]
    # In place from here on: there may be as many pairs as rows.
    keys = first * np.int64(span)
    keys += second
    keys.sort()
    new = np.ones(len(keys), bool)
    new[1:] = keys[1:] != keys[:-1]
    if not new.all():
        keys = keys[new]
    distinct_first = keys // np.int64(max(span, 1))
    return distinct_first, np.remainder(keys, np.int64(max(span, 1)), out=keys)
