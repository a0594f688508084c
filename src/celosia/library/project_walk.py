"""`plan` and `run` of a project, with every criterion of `[policy]` as an argument of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from celosia.pipeline.candidate.run import RunResult, run_plan
from celosia.pipeline.planning.plan import PlanResult, make_plan
from celosia.pipeline.planning.stated_inputs import StatedInputs, write_stated_inputs
from celosia.pipeline.project.arguments import Names, check_arguments, whole_number
from celosia.pipeline.project.folder import ProjectArg
from celosia.pipeline.project.progress import Progress


@check_arguments
def plan(
    folder: ProjectArg,
    *,
    quasi: Names = (),
    sensitive: Names = (),
    identifiers: Names = (),
    purpose: str = "",
    hierarchies: Mapping[str, Any] | None = None,
    levels: Mapping[str, int | tuple[int, int]] | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the letter of the criterion
    criteria: Sequence[Mapping[str, Any]] | None = None,
    max_suppression: float | str | None = None,
    method: Literal["full-domain", "recipe", "local", "cells"] | None = None,
    metric: str | None = None,
    mean: Literal["geometric", "arithmetic"] | None = None,
    weights: Mapping[str, float] | None = None,
    order: Names = (),
    suppressed: Literal["keep", "drop"] | None = None,
    mask_sensitive: bool | None = None,
    reading: Literal["own", "wildcard"] | None = None,
    partition: str | None = None,
    time_limit: float | None = None,
    engine: str | None = None,
    memory: str | None = None,
    report: Progress = None,
    now: datetime | None = None,
) -> PlanResult:
    """Find the release that loses least and write plan.json; what is given here goes before celosia.toml.

    Roles, hierarchies and levels are written into the project first: what is not named stays as it is there.
    `purpose` is what those columns are published for that have no purpose yet.
    """
    stated = StatedInputs(
        tuple(quasi), tuple(sensitive), tuple(identifiers), purpose, dict(hierarchies or {}), dict(levels or {})
    )
    write_stated_inputs(folder, stated, now)
    asked: dict[str, Any] = {"criteria": criteria, "limit": max_suppression, "method": method, "metric": metric}
    asked |= {"mean": mean, "weights": weights, "suppressed": suppressed, "mask_sensitive": mask_sensitive}
    asked |= {"reading": reading, "partition": partition, "time_limit": time_limit}
    asked["criteria"] = None if criteria is None else [dict(data) for data in criteria]
    asked["order"] = list(order) or None
    asked["k"] = None if k is None else whole_number("k", k, 1)
    asked["l"] = None if l is None else whole_number("l", l, 1)
    return make_plan(folder, now=now, report=report, engine=engine, memory=memory, **asked)


@check_arguments
def run(
    folder: ProjectArg,
    *,
    engine: str | None = None,
    memory: str | None = None,
    report: Progress = None,
    now: datetime | None = None,
) -> RunResult:
    """Apply the project's plan; a candidate is left only if it was read back and every rule holds on it."""
    return run_plan(folder, now=now, report=report, engine=engine, memory=memory)
