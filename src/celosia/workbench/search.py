"""Searching from a page: the plan, the frontier and the explanation as saved reports, and adopting a point.

Knows plan and compressed source. Ignores how they are shown. No solution is an answer, saved like any other. The
examples of a level are labels of groups with several records that no value of the source has: never a cell. The
frontier is that of the full-domain search: loss against suppressed records for several k and several limits.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from celosia import messages
from celosia.dossier.explain import explanation_sentences
from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.plan import Plan, digest_of
from celosia.model.reports.explanation import Explanation, Frontier
from celosia.model.reports.methods import MethodComparison
from celosia.model.values import is_masked
from celosia.pipeline.planning.errors import NoFeasiblePlan
from celosia.pipeline.planning.explain import explain_plan
from celosia.pipeline.planning.plan import plan_with_search_input, search_input_after_steps
from celosia.pipeline.planning.report_basis import basis_of, current_policy
from celosia.pipeline.planning.search_input import SearchInput
from celosia.pipeline.planning.solve import search_problem
from celosia.pipeline.planning.step_syntax import plain_step
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, count_progress
from celosia.pipeline.project.saved_reports import save_report, saved_report
from celosia.pipeline.project.settings_schema import exact_share
from celosia.solver.frontier import frontier
from celosia.workbench.policy import edit_policy, policy_view
from celosia.workbench.views.policy import PolicyView
from celosia.workbench.views.saved import Saved, saved_report_of
from celosia.workbench.views.search import (
    ExplanationSummary,
    FrontierSummary,
    LevelFound,
    PartitionSummary,
    PlanSummary,
    Searched,
    SearchView,
)

SEARCH, FRONTIER, EXPLANATION, METHODS = "search", "frontier", "explanation", "methods"  # names of saved reports
KS = (2, 3, 5, 10, 20)
LIMITS = tuple(Fraction(hundredths, 100) for hundredths in (0, 1, 2, 5, 10, 20, 30, 50, 100))
Limit = Fraction | float | int | str
T = TypeVar("T")
_SHOWN, _SEVERAL = 3, 10  # labels shown of a level, and records behind each of them


# --- the view -------------------------------------------------------------------------------------


def search_view(source: ProjectArg) -> SearchView:
    """All that the page of the search shows, read and not computed: policy, plan, and the saved reports."""
    project = open_project(source)
    policy = policy_view(project)
    return SearchView(
        policy=policy,
        plan=_plan_summary(project, policy),
        search=_saved_report(project, policy, SEARCH, Searched, "search"),
        frontier=_saved_report(project, policy, FRONTIER, FrontierSummary, "frontier"),
        explanation=_saved_report(project, policy, EXPLANATION, ExplanationSummary),
        methods=_saved_report(project, policy, METHODS, MethodComparison, "comparison"),
    )


def _saved_report(project: Project, policy: PolicyView, name: str, kind: type[T], key: str = "") -> Saved[T] | None:
    """A saved report and whether it still answers for the present files."""
    saved = saved_report(project, name)
    if saved is None:
        return None
    document = saved.document
    stale = bool(policy.blocked) or document.get("basis") != basis_of(project, current_policy(project), name)
    return saved_report_of(kind, document.get(key) if key else document, saved.when, stale)


def _plan_summary(project: Project, policy: PolicyView) -> PlanSummary | None:
    if not project.paths.plan.is_file():
        return None
    plan = project.plan
    return PlanSummary(
        digest=plan.digest,
        method=plan.method,
        metric=plan.loss_definition,
        loss=plan.loss,
        levels=dict(plan.levels),
        suppression=plan.suppression,
        masked_sensitive=dict(plan.masked_sensitive),
        classes=plan.classes,
        optimal=plan.optimal,
        partition=_partition_summary(plan),
        stale=_is_stale(project, plan, policy),
    )


def _partition_summary(plan: Plan) -> PartitionSummary | None:
    partition = plan.notes.get("partition")
    if partition is None:
        return None
    varied = tuple(name for name in plan.policy["quasi"] if name not in plan.levels)
    parts = partition["parts"]
    return PartitionSummary(partition["variable"], len(parts), varied, all(part["optimal"] for part in parts))


def _is_stale(project: Project, plan: Plan, policy: PolicyView) -> bool:
    """Whether the plan answers another question than the present files ask, its own command's additions aside."""
    if policy.blocked or plan.source != project.config.source.digest or plan.dictionary != project.dictionary_digest:
        return True
    declared = project.settings.get("steps", ())
    if [plain_step(step) for step in declared] != [dict(step) for step in plan.steps]:
        return True
    return not plan.asked and digest_of(current_policy(project).as_dict()) != digest_of(plan.policy)


