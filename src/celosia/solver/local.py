"""Local recoding: each class gets its own levels, along the hierarchies, for much less loss than full-domain.

All nodes of the lattice in the order of their loss: the classes of a node that pass every criterion, counted over
the tuples still left, are published at that node and leave. What is left at the end joins the classes published
last until it passes at the top. Classes are counted again on the published text before the result is given.
Each tuple so gets the finest node that still puts it into a class that passes; the result is good, not proved optimal.
Source: own method after Prasser et al. 2020 (repeated full-domain search over the remaining records).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Criterion
from celosia.solver.errors import LatticeTooLarge
from celosia.solver.published import ClassCounter, LevelLabels, Mask, class_labels, judge_all, level_labels
from celosia.tuples.table import Tuples

Ints = NDArray[np.int64]
LARGEST_LATTICE = 2_000_000
_WIDEST = 2**62
_COMPACT = 0.7  # the working arrays are compacted when this share of them is left


@dataclass(frozen=True, slots=True)
class LocalRecoding:
    """Levels of each tuple and what is published for it."""

    levels: Ints  # (tuples, variables)
    codes: NDArray[np.int32]
    vocabularies: tuple[tuple[str, ...], ...]
    classes: int
    nodes: int
    returned: int  # classes that had to give up their own levels for what was left


def recode_locally(
    counter: ClassCounter,
    hierarchies: Sequence[CompiledHierarchy],
    criteria: Sequence[Criterion],
    lowest: Sequence[int],
    highest: Sequence[int],
    weights: Sequence[float],
    progress: Callable[[float], None] | None = None,
) -> LocalRecoding | None:
    """Levels per tuple such that every published class passes; None when even the coarsest table fails."""
    nodes = _nodes_by_loss(counter.quasi, hierarchies, lowest, highest, weights)
    return recode_over(counter, hierarchies, criteria, nodes, progress)


def recode_over(
    counter: ClassCounter,
    hierarchies: Sequence[CompiledHierarchy],
    criteria: Sequence[Criterion],
    nodes: Ints,
    progress: Callable[[float], None] | None = None,
) -> LocalRecoding | None:
    """The same over given nodes, tried in their order; the last one is where what is left goes."""
    chosen = np.full(len(counter.quasi.rows), -1, np.int64)
    remaining = _RemainingTuples(counter, hierarchies, criteria)
    for number, node in enumerate(nodes):
        if remaining.left == 0:
            break
        chosen[remaining.take(node)] = number
        if progress and number % 256 == 0:
            progress(number / len(nodes))
    publisher = _Publisher(counter, level_labels(hierarchies))
    returned = _return_classes(publisher, criteria, nodes, chosen)
    return None if returned is None else publisher.recoding(nodes[chosen], len(nodes), returned)


def recode_alike(
    counter: ClassCounter, hierarchies: Sequence[CompiledHierarchy], levels: Sequence[int]
) -> LocalRecoding:
    """Every tuple at the same levels: what full-domain gives, in the form of a local recoding."""
    same = np.tile(np.array(levels, np.int64), (len(counter.quasi.rows), 1))
    return _Publisher(counter, level_labels(hierarchies)).recoding(same, 1, 0)


def _nodes_by_loss(
    quasi: Tuples,
    hierarchies: Sequence[CompiledHierarchy],
    lowest: Sequence[int],
    highest: Sequence[int],
    weights: Sequence[float],
) -> Ints:
    """Every node, cheapest first; ties by levels. The top comes last."""
    ranges = [range(low, high + 1) for low, high in zip(lowest, highest, strict=True)]
    count = math.prod(len(levels) for levels in ranges)
    if count > LARGEST_LATTICE:
        raise LatticeTooLarge(nodes=count, limit=LARGEST_LATTICE)
    nodes = np.array(list(itertools.product(*ranges)), np.int64)
    loss = np.zeros(count)
    for v, hierarchy in enumerate(hierarchies):
        loss += weights[v] * level_losses(quasi, v, hierarchy)[nodes[:, v]]
    return nodes[np.lexsort((*nodes.T[::-1], loss))]


def level_losses(quasi: Tuples, v: int, hierarchy: CompiledHierarchy) -> NDArray[np.float64]:
    """Loss of a variable when all rows are published at each level (REQUIREMENTS M27, METRICS «loss»)."""
    counts = np.bincount(quasi.codes[:, v], weights=quasi.rows, minlength=quasi.sizes[v])
    least = quasi.n_rows / max(hierarchy.leaf_count, 1)
    span = quasi.n_rows - least
    sums = [float((hierarchy.shares[j][hierarchy.maps[j]] * counts).sum()) for j in range(hierarchy.height + 1)]
    return np.array([(total - least) / span if span > 0 else 0.0 for total in sums])


class _RemainingTuples:
    """The tuples not yet published, ready to be grouped at any node."""

    def __init__(self, counter: ClassCounter, hierarchies: Sequence[CompiledHierarchy], criteria: Sequence[Criterion]):
        self._counter, self._criteria = counter, criteria
        self._rows_decide = counter.decides_by_rows(criteria)
        self._smallest = max([c.smallest_class for c in criteria], default=1)
        self._partial, self._start, self._word = _partial_keys(counter.quasi, hierarchies)
        self._index = np.arange(len(counter.quasi.rows))
        self._weights = counter.quasi.rows.copy()
        self.left = len(self._index)
        self._compact(np.ones(self.left, bool))

    def take(self, node: Ints) -> Ints:
        """Tuples whose class at this node passes; they leave."""
        from celosia.kernels.peel import label_node

        scratch = (self._slots, self._keys, self._homes)
        groups = label_node(
            self._partial, self._start + node, self._word, self._weights, scratch, self._label, self._sizes
        )
        large = self._sizes[:groups] >= self._smallest
        if not large.any():
            return self._index[:0]
        passes = large if self._rows_decide else self._judge(large)
        taken = (self._weights > 0) & passes[self._label]
        leaving = self._index[taken]
        # A weight of 0 marks a tuple as gone until the arrays are compacted.
        self._weights[taken] = 0
        self.left -= len(leaving)
        if self.left < _COMPACT * len(self._index):
            self._compact(self._weights > 0)
        return leaving

    def _judge(self, large: Mask) -> Mask:
        """Which of the large enough classes pass every criterion."""
        inside = np.flatnonzero((self._weights > 0) & large[self._label])
        dense = (np.cumsum(large) - 1)[self._label[inside]]
        part = self._counter.subset(self._index[inside])
        passes = large.copy()
        passes[large] = judge_all(self._criteria, part.classes(dense, int(large.sum())))
        return passes

    def _compact(self, keep: Mask) -> None:
        self._index = self._index[keep]
        self._weights = self._weights[keep]
        self._partial = np.ascontiguousarray(self._partial[:, keep])
        count = len(self._index)
        self._slots = np.zeros(1 << max((2 * count).bit_length(), 4), np.int64)
        self._keys = np.empty((count, int(self._word.max()) + 1), np.int64)
        self._homes, self._label, self._sizes = (np.empty(count, np.int64) for _ in range(3))


def _partial_keys(quasi: Tuples, hierarchies: Sequence[CompiledHierarchy]) -> tuple[Ints, Ints, Ints]:
    """Key part of each (variable, level) for each tuple, where each variable's levels begin, and its word."""
    rows: list[Ints] = []
    start: list[int] = []
    word: list[int] = []
    stride = 1
    for v, hierarchy in enumerate(hierarchies):
        start.append(len(rows))
        width = max(1, *(len(labels) for labels in hierarchy.labels))
        if stride > _WIDEST // width:
            stride = 1
        word.append(word[-1] + (stride == 1) if word else 0)
        rows += [hierarchy.maps[j][quasi.codes[:, v]].astype(np.int64) * stride for j in range(hierarchy.height + 1)]
        stride *= width
    return np.stack(rows), np.array(start, np.int64), np.array(word, np.int64)


