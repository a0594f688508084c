"""Sums over suppressed classes, and bounds over boxes of a lattice.

Nodes of the lattice are numbered with the last variable fastest; a box is all nodes between two of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import inline, kernel

Array = Any
Node = tuple[
    Array, Array, Array, Array, bool
]  # its levels; shift and mask of each variable; codes of wide keys, if any
Totals = tuple[int, int, int, int, int, int, int]


@inline
def leaf_of(key: Any, variable: int, shift: Array, mask: Array, codes: Array, wide: bool) -> Any:
    """The leaf of one variable in a key."""
    if wide:
        return np.int64(codes[np.int64(key), variable])
    return np.int64((key >> shift[variable]) & mask[variable])


@kernel
def suppressed_sums(keys: Array, rows: Array, passes: Array, weight: Array, node: Node) -> Array:
    """Per variable, the sum over suppressed rows of weight[variable, level, leaf]."""
    levels, shift, mask, codes, wide = node
    total = np.zeros(len(levels), np.int64)
    for c in range(len(keys)):
        if not passes[c]:
            for v in range(len(levels)):
                leaf = leaf_of(keys[c], v, shift, mask, codes, wide)
                total[v] += weight[v, levels[v], leaf] * rows[c]
    return total


@kernel
def suppressed_counts(keys: Array, rows: Array, passes: Array, leading: Array, node: Node) -> Array:
    """Per variable and group (its first leaf), the suppressed rows."""
    levels, shift, mask, codes, wide = node
    total = np.zeros((len(levels), leading.shape[2]), np.int64)
    for c in range(len(keys)):
        if not passes[c]:
            for v in range(len(levels)):
                leaf = leaf_of(keys[c], v, shift, mask, codes, wide)
                total[v, leading[v, levels[v], leaf]] += rows[c]
    return total


@inline
def _totals(rows: Array, passes: Array, smallest: int) -> tuple[int, int, int, int, int, int]:
    """Suppressed rows, published classes, sum of their squares, and three figures that bound coarser nodes.

    Those three: the sum of size·max(size, smallest), the classes of at least `smallest` rows, and the rows in
    smaller ones.
    """
    suppressed = 0
    published = 0
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
        if passes[c]:
            published += 1
            squares += size * size
        else:
            suppressed += size
    return suppressed, published, squares, grown, large, small_rows


@kernel
def class_totals(rows: Array, passes: Array, lost: Array, smallest: int) -> Totals:
    """Suppressed rows, unavoidable ones, and the other figures of `_totals`."""
    totals = _totals(rows, passes, smallest)
    return (totals[0], lost.sum(), *totals[1:])


@kernel
def totals_by_size(rows: Array, sizes: Array, least: int, smallest: int) -> tuple[Array, Totals]:
    """Classes of at least `least`, and the totals of `class_totals` where all others are lost entirely."""
    passes = sizes >= least
    totals = _totals(rows, passes, smallest)
    return passes, (totals[0], *totals)


@inline
def _part_of_loss(sums: float, n: int, leaves: int, share: float, geometric: bool) -> float:
    """What one variable adds to the score, from the leaves behind all its published values."""
    if leaves <= 1 or n == 0:
        return 0.0
    loss = (sums - n) / (n * (leaves - 1))
    return (np.log1p(loss) if geometric else loss) * share


@kernel
def loss_terms(base: Array, more: Array, n: int, leaves: Array, shares: Array, geometric: bool) -> Array:
    """Per variable and level, the part of the score: `base` leaves without suppression, and so many more with it."""
    width, depth = base.shape
    out = np.empty((width, depth), np.float64)
    for v in range(width):
        for level in range(depth):
            out[v, level] = _part_of_loss(base[v, level] + more[v, level], n, leaves[v], shares[v], geometric)
    return out


@kernel
def loss_score(
    levels: Array, base: Array, less: Array, suppressed: int, n: int, leaves: Array, shares: Array, geometric: bool
) -> float:
    """The score of a node: suppressed rows leave with `less` leaves and come back with all."""
    score = 0.0
    for v in range(len(levels)):
        sums = base[v, levels[v]] - less[v] + suppressed * leaves[v]
        score += _part_of_loss(float(sums), n, leaves[v], shares[v], geometric)
    return score


@kernel
def raise_box(bound: Array, low: Array, high: Array, stride: Array, terms: Array) -> None:
    """Raise the bound of every node in a box to the sum of its per-variable terms."""
    width = len(low)
    at = low.copy()
    partial = np.zeros(width + 1, np.float64)
    offset = np.zeros(width + 1, np.int64)
    for v in range(width):
        partial[v + 1] = partial[v] + terms[v, at[v]]
        offset[v + 1] = offset[v] + at[v] * stride[v]
    last = width - 1
    while True:
        for level in range(low[last], high[last] + 1):
            value = partial[last] + terms[last, level]
            node = offset[last] + level * stride[last]
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
            offset[u + 1] = offset[u] + at[u] * stride[u]


@kernel
def climb(
    bound: Array, avoided: Array, start: Array, top: Array, stride: Array, ceiling: float, most_steps: int
) -> Array:
    """The cheapest upward path: at each step the successor with the least bound, while within the ceiling.

    `avoided` marks nodes that the path never takes; an empty array marks none.
    """
    width = len(start)
    at = start.copy()
    node = 0
    steps = 0
    for v in range(width):
        node += at[v] * stride[v]
        steps += top[v] - at[v]
    path = np.empty(min(steps, most_steps) + 1, np.int64)
    path[0] = node
    for step in range(1, len(path)):
        chosen = -1
        cheapest = np.inf
        for v in range(width):
            above = node + stride[v]
            if at[v] < top[v] and bound[above] < cheapest and not (len(avoided) > 0 and avoided[above]):
                cheapest = bound[above]
                chosen = v
        if chosen < 0 or cheapest > ceiling:
            return path[:step].copy()
        at[chosen] += 1
        node += stride[chosen]
        path[step] = node
    return path


@kernel
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
