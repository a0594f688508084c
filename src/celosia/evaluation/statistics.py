"""Statistics of numbers with weights, with sums in a fixed order, and totals over time.

Knows values and the weight behind each, and for a series a column of periods. Quantiles without sampling weights are
the usual ones (linear interpolation, type 7); with weights, the smallest value whose accumulated weight reaches the
share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from celosia.evaluation.sample import Floats, Sample


@dataclass(frozen=True, slots=True)
class Numbers:
    """The distinct numbers of a column in ascending order, and the weight and rows behind each."""

    values: Floats
    weights: Floats
    weighted: bool
    without: int  # rows whose cell holds no number

    @property
    def total_weight(self) -> float:
        """Weight of all cells that hold a number."""
        return math.fsum(self.weights.tolist())


def numbers_of(sample: Sample, name: str) -> Numbers:
    """The numbers of a column; cells that hold none are counted apart."""
    column = sample.columns[name]
    parsed = np.full(len(column.vocabulary), np.nan) if column.numbers is None else column.numbers
    rows, weights = sample.tally_rows(name), sample.tally(name)
    real = np.isfinite(parsed) & (rows > 0)
    values, label = np.unique(parsed[real], return_inverse=True)
    behind = np.bincount(label.reshape(-1), weights[real], len(values)).astype(np.float64)
    weighted = bool((sample.weights != sample.rows).any())
    return Numbers(values, behind, weighted, int(rows[~real].sum()))


def total(numbers: Numbers) -> float | None:
    """Sum of the numbers, each as often as it weighs."""
    return math.fsum((numbers.values * numbers.weights).tolist()) if len(numbers.values) else None


def mean(numbers: Numbers) -> float | None:
    """Weighted mean."""
    summed = total(numbers)
    return None if summed is None else summed / numbers.total_weight


def variance(numbers: Numbers) -> float | None:
    """Sample variance: squares about the mean divided by the weight less one."""
    centre = mean(numbers)
    if centre is None or numbers.total_weight <= 1:
        return None
    squares = numbers.weights * (numbers.values - centre) ** 2
    return math.fsum(squares.tolist()) / (numbers.total_weight - 1)


def minimum(numbers: Numbers) -> float | None:
    """Smallest number."""
    return float(numbers.values[0]) if len(numbers.values) else None


def maximum(numbers: Numbers) -> float | None:
    """Largest number."""
    return float(numbers.values[-1]) if len(numbers.values) else None


def quantile(numbers: Numbers, share: float) -> float | None:
    """The value below which a share of the weight lies."""
    if not len(numbers.values):
        return None
    ends = np.cumsum(numbers.weights)
    if numbers.weighted:
        index = int(np.searchsorted(ends, share * ends[-1] * (1 - 1e-15), side="left"))
        return float(numbers.values[min(index, len(ends) - 1)])
    position = (round(float(ends[-1])) - 1) * share
    below = math.floor(position)
    low, high = np.searchsorted(ends, [below, math.ceil(position)], side="right")
    return float(numbers.values[low] + (position - below) * (numbers.values[high] - numbers.values[low]))


def median(numbers: Numbers) -> float | None:
    """The middle value."""
    return quantile(numbers, 0.5)


# --- over time ----------------------------------------------------------------------------------------

Series = dict[str, float]  # the total of each period


def series_of(sample: Sample, period: str, name: str | None) -> Series:
    """Total of a variable in each period, or its rows where no variable is named; missing and masked periods apart."""
    column = sample.columns[period]
    values = np.ones(len(sample.rows)) if name is None else sample.columns[name].values
    real = np.isfinite(values)
    weighted = (sample.weights * np.where(real, values, 0.0))[real]
    totals = np.bincount(column.codes[real], weighted, len(column.vocabulary))
    plain = ~(column.missing | column.masked)
    present = np.bincount(column.codes, minlength=len(column.vocabulary)) > 0
    return {column.vocabulary[i]: float(totals[i]) for i in np.flatnonzero(plain & present)}


def slope_sign(series: Series) -> int:
    """Direction of the straight line through the series: 1 up, -1 down, 0 level."""
    values = [series[period] for period in _periods(series)]
    middle = (len(values) - 1) / 2
    slope = math.fsum((position - middle) * value for position, value in enumerate(values))
    if abs(slope) <= 1e-12 * math.fsum(abs(value) for value in values) * max(len(values), 1):
        return 0
    return 1 if slope > 0 else -1


def _periods(series: Series) -> list[str]:
    """The periods by their number where all are numbers, else by their text (2020-01, 2020-02 …)."""
    try:
        return sorted(series, key=float)
    except ValueError:
        return sorted(series)
