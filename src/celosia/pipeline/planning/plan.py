"""`plan`: find what to publish and write it down as plan.json; nothing is changed yet."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.model.plan import Plan, Policy
from celosia.model.reports.report import Records, Report
from celosia.pipeline.intake.open_table import OpenTable, open_table, refuse_changed_source
from celosia.pipeline.planning.errors import NoFeasiblePlan, NothingLeft, PartitionedSearch
from celosia.pipeline.planning.hierarchies import published_detail
from celosia.pipeline.planning.neighbours import has_frontier, with_neighbours
from celosia.pipeline.planning.policy import policy_of
from celosia.pipeline.planning.saved_solution import save_solution
from celosia.pipeline.planning.search_input import SearchInput, build_search_input
from celosia.pipeline.planning.solution import Solution
from celosia.pipeline.planning.solve import UnsolvedParts, search_problem, solve
from celosia.pipeline.planning.steps import AfterSteps, apply_project_steps
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.journal import append_entry, refuse_unwritable
from celosia.pipeline.project.progress import Progress, compile_kernels
from celosia.solver.problem import NoSolution
from celosia.storage import atomic_write


@dataclass(frozen=True, slots=True, repr=False)
class PlanResult(Report):
    """A plan and where it was written."""

    plan: Plan
    path: Path

    @property
    def summary(self) -> str:
        """What the plan costs, and whether it is proved."""
        plan = self.plan
        return messages.text(
            "reports.summary.plan",
            loss=messages.decimal(plan.loss, 4),
            rows=plan.suppressed_rows,
            share=messages.part(plan.suppressed_share),
            classes=plan.classes,
            proved=messages.text("reports.yes" if plan.optimal else "reports.no"),
        )

    def records(self) -> Records:
        """The level of each quasi-identifier; None where it is not the same for all rows."""
        return [{"variable": name, "level": self.plan.levels.get(name)} for name in self.plan.policy["quasi"]]

    def as_dict(self) -> dict[str, Any]:
        """The plan as its versioned JSON."""
        return self.plan.as_dict()


def make_plan(
    folder: ProjectArg,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> PlanResult:
    """Find the release that loses least under the project's policy and write plan.json."""
    return plan_with_search_input(open_project(folder), now, report, engine, memory, **overrides)[0]


