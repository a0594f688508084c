"""Scores that add up over variables, and what they are at least when so many rows are suppressed.

A score orders nodes as the loss does: for the geometric mean it is the weighted mean of log(1 + L), otherwise the
loss itself. `terms(s)` gives, per variable and level, the part of the score of a node that suppresses at
least s rows; their sum bounds the node without touching data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.solver.encoding import Encoding, Levels
from celosia.solver.problem import SearchProblem
from celosia.solver.tables import ClassTable

Terms = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the classes of a node (see kernels.lattice.class_totals)."""

    suppressed: int
    unavoidable: int
    published: int
    squares: int
    grown: int
    large: int
    small_rows: int


class Score:
    """Base of the scores."""

    reach = 1.0  # how far up the path to evaluate: to its end where bounds without data are good

    def __init__(self, problem: SearchProblem, encoding: Encoding, smallest: int) -> None:
        self.n = problem.quasi.n_rows
        self.smallest = max(smallest, 1)
        self.encoding = encoding
        self.depths = encoding.depths
        weights = np.array([problem.objective.weight(name) for name in problem.names], float)
        self.weights = weights
        self.shares = weights / weights.sum() if weights.sum() > 0 else weights

    def terms(self, suppressed: int) -> Terms:
        """Per variable and level, the least part of the score when so many rows are suppressed."""
        raise NotImplementedError

    def above(self, totals: Totals) -> float:
        """The least score of every node above one with these totals."""
        return -math.inf

    def score(self, levels: Levels, table: ClassTable, passes: Mask, totals: Totals) -> float:
        """The score of a node."""
        raise NotImplementedError

    def loss(self, score: float) -> float:
        """The loss behind a score."""
        return score

    def _constant(self, value: float) -> Terms:
        terms = np.zeros((len(self.depths), int(self.depths.max())))
        terms[0] = value
        return terms

    def _node(self, levels: Levels) -> tuple[Any, ...]:
        """A node as the kernels of `lattice` take it."""
        e = self.encoding
        return np.array(levels, np.int64), e.shift, e.mask, e.codes, e.wide


class LossScore(Score):
    """Generalised leaves per row, in whole numbers until the last division."""

    def __init__(self, problem: SearchProblem, encoding: Encoding, smallest: int) -> None:
        super().__init__(problem, encoding, smallest)
        self.geometric = problem.objective.mean == "geometric"
        self.leaf_count = np.array([problem.hierarchies[name].leaf_count for name in problem.names], np.int64)
        behind = leaves_behind(problem, encoding)
        marginal = [leaf.rows for leaf in encoding.leaves]
        self.behind = encoding.pad_levels(behind)
        sums = [many @ rows for many, rows in zip(behind, marginal, strict=True)]
        self.base = np.full((len(sums), int(self.depths.max())), self.n, np.int64)
        for variable, part in enumerate(sums):
            self.base[variable, : len(part)] = part
        self.knots, self.costs, self.filled = _cheapest_suppression(behind, marginal, self.leaf_count)

        self.no_rows = np.zeros(self.base.shape)
        self.shape = (self.n, self.leaf_count, self.shares, self.geometric)

    def terms(self, suppressed: int) -> Terms:
        from celosia.kernels import lattice

        more = self.no_rows
        if suppressed:
            more = lattice.cheapest_rows(self.knots, self.costs, self.filled, suppressed)
        terms: Terms = lattice.loss_terms(self.base, more, *self.shape)
        return terms

    def score(self, levels: Levels, table: ClassTable, passes: Mask, totals: Totals) -> float:
        from celosia.kernels import lattice

        node, less = self._node(levels), np.zeros_like(self.depths)
        if totals.suppressed:
            less = lattice.suppressed_sums(table.keys, table.rows, passes, self.behind, node)
        return float(lattice.loss_score(node[0], self.base, less, totals.suppressed, *self.shape))

    def loss(self, score: float) -> float:
        return math.expm1(score) if self.geometric else score


class PrecisionScore(Score):
    """Level ÷ height, suppressed rows count as the top."""

    def __init__(self, problem: SearchProblem, encoding: Encoding, smallest: int) -> None:
        super().__init__(problem, encoding, smallest)
        self.height = np.zeros((len(self.depths), int(self.depths.max())))
        for variable, (name, low) in enumerate(zip(problem.names, problem.lowest, strict=True)):
            depth, top = int(self.depths[variable]), problem.hierarchies[name].height
            self.height[variable, :depth] = (np.arange(depth) + low) / max(top, 1)

    def terms(self, suppressed: int) -> Terms:
        return (self.height * (self.n - suppressed) + suppressed) / self.n * self.shares[:, None]

    def score(self, levels: Levels, table: ClassTable, passes: Mask, totals: Totals) -> float:
        return float(self.terms(totals.suppressed)[np.arange(len(levels)), levels].sum())


