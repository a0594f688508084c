"""`explain`: why the optimal result is what it is, what would help, and the frontier of loss and suppression."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.data.files import private_folder, replacing
from celosia.dossier import explanation_page, frontier_svg
from celosia.errors import PartitionedSearch
from celosia.model.explanation import Explanation, Frontier
from celosia.pipeline._call import Place
from celosia.pipeline._ground import Ground
from celosia.pipeline._open import opened
from celosia.pipeline._plan import ground_for, policy_for
from celosia.pipeline._progress import Progress, ready_kernels, stage
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._solve import problem_of
from celosia.pipeline._steps import stepped
from celosia.solver import explain, frontier, search


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanation, the frontier if it was asked for, and where both were saved."""

    explanation: Explanation
    frontier: Frontier | None
    saved: tuple[Path, ...]


def explain_plan(
    folder: Place,
    with_frontier: bool = False,
    into: Place | None = None,
    time_limit: float | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> Explained:
    """Explain the optimal search under a project's policy and save it as JSON, page and picture."""
    project = open_project(folder)
    problem = problem_of(ground_after_steps(project, report, engine=engine, memory=memory, **overrides))
    clock = time.monotonic
    result = search(problem, time_limit=time_limit, clock=clock)
    watch = counted(report, "explain")
    told = explain(problem, result, time_limit=time_limit, clock=clock, progress=watch)
    border = None
    if with_frontier:
        border = frontier(problem, time_limit=time_limit, clock=clock, progress=counted(report, "frontier"))
    return Explained(told, border, _save(told, border, Path(into) if into is not None else project.folder / "private"))


def ground_after_steps(
    project: Project, report: Progress = None, *, whole: bool = False, engine: str | None = None,
    memory: str | None = None, **overrides: Any,
) -> Ground:  # fmt: skip
    """The compressed source under the project's policy, after its steps: what every search begins with.

    A search that goes part by part has no such ground: what looks at all rows at once would describe another plan.
    """
    ready_kernels(report)
    with (
        opened(project.folder, engine=engine, memory=memory) as source,
        stepped(project, source, fresh=True, report=report) as after,
    ):
        if partition := policy_for(project, after.found, **overrides).partition:
            raise PartitionedSearch(variable=partition)
        return ground_for(project, after.found, whole=whole, **overrides)


def counted(report: Progress, key: str) -> Callable[[int, int], None] | None:
    """A stage whose share is told as so many of so many."""
    told = stage(report, key)
    return None if told is None else lambda done, total: told(done / max(total, 1))


def _save(told: Explanation, border: Frontier | None, folder: Path) -> tuple[Path, ...]:
    content = {
        "explain.json": json.dumps(told.as_dict(), ensure_ascii=False, indent=2) + "\n",
        "explain.html": explanation_page(told, border),
    }
    if border is not None:
        content["frontier.json"] = json.dumps(border.as_dict(), ensure_ascii=False, indent=2) + "\n"
        content["frontier.svg"] = frontier_svg(border)
    private_folder(folder)
    for name, text in content.items():
        with replacing(folder / name) as draft:
            draft.write_text(text, "utf-8")
    return tuple(folder / name for name in content)
