"""Local recoding: each class gets its own levels, along the hierarchies, for much less loss than full-domain.

All nodes of the lattice in the order of their loss: the classes of a node that pass every criterion, counted over
the tuples still left, are published at that node and leave. What is left joins classes, and moves make the result
cheaper (`local_moves`). The full-domain optimum is refined in the same way, class by class; the cheaper of the two
within the limit is the answer. So it never loses more than full-domain, and exists wherever full-domain does.
Each tuple so gets the finest node that still puts it into a class that passes; the result is good, not proved
optimal: the bound says how far from the best it can be.
Source: own method after Prasser et al. 2020 (repeated full-domain search over the remaining records).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation.objective import Objective
from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Criterion, Merging
from celosia.solver.errors import LatticeTooLarge
from celosia.solver.local_bound import lower_bound
from celosia.solver.local_moves import LocalMoves, Recoding, partial_keys
from celosia.solver.node_report import node_view
from celosia.solver.optimal import search
from celosia.solver.problem import NoSolution, SearchProblem, SearchResult
from celosia.solver.published import ClassCounter, LevelLabels, Mask, class_labels, judge_all, level_labels
from celosia.tuples.table import Tuples

Ints = NDArray[np.int64]
Progress = Callable[[float], None]
LARGEST_LATTICE = 2_000_000
_AS_GOOD = 1.01  # times the least loss: what may be given up so that fewer records are hidden
_COMPACT = 0.7  # the working arrays are compacted when this share of them is left
_NODES_BETWEEN_CHECKS = 64


@dataclass(frozen=True, slots=True)
class LocalRecoding:
    """Levels of each tuple and what is published for it."""

    levels: Ints  # (tuples, variables)
    suppressed: Mask
    codes: NDArray[np.int32]
    vocabularies: tuple[tuple[str, ...], ...]
    classes: int  # that are published
    nodes: int
    loss: float  # always the information loss, with the problem's mean and weights
    bound: float  # no recoding of classes has a loss below this
    full_domain: float  # the loss of the full-domain optimum


def recode_locally(
    problem: SearchProblem,
    counter: ClassCounter | None = None,
    look_for: Callable[[SearchProblem], SearchResult | NoSolution] = search,
    progress: Progress | None = None,
) -> LocalRecoding | NoSolution:
    """Levels per tuple such that every published class passes, within the limit; the nearest miss if there is none.

    `look_for` finds the full-domain optimum, where the search begins a second time.
    """
    problem = replace(problem, objective=Objective("loss", problem.objective.mean, problem.objective.weights))
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    nodes = nodes_by_loss(problem, hierarchies)
    counter = counter or ClassCounter(problem.quasi, problem.sensitive, problem.sensitive_hierarchies)
    moves = LocalMoves(counter, hierarchies, problem.criteria, problem.highest, problem.objective)
    chosen = peel(counter, hierarchies, problem.criteria, nodes, progress)
    peeled = moves.settle(Recoding(nodes[chosen], chosen < 0))
    candidates = _improvements(moves, peeled, problem.allowed_rows)
    full_domain = look_for(problem)
    if isinstance(full_domain, SearchResult):
        levels = np.tile(np.array(full_domain.levels, np.int64), (len(chosen), 1))
        start = Recoding(levels, node_view(problem, full_domain.levels).suppressed)
        candidates += _improvements(moves, refine_classes(moves, start, nodes), problem.allowed_rows)
    fitting = [recoding for recoding in candidates if moves.hidden_rows(recoding) <= problem.allowed_rows]
    if isinstance(full_domain, SearchResult):
        fitting.append(start)
    if not fitting:
        assert isinstance(full_domain, NoSolution)
        return full_domain
    best = _fewest_hidden(moves, fitting)
    return _local_recoding(moves, problem, best, len(nodes), full_domain)


def show_hidden_by_size(
    problem: SearchProblem, counter: ClassCounter, recoding: LocalRecoding, sizes: Sequence[Criterion]
) -> Recoding:
    """The recoding with hidden tuples shown where they hold in size: their sensitive values are to be masked."""
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    hidden = np.flatnonzero(recoding.suppressed)
    nodes = nodes_by_loss(problem, hierarchies)
    chosen = peel(counter.subset(hidden), hierarchies, sizes, nodes)
    levels, suppressed = recoding.levels.copy(), recoding.suppressed.copy()
    levels[hidden[chosen >= 0]] = nodes[chosen[chosen >= 0]]
    suppressed[hidden[chosen >= 0]] = False
    return LocalMoves(counter, hierarchies, sizes, problem.highest, problem.objective).settle(
        Recoding(levels, suppressed)
    )


def _improvements(moves: LocalMoves, start: Recoding, allowed_rows: int) -> list[Recoding]:
    """The recoding improved; and where something stays hidden, once more without hiding it if that can be."""
    improved = moves.improve(start, allowed_rows)
    return [improved, moves.improve(improved, 0)] if moves.hidden_rows(improved) else [improved]


def _fewest_hidden(moves: LocalMoves, recodings: Sequence[Recoding]) -> Recoding:
    """Of the recodings that lose hardly more than the best, and no more than full-domain, the one that hides least.

    Full-domain is the last of them, where it has an answer.
    """
    losses = [moves.loss(recoding) for recoding in recodings]
    most = max(min(losses), min(min(losses) * _AS_GOOD, losses[-1]))
    good = [(recoding, loss) for recoding, loss in zip(recodings, losses, strict=True) if loss <= most]
    return min(good, key=lambda pair: (moves.hidden_rows(pair[0]), pair[1]))[0]


def _local_recoding(
    moves: LocalMoves,
    problem: SearchProblem,
    best: Recoding,
    nodes: int,
    full_domain: SearchResult | NoSolution,
) -> LocalRecoding:
    codes, loss = moves.publish(best.levels), moves.loss(best)
    label, _ = class_labels(codes, moves.labels.sizes)
    classes = len(np.unique(label[~best.suppressed]))
    return LocalRecoding(
        best.levels,
        best.suppressed,
        codes,
        moves.labels.vocabularies,
        classes,
        nodes,
        loss,
        lower_bound(problem, loss),
        full_domain.loss if isinstance(full_domain, SearchResult) else math.inf,
    )


def refine_classes(moves: LocalMoves, start: Recoding, nodes: Ints) -> Recoding:
    """The recoding with each class taken apart at finer nodes, as far as what remains of it still passes."""
    visible = np.flatnonzero(~start.suppressed)
    if len(visible) == 0:
        return start
    coarsest = start.levels[visible].max(axis=0)
    below = nodes[(nodes <= coarsest).all(axis=1)]
    chosen = peel(moves.counter.subset(visible), moves.hierarchies, moves.criteria, below)
    levels = start.levels.copy()
    levels[visible[chosen >= 0]] = below[chosen[chosen >= 0]]
    return moves.accept(start, Recoding(levels, start.suppressed))


def peel(
    counter: ClassCounter,
    hierarchies: Sequence[CompiledHierarchy],
    criteria: Sequence[Criterion],
    nodes: Ints,
    progress: Progress | None = None,
) -> Ints:
    """For each tuple the first node, in the given order, whose class passes over the tuples still left; -1 for none."""
    chosen = np.full(len(counter.quasi.rows), -1, np.int64)
    remaining = _RemainingTuples(counter, hierarchies, criteria)
    checked = remaining.left
    for number, node in enumerate(nodes):
        if remaining.left == 0:
            break
        chosen[remaining.take(node)] = number
        if number % _NODES_BETWEEN_CHECKS == 0 and remaining.left < checked:
            checked = remaining.left
            if remaining.is_hopeless(nodes[-1]):
                break
        if progress and number % 256 == 0:
            progress(number / len(nodes))
    return chosen


def recode_over(
    counter: ClassCounter, hierarchies: Sequence[CompiledHierarchy], criteria: Sequence[Criterion], nodes: Ints
) -> Ints | None:
    """Levels per tuple over given nodes, tried in their order, with nothing suppressed; None if the last one fails.

    What is left goes to the last node, with the classes published last until it passes there.
    """
    chosen = peel(counter, hierarchies, criteria, nodes)
    publisher = _Publisher(counter, level_labels(hierarchies))
    return nodes[chosen] if _return_classes(publisher, criteria, nodes, chosen) else None


def nodes_by_loss(problem: SearchProblem, hierarchies: Sequence[CompiledHierarchy]) -> Ints:
    """Every node, cheapest first; ties by levels. The top comes last."""
    weights = [problem.objective.weight(name) for name in problem.names]
    return _nodes_by_loss(problem.quasi, hierarchies, problem.lowest, problem.highest, weights)


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
        self._absorbing = counter.quasi.persons is None and all(
            criterion.merging(counter.domain(criterion.variable)) is Merging.ABSORBING for criterion in criteria
        )
        self._partial, self._start, self._word = partial_keys(counter.quasi, hierarchies)
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

    def is_hopeless(self, top: Ints) -> bool:
        """Whether no class of what is left passes at the coarsest node, and so, where joining never undoes, at any."""
        from celosia.kernels.peel import label_node

        if self._rows_decide or not self._absorbing or self.left == 0:
            return False
        scratch = (self._slots, self._keys, self._homes)
        groups = label_node(
            self._partial, self._start + top, self._word, self._weights, scratch, self._label, self._sizes
        )
        large = self._sizes[:groups] >= self._smallest
        return not (large.any() and self._judge(large).any())

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


@dataclass(frozen=True, slots=True)
class _Publisher:
    """The tuples and the labels of all their levels."""

    counter: ClassCounter
    labels: LevelLabels

    def failing_classes(self, criteria: Sequence[Criterion], levels: Ints) -> tuple[Ints, Mask]:
        """The published class of each tuple, and which classes fail."""
        label, count = class_labels(self.labels.publish(self.counter.quasi.codes, levels), self.labels.sizes)
        return label, ~judge_all(criteria, self.counter.classes(label, count))


def _return_classes(publisher: _Publisher, criteria: Sequence[Criterion], nodes: Ints, chosen: Ints) -> bool:
    """Send what is left to the top, with the classes published last until it passes there; whether it ever does."""
    top = len(nodes) - 1
    chosen[chosen < 0] = top
    while True:
        label, failing = publisher.failing_classes(criteria, nodes[chosen])
        if not failing.any():
            return True
        chosen[failing[label]] = top
        others = np.flatnonzero(chosen < top)
        if len(others) == 0:
            _, failing = publisher.failing_classes(criteria, nodes[chosen])
            return not failing.any()
        last = label[others[np.argmax(chosen[others])]]
        chosen[label == last] = top
