"""Sizes of the classes of a table, and the figures that need nothing else.

Knows the quasi-identifiers as codes, rows and persons. Ignores sensitive values.
A class is the rows that share a published tuple; rows whose quasi-identifiers are all masked form no class
and are set apart. Sources: Samarati 2001; Sweeney 2002 (k-anonymity); MINSAL, Definiciones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MissingReading, is_masked
from celosia.risk.frequencies import empty_positions, key_frequencies
from celosia.tuples.table import Tuples, person_counts

Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClassSizes:
    """Rows and persons of each class; `group` is how many rows a row of the class may be confused with."""

    rows: Counts
    group: Counts  # equal to `rows`, or the compatible rows when missing is read as a wildcard
    persons: Counts | None


def masked_values(vocabulary: Sequence[str]) -> Flags:
    """Which values of a vocabulary are made of asterisks only."""
    return np.fromiter((is_masked(value) for value in vocabulary), bool, len(vocabulary))


def fully_masked(codes: NDArray[np.integer], vocabularies: Sequence[Sequence[str]]) -> Flags:
    """Tuples in which every value is masked; a tuple of no columns is not."""
    suppressed = np.full(len(codes), bool(vocabularies))
    for column, vocabulary in enumerate(vocabularies):
        suppressed &= masked_values(vocabulary)[codes[:, column]]
    return suppressed


def class_sizes(quasi: Tuples, missing: MissingReading) -> ClassSizes:
    """Sizes of the classes, without the fully masked rows."""
    visible = ~fully_masked(quasi.codes, quasi.vocabularies)
    rows = quasi.rows[visible]
    wildcard = missing is MissingReading.WILDCARD
    group = compatible_rows(quasi.codes[visible], quasi.vocabularies, rows) if wildcard else rows
    # Persons compatible with a row do not follow from pairs of patterns: that figure stays undefined.
    known = quasi.persons is not None and not wildcard
    return ClassSizes(rows, group, person_counts(quasi)[visible] if known else None)


def compatible_rows(codes: NDArray[np.integer], vocabularies: Sequence[Sequence[str]], rows: Counts) -> Counts:
    """For each distinct tuple, the rows that agree with it where neither cell is empty (sdcMicro's fk, alpha = 1)."""
    sizes = [len(vocabulary) for vocabulary in vocabularies]
    frequencies = key_frequencies(codes, sizes, rows, None, empty_positions(codes, vocabularies), 1.0)
    return frequencies.sample.astype(np.int64)


def units_in(tuples: Tuples, chosen: Flags) -> int:
    """Distinct persons of some tuples; their rows where no person is known."""
    persons = tuples.persons
    if persons is None:
        return int(tuples.rows[chosen].sum())
    scattered = persons.ordinal[chosen[persons.tuple_index]]
    return int(persons.settled[chosen].sum()) + len(np.unique(scattered))


def suppressed_counts(quasi: Tuples) -> tuple[int, int | None]:
    """Rows, and distinct persons where known, of the fully masked group."""
    suppressed = fully_masked(quasi.codes, quasi.vocabularies)
    persons = None if quasi.persons is None else units_in(quasi, suppressed)
    return int(quasi.rows[suppressed].sum()), persons


def classes(sizes: ClassSizes) -> int:
    """Number of classes."""
    return len(sizes.rows)


def k(sizes: ClassSizes) -> int | None:
    """Rows of the smallest class."""
    return int(sizes.group.min()) if len(sizes.group) else None


def k_persons(sizes: ClassSizes) -> int | None:
    """Distinct persons of the class that has fewest."""
    if sizes.persons is None or not len(sizes.persons):
        return None
    return int(sizes.persons.min())


def rows_below(sizes: ClassSizes, threshold: int) -> int:
    """Rows in classes of fewer than `threshold` rows."""
    return int(sizes.rows[sizes.group < threshold].sum())


def unique_rows(sizes: ClassSizes) -> int:
    """Rows that are alone in their class."""
    return rows_below(sizes, 2)