@dataclass(frozen=True, slots=True)
class _Publisher:
    """The tuples and the labels of all their levels."""

    counter: ClassCounter
    labels: LevelLabels

    def failing_classes(self, criteria: Sequence[Criterion], levels: Ints) -> tuple[Ints, Mask]:
        """The published class of each tuple, and which classes fail."""
        label, count = class_labels(self.labels.publish(self.counter.quasi.codes, levels), self.labels.sizes)
        return label, ~judge_all(criteria, self.counter.classes(label, count))

    def recoding(self, levels: Ints, nodes: int, returned: int) -> LocalRecoding:
        """The result for these levels."""
        codes = self.labels.publish(self.counter.quasi.codes, levels)
        _, count = class_labels(codes, self.labels.sizes)
        return LocalRecoding(levels, codes, self.labels.vocabularies, count, nodes, returned)


def _return_classes(publisher: _Publisher, criteria: Sequence[Criterion], nodes: Ints, chosen: Ints) -> int | None:
    """Send what is left to the top, with the classes published last until it passes there; None if it never does."""
    top = len(nodes) - 1
    chosen[chosen < 0] = top
    returned = 0
    while True:
        label, failing = publisher.failing_classes(criteria, nodes[chosen])
        if not failing.any():
            return returned
        chosen[failing[label]] = top
        others = np.flatnonzero(chosen < top)
        if len(others) == 0:
            _, failing = publisher.failing_classes(criteria, nodes[chosen])
            return None if failing.any() else returned
        last = label[others[np.argmax(chosen[others])]]
        chosen[label == last] = top
        returned += 1
