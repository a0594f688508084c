"""The frontier and the explanation as kept reports, and adopting a point: the policy's k and limit, then the plan.

Knows the search's alternatives. Ignores how they are drawn. The frontier is that of the full-domain search: loss
against suppressed records for several k and several limits.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

from celosia import messages
from celosia.dossier import explanation_sentences
from celosia.model.explanation import Explanation, Frontier
from celosia.model.search import Searched
from celosia.pipeline._call import Place
from celosia.pipeline._edit_policy import edit_policy
from celosia.pipeline._explain import counted, explain_plan, ground_after_steps
from celosia.pipeline._kept import keep_report
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._search import search_plan
from celosia.pipeline._search_basis import basis_of, policy_in_force
from celosia.pipeline._settings import exact_share
from celosia.pipeline._solve import problem_of
from celosia.solver import frontier

FRONTIER, EXPLANATION = "frontier", "explanation"
KS = (2, 3, 5, 10, 20)
LIMITS = tuple(Fraction(hundredths, 100) for hundredths in (0, 1, 2, 5, 10, 20, 30, 50, 100))
Limit = Fraction | float | int | str


def frontier_report(
    folder: Place, ks: Iterable[int] | None = None, limits: Iterable[Limit] = LIMITS, *,
    time_limit: float | None = None, report: Progress = None, now: datetime | None = None,
) -> Frontier:  # fmt: skip
    """Find the frontier of a project and keep it; without `ks`, the usual ones and the policy's own."""
    project = open_project(folder)
    basis = _basis(project, FRONTIER)
    ground = ground_after_steps(project, report)
    chosen = tuple(ks) if ks is not None else (*KS, *_asked_k(ground.policy.criteria))
    found = frontier(
        problem_of(ground), chosen, [Fraction(str(limit)) for limit in limits],
        time_limit=time_limit if time_limit is not None else ground.policy.time_limit, clock=time.monotonic,
        progress=counted(report, "frontier"),
    )  # fmt: skip
    keep_report(folder, FRONTIER, {"basis": basis, "frontier": found.as_dict()}, now=now)
    return found


def explain_report(
    folder: Place, *, time_limit: float | None = None, report: Progress = None, now: datetime | None = None
) -> Explanation:
    """Explain the search of a project and keep what was found, in both languages' words."""
    project = open_project(folder)
    basis = _basis(project, EXPLANATION)
    told = explain_plan(folder, time_limit=time_limit, report=report).explanation
    sentences = {}
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            sentences[language] = list(explanation_sentences(told))
    keep_report(folder, EXPLANATION, {"basis": basis, "explanation": told.as_dict(), "sentences": sentences}, now=now)
    return told


def adopt_point(
    folder: Place, k: int, limit: Limit, *, expected: str | None = None, why: str = "", report: Progress = None,
    now: datetime | None = None,
) -> Searched:  # fmt: skip
    """Take a point of the frontier: its k and limit become the policy's, and the plan is made."""
    share = exact_share(limit)
    edit_policy(folder, {"k": k, "limit": limit if share is None else share}, expected=expected, why=why, now=now)
    return search_plan(folder, report=report, now=now)


def _asked_k(criteria: Iterable[Mapping[str, Any]]) -> list[int]:
    return [int(data["k"]) for data in criteria if data.get("criterion") == "k"]


def _basis(project: Project, name: str) -> str:
    """Taken before the search begins: what changes meanwhile makes the answer stale."""
    return basis_of(project, policy_in_force(project), name)
