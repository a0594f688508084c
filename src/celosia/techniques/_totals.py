"""Totals of a column over lines that stand for several rows: the exact sum rounded once, in any order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.data.numbers import NumberColumn
from celosia.errors import NumbersTooLarge
from celosia.techniques._contract import Given
from celosia.techniques._moments import exact_sum

_LARGEST = 1e150  # so that no total overflows


def total_of(technique: str, given: Given, name: str, column: NumberColumn, where: NDArray[np.bool_]) -> float:
    """The sum over the rows of some lines; numbers too large to be summed are refused with their count."""
    large = where & (np.abs(np.where(column.plain, column.values, 0.0)) > _LARGEST)
    if large.any():
        raise NumbersTooLarge(technique=technique, variable=name, rows=int(given.rows[large].sum()))
    return exact_sum(column.values[where] * given.rows[where])
