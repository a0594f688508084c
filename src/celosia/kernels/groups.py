"""Optimal groups along one axis, and the value published for each group: mean, median or mode.

Knows numbers in the order of their groups. Ignores columns and text. Sums run in the order given.
Source: Hansen and Mukherjee (2003), a polynomial algorithm for optimal univariate microaggregation: the best cut of
sorted values into groups of k … 2k - 1, the shortest path over the places where a group may end.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import inline, kernel

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

_LARGE = 2.0**900  # sums of numbers below it do not overflow


@kernel
def _cheapest_cuts(values: Floats, k: int) -> Longs:
    """For each end of a group, the size of the last group on the cheapest way there."""
    n = len(values)
    cost, size = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    cost[0] = 0.0
    for end in range(k, n + 1):
        # Welford's sums, from the end backwards.
        mean, squares = 0.0, 0.0
        for width in range(1, min(2 * k, end + 1)):
            value = values[end - width]
            gap = value - mean
            mean += gap / width
            squares += gap * (value - mean)
            if squares >= cost[end]:
                break
            if width >= k and cost[end - width] + squares < cost[end]:
                cost[end], size[end] = cost[end - width] + squares, width
    return size


@kernel
def optimal_segments(values: Floats, starts: Longs, k: int, label: Longs) -> None:
    """Groups of least squared error inside each segment of ascending numbers; a group's number lies in its segment."""
    for segment in range(len(starts) - 1):
        a, end = starts[segment], starts[segment + 1]
        size = _cheapest_cuts(values[a:end], k)
        while end > a:
            first = end - size[end - a] if size[end - a] > 0 else a
            label[first:end] = first
            end = first


@inline
def _mean(values: Floats) -> float:
    """The mean, within the values: equal ones give themselves, large ones do not overflow."""
    low, high = values.min(), values.max()
    scale = math.ldexp(1.0, -64) if max(abs(low), abs(high)) > _LARGE else 1.0
    total, lost = 0.0, 0.0
    for value in values:
        term = value * scale - lost
        sum_ = total + term
        lost = (sum_ - total) - term
        total = sum_
    return min(max(total / len(values) / scale, low), high)


@kernel
def group_means(values: Floats, starts: Longs) -> Floats:
    """The mean of each group."""
    means = np.empty(len(starts) - 1)
    for group in range(len(means)):
        means[group] = _mean(values[starts[group] : starts[group + 1]])
    return means


@kernel
def group_medians(values: Floats, starts: Longs) -> Floats:
    """The median of each group of ascending numbers; between the two in the middle of an even group."""
    medians = np.empty(len(starts) - 1)
    for group in range(len(medians)):
        a, b = starts[group], starts[group + 1]
        lower, upper = values[(a + b - 1) // 2], values[(a + b) // 2]
        medians[group] = lower if lower == upper else lower / 2 + upper / 2
    return medians


@kernel
def group_modes(values: Floats, starts: Longs) -> Floats:
    """The most frequent number of each group of ascending numbers; the lowest of equals."""
    modes = np.empty(len(starts) - 1)
    for group in range(len(modes)):
        most, run = 0, 0
        for i in range(starts[group], starts[group + 1]):
            run = run + 1 if i > starts[group] and values[i] == values[i - 1] else 1
            if run > most:
                most, modes[group] = run, values[i]
    return modes
