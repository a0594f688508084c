"""The input of an attack: the release as label codes, the original as value codes, and what labels stand for.

Knows codes, sets of values under a label, person ordinals. Ignores files and how a label came to be. An attack reads
the published file alone (`View`) or judges it against the truth (`AttackInput`), where three groups of records share
their columns:
- *released*: what the intruder sees, as codes of published labels;
- *original*: the truth that judges the attack, and where its targets come from, as codes of original values;
- *held out*: people kept apart before the release was made, as codes of original values; None in a full register.
Without the original, the release may stand for it (each label covers itself).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from celosia.model.reports.attacks import Control, Finding, Severity
from celosia.model.values import MISSING, is_masked
from celosia.tuples.table import pack_keys

if TYPE_CHECKING:
    from celosia.kernels.queries import Index

Codes = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PublishedColumn:
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

    def select_columns(self, columns: Sequence[int]) -> Records:
        """The same records with fewer columns."""
        return replace(self, codes=self.codes[:, list(columns)])

    def select_rows(self, rows: NDArray[np.integer]) -> Records:
        """Some of the records."""
        return Records(self.codes[rows], None if self.persons is None else self.persons[rows])


@dataclass(frozen=True, slots=True)
class AttackInput:
    """A release under attack, the original records and the people held out, over the same columns."""

    columns: tuple[PublishedColumn, ...]
    released: Records
    original: Records
    held_out: Records | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def control(self) -> Control:
        """Against whom an attack is held: people held out, or the margins of a full register."""
        return Control.MARGINS if self.held_out is None else Control.HELD_OUT

    def select_columns(self, names: Sequence[str]) -> AttackInput:
        """The same input over fewer columns."""
        columns = [self.names.index(name) for name in names]
        return AttackInput(
            tuple(self.columns[column] for column in columns),
            self.released.select_columns(columns),
            self.original.select_columns(columns),
            None if self.held_out is None else self.held_out.select_columns(columns),
        )


@dataclass(frozen=True)
class View:
    """The published file as codes: columns of labels in the order of the file."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]  # per column, in any order
    codes: Codes  # (rows, columns)
    persons: Codes | None = None  # whose row it is, for counting people; no attack looks at it

    @property
    def rows(self) -> int:
        """How many rows."""
        return len(self.codes)

    def column_index(self, name: str) -> int:
        """Which column it is."""
        return self.names.index(name)

    def count_persons(self, rows: Flags) -> int:
        """Distinct persons behind some of the rows; the rows themselves where persons are unknown."""
        return int(rows.sum()) if self.persons is None else len(np.unique(self.persons[rows]))

    def finding(
        self,
        kind: str,
        columns: tuple[str, ...],
        cells: Flags,
        severity: Severity,
        remedy: str | None = None,
        detail: Mapping[str, int | float | str] | None = None,
    ) -> Finding:
        """A finding about the rows of some cells."""
        return Finding(
            kind=kind,
            columns=columns,
            cells=int(cells.sum()),
            persons=self.count_persons(cells),
            severity=severity,
            remedy=remedy,
            detail=detail or {},
        )

    @cached_property
    def masked(self) -> tuple[Flags, ...]:
        """Per column: rows whose cell is masked, wholly or in part."""
        return tuple(
            _label_flags(labels, _has_mask)[self.codes[:, column]] for column, labels in enumerate(self.labels)
        )

    @cached_property
    def readable(self) -> tuple[Flags, ...]:
        """Per column: rows whose cell is neither masked nor missing."""
        return tuple(
            _label_flags(labels, _is_readable)[self.codes[:, column]] for column, labels in enumerate(self.labels)
        )


def unchanged_column(name: str, size: int) -> PublishedColumn:
    """A column published as it is: every label covers itself."""
    return PublishedColumn(name, sparse.csr_array(sparse.eye_array(size, dtype=np.bool_)))


def inverted_index(codes: Codes, sets: Sequence[sparse.csr_array]) -> Index:
    """The inverted lists of coded records; row q of a column's sets holds the record codes that a query q means."""
    from celosia.kernels.queries import Index

    sorted_sets = [sorted_covers(covers) for covers in sets]
    order = np.argsort(codes.T, axis=1, kind="stable")
    starts = [np.searchsorted(codes[order[c], c], np.arange(s.shape[1] + 1)) for c, s in enumerate(sorted_sets)]
    set_starts, set_items, set_offsets = chain_covers(sorted_sets)
    return Index(
        np.ascontiguousarray(codes, np.int32),
        np.ascontiguousarray(order, np.int32),
        _concatenate(starts),
        _offsets(starts),
        set_starts,
        set_offsets,
        set_items,
    )


