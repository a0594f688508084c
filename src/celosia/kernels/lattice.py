"""Sums over suppressed classes, and bounds over boxes of a lattice.

Nodes of the lattice are numbered with the last variable fastest; a box is all nodes between two of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import compiled, inlined

Array = Any


@inlined
def leaf_of(key: Any, variable: int, shift: Array, mask: Array, codes: Array, wide: bool) -> Any:
    """The leaf of one variable in a key."""
    if wide:
        return np.int64(codes[np.int64(key), variable])
    return np.int64((key >> shift[variable]) & mask[variable])


@compiled
def suppressed_sums(
    keys: Array,
    rows: Array,
    passes: Array,
    weight: Array,
    levels: Array,
    shift: Array,
    mask: Array,
    codes: Array,
    wide: bool,
) -> Array:
    """Per variable, the sum over suppressed rows of weight[variable, level, leaf]."""
    width = len(levels)
    total = np.zeros(width, np.int64)
    for c in range(len(keys)):
        if not passes[c]:
            for v in range(width):
                leaf = leaf_of(keys[c], v, shift, mask, codes, wide)
                total[v] += weight[v, levels[v], leaf] * rows[c]
    return total


@compiled
def suppressed_counts(
    keys: Array,
    rows: Array,
    passes: Array,
    leading: Array,
    levels: Array,
    shift: Array,
    mask: Array,
    codes: Array,
    wide: bool,
) -> Array:
    """Per variable and group (its first leaf), the suppressed rows."""
    width = len(levels)
    total = np.zeros((width, leading.shape[2]), np.int64)
    for c in range(len(keys)):
        if not passes[c]:
            for v in range(width):
                leaf = leaf_of(keys[c], v, shift, mask, codes, wide)
                total[v, leading[v, levels[v], leaf]] += rows[c]
    return total


@compiled
def class_totals(rows: Array, passes: Array, lost: Array, smallest: int) -> tuple[int, int, int, int, int, int, int]:
    """Suppressed, unavoidable, kept classes, sum of kept squares, and three figures that bound coarser nodes.

    Those three: the sum of size·max(size, smallest), the classes of at least `smallest` rows, and the rows in
    smaller ones.
    """
    suppressed = 0
    unavoidable = 0
    kept = 0
    squares = 0
    grown = 0
    large = 0
    small_rows = 0
    for c in range(len(rows)):
        size = rows[c]
        unavoidable += lost[c]
        grown += size * max(size, smallest)
        if size >= smallest:
            large += 1
        else:
            small_rows += size
        if passes[c]:
            kept += 1
            squares += size * size
        else:
            suppressed += size
    return suppressed, unavoidable, kept, squares, grown, large, small_rows


@compiled
def totals_by_size(
    rows: Array, sizes: Array, least: int, smallest: int
) -> tuple[Array, tuple[int, int, int, int, int, int, int]]:
    """Classes of at least `least`, and the totals of `class_totals` where all others are lost entirely."""
    passes = np.empty(len(rows), np.bool_)
    suppressed = 0
    kept = 0
    squares = 0
    grown = 0
    large = 0
    small_rows = 0
    for c in range(len(rows)):
        size = rows[c]
        grown += size * max(size, smallest)
        if size >= smallest:
            large += 1
        else:
            small_rows += size
        passes[c] = sizes[c] >= least
        if passes[c]:
            kept += 1
            squares += size * size
        else:
            suppressed += size
    return passes, (suppressed, suppressed, kept, squares, grown, large, small_rows)


@inlined
def _part_of_loss(sums: float, n: int, leaves: int, share: float, geometric: bool) -> float:
    """What one variable adds to the score, from the leaves behind all its published values."""
    if leaves <= 1 or n == 0:
        return 0.0
    loss = (sums - n) / (n * (leaves - 1))
    return (np.log1p(loss) if geometric else loss) * share


@compiled
def loss_terms(base: Array, more: Array, n: int, leaves: Array, shares: Array, geometric: bool) -> Array:
    """Per variable and level, the part of the score: `base` leaves without suppression, and so many more with it."""
    width, depth = base.shape
    out = np.empty((width, depth), np.float64)
    for v in range(width):
        for level in range(depth):
            out[v, level] = _part_of_loss(base[v, level] + more[v, level], n, leaves[v], shares[v], geometric)
    return out


@compiled
def loss_score(
    levels: Array, base: Array, less: Array, suppressed: int, n: int, leaves: Array, shares: Array, geometric: bool
) -> float:
    """The score of a node: suppressed rows leave with `less` leaves and come back with all."""
    score = 0.0
    for v in range(len(levels)):
        sums = base[v, levels[v]] - less[v] + suppressed * leaves[v]
        score += _part_of_loss(float(sums), n, leaves[v], shares[v], geometric)
    return score


@compiled
def raise_box(bound: Array, low: Array, high: Array, stride: Array, terms: Array) -> None:
    """Raise the bound of every node in a box to the sum of its per-variable terms."""
    width = len(low)
    at = low.copy()
    partial = np.zeros(width + 1, np.float64)
    place = np.zeros(width + 1, np.int64)
    for v in range(width):
        partial[v + 1] = partial[v] + terms[v, at[v]]
        place[v + 1] = place[v] + at[v] * stride[v]
    last = width - 1
    while True:
        for level in range(low[last], high[last] + 1):
            value = partial[last] + terms[last, level]
            node = place[last] + level * stride[last]
            if value > bound[node]:
                bound[node] = value
        v = last - 1
        while v >= 0 and at[v] == high[v]:
            at[v] = low[v]
            v -= 1
        if v < 0:
            return
        at[v] += 1
        for u in range(v, last):
            partial[u + 1] = partial[u] + terms[u, at[u]]
            place[u + 1] = place[u] + at[u] * stride[u]


@compiled
def climb(bound: Array, start: Array, top: Array, stride: Array, ceiling: float) -> Array:
    """The cheapest upward path: at each step the successor with the least bound, while within the ceiling."""
    width = len(start)
    at = start.copy()
    node = 0
    steps = 0
    for v in range(width):
        node += at[v] * stride[v]
        steps += top[v] - at[v]
    path = np.empty(steps + 1, np.int64)
    path[0] = node
    length = 1
    while True:
        chosen = -1
        cheapest = np.inf
        for v in range(width):
            if at[v] < top[v] and bound[node + stride[v]] < cheapest:
                cheapest = bound[node + stride[v]]
                chosen = v
        if chosen < 0 or cheapest > ceiling or cheapest == np.inf:
            return path[:length].copy()
        at[chosen] += 1
        node += stride[chosen]
        path[length] = node
        length += 1


@compiled
def cheapest_rows(knots: Array, costs: Array, filled: Array, suppressed: int) -> Array:
    """Per variable and level, the least cost of suppressing so many rows: piecewise linear between knots."""
    width, depth = filled.shape
    out = np.zeros((width, depth), np.float64)
    for v in range(width):
        for level in range(depth):
            i = 1
            while i < filled[v, level] - 1 and knots[v, level, i] < suppressed:
                i += 1
            if filled[v, level] > 1:
                rows = knots[v, level, i] - knots[v, level, i - 1]
                cost = costs[v, level, i] - costs[v, level, i - 1]
                out[v, level] = costs[v, level, i - 1] + cost * ((suppressed - knots[v, level, i - 1]) / rows)
    return out


@compiled
def climb_beyond(bound: Array, tame: Array, start: Array, top: Array, stride: Array, steps: int) -> int:
    """The node some steps above: each to the open successor of least bound that is not tame."""
    width = len(start)
    at = start.copy()
    node = 0
    for v in range(width):
        node += at[v] * stride[v]
    for _ in range(steps):
        chosen = -1
        cheapest = np.inf
        for v in range(width):
            if at[v] < top[v]:
                above = node + stride[v]
                if not tame[above] and bound[above] < cheapest:
                    cheapest = bound[above]
                    chosen = v
        if chosen < 0:
            return node
        at[chosen] += 1
        node += stride[chosen]
    return node


@compiled
def mark_box(marks: Array, low: Array, high: Array, stride: Array) -> None:
    """Mark every node in a box."""
    width = len(low)
    at = low.copy()
    last = width - 1
    while True:
        node = 0
        for v in range(last):
            node += at[v] * stride[v]
        for level in range(low[last], high[last] + 1):
            marks[node + level * stride[last]] = True
        v = last - 1
        while v >= 0 and at[v] == high[v]:
            at[v] = low[v]
            v -= 1
        if v < 0:
            return
        at[v] += 1