class EntropyScore(Score):
    """Non-uniform entropy in bits."""

    def __init__(self, problem: SearchProblem, encoding: Encoding, smallest: int) -> None:
        super().__init__(problem, encoding, smallest)
        self.base = np.zeros((len(self.depths), int(self.depths.max())))
        self.most = np.ones_like(self.base)
        for variable, leaf in enumerate(encoding.leaves):
            for level, group in enumerate(leaf.dense):
                merged = np.bincount(group, leaf.rows)
                self.base[variable, level] = _n_log_n(merged) - _n_log_n(leaf.rows)
                self.most[variable, level] = merged.max(initial=1)
        self.base = np.maximum(self.base, 0.0)

    def terms(self, suppressed: int) -> Terms:
        if suppressed == 0:
            return self.base * self.weights[:, None]
        spread = suppressed * np.log2(np.maximum(suppressed / self.most, 1.0))
        return (self.base + spread * (1 - 1e-12)) * self.weights[:, None]

    def score(self, levels: Levels, table: ClassTable, passes: Mask, totals: Totals) -> float:
        from celosia.kernels import lattice

        parts = self.base[np.arange(len(levels)), levels].copy()
        if totals.suppressed:
            classes = (table.keys, table.rows, passes, self.encoding.leading)
            for variable, counts in enumerate(lattice.suppressed_counts(*classes, self._node(levels))):
                parts[variable] += totals.suppressed * math.log2(totals.suppressed) - _n_log_n(counts)
        return float((parts * self.weights).sum())


class DiscernibilityScore(Score):
    """Rows pay the size of their class, suppressed ones the size of the table."""

    reach = 0.5

    def terms(self, suppressed: int) -> Terms:
        return self._constant(float(suppressed * self.n + (self.n - suppressed) * min(self.smallest, self.n)))

    def above(self, totals: Totals) -> float:
        return float(totals.grown) if self.smallest <= self.n else -math.inf

    def score(self, levels: Levels, table: ClassTable, passes: Mask, totals: Totals) -> float:
        return float(totals.squares + totals.suppressed * self.n)


class ClassSizeScore(Score):
    """Rows per class; everything suppressed is one more class."""

    reach = 0.25

    def terms(self, suppressed: int) -> Terms:
        return self._constant(self.n / ((self.n - suppressed) // self.smallest + 1))

    def above(self, totals: Totals) -> float:
        return self.n / (totals.large + totals.small_rows // self.smallest + 1)

    def score(self, levels: Levels, table: ClassTable, passes: Mask, totals: Totals) -> float:
        return self.n / max(totals.published + (totals.suppressed > 0), 1)


class SuppressedScore(Score):
    """Suppressed rows alone: what the nearest miss is measured by."""

    def terms(self, suppressed: int) -> Terms:
        return self._constant(float(suppressed))

    def score(self, levels: Levels, table: ClassTable, passes: Mask, totals: Totals) -> float:
        return float(totals.suppressed)


SCORES: dict[str, type[Score]] = {
    "loss": LossScore,
    "precision": PrecisionScore,
    "non_uniform_entropy": EntropyScore,
    "discernibility": DiscernibilityScore,
    "average_class_size": ClassSizeScore,
}


def leaves_behind(problem: SearchProblem, encoding: Encoding) -> list[NDArray[np.int64]]:
    """Per variable (levels, leaves): how many leaves of the hierarchy lie behind the label of a leaf."""
    out = []
    for variable, (name, low, high) in enumerate(zip(problem.names, problem.lowest, problem.highest, strict=True)):
        h = problem.hierarchies[name]
        order = encoding.leaves[variable].order
        shares = np.stack([h.shares[level][h.maps[level][order]] for level in range(low, high + 1)])
        out.append(np.rint(shares * h.leaf_count).astype(np.int64))
    return out


def _cheapest_suppression(
    behind: list[NDArray[np.int64]], marginal: list[NDArray[np.int64]], leaf_count: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Rows and cost when the rows that cost least are suppressed first, per variable and level."""
    depth, leaves = max(map(len, behind)), max(map(len, marginal))
    knots = np.zeros((len(behind), depth, leaves + 1))
    costs = np.zeros_like(knots)
    filled = np.zeros((len(behind), depth), np.int64)
    for variable, (levels, rows) in enumerate(zip(behind, marginal, strict=True)):
        for level, many in enumerate(levels):
            cost, inverse = np.unique(leaf_count[variable] - many, return_inverse=True)
            group = np.bincount(inverse.reshape(-1), rows)
            end = len(cost) + 1
            knots[variable, level, 1:end] = np.cumsum(group)
            costs[variable, level, 1:end] = np.cumsum(group * cost)
            filled[variable, level] = end
    return knots, costs, filled


def _n_log_n(counts: NDArray[np.integer]) -> float:
    positive = counts[counts > 0].astype(float)
    return float((positive * np.log2(positive)).sum())