# --- the plan -------------------------------------------------------------------------------------


def search_plan(source: ProjectArg, *, now: datetime | None = None, report: Progress = None, **asked: Any) -> Searched:
    """Make the plan and save its levels in words; when nothing fits, save the nearest miss instead."""
    project = open_project(source)
    basis = basis_of(project, current_policy(project), SEARCH)  # before the search: later changes make it stale
    try:
        planned, search_input = plan_with_search_input(project, now, report, **asked)
    except NoFeasiblePlan as miss:
        answer = _nearest_miss(project, miss)
    else:
        plan, allowed = planned.plan, math.floor(search_input.policy.limit * search_input.quasi.n_rows)
        levels = tuple(
            _found_level(search_input, name, plan.levels[name])
            for name in search_input.policy.quasi
            if name in plan.levels
        )
        answer = Searched(True, plan.suppressed_rows, plan.suppressed_share, allowed, plan.digest, levels)
    save_report(project, SEARCH, {"basis": basis, "search": answer.as_dict()}, now=now)
    return answer


def _nearest_miss(project: Project, miss: NoFeasiblePlan) -> Searched:
    rows = int(str(miss.values["suppressed"]))
    share = rows / project.config.source.rows if project.config.source.rows else 0.0
    return Searched(False, rows, share, int(str(miss.values["allowed"])), hint=str(miss.values["hint"]))


def _found_level(search_input: SearchInput, name: str, level: int) -> LevelFound:
    tree, rows = search_input.hierarchies[name], search_input.rows_at(name, level)
    groups = int(np.count_nonzero(rows))
    return LevelFound(name, level, tree.height, len(tree.labels[0]), groups, _examples(tree, level, rows))


def _examples(tree: CompiledHierarchy, level: int, rows: Any) -> tuple[str, ...]:
    """Labels of the largest groups, in their own order; a label that is also a value of the source is not shown."""
    values = set(tree.labels[0])
    labels = tree.labels[level]
    fit = [i for i, label in enumerate(labels) if rows[i] >= _SEVERAL and label not in values and not is_masked(label)]
    largest = sorted(fit, key=lambda i: (-rows[i], i))[:_SHOWN] if level else []
    return tuple(labels[i] for i in sorted(largest))


# --- frontier and explanation ---------------------------------------------------------------------


def frontier_report(
    source: ProjectArg,
    ks: Iterable[int] | None = None,
    limits: Iterable[Limit] = LIMITS,
    *,
    time_limit: float | None = None,
    report: Progress = None,
    now: datetime | None = None,
) -> Frontier:
    """Find the frontier of a project and save it; without `ks`, the usual ones and the policy's own."""
    project = open_project(source)
    basis = basis_of(project, current_policy(project), FRONTIER)
    search_input = search_input_after_steps(project, report)
    own = [int(data["k"]) for data in search_input.policy.criteria if data.get("criterion") == "k"]
    best = frontier(
        search_problem(search_input),
        tuple(ks) if ks is not None else (*KS, *own),
        [Fraction(str(limit)) for limit in limits],
        time_limit=time_limit if time_limit is not None else search_input.policy.time_limit,
        clock=time.monotonic,
        progress=count_progress(report, "frontier"),
    )
    save_report(project, FRONTIER, {"basis": basis, "frontier": best.as_dict()}, now=now)
    return best


def explain_report(
    source: ProjectArg, *, time_limit: float | None = None, report: Progress = None, now: datetime | None = None
) -> Explanation:
    """Explain the search of a project and save the explanation, in sentences of both languages."""
    project = open_project(source)
    basis = basis_of(project, current_policy(project), EXPLANATION)
    explanation = explain_plan(project, time_limit=time_limit, report=report).explanation
    sentences = {}
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            sentences[language] = list(explanation_sentences(explanation))
    document: Mapping[str, Any] = {"basis": basis, "explanation": explanation.as_dict(), "sentences": sentences}
    save_report(project, EXPLANATION, document, now=now)
    return explanation


def adopt_point(
    source: ProjectArg,
    k: int,
    limit: Limit,
    *,
    expected: str | None = None,
    why: str = "",
    report: Progress = None,
    now: datetime | None = None,
) -> Searched:
    """Take a point of the frontier: its k and limit become the policy's, and the plan is made."""
    share = exact_share(limit)
    project = open_project(source)
    edit_policy(project, {"k": k, "limit": limit if share is None else share}, expected=expected, why=why, now=now)
    return search_plan(project.reread(), report=report, now=now)
