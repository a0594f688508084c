"""Other ways to recode locally, written here from their papers, for comparing: k-member clustering and Mondrian.

Both work on the tuples, the hierarchies and the criteria of a search problem, and publish each class at the lowest
levels that all its tuples share, so that their loss is ours by definition. Neither suppresses.
Sources: Byun, Kamra, Bertino, Li 2007 (greedy k-member clustering); LeFevre, DeWitt, Ramakrishnan 2006 (Mondrian,
strict, here with the children of a hierarchy instead of medians).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numba
import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Criterion
from celosia.solver.published import ClassCounter, judge_all
from celosia.tuples.table import Tuples

Ints = NDArray[np.int64]
_OPEN = -1


def k_member(
    quasi: Tuples, hierarchies: Sequence[CompiledHierarchy], weights: Sequence[float], k: int
) -> NDArray[np.int64]:
    """Levels of each tuple: clusters of at least k rows, grown by the tuple that costs least (k in rows alone)."""
    maps, shares = _stacked(hierarchies)
    heights = np.array([hierarchy.height for hierarchy in hierarchies])
    label = _grow_clusters(quasi.codes.astype(np.int64), quasi.rows, maps, shares, heights, np.array(weights), k)
    return shared_levels(quasi, hierarchies, label)


def mondrian(
    counter: ClassCounter, hierarchies: Sequence[CompiledHierarchy], criteria: Sequence[Criterion]
) -> NDArray[np.int64] | None:
    """Levels of each tuple: classes cut in turn at the variable they spread over most, while all parts pass."""
    quasi = counter.quasi
    if not _passes(counter, criteria, np.arange(len(quasi.rows))):
        return None
    label = np.zeros(len(quasi.rows), np.int64)
    heap, number = [(0, tuple(range(len(quasi.rows))))], 1
    while heap:
        _, members = heapq.heappop(heap)
        index = np.array(members)
        for part in _cut(counter, hierarchies, criteria, index):
            heapq.heappush(heap, (number, tuple(part.tolist())))
            label[part] = number
            number += 1
    return shared_levels(quasi, hierarchies, np.unique(label, return_inverse=True)[1])


def shared_levels(quasi: Tuples, hierarchies: Sequence[CompiledHierarchy], label: Ints) -> Ints:
    """The lowest level of each variable at which all tuples of a class have one label."""
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(label[order]) > 0])
    levels = np.zeros((len(label), len(hierarchies)), np.int64)
    for v, hierarchy in enumerate(hierarchies):
        level = np.full(len(starts), hierarchy.height, np.int64)
        for j in reversed(range(hierarchy.height + 1)):
            codes = hierarchy.maps[j][quasi.codes[:, v]][order]
            same = np.minimum.reduceat(codes, starts) == np.maximum.reduceat(codes, starts)
            level[same & (level == min(j + 1, hierarchy.height))] = j
        levels[order, v] = np.repeat(level, np.diff(np.r_[starts, len(label)]))
    return levels


def _cut(
    counter: ClassCounter, hierarchies: Sequence[CompiledHierarchy], criteria: Sequence[Criterion], index: Ints
) -> list[Ints]:
    """The parts of a class at the first variable, widest first, where all of them pass; nothing when there is none."""
    codes = counter.quasi.codes[index]
    spreads = []
    for v, hierarchy in enumerate(hierarchies):
        level = _lowest_shared(hierarchy, codes[:, v])
        if level:
            spreads.append((-hierarchy.shares[level][hierarchy.maps[level][codes[0, v]]], v, level))
    for _, v, level in sorted(spreads):
        for below in reversed(range(level)):
            _, part = np.unique(hierarchies[v].maps[below][codes[:, v]], return_inverse=True)
            if part.max() > 0:
                break
        parts = [index[part == number] for number in range(part.max() + 1)]
        if all(_passes(counter, criteria, rows) for rows in parts):
            return parts
    return []


def _lowest_shared(hierarchy: CompiledHierarchy, codes: Ints) -> int:
    return next(
        (j for j in range(hierarchy.height + 1) if (hierarchy.maps[j][codes] == hierarchy.maps[j][codes[0]]).all()),
        hierarchy.height,
    )


def _passes(counter: ClassCounter, criteria: Sequence[Criterion], index: Ints) -> bool:
    if counter.decides_by_rows(criteria):
        return bool(counter.quasi.rows[index].sum() >= max(int(criterion.k) for criterion in criteria))
    classes = counter.subset(index).classes(np.zeros(len(index), np.int64), 1)
    return bool(judge_all(criteria, classes)[0])


def _stacked(hierarchies: Sequence[CompiledHierarchy]) -> tuple[Ints, NDArray[np.float64]]:
    """Label and share of every value at every level, padded to one shape."""
    depth = max(hierarchy.height for hierarchy in hierarchies) + 1
    width = max(len(hierarchy.maps[0]) for hierarchy in hierarchies)
    maps = np.zeros((len(hierarchies), depth, width), np.int64)
    shares = np.ones((len(hierarchies), depth, width))
    for v, hierarchy in enumerate(hierarchies):
        for j in range(hierarchy.height + 1):
            maps[v, j, : len(hierarchy.maps[j])] = hierarchy.maps[j]
            shares[v, j, : len(hierarchy.maps[j])] = hierarchy.shares[j][hierarchy.maps[j]]
    return maps, shares


@numba.njit(cache=False)
def _grow_clusters(codes, rows, maps, shares, heights, weights, k):  # type: ignore[no-untyped-def]  # noqa: C901
    count, width = codes.shape
    label = np.full(count, _OPEN)
    open_rows = rows.sum()
    level = np.zeros(width, np.int64)
    clusters, last = 0, 0
    while open_rows >= k:
        # The next seed is the farthest open tuple from the last seed.
        best, seed = -1.0, -1
        for t in range(count):
            if label[t] == _OPEN:
                far = 0.0
                for v in range(width):
                    far += weights[v] * shares[v, _meet(maps, heights, v, codes[last, v], codes[t, v], 0), codes[t, v]]
                if far > best:
                    best, seed = far, t
        last = seed
        label[seed] = clusters
        held = rows[seed]
        open_rows -= held
        level[:] = 0
        while held < k:
            cheapest, joins = np.inf, -1
            for t in range(count):
                if label[t] == _OPEN:
                    loss = 0.0
                    for v in range(width):
                        loss += (
                            weights[v]
                            * shares[v, _meet(maps, heights, v, codes[seed, v], codes[t, v], level[v]), codes[t, v]]
                        )
                        if loss >= cheapest:
                            break
                    if loss < cheapest:
                        cheapest, joins = loss, t
            for v in range(width):
                level[v] = _meet(maps, heights, v, codes[seed, v], codes[joins, v], level[v])
            label[joins] = clusters
            held += rows[joins]
            open_rows -= rows[joins]
        clusters += 1
    _join_rest(codes, rows, maps, shares, heights, weights, label, clusters)
    return label


@numba.njit(cache=False)
def _meet(maps, heights, v, first, second, level):  # type: ignore[no-untyped-def]
    while level < heights[v] and maps[v, level, first] != maps[v, level, second]:
        level += 1
    return level


@numba.njit(cache=False)
def _join_rest(codes, rows, maps, shares, heights, weights, label, clusters):  # type: ignore[no-untyped-def]  # noqa: C901
    """Each tuple still open joins the cluster that it makes dearer by least."""
    count, width = codes.shape
    level = np.zeros((clusters, width), np.int64)
    seed = np.full(clusters, -1)
    size = np.zeros(clusters)
    for t in range(count):
        c = label[t]
        if c != _OPEN:
            if seed[c] < 0:
                seed[c] = t
            size[c] += rows[t]
            for v in range(width):
                level[c, v] = _meet(maps, heights, v, codes[seed[c], v], codes[t, v], level[c, v])
    for t in range(count):
        if label[t] == _OPEN:
            cheapest, joins = np.inf, 0
            for c in range(clusters):
                loss = 0.0
                for v in range(width):
                    up = _meet(maps, heights, v, codes[seed[c], v], codes[t, v], level[c, v])
                    grown = shares[v, up, codes[t, v]]
                    loss += weights[v] * (
                        grown * (size[c] + rows[t]) - shares[v, level[c, v], codes[seed[c], v]] * size[c]
                    )
                if loss < cheapest:
                    cheapest, joins = loss, c
            label[t] = joins
            size[joins] += rows[t]
            for v in range(width):
                level[joins, v] = _meet(maps, heights, v, codes[seed[joins], v], codes[t, v], level[joins, v])
