"""The table whose cells may be masked: published codes, cost of a mask, order of the sets of variables.

Knows codes and whole-number weights. Ignores how a mask is chosen and how a masked cell is read.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import SUPPRESSED, is_masked
from celosia.solver.published import ClassCounter, level_labels
from celosia.tuples.table import Tuples

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
_MOST_IMPORTANT = 1000  # keeps rows × weights far inside 64 bits
_SCALE = 1000  # importance counts to three decimals; in whole numbers ties are ties on every machine
MOST_SETS = 1 << 16  # every set of variables is tried for up to 16 of them


class CellTable:
    """The tuples, what each would be published as under a mask, and what the mask costs."""

    def __init__(self, counter: ClassCounter, importance: Sequence[float]):
        self.counter = counter
        self.quasi = counter.quasi
        self.weights = whole_weights(importance, len(self.quasi.names))
        self.hierarchies = [_value_or_star_hierarchy(self.quasi, v) for v in range(len(self.quasi.names))]
        self.levels = level_labels(self.hierarchies)
        self.sizes = [len(vocabulary) for vocabulary in self.levels.vocabularies]
        self.starred = _cells(self.quasi, lambda value: value == SUPPRESSED)

    def publish(self, masked: Mask) -> NDArray[np.int32]:
        """Published codes, into `levels.vocabularies`."""
        return self.levels.publish(self.quasi.codes, masked.astype(np.int64))

    def cost(self, masked: Mask) -> tuple[int, int]:
        """Weighted number of masked cells, and their plain number, both in rows."""
        by_variable = self.by_variable(masked)
        return int((by_variable * self.weights).sum()), int(by_variable.sum())

    def by_variable(self, masked: Mask) -> Ints:
        """Masked cells of each variable, in rows; a cell that was `*` before is not counted."""
        fresh = masked & ~self.starred
        return np.array([int(self.quasi.rows[fresh[:, v]].sum()) for v in range(fresh.shape[1])], np.int64)


def whole_weights(importance: Sequence[float], variables: int) -> Ints:
    """Importance in thousandths."""
    if len(importance) != variables:
        raise ValueOutOfRange(parameter="importance", given=len(importance), allowed=str(variables))
    for weight in importance:
        if not 1 / _SCALE <= weight <= _MOST_IMPORTANT:
            raise ValueOutOfRange(parameter="importance", given=weight, allowed=f"{1 / _SCALE}–{_MOST_IMPORTANT}")
    return np.array([round(weight * _SCALE) for weight in importance], np.int64)


def empty_cells(quasi: Tuples) -> Mask:
    """Cells of the source that say nothing: missing, or only asterisks."""
    return _cells(quasi, lambda value: value == "" or is_masked(value))


def sets_by_cost(weights: Ints, most: int = MOST_SETS) -> Ints:
    """Sets of variables as rows of 0 and 1, cheapest first, then fewest; all of them where they are not too many.

    Otherwise the cheapest ones, then the least important variables masked one after another. The full set is last.
    """
    width = len(weights)
    if 2**width <= most:
        sets = np.array(list(itertools.product((0, 1), repeat=width)), np.int64).reshape(-1, width)
    else:
        sets = np.unique(np.concatenate([_cheapest_sets(weights, most), _nested_sets(weights)]), axis=0)
    cost = sets @ weights
    return sets[np.lexsort((*sets.T[::-1], sets.sum(axis=1), cost))]


def _cheapest_sets(weights: Ints, most: int) -> Ints:
    """The cheapest sets of variables, found without listing the others."""
    order = np.argsort(weights, kind="stable")
    sets = np.zeros((most, len(weights)), np.int64)
    heap: list[tuple[int, int, tuple[int, ...]]] = [(int(weights[order[0]]), 0, (0,))]
    for number in range(1, most):
        cost, last, chosen = heapq.heappop(heap)
        sets[number, order[list(chosen)]] = 1
        if last + 1 < len(order):
            more = int(weights[order[last + 1]])
            heapq.heappush(heap, (cost + more, last + 1, (*chosen, last + 1)))
            heapq.heappush(heap, (cost + more - int(weights[order[last]]), last + 1, (*chosen[:-1], last + 1)))
    return sets


def _nested_sets(weights: Ints) -> Ints:
    order = np.argsort(weights, kind="stable")
    rank = np.empty(len(weights), np.int64)
    rank[order] = np.arange(len(weights))
    return (rank[None, :] < np.arange(len(weights) + 1)[:, None]).astype(np.int64)


def _value_or_star_hierarchy(quasi: Tuples, v: int) -> CompiledHierarchy:
    """The value itself, or `*`."""
    values = quasi.vocabularies[v]
    maps = (np.arange(len(values), dtype=np.int32), np.zeros(len(values), np.int32))
    shares = (np.full(len(values), 1 / (len(values) + 1)), np.ones(1))
    return CompiledHierarchy(quasi.names[v], (values, (SUPPRESSED,)), maps, shares, len(values) + 1)


def _cells(quasi: Tuples, says: Callable[[str], bool]) -> Mask:
    cells = np.zeros(quasi.codes.shape, bool)
    for v, vocabulary in enumerate(quasi.vocabularies):
        chosen = np.array([says(value) for value in vocabulary], bool)
        cells[:, v] = chosen[quasi.codes[:, v]] if len(vocabulary) else False
    return cells
