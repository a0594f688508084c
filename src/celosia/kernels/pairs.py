"""Random pairs: each visited place takes a partner by chance among the free places of its range.

Knows places, ranges and draws. Ignores what stands at a place. Free places are counted in a Fenwick tree (1994), so a
partner is found in O(log n) whatever the width of the range.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import inline, kernel

Array = Any


@inline
def _free_places_before(tree: Array, place: int) -> int:
    """Free places before a place."""
    total = 0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@inline
def _add(tree: Array, place: int, change: int) -> None:
    i = place + 1
    while i < len(tree):
        tree[i] += change
        i += i & -i


@inline
def _free_place(tree: Array, number: int) -> int:
    """The free place that has `number` free places before it."""
    step = 1
    while step * 2 < len(tree):
        step *= 2
    place = 0
    while step > 0:
        if place + step < len(tree) and tree[place + step] <= number:
            place += step
            number -= tree[place]
        step //= 2
    return place


@kernel
def pair_up(
    visit: Array, free: Array, low: Array, gap_start: Array, gap_end: Array, high: Array, draw: Array, most_paired: int
) -> Array:
    """Partner of each place, -1 for none: visited in order, chosen in [low, gap_start) or [gap_end, high) with equal
    chance; it stops when `most_paired` places have a partner.

    `low` to `high` hold the ranges of each place, `draw` is in [0, 1).
    """
    tree = np.zeros(len(free) + 1, np.int64)
    for i in range(len(free)):
        tree[i + 1] += free[i]
        above = (i + 1) + ((i + 1) & -(i + 1))
        if above < len(tree):
            tree[above] += tree[i + 1]
    partner = np.full(len(free), -1, np.int64)
    paired = 0
    for t in range(len(visit)):
        i = visit[t]
        if paired >= most_paired:
            break
        if not free[i] or partner[i] >= 0:
            continue
        _add(tree, i, -1)
        first, second = _free_places_before(tree, low[i]), _free_places_before(tree, gap_end[i])
        left = _free_places_before(tree, gap_start[i]) - first
        right = _free_places_before(tree, high[i]) - second
        if left + right == 0:
            _add(tree, i, 1)
            continue
        pick = min(int(draw[i] * (left + right)), left + right - 1)
        j = _free_place(tree, first + pick if pick < left else second + pick - left)
        _add(tree, j, -1)
        partner[i], partner[j] = j, i
        paired += 2
    return partner
