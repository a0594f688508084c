"""Report on one node: which tuples are suppressed, by which criterion, and what each variable loses.

Counts classes in plain NumPy, once; the search has its own faster ways to visit many nodes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation.objective import variable_losses
from celosia.risk.criteria import Classes, Criterion, KAnonymity
from celosia.solver.evaluate import judge_together, looks_at_all_classes
from celosia.solver.problem import SearchProblem
from celosia.solver.published import ClassCounter
from celosia.tuples.table import group_codes

Mask = NDArray[np.bool_]
Labels = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NodeView:
    """The classes of a node, the class of each tuple, and the classes that stay."""

    levels: tuple[int, ...]
    classes: Classes
    label: Labels
    passes: Mask

    @property
    def suppressed(self) -> Mask:
        """Tuples that are suppressed."""
        gone: Mask = ~self.passes[self.label]
        return gone


def node_view(problem: SearchProblem, levels: Sequence[int]) -> NodeView:
    """Count and judge the classes of one node."""
    hierarchies = [problem.hierarchies[name] for name in problem.names]
    maps = [h.maps[level] for h, level in zip(hierarchies, levels, strict=True)]
    codes = np.stack([m[column] for m, column in zip(maps, problem.quasi.codes.T, strict=True)], axis=1)
    first, label = group_codes(codes, [int(m.max(initial=0)) + 1 for m in maps])
    sensitive = {c.variable: problem.sensitive[c.variable] for c in problem.criteria if c.variable}
    behind = None if problem.population is None else problem.population.population_of_classes(codes, levels)
    counter = ClassCounter(problem.quasi, sensitive, problem.sensitive_hierarchies, population=behind)
    classes = counter.classes(label, len(first))
    return NodeView(tuple(levels), classes, label, _passing_classes(problem.criteria, classes))


def _passing_classes(criteria: Sequence[Criterion], classes: Classes) -> Mask:
    everybody = np.ones(len(classes), bool)
    passes = everybody
    for criterion in criteria:
        if not looks_at_all_classes(criterion):
            passes = passes & criterion.measure(classes, everybody)[0]
    together = [criterion for criterion in criteria if looks_at_all_classes(criterion)]
    return judge_together(classes, passes, together) if together else passes


def broken_rows(problem: SearchProblem, view: NodeView) -> list[tuple[Criterion, int, int]]:
    """Per criterion, rows in classes that break it, and in classes that break it alone."""
    if not problem.criteria:
        return []
    broken = np.stack([~_passing_classes([criterion], view.classes) for criterion in problem.criteria])
    alone = broken & (broken.sum(axis=0) == 1)
    rows = view.classes.rows
    return [
        (c, int(rows[b].sum()), int(rows[a].sum())) for c, b, a in zip(problem.criteria, broken, alone, strict=True)
    ]


def smallest_published_class(problem: SearchProblem, view: NodeView) -> float:
    """Size of the smallest class that stays, in the units of the problem's k; infinite when none stays."""
    units = [criterion.unit for criterion in problem.criteria if isinstance(criterion, KAnonymity)]
    sizes = [view.classes.sizes(unit)[view.passes].min(initial=np.iinfo(np.int64).max) for unit in units]
    return math.inf if not view.passes.any() else float(min(sizes))


def variable_parts(problem: SearchProblem, view: NodeView) -> list[float] | None:
    """Loss of each variable at the node; None for metrics that do not look at variables."""
    metric = problem.objective.metric
    if metric == "loss":
        hierarchies = [problem.hierarchies[name] for name in problem.names]
        levels = np.broadcast_to(np.array(view.levels), problem.quasi.codes.shape)
        return variable_losses(problem.quasi, hierarchies, levels, view.suppressed)
    if metric == "precision":
        return _precisions(problem, view)
    if metric == "non_uniform_entropy":
        return [_entropy(problem, view, column) for column in range(len(problem.names))]
    return None


def combined_loss(problem: SearchProblem, parts: Sequence[float], left_out: int | None = None) -> float:
    """The loss that the parts make together, all of them or without one variable."""
    chosen = [v for v in range(len(parts)) if v != left_out]
    weights = [problem.objective.weight(problem.names[v]) for v in chosen]
    total = math.fsum(weights) or 1.0
    pairs = list(zip(weights, (parts[v] for v in chosen), strict=True))
    if problem.objective.metric == "non_uniform_entropy":
        return math.fsum(weight * part for weight, part in pairs)
    if problem.objective.metric == "loss" and problem.objective.mean == "geometric":
        return math.prod((1 + part) ** (weight / total) for weight, part in pairs) - 1
    return math.fsum(weight * part for weight, part in pairs) / total


def _precisions(problem: SearchProblem, view: NodeView) -> list[float]:
    n = max(problem.quasi.n_rows, 1)
    gone = int(problem.quasi.rows[view.suppressed].sum())
    heights = [max(problem.hierarchies[name].height, 1) for name in problem.names]
    return [(level / height * (n - gone) + gone) / n for level, height in zip(view.levels, heights, strict=True)]


def _entropy(problem: SearchProblem, view: NodeView, column: int) -> float:
    """Bits lost by generalising, and by not telling which of the suppressed rows is which."""
    labels = problem.hierarchies[problem.names[column]].maps[view.levels[column]][problem.quasi.codes[:, column]]
    rows, gone = problem.quasi.rows, view.suppressed
    bits = _n_log_n(labels, rows) - _n_log_n(problem.quasi.codes[:, column], rows)
    if gone.any():
        away = float(rows[gone].sum())
        bits += away * math.log2(away) - _n_log_n(labels[gone], rows[gone])
    return max(bits, 0.0)


def _n_log_n(labels: NDArray[np.int32], rows: NDArray[np.int64]) -> float:
    counts = np.bincount(labels, rows)
    positive = counts[counts > 0]
    return float((positive * np.log2(positive)).sum())
