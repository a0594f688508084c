"""What criteria see of the classes: sizes, persons, and the counts of sensitive values. Nothing else.

Masked values (`*`) are left out before a criterion sees them: they say nothing (REQUIREMENTS X4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.values import MISSING, is_masked

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Domain:
    """The values of a sensitive variable and how often each occurs in the reference."""

    variable: str
    vocabulary: tuple[str, ...]
    reference: Counts  # rows per value: all records, or the kept ones; 0 for masked values
    present: Mask  # values that occur in the source, whatever is kept
    hierarchy: CompiledHierarchy | None = None
    prepared: dict[str, Any] = field(default_factory=dict)  # what criteria compute once per reference

    @cached_property
    def masked(self) -> Mask:
        """Values made of asterisks only."""
        return np.array([is_masked(value) for value in self.vocabulary], bool)

    @cached_property
    def missing(self) -> Mask:
        """The missing marker."""
        return np.array([value == MISSING for value in self.vocabulary], bool)

    @cached_property
    def has_masked(self) -> bool:
        """Whether some value is masked."""
        return bool(self.masked.any())

    def countable(self, missing_counts: bool) -> Mask:
        """The values that count as values."""
        return ~self.masked if missing_counts else ~(self.masked | self.missing)

    @cached_property
    def total(self) -> int:
        """Rows of the reference."""
        return int(self.reference.sum())

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """The result of `make`, computed once for this reference."""
        if key not in self.prepared:
            self.prepared[key] = make()
        return self.prepared[key]


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """Counts of each visible value in each class, as lists: class c holds entries offsets[c]:offsets[c+1]."""

    offsets: Counts
    values: NDArray[np.int32]
    rows: Counts
    persons: Counts | None = None  # distinct persons behind each entry
    holders: Counts | None = None  # distinct persons of each class who show a value, where some rows show none

    @property
    def owner(self) -> Counts:
        """The class of each entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def visible(self) -> Mask:
        """Which classes show some value."""
        return np.diff(self.offsets) > 0


@dataclass(frozen=True, slots=True)
class ValueSets:
    """The visible values of each class as bits of one word; enough for distinct-l."""

    bits: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class ValueExtremes:
    """Smallest and largest countable value of each class; enough to tell one value from two."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]


Values = ValueCounts | ValueSets | ValueExtremes


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of a node or of a published file."""

    rows: Counts
    persons: Counts | None = None
    values: Mapping[str, Values] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)
    population: Counts | None = None  # units of a population table that share each class

    def __len__(self) -> int:
        return len(self.rows)

    def sizes(self, unit: str) -> Counts:
        """Sizes in persons where asked for and known, else in rows."""
        return self.persons if unit == "persons" and self.persons is not None else self.rows

    def counts(self, variable: str) -> ValueCounts:
        """The counts of a variable's values."""
        values = self.values[variable]
        assert isinstance(values, ValueCounts)
        return values

    def commonest(self, variable: str, countable: Mask) -> tuple[Counts, Counts] | None:
        """Per class, the most persons who hold one value, and the persons who show any; None without a person key.

        A person who shows no value does not count: nobody can say that they lack the value of the others (X4).
        """
        counts = self.counts(variable)
        if self.persons is None or counts.persons is None:
            return None
        most = np.zeros(len(self), np.int64)
        counted = countable[counts.values]
        np.maximum.at(most, counts.owner[counted], counts.persons[counted])
        return most, self.persons if counts.holders is None else counts.holders
