"""`search_plan`: make the plan and keep what a page shows of it; no solution is an answer, kept like any other.

Knows plan and compressed source. Ignores how they are shown. The examples of a level are labels of groups with several
records that no value of the source has: never a cell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from celosia.errors import NoFeasiblePlan
from celosia.hierarchy import CompiledHierarchy
from celosia.model.plan import Plan, digest_of
from celosia.model.policy_view import PolicyView
from celosia.model.search import LevelFound, Searched
from celosia.model.values import is_masked
from celosia.pipeline._call import Place
from celosia.pipeline._edit_policy import policy_view
from celosia.pipeline._ground import Ground
from celosia.pipeline._kept import keep_report, kept_report
from celosia.pipeline._plan import dictionary_digest, plan_on_ground, read_plan
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._search_basis import VARIED, basis_of, policy_in_force
from celosia.pipeline._step_text import plain_step

SEARCH = "search"
_SHOWN, _SEVERAL = 3, 10  # labels shown of a level, and records behind each of them


def search_plan(folder: Place, *, now: datetime | None = None, report: Progress = None, **asked: Any) -> Searched:
    """Make the plan and keep its levels in words; when nothing fits, keep the nearest miss instead."""
    project = open_project(folder)
    basis = basis_of(project, policy_in_force(project), SEARCH)
    try:
        planned, ground = plan_on_ground(folder, now, report, **asked)
    except NoFeasiblePlan as miss:
        found = _missed(project, miss)
    else:
        allowed = math.floor(ground.policy.limit * ground.quasi.n_rows)
        plan = planned.plan
        found = Searched(True, plan.suppressed_rows, plan.suppressed_share, allowed, plan.digest, _levels(ground, plan))
    keep_report(folder, SEARCH, {"basis": basis, "search": found.as_dict()}, now=now)
    return found


def search_view(folder: Place) -> dict[str, Any]:
    """All that the page of the search shows, read and not computed: policy, plan, and the kept reports.

    Each report says whether it still answers for the present files (`stale`).
    """
    project = open_project(folder)
    view = policy_view(folder)
    return {"policy": view, "plan": _plan_shown(project, view), **_kept(project, view)}


def _missed(project: Project, miss: NoFeasiblePlan) -> Searched:
    rows = int(str(miss.values["suppressed"]))
    share = rows / project.config.source.rows if project.config.source.rows else 0.0
    return Searched(False, rows, share, int(str(miss.values["allowed"])), hint=str(miss.values["hint"]))


def _levels(ground: Ground, plan: Plan) -> tuple[LevelFound, ...]:
    return tuple(_level(ground, name, plan.levels[name]) for name in ground.policy.quasi if name in plan.levels)


def _level(ground: Ground, name: str, level: int) -> LevelFound:
    tree, rows = ground.hierarchies[name], ground.rows_at(name, level)
    groups = int(np.count_nonzero(rows))
    return LevelFound(name, level, tree.height, len(tree.labels[0]), groups, _examples(tree, level, rows))


def _examples(tree: CompiledHierarchy, level: int, rows: Any) -> tuple[str, ...]:
    """Labels of the largest groups, in their own order; a label that is also a value of the source is not shown."""
    values = set(tree.labels[0])
    labels = tree.labels[level]
    fit = [i for i, label in enumerate(labels) if rows[i] >= _SEVERAL and label not in values and not is_masked(label)]
    largest = sorted(fit, key=lambda i: (-rows[i], i))[:_SHOWN] if level else []
    return tuple(labels[i] for i in sorted(largest))


def _plan_shown(project: Project, view: PolicyView) -> dict[str, Any] | None:
    """The plan's figures, without its notes, and whether source, dictionary or policy moved since."""
    if not (project.folder / "plan.json").is_file():
        return None
    plan = read_plan(project.folder)
    return {
        "method": plan.method, "loss": plan.loss, "metric": plan.loss_definition, "levels": dict(plan.levels),
        "suppressed_rows": plan.suppressed_rows, "suppressed_share": plan.suppressed_share,
        "masked_sensitive": dict(plan.masked_sensitive), "classes": plan.classes, "optimal": plan.optimal,
        "nodes": plan.nodes, "nodes_checked": plan.nodes_checked, "criteria": list(plan.policy["criteria"]),
        "limit": plan.policy["limit"], "digest": plan.digest, "followers": dict(plan.followers),
        "printed": plan.notes.get("printed_recipe"), "partition": _parts_shown(plan),
        "stale": _stale(project, plan, view),
    }  # fmt: skip


def _parts_shown(plan: Plan) -> dict[str, Any] | None:
    """How a search that went part by part is told: how many parts, which levels differ, what was proved."""
    noted = plan.notes.get("partition")
    if noted is None:
        return None
    varied = [name for name in plan.policy["quasi"] if name not in plan.levels]
    optimal = all(part["optimal"] for part in noted["parts"])
    return {"variable": noted["variable"], "parts": len(noted["parts"]), "varied": varied, "optimal": optimal}


def _stale(project: Project, plan: Plan, view: PolicyView) -> bool:
    """Whether the plan answers another question than the present files ask, its own command's additions aside."""
    if view.blocked or plan.source != project.config.source.digest or plan.dictionary != dictionary_digest(project):
        return True
    declared = read_toml(project.folder / "celosia.toml").get("steps", ())
    if [plain_step(step) for step in declared] != [dict(step) for step in plan.steps]:
        return True
    if plan.asked:
        return False
    return digest_of(policy_in_force(project).as_dict()) != digest_of(plan.policy)


def _kept(project: Project, view: PolicyView) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in VARIED:
        kept = kept_report(project.folder, name)
        if kept is not None:
            found[name] = {**kept.document, "when": kept.when, "stale": _outdated(project, view, name, kept.document)}
    return found


def _outdated(project: Project, view: PolicyView, name: str, document: Mapping[str, Any]) -> bool:
    return bool(view.blocked) or document.get("basis") != basis_of(project, policy_in_force(project), name)
