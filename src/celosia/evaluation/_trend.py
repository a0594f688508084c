"""A variable over time: its total in each period, or the rows where no variable is named.

Knows one column of periods and one of numbers. Periods are in the order of their text (2020-01, 2020-02 …), or of their
number where all are numbers.
"""

from __future__ import annotations

import math

import numpy as np

from celosia.evaluation._sample import Sample

Series = dict[str, float]


def series_of(sample: Sample, period: str, name: str | None) -> Series:
    """Total of a variable in each period, missing and masked periods apart."""
    column = sample.columns[period]
    values = np.ones(len(sample.rows)) if name is None else sample.columns[name].values
    real = np.isfinite(values)
    totals = np.bincount(column.codes[real], (sample.weights * np.where(real, values, 0.0))[real],
                         len(column.vocabulary))  # fmt: skip
    plain = ~(column.missing | column.masked)
    held = np.bincount(column.codes, minlength=len(column.vocabulary)) > 0
    return {column.vocabulary[i]: float(totals[i]) for i in np.flatnonzero(plain & held)}


def slope_sign(series: Series) -> int:
    """Direction of the straight line through the series: 1 up, -1 down, 0 level."""
    values = [series[period] for period in _in_order(series)]
    middle = (len(values) - 1) / 2
    slope = math.fsum((place - middle) * value for place, value in enumerate(values))
    if abs(slope) <= 1e-12 * math.fsum(abs(value) for value in values) * max(len(values), 1):
        return 0
    return 1 if slope > 0 else -1


def _in_order(series: Series) -> list[str]:
    try:
        return sorted(series, key=float)
    except ValueError:
        return sorted(series)
