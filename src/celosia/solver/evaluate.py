"""Evaluating nodes of the lattice, when to stop, and the best node so far.

Of each node: its classes, which of them pass, what must be suppressed there and below, and its score.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.risk.criteria import AverageRisk, Classes, Criterion, KAnonymity, Need
from celosia.solver.encoding import Encoding, Levels
from celosia.solver.problem import SearchProblem
from celosia.solver.published import with_published_reference
from celosia.solver.scores import SCORES, Score, SuppressedScore, Totals
from celosia.solver.tables import ClassTable, IntermediateNodes, TablePool, domains_of, first_table, roll_up_table

Mask = NDArray[np.bool_]
Progress = Callable[[int, int], None]
TOLERANCE = 1e-12
_REPORT_EVERY = 32
_BUDGET = 2_000_000  # entries kept in the pool beside as many as the first table has


@dataclass(frozen=True, slots=True)
class CheckedNode:
    """The outcome of one evaluation."""

    levels: Levels
    score: float  # infinite when too many rows are suppressed
    totals: Totals


class Evaluator:
    """Evaluates nodes of one problem, each from the smallest table already made."""

    def __init__(self, problem: SearchProblem, allowed_rows: int, by_suppressed: bool = False) -> None:
        self.problem = problem
        self.allowed_rows = allowed_rows
        self.encoding = Encoding(problem)
        self.domains = domains_of(problem)
        first = first_table(problem, self.encoding, self.domains)
        self.pool = TablePool(first, len(problem.names), _BUDGET + first.size)
        self.intermediate = IntermediateNodes(self.encoding)
        smallest = max((c.smallest_class for c in problem.criteria), default=1)
        kind: type[Score] = SuppressedScore if by_suppressed else SCORES[problem.objective.metric]
        self.score = kind(problem, self.encoding, smallest)
        self.smallest = smallest
        by_class = (c for c in problem.criteria if not looks_at_all_classes(c))
        self.by_class = sorted(by_class, key=lambda c: bool(c.variable))
        self.together = [c for c in problem.criteria if looks_at_all_classes(c)]
        only = problem.criteria[0] if len(problem.criteria) == 1 else None
        self.only_k = only if isinstance(only, KAnonymity) else None
        self.checked = 0

    def table(self, levels: Levels) -> ClassTable:
        """The table of a node, made from the smallest finer one, or over an intermediate node."""
        source = self.pool.smallest(levels)
        node = self.intermediate.next_node(levels, source.size)
        if node is not None:
            below = self.pool.smallest(node)
            between = roll_up_table(below, node, self.encoding, self.domains)
            if self.pool.offer(node, between, below) and between.size < source.size:
                source = between
        table = roll_up_table(source, levels, self.encoding, self.domains)
        self.pool.offer(levels, table, source)
        return table if self.problem.population is None else self._add_population(table, levels)

    def _add_population(self, table: ClassTable, levels: Levels) -> ClassTable:
        """The table with the population behind each class, counted from the groups of its first tuple."""
        assert self.problem.population is not None
        absolute = [low + level for low, level in zip(self.problem.lowest, levels, strict=True)]
        values = self.encoding.values(table.keys)
        maps = [self.problem.hierarchies[name].maps[at] for name, at in zip(self.problem.names, absolute, strict=True)]
        groups = np.stack([level[values[:, v]] for v, level in enumerate(maps)], axis=1)
        return replace(table, population=self.problem.population.population_of_classes(groups, absolute))

    def check(self, levels: Levels) -> CheckedNode:
        """Evaluate a node."""
        self.checked += 1
        table = self.table(levels)
        passes, totals = self.weigh(table)
        if totals.suppressed > self.allowed_rows:
            return CheckedNode(levels, np.inf, totals)
        return CheckedNode(levels, self.score.score(levels, table, passes, totals), totals)

    def weigh(self, table: ClassTable) -> tuple[Mask, Totals]:
        """Classes that pass everything, and the sums over all."""
        from celosia.kernels import lattice

        if self.only_k is not None:
            sizes = table.rows if self.only_k.unit == "rows" or table.persons is None else table.persons.counted
            passes, figures = lattice.totals_by_size(table.rows, sizes, self.only_k.k, self.smallest)
            return passes, Totals(*figures)
        passes, lost, everywhere = self.judge(table)
        totals = Totals(*lattice.class_totals(table.rows, passes, lost, self.smallest))
        return passes, totals if everywhere <= totals.unavoidable else replace(totals, unavoidable=everywhere)

    def judge(self, table: ClassTable) -> tuple[Mask, NDArray[np.int64], int]:
        """Classes that pass everything, rows of each that are lost here and below, and rows lost over all."""
        classes = table.classes(self.domains)
        passes = alive = np.ones(len(classes), bool)
        lost = np.zeros(len(classes), np.int64)
        for number, criterion in enumerate(self.by_class):
            good, gone = criterion.measure(classes, alive)
            passes, lost = (passes & good, np.maximum(lost, gone)) if number else (good, gone)
            alive = lost < classes.rows
        everywhere = 0
        for criterion in self.together:
            if isinstance(criterion, AverageRisk):
                everywhere = max(everywhere, criterion.unavoidable(classes))
        return (judge_together(classes, passes, self.together) if self.together else passes), lost, everywhere

    def failing_rows(self, levels: Levels, criterion: Criterion) -> int:
        """Rows in classes that break one criterion at a node."""
        classes = self.table(levels).classes(self.domains)
        everybody = np.ones(len(classes), bool)
        if criterion in self.together:
            good = judge_together(classes, everybody, [criterion])
        else:
            good = criterion.measure(classes, everybody)[0]
        return int(classes.rows[~good].sum())


def looks_at_all_classes(criterion: Criterion) -> bool:
    """Whether a criterion looks at all published classes, so that one class changes the verdict of another."""
    return criterion.need is Need.ALL_CLASSES or criterion.on_release


def judge_together(classes: Classes, passes: Mask, together: list[Criterion]) -> Mask:
    """Classes that pass criteria on all published classes: judged again until no further class fails."""
    while True:
        before = passes
        for criterion in together:
            passes = passes & _passes_among(classes, passes, criterion)
        if passes.sum() == before.sum():
            return passes


def _passes_among(classes: Classes, passes: Mask, criterion: Criterion) -> Mask:
    if criterion.on_release:
        good, _ = criterion.measure(with_published_reference(classes, passes, criterion.variable), passes)
        return good
    stays = np.zeros(len(classes), bool)
    chosen = np.flatnonzero(passes)
    persons = None if classes.persons is None else classes.persons[chosen]
    stays[chosen] = criterion.judge(Classes(classes.rows[chosen], persons))
    return stays


@dataclass(slots=True)
class StopConditions:
    """When to stop early, and where to report progress."""

    deadline: float = math.inf
    clock: Callable[[], float] | None = None
    cancelled: Callable[[], bool] | None = None
    progress: Progress | None = None
    total: int = 0

    def out_of_time(self, checked: int) -> bool:
        """Whether to stop now."""
        if self.progress is not None and checked % _REPORT_EVERY == 0:
            self.progress(checked, self.total)
        if self.clock is not None and self.clock() > self.deadline:
            return True
        return self.cancelled is not None and self.cancelled()


@dataclass(slots=True)
class BestNode:
    """The best node so far."""

    node: CheckedNode | None = None
    score: float = math.inf

    @property
    def ceiling(self) -> float:
        """Bounds above this can neither beat nor tie."""
        return self.score + slack(self.score) if self.node is not None else math.inf

    def offer(self, new: CheckedNode) -> None:
        """Take a node that is better, or equal and preferred."""
        if math.isinf(new.score):
            return
        if self.node is None or new.score < self.score - slack(self.score):
            self.node, self.score = new, new.score
        elif new.score <= self.ceiling and preference(new) < preference(self.node):
            self.node, self.score = new, min(new.score, self.score)


def slack(score: float) -> float:
    """Differences up to this are rounding."""
    return TOLERANCE * abs(score)


def preference(node: CheckedNode) -> tuple[int, int, Levels]:
    """Order among ties."""
    return node.totals.suppressed, sum(node.levels), node.levels
