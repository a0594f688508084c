"""Best-first search over lattices too large to list: a first answer by climbing, then nodes by their lower bound.

Each node is reached from its lowest predecessor; what evaluations show about the nodes below them is kept as a list
of facts. The least bound still open is proven.
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from celosia.solver.encoding import Levels
from celosia.solver.evaluate import BestNode, CheckedNode, Evaluator, StopConditions


class Facts:
    """Nodes evaluated, and the rows lost in every node below each."""

    def __init__(self, variables: int) -> None:
        self._levels = np.zeros((256, variables), np.int16)
        self._lost = np.zeros(256, np.int64)
        self._n_facts = 0

    def add(self, node: CheckedNode) -> None:
        """Remember what a node says about those below."""
        if node.totals.unavoidable == 0:
            return
        if self._n_facts == len(self._lost):
            self._levels = np.concatenate([self._levels, np.zeros_like(self._levels)])
            self._lost = np.concatenate([self._lost, np.zeros_like(self._lost)])
        self._levels[self._n_facts], self._lost[self._n_facts] = node.levels, node.totals.unavoidable
        self._n_facts += 1

    def least_lost(self, levels: Levels) -> int:
        """Rows lost at a node, at least."""
        above = (self._levels[: self._n_facts] >= np.array(levels, np.int16)).all(axis=1)
        return int(self._lost[: self._n_facts][above].max(initial=0))


class BestFirstSearch:
    """The search over a lattice that is never listed."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.depths = [int(depth) for depth in evaluator.encoding.depths]
        self.base = evaluator.score.terms(0)
        self.facts = Facts(len(self.depths))
        self.best = BestNode()
        self.open_bound = -math.inf

    def lower_bound(self, levels: Levels) -> float:
        """The bound of a node from the marginals alone."""
        return float(sum(self.base[v, level] for v, level in enumerate(levels)))

    def run(self, watch: StopConditions) -> tuple[BestNode, bool]:
        """A first answer, then proof or improvement while time lasts."""
        self.climb()
        self.descend(watch)
        bottom = (0,) * len(self.depths)
        heap = [(self.lower_bound(bottom), bottom)]
        while heap:
            self.open_bound, levels = heapq.heappop(heap)
            if self.open_bound > self.best.ceiling:
                return self.best, True
            if watch.out_of_time(self.evaluator.checked):
                return self.best, False
            if self._is_promising(levels):
                self.visit(levels)
            for successor in self._children(levels):
                heapq.heappush(heap, (self.lower_bound(successor), successor))
        return self.best, True

    def _children(self, levels: Levels) -> list[Levels]:
        """Successors that raise the last raised variable or a later one: each node has one such parent."""
        last = max((v for v, level in enumerate(levels) if level), default=0)
        raised = (
            (*levels[:v], levels[v] + 1, *levels[v + 1 :])
            for v in range(last, len(levels))
            if levels[v] + 1 < self.depths[v]
        )
        return [node for node in raised if self.lower_bound(node) <= self.best.ceiling]

    def _is_promising(self, levels: Levels) -> bool:
        lost = self.facts.least_lost(levels)
        if lost > self.evaluator.allowed_rows:
            return False
        terms = self.evaluator.score.terms(lost)
        return float(sum(terms[v, level] for v, level in enumerate(levels))) <= self.best.ceiling

    def visit(self, levels: Levels) -> CheckedNode:
        """Evaluate a node and remember what it says."""
        node = self.evaluator.check(levels)
        self.facts.add(node)
        self.best.offer(node)
        return node

    def climb(self) -> None:
        """The first node within the limit on the path of least loss upwards, found by bisection."""
        at = [0] * len(self.depths)
        path = [tuple(at)]
        while any(level + 1 < depth for level, depth in zip(at, self.depths, strict=True)):
            open_ = [v for v, level in enumerate(at) if level + 1 < self.depths[v]]
            at[min(open_, key=lambda v: self.base[v, at[v] + 1] - self.base[v, at[v]])] += 1
            path.append(tuple(at))
        low, high = 0, len(path) - 1
        while low <= high:
            middle = (low + high) // 2
            if math.isinf(self.visit(path[middle]).score):
                low = middle + 1
            else:
                high = middle - 1

    def descend(self, watch: StopConditions) -> None:
        """Lower one variable at a time while that is better."""
        while self.best.node is not None:
            before = self.best.node
            for v, level in enumerate(before.levels):
                if level and not watch.out_of_time(self.evaluator.checked):
                    lower = (*before.levels[:v], level - 1, *before.levels[v + 1 :])
                    if self._is_promising(lower):
                        self.visit(lower)
            if self.best.node is before:
                return
