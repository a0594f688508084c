"""Earth mover's distances between a class and the whole table: equal, ordered, hierarchical.

Knows cells (class, value, count). Ignores thresholds. Values absent from a class are never enumerated:
their part follows from the shares of the whole table, so the cost is that of the cells.
Source: Li, Li, Venkatasubramanian 2007 and 2010 (t-closeness), sections on the three ground distances.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.hierarchy.value_order import ordered_positions
from celosia.model.values import ValueOrder
from celosia.risk.sensitive import ClassValues

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]


def t_equal(cells: ClassValues) -> float | None:
    """Largest half L1 distance of a class: all values equally far apart."""
    if not len(cells.size):
        return None
    # The positive parts of q - p sum to half of L1, and only values present in the class can have one.
    surplus = np.maximum(cells.share - cells.overall, 0.0)
    return float(np.add.reduceat(surplus, cells.start).max())


def value_order(cells: ClassValues) -> tuple[ValueOrder, Counts]:
    """The order of the values that occur, as codes from first to last."""
    present = np.flatnonzero(cells.total)
    order, positions = ordered_positions([cells.vocabulary[code] for code in present])
    return order, present[positions]


def t_ordered(cells: ClassValues) -> float | None:
    """Largest distance of a class when neighbours in the order are 1/(m - 1) apart."""
    if not len(cells.size):
        return None
    _, order = value_order(cells)
    if len(order) < 2:
        return 0.0
    position = np.full(len(cells.total), -1, np.int64)
    position[order] = np.arange(len(order))
    return float(_ordered_distances(cells, position[cells.code], cells.total[order]).max())


def _ordered_distances(cells: ClassValues, position: Counts, total: Counts) -> Shares:
    """Sum of |Q_v - P_v| over the order, run by run: Q is constant from one cell of a class to the next."""
    arranged = np.lexsort((position, cells.group))
    position, last = position[arranged], len(total) - 1
    shares = _cumulative_shares(cells, cells.count[arranged])
    end = np.append(position[1:], last)
    end[cells.start[1:] - 1] = last
    rows = total.sum()
    cumulative = np.cumsum(total)
    before = np.concatenate([[0], np.cumsum(cumulative)])  # whole numbers: sums of P over any range are exact
    split = np.clip(np.searchsorted(cumulative / rows, shares), position, end)
    below = (split - position) * shares - (before[split] - before[position]) / rows
    above = (before[end] - before[split]) / rows - (end - split) * shares
    lead = before[position[cells.start]] / rows  # before the first cell of a class Q is 0
    return (np.add.reduceat(below + above, cells.start) + lead) / last


def _cumulative_shares(cells: ClassValues, count: Counts) -> Shares:
    running = np.cumsum(count)
    before = running[cells.start] - count[cells.start]
    return (running - before[cells.group]) / cells.size[cells.group]


def t_hierarchical(cells: ClassValues, hierarchy: CompiledHierarchy) -> float | None:
    """Largest distance of a class when two values are as far apart as their lowest common ancestor is high.

    On a tree whose edges all weigh 1/(2H) the earth mover's distance is what crosses each edge: the mean over
    the levels below the root of half the L1 distance between the labels of that level.
    """
    if not len(cells.size):
        return None
    levels = _below_root(hierarchy)
    distances = np.mean([_surplus(cells, level) for level in levels], axis=0)
    return float(distances.max())


def _below_root(hierarchy: CompiledHierarchy) -> Sequence[NDArray[np.integer]]:
    """Level maps under the root; a hierarchy that does not end in one is given one above."""
    rooted = hierarchy.height > 0 and len(hierarchy.labels[-1]) == 1
    return hierarchy.maps[:-1] if rooted else hierarchy.maps


def _surplus(cells: ClassValues, level: NDArray[np.integer]) -> Shares:
    """Half the L1 distance of each class over the labels of a level."""
    labels = int(level.max()) + 1
    node, slot = np.unique(cells.group * labels + level[cells.code], return_inverse=True)
    group, label = np.divmod(node, labels)
    share = np.bincount(slot.reshape(-1), weights=cells.count) / cells.size[group]
    overall = np.bincount(level, weights=cells.total)[label] / cells.total.sum()
    surplus: Shares = np.maximum(share - overall, 0.0)
    return np.bincount(group, weights=surplus, minlength=len(cells.size)).astype(np.float64)