def sorted_covers(covers: sparse.csr_array) -> sparse.csr_array:
    """The covers without explicit zeros, indices in order."""
    ordered = sparse.csr_array(covers, copy=True)
    ordered.eliminate_zeros()
    ordered.sort_indices()
    return ordered


def chain_covers(matrices: Sequence[sparse.csr_array]) -> tuple[Codes, Codes, Codes]:
    """Several sparse matrices one after another: row starts, indices, and where the row starts of each begin."""
    base = np.cumsum([0, *(matrix.nnz for matrix in matrices)])
    starts = [matrix.indptr.astype(np.int64) + at for matrix, at in zip(matrices, base, strict=False)]
    return _concatenate(starts), _concatenate([matrix.indices for matrix in matrices]), _offsets(starts)


def _concatenate(parts: Sequence[NDArray[np.integer]]) -> Codes:
    return np.concatenate([np.empty(0, np.int64), *parts]).astype(np.int64)


def _offsets(parts: Sequence[NDArray[np.integer]]) -> Codes:
    return np.cumsum([0, *(len(part) for part in parts)])[:-1].astype(np.int64)


def is_covered(column: PublishedColumn, labels: NDArray[np.integer], values: NDArray[np.integer]) -> Flags:
    """Whether each label covers the value beside it."""
    covers = sorted_covers(column.covers)
    width = max(covers.shape[1], 1)
    keys = np.repeat(np.arange(covers.shape[0]), np.diff(covers.indptr)) * width + covers.indices
    pairs = np.asarray(labels, np.int64) * width + values
    if not len(keys):
        return np.zeros(len(pairs), bool)
    return np.asarray(keys[np.minimum(np.searchsorted(keys, pairs), len(keys) - 1)] == pairs, bool)


def equivalence_classes(codes: Codes) -> tuple[int, Codes]:
    """How many distinct combinations there are, and that of each record."""
    sizes = (codes.max(axis=0, initial=-1) + 1).tolist()
    combinations, label = np.unique(pack_keys(codes, sizes), return_inverse=True)
    return len(combinations), label.reshape(-1).astype(np.int64)


def persons_per_class(label: Codes, owners: Codes, classes: int) -> Codes:
    """Distinct persons in each class."""
    if np.bincount(owners).max(initial=0) <= 1:
        return np.bincount(label, minlength=classes)
    persons = int(owners.max()) + 1
    pairs = np.sort(label * persons + owners)
    return np.bincount(pairs[np.append(True, pairs[1:] != pairs[:-1])] // persons, minlength=classes)


def single_person_records(codes: Codes, owners: Codes) -> Flags:
    """Records whose combination belongs to one person only."""
    classes, label = equivalence_classes(codes)
    return persons_per_class(label, owners, classes)[label] == 1


def one_record_per_person(owners: Codes, rng: np.random.Generator) -> Codes:
    """One record of every person, by chance; persons in order."""
    shuffled = rng.permutation(len(owners))
    _, first = np.unique(owners[shuffled], return_index=True)
    return shuffled[first]


def random_subset(places: Codes, most: int, rng: np.random.Generator) -> Codes:
    """At most `most` of the positions, by chance, in order."""
    return places if len(places) <= most else np.sort(rng.choice(places, most, replace=False))


def most_protective_column(
    names: Sequence[str], columns: Sequence[int], exposed: Callable[[list[int]], int]
) -> str | None:
    """The column without which fewest people stay exposed, the first of equals; None where none makes a difference."""
    left = [exposed([other for other in columns if other != column]) for column in columns]
    return names[int(np.argmin(left))] if left and min(left) < exposed(list(columns)) else None


def _label_flags(labels: tuple[str, ...], test: Callable[[str], bool]) -> Flags:
    return np.fromiter((test(label) for label in labels), np.bool_, len(labels))


def _has_mask(label: str) -> bool:
    return is_masked(label) or "*" in label


def _is_readable(label: str) -> bool:
    return label != MISSING and not _has_mask(label)


def running_numbers(labels: Sequence[str]) -> list[int]:
    """The whole number of each label after the letters that all begin with (F-0001, F-0002); -1 where there is none."""
    readable = [label for label in labels if _is_readable(label)]
    start = shared_start(readable).rstrip("0123456789") if len(readable) > 1 else ""
    texts = [label.removeprefix(start) if _is_readable(label) else "" for label in labels]
    return [int(text) if text.isdecimal() and len(text) < 16 else -1 for text in texts]


def shared_start(texts: Sequence[str]) -> str:
    """The prefix that all texts share."""
    first, last = min(texts, default=""), max(texts, default="")
    differ = (
        position
        for position, (first_character, last_character) in enumerate(zip(first, last, strict=False))
        if first_character != last_character
    )
    return first[: next(differ, min(len(first), len(last)))]
