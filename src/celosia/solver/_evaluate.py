"""One node: its classes, which pass, what must be suppressed there and below, and its score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.risk.criteria import AverageRisk, Classes, Criterion, KAnonymity, Need
from celosia.solver._encoding import Encoding, Levels
from celosia.solver._problem import SearchProblem
from celosia.solver._published import among
from celosia.solver._scores import SCORES, Score, SuppressedScore, Totals
from celosia.solver._source import domains_of, first_table
from celosia.solver._tables import Pool, Stones, Table, roll

Mask = NDArray[np.bool_]
_BUDGET = 2_000_000  # entries kept in the pool beside as many as the first table has


@dataclass(frozen=True, slots=True)
class Checked:
    """What one evaluation found."""

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
        self.pool = Pool(first, len(problem.names), _BUDGET + first.size)
        self.stones = Stones(self.encoding)
        smallest = max((c.smallest_class for c in problem.criteria), default=1)
        kind: type[Score] = SuppressedScore if by_suppressed else SCORES[problem.objective.metric]
        self.score = kind(problem, self.encoding, smallest)
        self.smallest = smallest
        self.by_class = sorted(
            (c for c in problem.criteria if c.need is not Need.ALL_CLASSES and not c.on_release),
            key=lambda c: bool(c.variable),
        )
        self.together = [c for c in problem.criteria if c.need is Need.ALL_CLASSES or c.on_release]
        only = problem.criteria[0] if len(problem.criteria) == 1 else None
        self.only_k = only if isinstance(only, KAnonymity) else None
        self.checked = 0

    def table(self, levels: Levels) -> Table:
        """The table of a node, made from the smallest finer one, or over a stepping stone."""
        source = self.pool.smallest(levels)
        stone = self.stones.wanted(levels, source.size)
        if stone is not None:
            below = self.pool.smallest(stone)
            made = roll(below, stone, self.encoding, self.domains)
            if self.pool.offer(stone, made, below) and made.size < source.size:
                source = made
        table = roll(source, levels, self.encoding, self.domains)
        self.pool.offer(levels, table, source)
        return table if self.problem.population is None else self._with_population(table, levels)

    def _with_population(self, table: Table, levels: Levels) -> Table:
        """The table with the population behind each class, counted from the groups of its first tuple."""
        assert self.problem.population is not None
        absolute = [low + level for low, level in zip(self.problem.lowest, levels, strict=True)]
        values = self.encoding.values(table.keys)
        maps = [self.problem.hierarchies[name].maps[at] for name, at in zip(self.problem.names, absolute, strict=True)]
        groups = np.stack([level[values[:, v]] for v, level in enumerate(maps)], axis=1)
        return replace(table, population=self.problem.population.behind(groups, absolute))

    def check(self, levels: Levels) -> Checked:
        """Evaluate a node."""
        self.checked += 1
        table = self.table(levels)
        passes, totals = self.weigh(table)
        if totals.suppressed > self.allowed_rows:
            return Checked(levels, np.inf, totals)
        return Checked(levels, self.score.score(levels, table, passes, totals), totals)

    def weigh(self, table: Table) -> tuple[Mask, Totals]:
        """Classes that pass everything, and the sums over all."""
        from celosia.kernels import lattice

        if self.only_k is not None:
            sizes = table.rows if self.only_k.unit == "rows" or table.persons is None else table.persons.counted
            passes, figures = lattice.totals_by_size(table.rows, sizes, self.only_k.k, self.smallest)
            return passes, Totals(*figures)
        passes, lost, everywhere = self.judge(table)
        totals = Totals(*lattice.class_totals(table.rows, passes, lost, self.smallest))
        return passes, totals if everywhere <= totals.unavoidable else replace(totals, unavoidable=everywhere)

    def judge(self, table: Table) -> tuple[Mask, NDArray[np.int64], int]:
        """Classes that pass everything, rows of each that are lost here and below, and rows lost over all."""
        classes = table.classes(self.domains)
        passes = alive = np.ones(len(classes), bool)
        lost = np.zeros(len(classes), np.int64)
        for place, criterion in enumerate(self.by_class):
            good, gone = criterion.measure(classes, alive)
            passes, lost = (passes & good, np.maximum(lost, gone)) if place else (good, gone)
            alive = lost < classes.rows
        everywhere = 0
        for criterion in self.together:
            if isinstance(criterion, AverageRisk):
                everywhere = max(everywhere, criterion.unavoidable(classes))
        return (settle(classes, passes, self.together) if self.together else passes), lost, everywhere

    def failing_rows(self, levels: Levels, criterion: Criterion) -> int:
        """Rows in classes that break one criterion at a node."""
        classes = self.table(levels).classes(self.domains)
        everybody = np.ones(len(classes), bool)
        if criterion in self.together:
            good = settle(classes, everybody, [criterion])
        else:
            good = criterion.measure(classes, everybody)[0]
        return int(classes.rows[~good].sum())


def settle(classes: Classes, passes: Mask, together: list[Criterion]) -> Mask:
    """Classes that stay when criteria look at what is kept: repeat until nothing more goes."""
    while True:
        kept = passes
        for criterion in together:
            passes = passes & _stays(classes, passes, criterion)
        if passes.sum() == kept.sum():
            return passes


def _stays(classes: Classes, passes: Mask, criterion: Criterion) -> Mask:
    if criterion.on_release:
        good, _ = criterion.measure(among(classes, passes, criterion.variable), passes)
        return good
    stays = np.zeros(len(classes), bool)
    chosen = np.flatnonzero(passes)
    persons = None if classes.persons is None else classes.persons[chosen]
    stays[chosen] = criterion.judge(Classes(classes.rows[chosen], persons))
    return stays
