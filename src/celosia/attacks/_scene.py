"""What an attack is given: the release as label codes, the original as value codes, and what labels stand for.

Knows codes, sets of values under a label, person ordinals. Ignores texts, files and how a label came to be.
Three groups of records share their columns:
- *released*: what the intruder sees, as codes of published labels;
- *original*: the truth that judges him, and where his targets come from, as codes of original values;
- *held out*: people kept apart before the release was made, as codes of original values; None in a full register.
Without the original, the release may stand for it (each label covers itself).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.tuples import pack_keys

if TYPE_CHECKING:
    from celosia.kernels.queries import Index

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Column:
    """A column and the original values under each of its published labels."""

    name: str
    covers: sparse.csr_array  # labels × values

    @property
    def open_labels(self) -> Flags:
        """Labels that cover every value, like `*`: they say nothing."""
        return np.diff(self.covers.indptr) == self.covers.shape[1]


@dataclass(frozen=True)
class Records:
    """Coded records and whose they are."""

    codes: Codes  # (records, columns)
    persons: Codes | None = None  # ordinals, the same for the same person in every group; None: unknown

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def owners(self) -> Codes:
        """The person of each record, or the record itself where persons are unknown."""
        return np.arange(len(self.codes)) if self.persons is None else self.persons

    def pick(self, places: Sequence[int]) -> Records:
        """The same records with fewer columns."""
        return replace(self, codes=self.codes[:, list(places)])

    def at(self, rows: NDArray[np.integer]) -> Records:
        """Some of the records."""
        return Records(self.codes[rows], None if self.persons is None else self.persons[rows])


@dataclass(frozen=True, slots=True)
class Scene:
    """A release under attack, its truth and its outsiders, over the same columns."""

    columns: tuple[Column, ...]
    released: Records
    original: Records
    held_out: Records | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def pick(self, names: Sequence[str]) -> Scene:
        """The same scene over fewer columns."""
        places = [self.names.index(name) for name in names]
        return Scene(
            tuple(self.columns[place] for place in places),
            self.released.pick(places),
            self.original.pick(places),
            None if self.held_out is None else self.held_out.pick(places),
        )


def same_values(name: str, size: int) -> Column:
    """A column published as it is: every label covers itself."""
    return Column(name, sparse.csr_array(sparse.eye_array(size, dtype=np.bool_)))


def index_of(codes: Codes, sets: Sequence[sparse.csr_array]) -> Index:
    """The inverted lists of coded records; row q of a column's sets holds the record codes that a query q means."""
    from celosia.kernels.queries import Index

    sorted_sets = [_sorted(found) for found in sets]
    sizes = [found.shape[1] for found in sorted_sets]
    order = np.argsort(codes.T, axis=1, kind="stable")
    starts = [np.searchsorted(codes[order[c], c], np.arange(size + 1)) for c, size in enumerate(sizes)]
    item_counts = np.cumsum([0, *(len(found.indices) for found in sorted_sets)])
    set_starts = [found.indptr.astype(np.int64) + base for found, base in zip(sorted_sets, item_counts, strict=False)]
    return Index(
        np.ascontiguousarray(codes, np.int32),
        np.ascontiguousarray(order, np.int32),
        _joined(starts),
        _beginnings(starts),
        _joined(set_starts),
        _beginnings(set_starts),
        _joined([found.indices for found in sorted_sets]),
    )


def _sorted(found: sparse.csr_array) -> sparse.csr_array:
    found = sparse.csr_array(found, copy=True)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def _joined(parts: Sequence[NDArray[np.integer]]) -> Codes:
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)


def _beginnings(parts: Sequence[NDArray[np.integer]]) -> Codes:
    return np.cumsum([0, *(len(part) for part in parts)])[:-1].astype(np.int64)


def class_of(codes: Codes) -> tuple[int, Codes]:
    """How many distinct combinations there are, and that of each record."""
    sizes = (codes.max(axis=0, initial=-1) + 1).tolist()
    found, label = np.unique(pack_keys(codes, sizes), return_inverse=True)
    return len(found), label.reshape(-1).astype(np.int64)


def people_in(label: Codes, owners: Codes, classes: int) -> Codes:
    """Distinct persons in each class."""
    if np.bincount(owners).max(initial=0) <= 1:
        return np.bincount(label, minlength=classes)
    persons = int(owners.max()) + 1
    pairs = np.sort(label * persons + owners)
    return np.bincount(pairs[np.append(True, pairs[1:] != pairs[:-1])] // persons, minlength=classes)


def lone_records(codes: Codes, owners: Codes) -> Flags:
    """Records whose combination belongs to one person only."""
    classes, label = class_of(codes)
    return people_in(label, owners, classes)[label] == 1


def one_record_each(owners: Codes, rng: np.random.Generator) -> Codes:
    """One record of every person, by chance; persons in order."""
    shuffled = rng.permutation(len(owners))
    _, first = np.unique(owners[shuffled], return_index=True)
    return shuffled[first]


def a_few(places: Codes, most: int, rng: np.random.Generator) -> Codes:
    """At most so many of the places, by chance, in order."""
    return places if len(places) <= most else np.sort(rng.choice(places, most, replace=False))


def stops_most(exposed: Sequence[int], names: Sequence[str]) -> str | None:
    """The column without which fewest people stay exposed; the first of equals."""
    return names[int(np.argmin(exposed))] if len(exposed) else None
