"""The methods side by side: what each would give on the same source under the same policy, by one loss.

Nothing is written but the saved report: plan.json stays as it is. The loss is always the information loss (METRICS,
loss) with the policy's mean and weights, whatever the search minimises, so that one scale holds for all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError
from celosia.evaluation.losses import released_loss
from celosia.evaluation.objective import recoding_loss
from celosia.model.plan import METHODS
from celosia.model.reports.methods import KeepingCost, MethodComparison, MethodResult, VariableResult
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import MISSING, is_masked
from celosia.pipeline.planning.errors import LinkedRowsMethod
from celosia.pipeline.planning.plan import search_input_after_steps
from celosia.pipeline.planning.report_basis import basis_of, current_policy
from celosia.pipeline.planning.search_input import SearchInput
from celosia.pipeline.planning.solution import Solution, labels_of
from celosia.pipeline.planning.solve import information_loss, solve
from celosia.pipeline.project.folder import ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, stage_progress
from celosia.pipeline.project.saved_reports import save_report
from celosia.solver.problem import NoSolution
from celosia.solver.published import ClassCounter

Mask = NDArray[np.bool_]
COMPARED = ("full-domain", "local", "recipe", "cells")
REPORT = "methods"


def compare_methods(
    folder: ProjectArg,
    methods: Sequence[str] = COMPARED,
    *,
    report: Progress = None,
    now: datetime | None = None,
    engine: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> MethodComparison:
    """Solve with each method and change nothing else; the comparison is saved where it is the project's own policy."""
    for method in methods:
        if method not in METHODS:
            raise ValueOutOfRange(parameter="method", given=method, allowed=", ".join(METHODS))
    project = open_project(folder)
    basis = basis_of(project, current_policy(project), REPORT)
    asked = {"method": "full-domain", **overrides}
    search_input = search_input_after_steps(project, report, whole=True, engine=engine, memory=memory, **asked)
    progress = stage_progress(report, "methods")
    results = []
    for number, method in enumerate(methods, start=1):
        results.append(_result(search_input, method))
        progress(number / len(methods))
    comparison = MethodComparison(
        metric=information_loss(search_input.policy).name,
        rows=search_input.quasi.n_rows,
        allowed_rows=_allowed_rows(search_input),
        person_key=search_input.quasi.persons is not None,
        methods=tuple(results),
    )
    comparison = replace(comparison, keeping=_keeping_costs(search_input, comparison))
    if not any(value is not None for value in overrides.values()):
        save_report(project, REPORT, {"basis": basis, "comparison": comparison.as_dict()}, now=now)
    return comparison


def _keeping_costs(search_input: SearchInput, comparison: MethodComparison) -> tuple[KeepingCost, ...]:
    """What it would cost to keep each variable of which the best method leaves a single group."""
    if not comparison.ranking:
        return ()
    policy, best = search_input.policy, comparison.ranking[0]
    costs = []
    for variable in best.variables:
        highest = _last_level_of_groups(search_input, variable.variable)
        if variable.is_one_group and highest >= policy.minimum.get(variable.variable, 0):
            kept_level = min(highest, policy.maximum.get(variable.variable, highest))
            tried = replace(policy, maximum={**policy.maximum, variable.variable: kept_level})
            result = _result(replace(search_input, policy=tried), best.method)
            costs.append(KeepingCost(variable.variable, result.feasible, result.loss, result.suppressed_rows))
    return tuple(costs)


def _last_level_of_groups(search_input: SearchInput, name: str) -> int:
    """The highest level at which a variable still has two groups; -1 where it never has."""
    hierarchy = search_input.hierarchies[name]
    levels = (level for level, labels in enumerate(hierarchy.labels) if len(_plain_texts(labels)) > 1)
    return max(levels, default=-1)


def _plain_texts(texts: Iterable[str]) -> set[str]:
    """The texts that say something."""
    return {text for text in texts if text != MISSING and not is_masked(text)}


