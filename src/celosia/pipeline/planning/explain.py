"""`explain`: why the optimal result is what it is, what would help, and the frontier of loss and suppression."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.dossier.explain import explanation_page
from celosia.dossier.frontier import frontier_svg
from celosia.model.paths import EXPLANATION, FRONTIER
from celosia.model.reports.explanation import Explanation, Frontier
from celosia.pipeline.planning.plan import search_input_after_steps
from celosia.pipeline.planning.report_basis import basis_of, current_policy
from celosia.pipeline.planning.solve import search_problem
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.folder import ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, count_progress
from celosia.pipeline.project.saved_reports import save_report
from celosia.solver.explain import explain
from celosia.solver.frontier import frontier
from celosia.solver.optimal import search
from celosia.storage import atomic_write, make_private_folder


@dataclass(frozen=True, slots=True)
class ExplainResult:
    """The explanation, the frontier if it was asked for, and where both were saved."""

    explanation: Explanation
    frontier: Frontier | None
    saved: tuple[Path, ...]


def explain_plan(
    folder: ProjectArg,
    with_frontier: bool = False,
    into: PathArg | None = None,
    time_limit: float | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> ExplainResult:
    """Explain the optimal search under a project's policy and save it as JSON, page and picture."""
    project = open_project(folder)
    problem = search_problem(search_input_after_steps(project, report, engine=engine, memory=memory, **overrides))
    limits: dict[str, Any] = {"time_limit": time_limit, "clock": time.monotonic}
    result = search(problem, **limits)
    explanation = explain(problem, result, **limits, progress=count_progress(report, "explain"))
    curve = frontier(problem, **limits, progress=count_progress(report, "frontier")) if with_frontier else None
    if curve is not None and not overrides:
        # The approval sheet shows the points next to the plan's, as long as nothing that they depend on changes.
        basis = basis_of(project, current_policy(project), "frontier")
        save_report(project, "frontier", {"basis": basis, "frontier": curve.as_dict()})
    saved = _save(explanation, curve, Path(into) if into is not None else project.paths.private)
    return ExplainResult(explanation, curve, saved)


def _save(explanation: Explanation, curve: Frontier | None, folder: Path) -> tuple[Path, ...]:
    texts = dict(zip(EXPLANATION, (_json(explanation), explanation_page(explanation, curve)), strict=True))
    if curve is not None:
        texts |= dict(zip(FRONTIER, (_json(curve), frontier_svg(curve)), strict=True))
    make_private_folder(folder)
    for name, text in texts.items():
        with atomic_write(folder / name) as draft:
            draft.write_text(text, "utf-8", newline="\n")
    return tuple(folder / name for name in texts)


def _json(report: Explanation | Frontier) -> str:
    return json.dumps(report.as_dict(), ensure_ascii=False, indent=2) + "\n"