def plan_with_search_input(
    project: Project,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> tuple[PlanResult, SearchInput]:
    """The plan, written, and the compressed source it was found on."""
    now, path = utc_now(now), project.paths.plan
    compile_kernels(report)
    asked: dict[str, Any] = {
        key: list(value) if isinstance(value, tuple) else value for key, value in overrides.items() if value is not None
    }
    with open_table(project, engine=engine, memory=memory) as source:
        refuse_changed_source(source)
        with apply_project_steps(project, source, fresh=True, report=report) as after:
            search_input = search_input_for(project, after.source, **asked)
            solution = solve(search_input, report)
    policy, rows = search_input.policy, search_input.quasi.n_rows
    if isinstance(solution, NoSolution):
        _withdraw_plan(project, now, solution.suppressed_rows)
        raise nearest_miss(solution)
    if drops_everybody(policy, solution):
        _withdraw_plan(project, now, rows)
        raise NothingLeft()
    plan = plan_of(project, after, search_input, solution, asked)
    try:
        refuse_excess(plan, policy, rows)
    except NoFeasiblePlan:
        path.unlink(missing_ok=True)
        raise
    write_plan(project, plan, now)
    save_solution(project, search_input, solution, plan)
    return PlanResult(plan, path), search_input


def refuse_excess(plan: Plan, policy: Policy, rows: int) -> None:
    """Refuse a plan that suppresses more of the rows than its policy allows."""
    allowed = math.floor(policy.limit * rows)
    if plan.suppressed_rows > allowed:
        hint = messages.text("plan.hint", limit=messages.percent(plan.suppressed_share))
        raise NoFeasiblePlan(suppressed=plan.suppressed_rows, allowed=allowed, hint=hint)


def write_plan(project: Project, plan: Plan, now: datetime) -> None:
    """Write plan.json and a line in the journal."""
    refuse_unwritable(project.paths.journal)
    with atomic_write(project.paths.plan, 0o644) as draft:
        draft.write_text(json.dumps(plan.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")
    append_entry(project.paths.journal, "plan", now, {"plan": plan.digest, "method": plan.method})


def _withdraw_plan(project: Project, now: datetime, suppressed: int) -> None:
    """Remove an older plan, which answers another question: nothing may run it by mistake."""
    project.paths.plan.unlink(missing_ok=True)
    append_entry(project.paths.journal, "plan-refused", now, {"suppressed": suppressed})


def drops_everybody(policy: Policy, solution: Solution) -> bool:
    """Whether no record would be left to publish."""
    return policy.suppressed == "drop" and bool(solution.published.suppressed.all())


def search_input_for(
    project: Project, source: OpenTable, *, whole: bool = False, combinations: bool = True, **overrides: Any
) -> SearchInput:
    """The compressed source under the project's policy; `whole` where methods other than the policy's look at it.

    Without `combinations` it is what a check compares with: each variable alone.
    """
    policy = policy_of(project.settings, source.variables, project.config.protocols, **overrides)
    table, variables, person = source.table, source.variables, source.person
    return build_search_input(table, variables, person, policy, project.folder, whole=whole, combinations=combinations)


def search_input_after_steps(
    project: Project,
    report: Progress = None,
    *,
    whole: bool = False,
    engine: str | None = None,
    memory: str | None = None,
    **overrides: Any,
) -> SearchInput:
    """The compressed source under the project's policy, after its steps: what every search begins with.

    A search that goes part by part has none: what looks at all rows at once would describe another plan.
    """
    compile_kernels(report)
    with (
        open_table(project, engine=engine, memory=memory) as source,
        apply_project_steps(project, source, fresh=True, report=report) as after,
    ):
        variables = after.source.variables
        if partition := policy_of(project.settings, variables, project.config.protocols, **overrides).partition:
            raise PartitionedSearch(variable=partition)
        return search_input_for(project, after.source, whole=whole, **overrides)


def plan_of(
    project: Project, after: AfterSteps, search_input: SearchInput, solution: Solution, asked: Mapping[str, Any]
) -> Plan:
    """The plan that a solution makes; `asked` is what the command added to the project's policy."""
    return plan_for(project.config.source.digest, project.dictionary_digest, after, search_input, solution, asked)


def plan_for(
    source: str,
    dictionary: str,
    after: AfterSteps,
    search_input: SearchInput,
    solution: Solution,
    asked: Mapping[str, Any],
) -> Plan:
    """The plan that a solution makes for a source and a dictionary, named by their digests."""
    policy, rows, total = search_input.policy, solution.tuples.rows, search_input.quasi.n_rows
    suppressed = int(rows[solution.published.suppressed].sum())
    plan = Plan(
        method=policy.method,
        policy=policy.as_dict(),
        source=source,
        dictionary=dictionary,
        published=search_input.published,
        followers={name: list(determinants) for name, determinants in search_input.dependents.items()},
        levels=dict(solution.levels),
        loss=solution.loss,
        loss_definition=solution.metric,
        suppressed_rows=suppressed,
        suppressed_share=suppressed / total if total else 0.0,
        masked_sensitive={name: int(rows[mask].sum()) for name, mask in sorted(solution.masks.items())},
        classes=solution.classes,
        nodes=solution.nodes,
        nodes_checked=solution.nodes_checked,
        optimal=solution.optimal,
        bound=solution.bound,
        asked=dict(asked),
        steps=after.steps,
        changes=tuple(change.as_dict() for change in after.changes),
        seed=after.seed,
        notes={
            **solution.notes,
            "detail": _level_details(after, search_input, solution),
            "rows": total,
            "otherwise_masked_rows": solution.otherwise_masked_rows,
            "outcome": solution.outcome,
        },
    )
    return with_neighbours(plan, search_problem(search_input)) if has_frontier(search_input) else plan


def _level_details(after: AfterSteps, search_input: SearchInput, solution: Solution) -> dict[str, dict[str, str]]:
    """What the levels above 0 show, for people: a level is a number, «intervals of 20» is an answer."""
    variables = {variable.name: variable for variable in after.source.variables}
    specs = search_input.policy.hierarchies
    return {
        name: published_detail(variables[name], specs.get(name), search_input.hierarchies[name], level)
        for name, level in solution.levels.items()
        if level
    }


def nearest_miss(miss: NoSolution) -> NoFeasiblePlan:
    """The refusal that says how near the nearest miss comes."""
    limit = messages.percent(miss.suppressed_share)
    worst = max(miss.failing, key=lambda failing: failing.rows, default=None)
    if isinstance(miss, UnsolvedParts):
        parts = {"variable": miss.variable, "parts": miss.parts, "failing": miss.unsolved, "small": miss.small}
        hint = messages.text("scale.partition_hint", **parts, limit=limit)
    elif worst is None:
        hint = messages.text("plan.hint", limit=miss.suppressed_share)
    else:
        criterion = messages.text(f"plan.criterion.{worst.criterion.name}")
        hint = messages.text("plan.hint_criterion", criterion=criterion, rows=worst.rows, limit=limit)
    return NoFeasiblePlan(suppressed=miss.suppressed_rows, allowed=miss.allowed_rows, hint=hint)
