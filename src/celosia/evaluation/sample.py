"""The table that evaluation works on: distinct combinations of values as codes, with the rows and weights behind each.

Knows codes, vocabularies and the numbers behind a vocabulary. Ignores files and engines. The order of the
combinations is that of their codes, so that sums never depend on the order of a file's rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING, is_masked
from celosia.tuples.table import pack_keys

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# Without slots: what follows from the vocabulary, which may hold millions of values, is computed once and cached.
@dataclass(frozen=True)
class SampleColumn:
    """One variable: its values as codes and, where it is read as a number, the number behind each value."""

    name: str
    vocabulary: tuple[str, ...]
    codes: NDArray[np.integer]
    numbers: Floats | None = None  # NaN where a value is none; None for categories

    @cached_property
    def masked(self) -> Flags:
        """Which values of the vocabulary hold only asterisks."""
        return np.fromiter((is_masked(text) for text in self.vocabulary), bool, len(self.vocabulary))

    @cached_property
    def missing(self) -> Flags:
        """Which value of the vocabulary is the missing one."""
        return np.fromiter((text == MISSING for text in self.vocabulary), bool, len(self.vocabulary))

    @property
    def masked_cells(self) -> Flags:
        """Which combinations hold only asterisks."""
        return _flags_by_combination(self.masked, self.codes)

    @property
    def plain_cells(self) -> Flags:
        """Which combinations are neither missing nor masked."""
        return _flags_by_combination(~(self.missing | self.masked), self.codes)

    @cached_property
    def values(self) -> Floats:
        """The number of each combination; NaN where there is none."""
        numbers = np.full(len(self.vocabulary), np.nan) if self.numbers is None else self.numbers
        return numbers[self.codes] if len(numbers) else np.zeros(0)


def _flags_by_combination(flags: Flags, codes: NDArray[np.integer]) -> Flags:
    return np.asarray(flags[codes] if len(flags) else np.zeros(0, bool))


@dataclass(frozen=True, slots=True)
class Sample:
    """Columns over the same combinations, the rows behind each and their sampling weight together."""

    columns: Mapping[str, SampleColumn]
    rows: Integers
    weights: Floats  # rows times the sampling weight; the rows themselves where there is none

    @property
    def n_rows(self) -> int:
        """Rows of the table behind."""
        return int(self.rows.sum())

    def as_categories(self, names: Collection[str]) -> Sample:
        """The sample with some columns read as categories."""
        columns = self.columns.items()
        read = {name: replace(column, numbers=None) if name in names else column for name, column in columns}
        return replace(self, columns=read)

    def tally(self, name: str) -> Floats:
        """Weight behind each value of a column's vocabulary."""
        column = self.columns[name]
        return np.bincount(column.codes, self.weights, len(column.vocabulary)).astype(np.float64)

    def tally_rows(self, name: str) -> Integers:
        """Rows behind each value of a column's vocabulary."""
        column = self.columns[name]
        return np.bincount(column.codes, self.rows, len(column.vocabulary)).astype(np.int64)


def both_numeric(before: Sample, after: Sample, name: str) -> bool:
    """Whether a variable is read as a number in both samples."""
    return before.columns[name].numbers is not None and after.columns[name].numbers is not None


def sample_of(columns: Mapping[str, Sequence[str]], numeric: Collection[str] = ()) -> Sample:
    """A sample from columns of text, one cell per row; those named `numeric` are read as numbers."""
    texts = {name: np.asarray(cells, dtype=object).astype(str) for name, cells in columns.items()}
    coded = {name: np.unique(cells, return_inverse=True) for name, cells in texts.items()}
    codes = np.stack([label.reshape(-1) for _, label in coded.values()], axis=1)
    sizes = [len(vocabulary) for vocabulary, _ in coded.values()]
    _, first, rows = np.unique(pack_keys(codes, sizes), return_index=True, return_counts=True)
    sample_columns = {
        name: SampleColumn(
            name,
            tuple(str(text) for text in vocabulary),
            codes[first, v],
            _numbers(vocabulary) if name in numeric else None,
        )
        for v, (name, (vocabulary, _)) in enumerate(coded.items())
    }
    return Sample(sample_columns, rows.astype(np.int64), rows.astype(np.float64))


def _numbers(vocabulary: NDArray[Any]) -> Floats:
    return np.array([_number(str(text)) for text in vocabulary], np.float64)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
