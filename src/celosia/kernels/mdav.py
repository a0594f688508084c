"""Groups of at least k near records: MDAV over a k-d tree, blocks of a k-d partition, standard scores.

Knows points as rows of float64 in an order that breaks every tie. Ignores columns, strata and text.
MDAV gives the same groups as a scan of all records in every round, bit for bit: distances are added column by column
in order, bounds of boxes are rounded the same way and so never overtake a distance, and the centroid comes from whole
numbers, whose sums do not depend on the order of the records.
Sources: Domingo-Ferrer and Torra (2005), MDAV-generic; Friedman, Bentley and Finkel (1977), k-d trees.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import inline, kernel

Points = NDArray[np.float64]
Longs = NDArray[np.int64]

_LEAF = 8  # records in a leaf at most
_DEPTH = 64  # more levels than any tree has
_RIM = 4  # the rim holds the root of this times k times the records
_PATIENCE = 4  # looking at a record in the tree costs this many times what it costs to draw it on the rim
_CAUTION = 1.0 + 1e-9  # rounding of a root is far below it
_UNIT = 2.0**32  # a score in whole numbers, for exact sums: their total stays below rows * 2^32


class Tree(NamedTuple):
    """A balanced k-d tree in arrays; the children of node i are 2i + 1 and 2i + 2, records leave their leaf."""

    points: Points  # in the order of the leaves
    rank: Longs  # of the record in a slot
    slot_of: Longs  # the slot of a record
    leaf: Longs  # the leaf of a slot
    start: Longs  # first slot of a node
    n_left: Longs  # records left in a leaf
    low: Points  # box around the records left below a node
    high: Points
    least: Longs  # lowest rank left below a node; the number of records when none is left


class Rim(NamedTuple):
    """The outermost records at some round, among which the farthest from the centroid is found for many rounds."""

    members: Longs
    centre: Points  # the centroid of that round
    n_left: Longs  # one number: how many members are left
    reach: Points  # one number: no other record was farther than this from that centroid
    spent: Longs  # one number: records looked at in the tree since the rim was of no use


@inline
def _comes_before(points: Points, axis: int, first: int, second: int) -> bool:
    """Whether a record comes before another along an axis; the rank decides between equals."""
    a, b = points[first, axis], points[second, axis]
    return a < b or (a == b and first < second)


@kernel
def _select(points: Points, axis: int, order: Longs, first: int, last: int, middle: int) -> None:
    """Bring the records of order[first:last] that come before the middle one in front of it (Hoare's selection)."""
    left, right = first, last - 1
    while left < right:
        pivot = order[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while _comes_before(points, axis, order[i], pivot):
                i += 1
            while _comes_before(points, axis, pivot, order[j]):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@kernel
def _widest_axis(points: Points, order: Longs, first: int, last: int) -> int:
    """The axis along which some records spread most; the first of equals."""
    widest, spread = 0, -1.0
    for axis in range(points.shape[1]):
        low = high = points[order[first], axis]
        for slot in range(first + 1, last):
            value = points[order[slot], axis]
            low = min(low, value)
            high = max(high, value)
        if high - low > spread:
            widest, spread = axis, high - low
    return widest


@kernel
def _build_tree(points: Points) -> Tree:
    """The tree over all records."""
    n, width = points.shape
    levels = 0
    while (n + (1 << levels) - 1) >> levels > _LEAF:
        levels += 1
    nodes = (2 << levels) - 1
    leaves = nodes // 2
    order = np.arange(n)
    start, end = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    end[0] = n
    for node in range(leaves):
        first, last = start[node], end[node]
        middle = (first + last) // 2
        _select(points, _widest_axis(points, order, first, last), order, first, last, middle)
        start[2 * node + 1], end[2 * node + 1] = first, middle
        start[2 * node + 2], end[2 * node + 2] = middle, last
    slot_of, leaf = np.empty(n, np.int64), np.empty(n, np.int64)
    count = np.zeros(nodes, np.int64)
    for node in range(leaves, nodes):
        count[node] = end[node] - start[node]
        leaf[start[node] : end[node]] = node
    for slot in range(n):
        slot_of[order[slot]] = slot
    low, high = np.empty((nodes, width)), np.empty((nodes, width))
    tree = Tree(points[order], order, slot_of, leaf, start, count, low, high, np.empty(nodes, np.int64))
    for node in range(nodes - 1, -1, -1):
        _measure(tree, node)
    return tree


@kernel
def _measure(tree: Tree, node: int) -> None:
    """The box and the lowest rank of what is left below a node, from its records or its children."""
    low, high = tree.low[node], tree.high[node]
    low[:] = np.inf
    high[:] = -np.inf
    least = len(tree.rank)
    if 2 * node + 1 < len(tree.least):
        for child in range(2 * node + 1, 2 * node + 3):
            least = min(least, tree.least[child])
            for axis in range(len(low)):
                low[axis] = min(low[axis], tree.low[child, axis])
                high[axis] = max(high[axis], tree.high[child, axis])
    else:
        for slot in range(tree.start[node], tree.start[node] + tree.n_left[node]):
            least = min(least, tree.rank[slot])
            for axis in range(len(low)):
                low[axis] = min(low[axis], tree.points[slot, axis])
                high[axis] = max(high[axis], tree.points[slot, axis])
    tree.least[node] = least


@inline
def _touches_box(tree: Tree, node: int, point: Points, rank: int) -> bool:
    """Whether the box or the lowest rank of a node may change when a record leaves."""
    if tree.least[node] == rank:
        return True
    for axis in range(len(point)):
        if point[axis] == tree.low[node, axis] or point[axis] == tree.high[node, axis]:
            return True
    return False


@kernel
def _remove(tree: Tree, rank: int, point: Points) -> None:
    """Take a record out of the tree; the boxes above it shrink."""
    slot = tree.slot_of[rank]
    node = tree.leaf[slot]
    tree.n_left[node] -= 1
    last = tree.start[node] + tree.n_left[node]
    tree.points[slot] = tree.points[last]
    tree.rank[slot] = tree.rank[last]
    tree.slot_of[tree.rank[slot]] = slot
    while _touches_box(tree, node, point, rank):
        _measure(tree, node)
        if node == 0:
            return
        node = (node - 1) // 2


@inline
def _squared_distance(points: Points, slot: int, target: Points) -> float:
    """Squared distance of a record, added axis by axis."""
    total = 0.0
    for axis in range(len(target)):
        gap = points[slot, axis] - target[axis]
        total += gap * gap
    return total


@inline
def _least_distance(tree: Tree, node: int, target: Points) -> float:
    """No record left below the node is nearer than this."""
    total = 0.0
    for axis in range(len(target)):
        gap = 0.0
        if target[axis] < tree.low[node, axis]:
            gap = tree.low[node, axis] - target[axis]
        elif target[axis] > tree.high[node, axis]:
            gap = target[axis] - tree.high[node, axis]
        total += gap * gap
    return total


@inline
def _greatest_distance(tree: Tree, node: int, target: Points) -> float:
    """No record left below the node is farther than this; -1 when none is left."""
    if tree.least[node] == len(tree.rank):
        return -1.0
    total = 0.0
    for axis in range(len(target)):
        gap = max(tree.high[node, axis] - target[axis], target[axis] - tree.low[node, axis])
        total += gap * gap
    return total


@kernel
def _farthest(tree: Tree, target: Points) -> tuple[int, int]:
    """The record left that lies farthest, the lowest rank of equals; and how many were looked at."""
    nodes, bounds = np.empty(_DEPTH, np.int64), np.empty(_DEPTH)
    nodes[0], bounds[0], top = 0, _greatest_distance(tree, 0, target), 1
    best, farthest, seen = -1.0, len(tree.rank), 0
    while top > 0:
        top -= 1
        node, bound = nodes[top], bounds[top]
        if bound < best or (bound == best and tree.least[node] > farthest):
            continue
        child = 2 * node + 1
        if child >= len(tree.least):
            seen += tree.n_left[node]
            for slot in range(tree.start[node], tree.start[node] + tree.n_left[node]):
                distance = _squared_distance(tree.points, slot, target)
                if distance > best or (distance == best and tree.rank[slot] < farthest):
                    best, farthest = distance, tree.rank[slot]
            continue
        left, right = _greatest_distance(tree, child, target), _greatest_distance(tree, child + 1, target)
        first = left > right or (left == right and tree.least[child] < tree.least[child + 1])
        nodes[top], bounds[top] = (child + 1, right) if first else (child, left)
        nodes[top + 1], bounds[top + 1] = (child, left) if first else (child + 1, right)
        top += 2
    return farthest, seen


@kernel
def _draw_rim(points: Points, label: Longs, centre: Points, rim: Rim) -> None:
    """Put the outermost records left on the rim."""
    left = np.flatnonzero(label < 0)
    distances = np.empty(len(left))
    for i in range(len(left)):
        distances[i] = _squared_distance(points, left[i], centre)
    inner = max(len(left) - len(rim.members), 0)
    reach = np.partition(distances, inner)[inner]
    members = left[distances > reach]
    rim.members[: len(members)] = members
    rim.centre[:] = centre
    rim.n_left[0], rim.reach[0], rim.spent[0] = len(members), math.sqrt(reach), 0


@kernel
def _outermost(tree: Tree, points: Points, label: Longs, centre: Points, rim: Rim) -> int:
    """The record left that lies farthest from the centroid; the lowest rank of equals.

    A record beyond the rim's reach and the way the centroid has gone since is farther than any that is not on the rim.
    Where there is none the tree is asked, and the rim drawn again once that has cost as much as drawing it.
    """
    if rim.spent[0] * _PATIENCE > len(points):
        _draw_rim(points, label, centre, rim)
    best, farthest, n_members = -1.0, -1, 0
    for i in range(rim.n_left[0]):
        rank = rim.members[i]
        if label[rank] < 0:
            rim.members[n_members] = rank
            n_members += 1
            distance = _squared_distance(points, rank, centre)
            if distance > best or (distance == best and rank < farthest):
                best, farthest = distance, rank
    rim.n_left[0] = n_members
    gone = 0.0
    for axis in range(len(centre)):
        gone += (centre[axis] - rim.centre[axis]) ** 2
    beyond = (rim.reach[0] + math.sqrt(gone)) * _CAUTION
    if best > beyond * beyond:
        return farthest
    farthest, seen = _farthest(tree, centre)
    rim.n_left[0] = 0
    rim.spent[0] += seen
    return farthest


@inline
def _insert(distances: Points, ranks: Longs, n_nearest: int, distance: float, rank: int) -> int:
    """Keep a record among the nearest, in order of distance and rank; gives how many there are."""
    last = len(ranks) - 1
    if n_nearest > last and (distance > distances[last] or (distance == distances[last] and rank > ranks[last])):
        return n_nearest
    i = min(n_nearest, last)
    while i > 0:
        before = distances[i - 1]
        if before < distance or (before == distance and ranks[i - 1] < rank):
            break
        distances[i], ranks[i] = before, ranks[i - 1]
        i -= 1
    distances[i], ranks[i] = distance, rank
    return min(n_nearest + 1, last + 1)


@kernel
def _find_nearest(tree: Tree, target: Points, distances: Points, ranks: Longs) -> None:
    """The records left that lie nearest, as many as `ranks` holds; of equals those of lowest rank."""
    nodes, bounds = np.empty(_DEPTH, np.int64), np.empty(_DEPTH)
    nodes[0], bounds[0], top = 0, _least_distance(tree, 0, target), 1
    n_nearest, last = 0, len(ranks) - 1
    while top > 0:
        top -= 1
        node, bound = nodes[top], bounds[top]
        if n_nearest > last and (
            bound > distances[last] or (bound == distances[last] and tree.least[node] > ranks[last])
        ):
            continue
        child = 2 * node + 1
        if child >= len(tree.least):
            for slot in range(tree.start[node], tree.start[node] + tree.n_left[node]):
                n_nearest = _insert(
                    distances, ranks, n_nearest, _squared_distance(tree.points, slot, target), tree.rank[slot]
                )
            continue
        left, right = _least_distance(tree, child, target), _least_distance(tree, child + 1, target)
        first = left < right or (left == right and tree.least[child] < tree.least[child + 1])
        nodes[top], bounds[top] = (child + 1, right) if first else (child, left)
        nodes[top + 1], bounds[top + 1] = (child, left) if first else (child + 1, right)
        top += 2


@kernel
def _make_group(
    tree: Tree, points: Points, around: int, sums: Longs, distances: Points, group: int, label: Longs, ranks: Longs
) -> None:
    """Make a group of the records nearest to one; they leave the tree and the sums."""
    _find_nearest(tree, points[around], distances, ranks)
    for rank in ranks:
        label[rank] = group
        for axis in range(points.shape[1]):
            sums[axis] -= np.int64(np.rint(points[rank, axis] * _UNIT))
        _remove(tree, rank, points[rank])


@kernel
def _mdav(points: Points, k: int, group: int, label: Longs) -> None:
    """Label the records with their groups, numbered on from `group`."""
    n, width = points.shape
    label[:] = -1
    left = n
    if left >= 2 * k:
        tree = _build_tree(points)
        sums, centre = np.zeros(width, np.int64), np.empty(width)
        for rank in range(n):
            for axis in range(width):
                sums[axis] += np.int64(np.rint(points[rank, axis] * _UNIT))
        distances, ranks = np.empty(k), np.empty(k, np.int64)
        members = np.empty(int(math.sqrt(_RIM * k * n)), np.int64)
        rim = Rim(members, np.empty(width), np.zeros(1, np.int64), np.full(1, np.inf), np.full(1, n, np.int64))
        while left >= 2 * k:
            for axis in range(width):
                centre[axis] = sums[axis] / (left * _UNIT)
            outermost = _outermost(tree, points, label, centre, rim)
            _make_group(tree, points, outermost, sums, distances, group, label, ranks)
            left -= k
            group += 1
            if left >= 2 * k:
                opposite, _ = _farthest(tree, points[outermost])
                _make_group(tree, points, opposite, sums, distances, group, label, ranks)
                left -= k
                group += 1
    for rank in range(n):
        if label[rank] < 0:
            label[rank] = group


@kernel
def mdav_segments(points: Points, starts: Longs, first: int, last: int, k: int, label: Longs) -> None:
    """Groups inside each of the segments first … last - 1 of the records; a group's number lies in its segment."""
    for segment in range(first, last):
        a, b = starts[segment], starts[segment + 1]
        _mdav(points[a:b], k, a, label[a:b])


@kernel
def split_segments(points: Points, starts: Longs, limit: int, block: int) -> tuple[Longs, Longs]:
    """An order of the records and new starts: segments longer than `limit` are halved down to blocks of `block`.

    Each cut is at the median of the widest axis, ties by rank; inside a block records keep their order.
    """
    n = len(points)
    order, cuts = np.arange(n), np.zeros(n + 1, np.bool_)
    cuts[starts] = True
    pending = np.empty((_DEPTH, 2), np.int64)
    for segment in range(len(starts) - 1):
        if starts[segment + 1] - starts[segment] <= limit:
            continue
        pending[0, 0], pending[0, 1], top = starts[segment], starts[segment + 1], 1
        while top > 0:
            top -= 1
            first, last = pending[top]
            if last - first <= block:
                order[first:last].sort()
                continue
            middle = (first + last) // 2
            _select(points, _widest_axis(points, order, first, last), order, first, last, middle)
            cuts[middle] = True
            pending[top, 0], pending[top, 1] = first, middle
            pending[top + 1, 0], pending[top + 1, 1] = middle, last
            top += 2
    return order, np.flatnonzero(cuts)


@inline
def _scale(low: float, high: float) -> float:
    """A power of two that brings numbers of any size near one, so that no square or sum overflows."""
    _, exponent = math.frexp(max(abs(low), abs(high)))
    return math.ldexp(1.0, -max(exponent, -1000))


@kernel
def _center(values: Points, centred: Points) -> float:
    """Fill in scaled differences from the mean and give their population variance; 0 for a constant column."""
    low, high = values[0], values[0]
    for value in values:
        low, high = min(low, value), max(high, value)
    centred[:] = 0.0
    if low == high:
        return 0.0
    scale = _scale(low, high)
    total, lost = 0.0, 0.0
    # Kahan's sum: the mean of millions of rows to the last digit.
    for value in values:
        term = value * scale - lost
        sum_ = total + term
        lost = (sum_ - total) - term
        total = sum_
    mean = total / len(values)
    squares = 0.0
    for i in range(len(values)):
        centred[i] = values[i] * scale - mean
        squares += centred[i] * centred[i]
    return squares / len(values)


@kernel
def standard_scores(values: Points, starts: Longs) -> Points:
    """Standard scores inside each segment (population variance); a column that is constant there gets 0."""
    scores = np.zeros(values.shape)
    for segment in range(len(starts) - 1):
        a, b = starts[segment], starts[segment + 1]
        centred = np.empty(b - a)
        for axis in range(values.shape[1]):
            variance = _center(values[a:b, axis], centred)
            if variance > 0.0:
                scores[a:b, axis] = centred / math.sqrt(variance)
    return scores


@kernel
def share_lost(values: Points, published: Points) -> float:
    """Squared differences from what is published over those from the mean (SSE/SST); -1 for a constant column."""
    variance = _center(values, np.empty(len(values)))
    if variance == 0.0:
        return -1.0
    scale = _scale(values.min(), values.max())
    squares = 0.0
    for i in range(len(values)):
        gap = values[i] * scale - published[i] * scale
        squares += gap * gap
    return squares / len(values) / variance
