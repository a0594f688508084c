"""The methods side by side: what each would give on the same source under the same policy, by one loss.

Nothing is written but the saved report: plan.json stays as it is. The loss is always the information loss (METRICS,
loss) with the policy's mean and weights, whatever the search minimises, so that one scale holds for all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError
from celosia.evaluation.objective import recoding_loss
from celosia.model.plan import METHODS
from celosia.model.reports.methods import MethodComparison, MethodResult
from celosia.model.value_errors import ValueOutOfRange
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
    folder: ProjectArg, methods: Sequence[str] = COMPARED, *, report: Progress = None, now: datetime | None = None
) -> MethodComparison:
    """Solve with each method, save the comparison, change nothing else."""
    for method in methods:
        if method not in METHODS:
            raise ValueOutOfRange(parameter="method", given=method, allowed=", ".join(METHODS))
    project = open_project(folder)
    basis = basis_of(project, current_policy(project), REPORT)
    search_input = search_input_after_steps(project, report, whole=True, method="full-domain")
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
    save_report(project, REPORT, {"basis": basis, "comparison": comparison.as_dict()}, now=now)
    return comparison


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
    )


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
