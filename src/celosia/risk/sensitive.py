"""Values of one sensitive variable inside the classes, and the figures about their diversity and likeness.

Knows cells (class, value, count) of one compressed table. Ignores other sensitive variables and persons.
Masked values are never values: a class is measured on its visible ones, a class without any is set apart.
The reference distribution is that of all visible values of the table, suppressed rows included.
Sources: Machanavajjhala et al. 2007 (l-diversity); Wong et al. 2006 (alpha); Cao, Karras 2012 (beta);
Brickell, Shmatikov 2008 (delta).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.model.reports.measures import MaskedValues
from celosia.model.values import MISSING
from celosia.risk.classes import fully_masked, masked_values
from celosia.tuples.table import Tuples

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClassValues:
    """Visible values by class: one cell for each value that occurs in a class, cells of a class together."""

    vocabulary: tuple[str, ...]
    start: Counts  # first cell of each class
    group: Counts  # class of each cell
    code: Counts  # value of each cell
    count: Counts  # rows of each cell
    size: Counts  # visible rows of each class
    total: Counts  # rows of each value of the vocabulary in the whole table

    @property
    def share(self) -> Shares:
        """q: share of each cell in its class."""
        return self.count / self.size[self.group]

    @property
    def overall(self) -> Shares:
        """p: share in the whole table of the value of each cell."""
        return self.total[self.code] / self.total.sum()

    @property
    def distinct(self) -> Counts:
        """Number of values in each class."""
        return np.bincount(self.group, minlength=len(self.size))


@dataclass(frozen=True, slots=True)
class SplitValues:
    """The cells of the classes, those of the fully masked rows as one class, and the masked values of both."""

    classes: ClassValues
    suppressed: ClassValues
    masked: MaskedValues
    masked_suppressed: MaskedValues


def class_values(table: Tuples) -> SplitValues:
    """Cells of a table whose last column is the sensitive variable and the others the quasi-identifiers."""
    quasi, value = table.codes[:, :-1], table.codes[:, -1].astype(np.int64)
    vocabulary, rows = table.vocabularies[-1], table.rows
    visible = ~masked_values(vocabulary)[value]
    suppressed = fully_masked(quasi, table.vocabularies[:-1])
    label = _run_labels(quasi)
    total = _sums(value[visible], rows[visible], len(vocabulary))
    in_class, out_of_class = visible & ~suppressed, visible & suppressed
    suppressed_rows = _sums(value[out_of_class], rows[out_of_class], len(vocabulary))
    present = np.flatnonzero(suppressed_rows)
    single_group = np.zeros_like(label)
    return SplitValues(
        _cells(vocabulary, label[in_class], value[in_class], rows[in_class], total),
        _cells(vocabulary, single_group[: len(present)], present, suppressed_rows[present], total),
        _count_masked(label[~suppressed], visible[~suppressed], rows[~suppressed]),
        _count_masked(single_group[suppressed], visible[suppressed], rows[suppressed]),
    )


def class_runs(table: Tuples) -> int:
    """Number of runs of equal quasi-identifiers: the classes, where the tuples are sorted."""
    return int(_run_labels(table.codes[:, :-1]).max(initial=-1)) + 1


def _run_labels(codes: NDArray[np.int32]) -> Counts:
    """Class of each tuple: tuples come sorted, so a class is a run of equal codes."""
    if not len(codes):
        return np.zeros(0, np.int64)
    changes = np.zeros(len(codes), bool)
    for column in range(codes.shape[1]):
        changes[1:] |= codes[1:, column] != codes[:-1, column]
    return np.cumsum(changes)


def _cells(vocabulary: tuple[str, ...], label: Counts, value: Counts, rows: Counts, total: Counts) -> ClassValues:
    first = np.ones(len(label), bool)
    first[1:] = label[1:] != label[:-1]
    start = np.flatnonzero(first)
    size = np.add.reduceat(rows, start) if len(start) else np.zeros(0, np.int64)
    return ClassValues(vocabulary, start, np.cumsum(first) - 1, value, rows, size, total)


def _count_masked(label: Counts, visible: NDArray[np.bool_], rows: Counts) -> MaskedValues:
    """Rows with a masked value, and classes in which all values or some are masked."""
    clear, hidden = np.zeros((2, int(label.max(initial=-1)) + 1), bool)
    clear[label[visible]] = True
    hidden[label[~visible]] = True
    return MaskedValues(int(rows[~visible].sum()), int((hidden & ~clear).sum()), int((hidden & clear).sum()))


def _sums(slot: Counts, rows: Counts, slots: int) -> Counts:
    return np.bincount(slot, weights=rows, minlength=slots).astype(np.int64)


def distinct_l(cells: ClassValues) -> int | None:
    """Fewest distinct values in a class; an empty cell is a value."""
    return int(cells.distinct.min()) if len(cells.size) else None


def distinct_l_without_empty(cells: ClassValues) -> int | None:
    """Fewest distinct values in a class, empty cells left out; 0 where a class holds nothing else."""
    if not len(cells.size):
        return None
    empty = np.array([value == MISSING for value in cells.vocabulary], bool)
    with_empty = np.bincount(cells.group[empty[cells.code]], minlength=len(cells.size))
    return int((cells.distinct - with_empty).min())


def entropy_l(cells: ClassValues) -> float | None:
    """exp of the smallest entropy of a class: its effective number of values, not truncated."""
    if not len(cells.size):
        return None
    share = cells.share
    entropy = -np.add.reduceat(share * np.log(share), cells.start)
    return float(np.exp(max(entropy.min(), 0.0)))


def recursive_c(cells: ClassValues) -> float | None:
    """Infimum of the c for which r1 < c (r_l + … + r_m) in every class, l being the distinct l of the table."""
    level = distinct_l(cells)
    if level is None or level < 2:
        return None
    count = cells.count[np.lexsort((-cells.count, cells.group))]
    rank = np.arange(len(count)) - cells.start[cells.group]
    tail = np.add.reduceat(np.where(rank >= level - 1, count, 0), cells.start)
    return float((count[cells.start] / tail).max())


def alpha(cells: ClassValues) -> float | None:
    """Largest share of a value in a class."""
    return float(cells.share.max()) if len(cells.size) else None


def _gains(cells: ClassValues) -> Shares:
    """(q - p)/p of each cell; values absent from a class lose and never matter.

    The difference is taken in whole numbers: q = 1 against p = 1 - 1/n must not drown in rounding.
    """
    expected = cells.size[cells.group] * cells.total[cells.code]
    return (cells.count * cells.total.sum() - expected) / expected


def beta_basic(cells: ClassValues) -> float | None:
    """Largest relative gain (q - p)/p of a value in a class; 0 where nothing gains."""
    return max(float(_gains(cells).max()), 0.0) if len(cells.size) else None


def beta_enhanced(cells: ClassValues) -> float | None:
    """Smallest beta with (q - p)/p <= min(beta, -ln p) for every gain, or None where no beta can do it."""
    if not len(cells.size):
        return None
    rows = cells.total.sum()
    allowed = -np.log1p((cells.total[cells.code] - rows) / rows)
    return None if (_gains(cells) > allowed).any() else beta_basic(cells)


def delta_present(cells: ClassValues) -> float | None:
    """Largest |ln(q/p)| over the values present in each class, whatever is absent."""
    return float(np.abs(np.log(cells.share / cells.overall)).max()) if len(cells.size) else None


def delta(cells: ClassValues) -> float | None:
    """Largest |ln(q/p)| over all values and classes; None where it is infinite: some class lacks a value."""
    complete = distinct_l(cells) == np.count_nonzero(cells.total)
    return delta_present(cells) if complete else None
