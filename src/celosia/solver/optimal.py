"""The optimal full-domain generalisation, found without looking at most nodes.

Every node has a lower bound of its score: at first from the marginal counts alone. Each evaluation raises it for
all nodes below (at least as many rows are suppressed there), or closes them. From the open node with the least
bound the search climbs the cheapest upward path and evaluates its end: the highest node that could still win, or,
while that closes the node it came from, a few steps beyond, which close more at once. It ends when no open node can
beat or tie the best. Ties: fewest suppressed rows, lowest sum of levels, first levels in order.
Source: the order of visits is in the spirit of Flash (Kohlmayer et al. 2012); the bounds are our own.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.solver.best_first import BestFirstSearch
from celosia.solver.encoding import Levels
from celosia.solver.errors import LatticeTooLarge
from celosia.solver.evaluate import BestNode, CheckedNode, Evaluator, Mask, Progress, StopConditions
from celosia.solver.problem import FailingCriterion, NoSolution, SearchProblem, SearchResult

FARTHEST = 3.0  # steps beyond the dearest node that could still win
LARGEST_LATTICE = 4_000_000  # nodes whose bounds are held in memory


class BoundedLattice:
    """Bounds of all nodes of a lattice that fits in memory."""

    def __init__(self, evaluator: Evaluator) -> None:
        from celosia.kernels import lattice

        self.kernels = lattice
        self.evaluator = evaluator
        self.depths = evaluator.encoding.depths
        self.top = self.depths - 1
        self.bottom = np.zeros_like(self.top)
        self.stride = np.concatenate([np.cumprod(self.depths[::-1])[::-1][1:], [1]]).astype(np.int64)
        self._places = list(zip(self.stride.tolist(), self.depths.tolist(), strict=True))
        self.bound = np.full(int(np.prod(self.depths)), -np.inf)
        # Nodes above one that closed little are not worth going beyond to. The grid, a view, leaves out variables of
        # a single level.
        self.tame = np.zeros(len(self.bound), bool)
        self._tame_grid = self.tame.reshape([depth for depth in self.depths.tolist() if depth > 1])
        self.closing = np.full((len(self.top), int(self.depths.max())), np.inf)
        self.kernels.raise_box(self.bound, self.bottom, self.top, self.stride, evaluator.score.terms(0))

    def levels(self, node: int) -> Levels:
        """Levels of a node."""
        return tuple([node // stride % depth for stride, depth in self._places])

    def node(self, levels: Levels) -> int:
        """Number of a node."""
        return int(np.dot(levels, self.stride))

    def visit(self, node: int) -> CheckedNode:
        """Evaluate a node and draw the conclusions for the others."""
        evaluation = self.evaluator.check(self.levels(node))
        at = np.array(evaluation.levels, np.int64)
        totals, score = evaluation.totals, self.evaluator.score
        if totals.unavoidable > self.evaluator.allowed_rows:
            self.kernels.raise_box(self.bound, self.bottom, at, self.stride, self.closing)
        elif totals.unavoidable:
            self.kernels.raise_box(self.bound, self.bottom, at, self.stride, score.terms(totals.unavoidable))
        above = score.above(totals)
        if above > -np.inf:
            terms = np.zeros((len(at), int(self.depths.max())))
            terms[0] = above
            self.kernels.raise_box(self.bound, at, self.top, self.stride, terms)
        self.bound[node] = np.inf
        return evaluation

    def path(self, node: int, ceiling: float) -> NDArray[np.int64]:
        """The cheapest upward path from a node."""
        return self._climb(node, self.tame[:0], ceiling, len(self.bound))

    def beyond(self, node: int, steps: int) -> int:
        """A node some steps above, worse than the best, from which more nodes can be discarded."""
        return int(self._climb(node, self.tame, np.inf, steps)[-1])

    def _climb(self, node: int, avoided: Mask, ceiling: float, most_steps: int) -> NDArray[np.int64]:
        start = np.array(self.levels(node), np.int64)
        climb = self.kernels.climb
        path: NDArray[np.int64] = climb(self.bound, avoided, start, self.top, self.stride, ceiling, most_steps)
        return path

    def exclude_above(self, node: int) -> None:
        """Exclude this node and those above it from `beyond`."""
        levels = zip(self.levels(node), self.depths.tolist(), strict=True)
        self._tame_grid[tuple(slice(level, None) for level, depth in levels if depth > 1)] = True


def search_listed(lattice: BoundedLattice, watch: StopConditions) -> tuple[BestNode, bool]:
    """Search until nothing open can beat or tie the best, or time is out."""
    best = BestNode()
    reach = lattice.evaluator.score.reach
    beyond = 0.0
    while True:
        node = int(lattice.bound.argmin())
        if lattice.bound[node] == np.inf or lattice.bound[node] > best.ceiling:
            return best, True
        if watch.out_of_time(lattice.evaluator.checked):
            return best, False
        path = lattice.path(node, best.ceiling)
        if best.node is None:
            _bisect(lattice, path, best)
            continue
        chosen = lattice.beyond(int(path[round((len(path) - 1) * reach)]), int(beyond))
        best.offer(lattice.visit(chosen))
        if lattice.bound[node] > best.ceiling:
            beyond = min(beyond + 0.5, FARTHEST) if reach == 1 else 0
        else:
            beyond = max(beyond - 1, 0)
            lattice.exclude_above(chosen)


def _bisect(lattice: BoundedLattice, path: NDArray[np.int64], best: BestNode) -> None:
    """The first node on a path that keeps within the limit, by halving."""
    low, high = 0, len(path) - 1
    while low <= high:
        middle = (low + high) // 2
        if lattice.bound[path[middle]] == np.inf:
            low = middle + 1
            continue
        evaluation = lattice.visit(int(path[middle]))
        best.offer(evaluation)
        if math.isinf(evaluation.score):
            low = middle + 1
        else:
            high = middle - 1


def search(
    problem: SearchProblem,
    *,
    time_limit: float | None = None,
    clock: Callable[[], float] | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SearchResult | NoSolution:
    """The node of least loss that keeps within the limit, or the nearest miss.

    With a time limit (seconds on the given clock) or a cancel check, the best found so far and the proven bound.
    """
    deadline = clock() + time_limit if clock is not None and time_limit is not None else math.inf
    watch = StopConditions(deadline, clock, cancelled, progress, problem.nodes)
    if problem.nodes > LARGEST_LATTICE and math.isinf(deadline) and cancelled is None:
        raise LatticeTooLarge(nodes=problem.nodes, limit=LARGEST_LATTICE)
    evaluator = Evaluator(problem, problem.allowed_rows)
    best, complete, open_bound = _search_lattice(evaluator, watch)
    if best.node is not None:
        return _result(problem, evaluator, best, complete, open_bound)
    return _nearest_miss(problem, evaluator.checked, watch, complete)


def _search_lattice(evaluator: Evaluator, watch: StopConditions) -> tuple[BestNode, bool, float]:
    """The best node, whether proved, and the least bound still open."""
    if evaluator.problem.nodes > LARGEST_LATTICE:
        by_bound = BestFirstSearch(evaluator)
        best, complete = by_bound.run(watch)
        return best, complete, by_bound.open_bound
    lattice = BoundedLattice(evaluator)
    best, complete = search_listed(lattice, watch)
    return best, complete, float(lattice.bound.min())


def _result(
    problem: SearchProblem, evaluator: Evaluator, best: BestNode, complete: bool, open_bound: float
) -> SearchResult:
    assert best.node is not None
    totals = best.node.totals
    bound = best.score if complete else min(best.score, open_bound)
    return SearchResult(
        names=problem.names,
        levels=_absolute_levels(problem, best.node.levels),
        metric=problem.objective.name,
        loss=evaluator.score.loss(best.score),
        suppressed_rows=totals.suppressed,
        suppressed_share=totals.suppressed / max(problem.quasi.n_rows, 1),
        classes=totals.published,
        nodes=problem.nodes,
        nodes_checked=evaluator.checked,
        optimal=complete,
        bound=evaluator.score.loss(bound),
    )


def _absolute_levels(problem: SearchProblem, levels: Levels) -> Levels:
    return tuple(level + low for level, low in zip(levels, problem.lowest, strict=True))


def _nearest_miss(problem: SearchProblem, checked: int, watch: StopConditions, complete: bool) -> NoSolution:
    """Search again for the node that suppresses fewest rows."""
    evaluator = Evaluator(problem, problem.quasi.n_rows, by_suppressed=True)
    best, exact, _ = _search_lattice(evaluator, watch)
    if best.node is None:
        top = tuple(int(depth) - 1 for depth in evaluator.encoding.depths)
        best.offer(evaluator.check(top))
    assert best.node is not None
    nearest = best.node
    failing = tuple(FailingCriterion(c, evaluator.failing_rows(nearest.levels, c)) for c in problem.criteria)
    return NoSolution(
        names=problem.names,
        levels=_absolute_levels(problem, nearest.levels),
        suppressed_rows=nearest.totals.suppressed,
        suppressed_share=nearest.totals.suppressed / max(problem.quasi.n_rows, 1),
        allowed_rows=problem.allowed_rows,
        failing=tuple(f for f in failing if f.rows),
        nodes=problem.nodes,
        nodes_checked=checked + evaluator.checked,
        proved=complete and exact,
    )
