"""The methods side by side: what each would give on the same source under the same policy, by one loss.

Nothing is written but the kept report: plan.json stays as it is. The loss is always the information loss (METRICS,
loss) with the policy's mean and weights, whatever the search minimises, so that one scale holds for all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, LinkedRowsMethod, ValueOutOfRange
from celosia.evaluation import Objective, recoding_loss
from celosia.model.plan import METHODS
from celosia.model.search import MethodComparison, MethodResult
from celosia.pipeline._call import Place
from celosia.pipeline._explain import ground_after_steps
from celosia.pipeline._ground import Ground
from celosia.pipeline._kept import keep_report
from celosia.pipeline._progress import Progress, stage
from celosia.pipeline._project import open_project
from celosia.pipeline._search_basis import basis_of, policy_in_force
from celosia.pipeline._solve import Solution, solve
from celosia.solver import ClassCounter, NoSolution, class_labels

Mask = NDArray[np.bool_]
COMPARED = ("full-domain", "local", "recipe", "cells")
REPORT = "methods"


def compare_methods(
    folder: Place, methods: Sequence[str] = COMPARED, *, report: Progress = None, now: datetime | None = None
) -> MethodComparison:
    """Solve with each method, keep the comparison, change nothing else."""
    for method in methods:
        if method not in METHODS:
            raise ValueOutOfRange(parameter="method", given=method, allowed=", ".join(METHODS))
    project = open_project(folder)
    basis = basis_of(project, policy_in_force(project), REPORT)
    ground = ground_after_steps(project, report, whole=True, method="full-domain")
    told = stage(report, "methods")
    results = []
    for number, method in enumerate(methods):
        results.append(_result(ground, method))
        if told:
            told((number + 1) / len(methods))
    policy = ground.policy
    comparison = MethodComparison(
        metric=Objective("loss", policy.mean, policy.weights).name,
        rows=ground.quasi.n_rows,
        allowed_rows=_allowed(ground),
        person_key=ground.quasi.persons is not None,
        methods=tuple(results),
    )
    keep_report(folder, REPORT, {"basis": basis, "comparison": comparison.as_dict()}, now=now)
    return comparison


def _result(ground: Ground, method: str) -> MethodResult:
    """One method's figures; what it cannot do is said and does not stop the others."""
    order = _order(ground) if method == "recipe" else ()
    tried = replace(ground, policy=replace(ground.policy, method=method, order=order or ground.policy.order))
    begun = time.monotonic()
    try:
        if ground.policy.links and method != "full-domain":
            raise LinkedRowsMethod(method=method, columns=", ".join(ground.policy.links))
        solution = solve(tried)
    except CelosiaError as refusal:
        return MethodResult(method, False, order=order, refused=refusal.code, fields=_plain(refusal.values))
    seconds = round(time.monotonic() - begun, 3)
    if isinstance(solution, NoSolution):
        return MethodResult(method, False, suppressed_rows=solution.suppressed_rows,
                            suppressed_share=solution.suppressed_share, seconds=seconds, order=order)  # fmt: skip
    return _figures(tried, solution, seconds, order)


def _figures(ground: Ground, solution: Solution, seconds: float, order: tuple[str, ...]) -> MethodResult:
    rows = solution.tuples.rows
    suppressed = int(rows[solution.published.suppressed].sum())
    return MethodResult(
        method=ground.policy.method,
        feasible=suppressed <= _allowed(ground),
        loss=_loss(ground, solution),
        suppressed_rows=suppressed,
        suppressed_share=suppressed / ground.quasi.n_rows if ground.quasi.n_rows else 0.0,
        masked_sensitive=_masked(ground, solution),
        classes=solution.classes,
        smallest_class=_smallest(solution),
        seconds=seconds,
        optimal=solution.optimal,
        order=order,
    )


def _order(ground: Ground) -> tuple[str, ...]:
    """The policy's order, completed by the variables it leaves out as the dictionary lists them."""
    stated = ground.policy.order
    return (*stated, *(name for name in ground.quasi.names if name not in stated))


def _loss(ground: Ground, solution: Solution) -> float:
    """The information loss; only a full-domain search may have minimised something else, and stated that.

    There a record that stays with its sensitive value masked counts as suppressed, as the search itself counts it.
    """
    if ground.policy.method != "full-domain" or solution.metric.startswith("loss"):
        return solution.loss
    levels = np.array([solution.levels[name] for name in ground.quasi.names])
    spread = np.broadcast_to(levels, (len(solution.tuples.rows), len(levels)))
    trees = [ground.hierarchies[name] for name in ground.quasi.names]
    objective = Objective("loss", ground.policy.mean, ground.policy.weights)
    return recoding_loss(
        solution.tuples, trees, spread, solution.published.suppressed | _hidden(ground, solution), objective
    )


def _masked(ground: Ground, solution: Solution) -> int:
    """Records that stay and lose at least one sensitive value."""
    lost = _hidden(ground, solution) & ~solution.published.suppressed
    return int(solution.tuples.rows[lost].sum())


def _hidden(ground: Ground, solution: Solution) -> Mask:
    """Tuples that lose a sensitive value."""
    hidden = np.zeros(len(solution.tuples.rows), bool)
    for name, mask in solution.masks.items():
        if name in ground.sensitive:
            hidden |= mask
    return hidden


def _smallest(solution: Solution) -> int | None:
    """The smallest class that stays, in persons where they are known."""
    published = solution.published
    label, count = class_labels(published.codes, [len(vocabulary) for vocabulary in published.vocabularies])
    kept = np.zeros(count, bool)
    kept[label[~published.suppressed]] = True
    sizes = ClassCounter(solution.tuples, {}).classes(label, count).sizes("persons")[kept]
    return int(sizes.min()) if len(sizes) else None


def _allowed(ground: Ground) -> int:
    return math.floor(ground.policy.limit * ground.quasi.n_rows)


def _plain(values: Any) -> dict[str, Any]:
    return {key: value if isinstance(value, int | float | str) else str(value) for key, value in values.items()}
