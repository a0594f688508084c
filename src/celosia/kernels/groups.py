"""Optimal groups along one axis, and what stands for each group: mean, median or mode.

Knows numbers in the order of their groups. Ignores columns and text. Sums run in the order given.
Source: Hansen and Mukherjee (2003), a polynomial algorithm for optimal univariate microaggregation: the best cut of
sorted values into groups of k … 2k - 1, the shortest path over the places where a group may end.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import compiled, inlined

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

_LARGE = 2.0**900  # sums of numbers below it do not overflow


@compiled
def _cheapest_cuts(values: Floats, k: int) -> Longs:
    """For each end of a group, the size of the last group on the cheapest way there."""
    n = len(values)
    cost, size = np.full(n + 1, np.inf), np.zeros(n + 1, np.int64)
    cost[0] = 0.0
    for end in range(k, n + 1):
        mean, squares = 0.0, 0.0  # Welford's sums, from the end backwards
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


@compiled
def optimal_segments(values: Floats, starts: Longs, k: int, label: Longs) -> None:
    """Groups of least squared error inside each segment of ascending numbers; a group's number lies in its segment."""
    for segment in range(len(starts) - 1):
        a, end = starts[segment], starts[segment + 1]
        size = _cheapest_cuts(values[a:end], k)
        while end > a:
            first = end - size[end - a] if size[end - a] > 0 else a
            label[first:end] = first
            end = first


@inlined
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


@compiled
def group_means(values: Floats, starts: Longs) -> Floats:
    """The mean of each group."""
    found = np.empty(len(starts) - 1)
    for group in range(len(found)):
        found[group] = _mean(values[starts[group] : starts[group + 1]])
    return found


@compiled
def group_medians(values: Floats, starts: Longs) -> Floats:
    """The median of each group of ascending numbers; between the two in the middle of an even one."""
    found = np.empty(len(starts) - 1)
    for group in range(len(found)):
        a, b = starts[group], starts[group + 1]
        one, other = values[(a + b - 1) // 2], values[(a + b) // 2]
        found[group] = one if one == other else one / 2 + other / 2
    return found


@compiled
def group_modes(values: Floats, starts: Longs) -> Floats:
    """The most frequent number of each group of ascending numbers; the lowest of equals."""
    found = np.empty(len(starts) - 1)
    for group in range(len(found)):
        most, run = 0, 0
        for i in range(starts[group], starts[group + 1]):
            run = run + 1 if i > starts[group] and values[i] == values[i - 1] else 1
            if run > most:
                most, found[group] = run, values[i]
    return found