def _result(search_input: SearchInput, method: str) -> MethodResult:
    """One method's figures; what it cannot do is reported and does not stop the others."""
    policy = search_input.policy
    order: tuple[str, ...] = ()
    if method == "recipe":  # the policy's order, completed by the variables it leaves out as the dictionary lists them
        order = (*policy.order, *(name for name in search_input.quasi.names if name not in policy.order))
    tried = replace(search_input, policy=replace(policy, method=method, order=order or policy.order))
    started = time.monotonic()
    try:
        if policy.links and method != "full-domain":
            raise LinkedRowsMethod(method=method, columns=", ".join(policy.links))
        solution = solve(tried)
    except CelosiaError as refusal:
        values = refusal.values.items()
        fields = {key: value if isinstance(value, int | float | str) else str(value) for key, value in values}
        return MethodResult(method, False, order=order, refused=refusal.code, fields=fields)
    seconds = round(time.monotonic() - started, 3)
    if isinstance(solution, NoSolution):
        rows, share = solution.suppressed_rows, solution.suppressed_share
        return MethodResult(method, False, suppressed_rows=rows, suppressed_share=share, seconds=seconds, order=order)
    return _figures(tried, solution, seconds, order)


def _figures(search_input: SearchInput, solution: Solution, seconds: float, order: tuple[str, ...]) -> MethodResult:
    rows, total = solution.tuples.rows, search_input.quasi.n_rows
    suppressed = int(rows[solution.published.suppressed].sum())
    losing = _tuples_losing_values(search_input, solution)
    return MethodResult(
        method=search_input.policy.method,
        feasible=suppressed <= _allowed_rows(search_input),
        loss=_loss(search_input, solution, losing),
        suppressed_rows=suppressed,
        suppressed_share=suppressed / total if total else 0.0,
        masked_sensitive=int(rows[losing & ~solution.published.suppressed].sum()),
        classes=solution.classes,
        smallest_class=_smallest_class(solution),
        seconds=seconds,
        optimal=solution.optimal,
        order=order,
        variables=tuple(_variable_result(search_input, solution, v) for v in range(len(search_input.quasi.names))),
    )


def _variable_result(search_input: SearchInput, solution: Solution, v: int) -> VariableResult:
    """What is left of one variable; a suppressed record shows nothing of it."""
    name, published = search_input.quasi.names[v], solution.published
    vocabulary, rows = published.vocabularies[v], solution.tuples.rows
    counts: dict[str, int] = {}
    behind = np.bincount(published.codes[:, v], np.where(published.suppressed, 0, rows), len(vocabulary))
    for text, count in zip(vocabulary, behind.astype(np.int64).tolist(), strict=True):
        if count:
            counts[text] = counts.get(text, 0) + count
    values = search_input.quasi.vocabularies[search_input.quasi.position(name)]
    loss = released_loss(search_input.hierarchies[name], counts, search_input.quasi.n_rows)
    loss = None if loss is None else max(loss, 0.0)  # a sum of fractions may end just below zero
    return VariableResult(name, loss, len(_plain_texts(values)), len(_plain_texts(counts)))


def _loss(search_input: SearchInput, solution: Solution, losing: Mask) -> float:
    """The information loss; only a full-domain search may have minimised something else, and stated that.

    There a record that stays with its sensitive value masked counts as suppressed, as the search itself counts it.
    """
    if search_input.policy.method != "full-domain" or solution.metric.startswith("loss"):
        return solution.loss
    names = search_input.quasi.names
    levels = np.array([solution.levels[name] for name in names])
    levels_by_tuple = np.broadcast_to(levels, (len(solution.tuples.rows), len(levels)))
    hierarchies = [search_input.hierarchies[name] for name in names]
    suppressed = solution.published.suppressed | losing
    objective = information_loss(search_input.policy)
    return recoding_loss(solution.tuples, hierarchies, levels_by_tuple, suppressed, objective)


def _tuples_losing_values(search_input: SearchInput, solution: Solution) -> Mask:
    """Tuples that lose at least one sensitive value."""
    losing = np.zeros(len(solution.tuples.rows), bool)
    for name, mask in solution.masks.items():
        if name in search_input.sensitive:
            losing |= mask
    return losing


def _smallest_class(solution: Solution) -> int | None:
    """The size of the smallest class that is published, in persons where they are known."""
    label, count = labels_of(solution.published)
    published_classes = np.zeros(count, bool)
    published_classes[label[~solution.published.suppressed]] = True
    sizes = ClassCounter(solution.tuples, {}).classes(label, count).sizes("persons")[published_classes]
    return int(sizes.min()) if len(sizes) else None


def _allowed_rows(search_input: SearchInput) -> int:
    return math.floor(search_input.policy.limit * search_input.quasi.n_rows)
