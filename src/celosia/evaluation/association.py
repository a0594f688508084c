"""How strongly variables go together, before and after: Cramér's V, eta and Pearson's correlation.

Knows pairs of columns. Two categories: Cramér's V; a category and a number: eta, the root of the correlation ratio;
two numbers: Pearson's r with its sign. Cells that are missing, masked or no number leave the pair they are in.
Sources: Cramér 1946; Fisher 1925 (correlation ratio); Pearson 1895.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation.sample import Floats, Integers, Sample, SampleColumn

MOST_VARIABLES = 30
MOST_CATEGORIES = 200  # a variable of more categories goes with anything, by chance alone


@dataclass(frozen=True, slots=True)
class AssociationMatrix:
    """Association of every pair of variables; None where it does not exist."""

    variables: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]

    def change(self, after: AssociationMatrix) -> tuple[tuple[float | None, ...], ...]:
        """What was added to each association; a lost one counts as none."""
        return tuple(
            tuple(_difference(a, b) for a, b in zip(mine, theirs, strict=True))
            for mine, theirs in zip(self.values, after.values, strict=True)
        )


def association_matrix(sample: Sample, names: Sequence[str]) -> AssociationMatrix:
    """The association of every pair among the names."""
    values = [[1.0 if a == b else None for b in names] for a in names]
    for i in range(len(names)):
        for j in range(i):
            values[i][j] = values[j][i] = association(sample, names[j], names[i])
    return AssociationMatrix(tuple(names), tuple(tuple(line) for line in values))


def association(sample: Sample, first: str, second: str) -> float | None:
    """Association of two variables, by the measure that their scales allow."""
    a, b = sample.columns[first], sample.columns[second]
    if a.numbers is not None and b.numbers is not None:
        return pearson(a.values, b.values, sample.weights)
    if a.numbers is None and b.numbers is None:
        return cramers_v(*_cells_of_both(a, b, sample.weights))
    category, number = (a, b) if a.numbers is None else (b, a)
    return eta(category, number, sample.weights)


def pearson(x: Floats, y: Floats, weights: Floats) -> float | None:
    """Pearson's correlation of the pairs in which both are numbers."""
    real = np.isfinite(x) & np.isfinite(y)
    x, y, w = x[real], y[real], weights[real]
    total = float(w.sum())
    if total <= 0:
        return None
    dx, dy = x - float((w * x).sum()) / total, y - float((w * y).sum()) / total
    spread = float((w * dx * dx).sum()) * float((w * dy * dy).sum())
    if spread <= 0:
        return None
    return max(-1.0, min(1.0, float((w * dx * dy).sum()) / math.sqrt(spread)))


def chi_square(
    rows: NDArray[np.integer], columns: NDArray[np.integer], weights: Floats
) -> tuple[float, int, int, float]:
    """Pearson's chi-square of a cross table, its numbers of rows and columns, and its total."""
    r, a = np.unique(rows, return_inverse=True)
    c, b = np.unique(columns, return_inverse=True)
    table = np.bincount(a.reshape(-1) * len(c) + b.reshape(-1), weights, len(r) * len(c)).reshape(len(r), len(c))
    total = float(table.sum())
    if total <= 0:
        return 0.0, len(r), len(c), 0.0
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    terms = np.divide((table - expected) ** 2, expected, out=np.zeros_like(table), where=expected > 0)
    return math.fsum(terms.ravel().tolist()), len(r), len(c), total


def cramers_v(rows: NDArray[np.integer], columns: NDArray[np.integer], weights: Floats) -> float | None:
    """√(chi² ÷ (n · (the smaller dimension less one))); None where a variable has one category."""
    value, r, c, total = chi_square(rows, columns, weights)
    if total <= 0 or min(r, c) < 2:
        return None
    return min(math.sqrt(value / (total * (min(r, c) - 1))), 1.0)


def eta(category: SampleColumn, number: SampleColumn, weights: Floats) -> float | None:
    """Root of the share of a number's variation that lies between the categories."""
    values = number.values
    real = np.isfinite(values) & category.plain_cells
    x, w = values[real], weights[real]
    groups, label = np.unique(category.codes[real], return_inverse=True)
    total = float(w.sum())
    if total <= 0 or len(groups) < 2:
        return None
    label = label.reshape(-1)
    centred = x - float((w * x).sum()) / total
    spread = float((w * centred * centred).sum())
    if spread <= 0:
        return None
    sums, sizes = np.bincount(label, w * centred, len(groups)), np.bincount(label, w, len(groups))
    between = np.divide(sums * sums, sizes, out=np.zeros(len(groups)), where=sizes > 0)
    return min(math.sqrt(math.fsum(between.tolist()) / spread), 1.0)


def comparable(before: Sample, after: Sample, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables whose associations are worth comparing, and those left out (too many categories or variables)."""
    few = [name for name in names if _has_few_categories(before, name) and _has_few_categories(after, name)]
    compared = tuple(few[:MOST_VARIABLES])
    return compared, tuple(name for name in names if name not in compared)


def _has_few_categories(sample: Sample, name: str) -> bool:
    column = sample.columns[name]
    return column.numbers is not None or len(column.vocabulary) <= MOST_CATEGORIES


def _cells_of_both(a: SampleColumn, b: SampleColumn, weights: Floats) -> tuple[Integers, Integers, Floats]:
    both = a.plain_cells & b.plain_cells
    return a.codes[both].astype(np.int64), b.codes[both].astype(np.int64), weights[both]


def _difference(before: float | None, after: float | None) -> float | None:
    if before is None:
        return None
    return (after if after is not None else 0.0) - before
