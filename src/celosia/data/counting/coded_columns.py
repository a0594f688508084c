"""Columns of a frame as integer codes in this process: what is counted of them, without an engine.

Knows NumPy and Arrow arrays. Ignores names, files and policies. A column holds exactly the texts that occur, in
code-point order, so that codes sort as texts do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.counting.columns import Frequencies, digest_bound
from celosia.model.values import SUPPRESSED
from celosia.tuples.table import Persons, Tuples, distinct_pairs, pack_keys

Codes = NDArray[np.int32]
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]
_DENSE = 8  # keys up to so many times the rows are counted in an array with a place for each


@dataclass(frozen=True, slots=True)
class NumberedPersons:
    """A number for each row's person; those of more than two rows are numbered in the order of their keys."""

    total: int
    codes: Codes


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """The texts that occur, in code-point order, and the code of each row."""

    texts: pa.Array  # large_string
    codes: Codes

    @property
    def size(self) -> int:
        """Number of distinct texts."""
        return len(self.texts)

    def row_texts(self) -> pa.Array:
        """The text of each row."""
        return self.texts.take(pa.array(self.codes))

    def row_counts(self) -> Numbers:
        """Rows behind each text."""
        return np.bincount(self.codes, minlength=self.size).astype(np.int64)

    def codes_of(self, texts: Sequence[str] | pa.Array) -> Numbers:
        """The code of each of some texts; -1 where no row holds it."""
        wanted = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
        codes = pc.index_in(wanted, value_set=self.texts)
        return pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64)

    def person_numbers(self) -> NumberedPersons:
        """The column as the key of persons."""
        return NumberedPersons(self.size, self.codes)

    def pick(self, rows: Mask | Numbers) -> CodedColumn:
        """The column of some rows."""
        return compact(self.texts, self.codes[rows])


def compact(texts: pa.Array, codes: NDArray[np.integer]) -> CodedColumn:
    """A column from texts in any order, some of which may repeat or have no row."""
    occurring = np.flatnonzero(np.bincount(codes, minlength=len(texts)))
    shown = texts.take(pa.array(occurring))
    distinct = pc.unique(shown)
    distinct = distinct.take(pc.sort_indices(distinct))
    moved = np.zeros(len(texts), np.int32)
    moved[occurring] = pc.index_in(shown, value_set=distinct).to_numpy(zero_copy_only=False)
    return CodedColumn(distinct, moved[codes])


def replace_texts(column: CodedColumn, mapping: Mapping[str, str]) -> CodedColumn:
    """The column with some texts replaced by others."""
    texts = [mapping.get(text, text) for text in column.texts.to_pylist()]
    return compact(pa.array(texts, pa.large_string()), column.codes)


def star_rows(column: CodedColumn, masked: Mask) -> CodedColumn:
    """The column with `*` in some rows."""
    if not masked.any():
        return column
    texts = pa.concat_arrays([column.texts, pa.array([SUPPRESSED], pa.large_string())])
    return compact(texts, np.where(masked, column.size, column.codes))


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """The distinct combinations of some columns in the order of their codes, and the group of each row where asked."""

    codes: Codes  # (groups, columns)
    rows: Numbers
    label: Numbers | None = None


def group_rows(columns: Sequence[CodedColumn], with_label: bool = False) -> GroupedRows:
    """Distinct combinations with their rows; with the group of each row, if asked."""
    sizes = [column.size for column in columns]
    many = len(columns[0].codes)
    if reduce(lambda left, right: left * max(right, 1), sizes, 1) <= _DENSE * max(many, 1):
        return _group_densely(columns, sizes, with_label)
    key = pack_keys(np.stack([column.codes for column in columns], axis=1), sizes)
    label = None
    if with_label:
        _, first, label, counts = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    else:
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
    codes = np.stack([column.codes[first] for column in columns], axis=1).astype(np.int32)
    return GroupedRows(codes, counts.astype(np.int64), None if label is None else label.reshape(-1))


def _group_densely(columns: Sequence[CodedColumn], sizes: Sequence[int], with_label: bool) -> GroupedRows:
    """The same where an array with a place for every combination that could occur is small."""
    key = np.zeros(len(columns[0].codes), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key = key * max(size, 1) + column.codes
    counts = np.bincount(key)
    occurring = np.flatnonzero(counts)
    codes = np.empty((len(occurring), len(columns)), np.int32)
    rest = occurring
    for position in range(len(columns) - 1, -1, -1):
        rest, codes[:, position] = np.divmod(rest, max(sizes[position], 1))
    place = np.cumsum(counts > 0) - 1
    return GroupedRows(codes, counts[occurring].astype(np.int64), place[key] if with_label else None)


def tuples_from_groups(
    columns: Mapping[str, CodedColumn], groups: GroupedRows, person: NumberedPersons | None
) -> Tuples:
    """The tuple table of grouped rows, with the persons behind where the groups of the rows are known."""
    persons = None
    if person is not None and groups.label is not None:
        persons = count_persons(groups.label, len(groups.rows), person)
    vocabularies = tuple(tuple(column.texts.to_pylist()) for column in columns.values())
    return Tuples(tuple(columns), vocabularies, np.asfortranarray(groups.codes), groups.rows, persons)


def count_persons(label: Numbers, groups: int, person: NumberedPersons) -> Persons:
    """The persons behind groups of rows, numbered by their values alone, as every engine numbers them."""
    total, whose = person.total, person.codes
    first, last = np.full(total, groups, np.int64), np.full(total, -1, np.int64)
    np.minimum.at(first, whose, label)
    np.maximum.at(last, whose, label)
    rows = np.bincount(whose, minlength=total)
    settled = np.bincount(first[first == last], minlength=groups).astype(np.int64)
    two = (first != last) & (rows == 2)
    order = np.lexsort((last[two], first[two]))
    ordinals = np.arange(len(order))
    many = (first != last) & (rows > 2)
    number = np.cumsum(many) - 1 + len(order)
    scattered = many[whose]
    index = np.concatenate([first[two][order], last[two][order], label[scattered]])
    ordinal = np.concatenate([ordinals, ordinals, number[whose[scattered]]])
    pairs = distinct_pairs(index, ordinal, max(len(order) + int(many.sum()), 1))
    return Persons(total, settled, *pairs)


def column_frequencies(column: CodedColumn, about: int | None, distinct: int | None) -> Frequencies:
    """Rows behind each text, or behind a sample of about so many, chosen by their digests as every engine does."""
    counts, total = column.row_counts(), distinct or column.size
    if about is None or total <= about:
        return Frequencies(column.texts, counts)
    bound = digest_bound(about, total)
    texts = column.texts.to_pylist()
    drawn = [hashlib.sha256(text.encode()).hexdigest() < bound or not text.strip(SUPPRESSED) for text in texts]
    chosen = np.array(drawn, bool) | (counts * about > len(column.codes))
    return Frequencies(column.texts.filter(pa.array(chosen)), counts[chosen])
