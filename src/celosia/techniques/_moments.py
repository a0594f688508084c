"""Means, variances and covariances whose sums do not depend on order, machine or threads.

Knows arrays of numbers. Ignores columns. A sum is the exact sum rounded once (Shewchuk 1997, `math.fsum`), so any order
of the rows gives the same bits; matrices are as small as the number of columns and are worked in a fixed order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
_DEPENDENT = 1e-11  # share of its variance below which a column is a sum of the others


def groups_of(strata: Rows, count: int) -> Iterator[Rows]:
    """The lines of each stratum, in order."""
    order = np.argsort(strata, kind="stable")
    ends = np.cumsum(np.bincount(strata, minlength=count))
    start = 0
    for end in ends.tolist():
        yield order[start:end]
        start = end


def exact_sum(values: Floats) -> float:
    """The sum, rounded once."""
    return math.fsum(np.ascontiguousarray(values).data)


def mean(values: Floats) -> float:
    """The mean of at least one number."""
    return exact_sum(values) / len(values)


def covariance(x: Floats, y: Floats) -> float:
    """Sample covariance of two centred columns of at least two numbers."""
    return exact_sum(x * y) / (len(x) - 1)


def variance(values: Floats) -> float:
    """Sample variance of at least two numbers."""
    centred = values - mean(values)
    return covariance(centred, centred)


def covariances(centred: Sequence[Floats]) -> Floats:
    """Covariance matrix of centred columns."""
    many = len(centred)
    matrix = np.zeros((many, many))
    for i in range(many):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = covariance(centred[i], centred[j])
    return matrix


def lower_root(matrix: Floats) -> tuple[Floats, tuple[int, ...]]:
    """L with L·Lᵀ = matrix (Cholesky), and the columns that are no sum of the ones before; the others are zero in L."""
    many = len(matrix)
    root = np.zeros((many, many))
    independent = []
    for j in range(many):
        rest = matrix[j, j] - math.fsum(root[j, k] ** 2 for k in range(j))
        if rest <= _DEPENDENT * matrix[j, j]:
            continue
        independent.append(j)
        root[j, j] = math.sqrt(rest)
        for i in range(j + 1, many):
            root[i, j] = (matrix[i, j] - math.fsum(root[i, k] * root[j, k] for k in range(j))) / root[j, j]
    return root, tuple(independent)


def combine(root: Floats, columns: Sequence[Floats]) -> list[Floats]:
    """L·z, term by term in the order of the columns."""
    combinations = []
    for row in root:
        total = np.zeros(len(columns[0]))
        for weight, column in zip(row.tolist(), columns, strict=True):
            if weight:
                total += weight * column
        combinations.append(total)
    return combinations


def whiten(root: Floats, independent: tuple[int, ...], columns: Sequence[Floats]) -> list[Floats]:
    """z with L·z = columns, by forward substitution; zero where a column depends on the ones before."""
    white = [np.zeros(len(column)) for column in columns]
    for j in independent:
        rest = columns[j].copy()
        for k in range(j):
            if root[j, k]:
                rest -= root[j, k] * white[k]
        white[j] = rest / root[j, j]
    return white
