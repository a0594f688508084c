"""`run`: apply the plan, write the candidate to a scratch folder, measure it, keep it only if every rule holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.candidate import write_candidate
from celosia.data.engines.base import Engine
from celosia.data.table import Table
from celosia.model.paths import CandidatePaths
from celosia.model.plan import Plan, digest_of
from celosia.model.reports.report import Records, Report
from celosia.model.rules import RuleReport
from celosia.model.verdict import CheckReport, State
from celosia.pipeline.candidate.before_after_sample import RowSampler, save_sample
from celosia.pipeline.candidate.check_file import SourceReference, check_file
from celosia.pipeline.candidate.errors import CandidateFails, PlanStale
from celosia.pipeline.candidate.mel import refuse_unapproved
from celosia.pipeline.candidate.rule_context import context_of
from celosia.pipeline.candidate.rules import failing_text, judge_rules, rules_of
from celosia.pipeline.intake.errors import SourceMoved
from celosia.pipeline.intake.open_table import OpenTable, open_table, refuse_changed_source
from celosia.pipeline.planning.errors import NothingLeft
from celosia.pipeline.planning.households import renumber_households
from celosia.pipeline.planning.plan import drops_everybody, plan_of, search_input_for
from celosia.pipeline.planning.saved_solution import saved_solution
from celosia.pipeline.planning.search_input import SearchInput, mask_dependents, row_level_dependents
from celosia.pipeline.planning.solution import Solution
from celosia.pipeline.planning.solve import solve
from celosia.pipeline.planning.steps import AfterSteps, apply_project_steps
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.progress import Progress, compile_kernels, stage_progress
from celosia.solver.problem import NoSolution
from celosia.storage import (
    content_digest,
    make_private_folder,
    move,
    replace_folder,
    temporary_folder_beside,
    translate_write_errors,
)
from celosia.tuples.table import Tuples


@dataclass(frozen=True, slots=True, repr=False)
class RunResult(Report):
    """A candidate that passed, its check, and the rules of its protocols that can be judged by now."""

    candidate: Path
    plan: Plan
    check: CheckReport
    rules: RuleReport
    sampled: bool = True  # whether rows before and after were kept side by side

    @property
    def summary(self) -> str:
        """How many rows the candidate has, and how many rules fail."""
        return messages.text("reports.summary.run", rows=self.check.rows, failing=len(self.rules.failing))

    def records(self) -> Records:
        """One line per criterion that was measured on the written file."""
        return [{"rule": line["rule"], "value": line["measured"], "state": line["state"]} for line in self._verdicts()]

    def _verdicts(self) -> list[dict[str, Any]]:
        return list(self.check.as_dict()["verdicts"])

    def as_dict(self) -> dict[str, Any]:
        """The check and the rules, as the command line writes them with --json."""
        return {"candidate": str(self.candidate), **self.check.as_dict(), "rules": self.rules.as_dict()}


def run_plan(
    folder: ProjectArg,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
) -> RunResult:
    """Apply the project's plan; a candidate is left only if it was read back and every rule holds on it."""
    project, now = open_project(folder), utc_now(now)
    plan, journal, candidate = project.plan, project.paths.journal, project.paths.candidate
    refuse_unapproved(project)
    compile_kernels(report)
    refuse_stale(project, plan)
    with (
        open_table(project, traced=True, engine=engine, memory=memory) as before,
        apply_project_steps(project, source_of(plan, before), report=report) as after,
    ):
        # Rows that stay in a database have no order of their own: no sample before and after can be kept.
        prepared, sampled = after.source, before.table.has_origin
        search_input = search_input_for(project, prepared, **plan.asked)
        solution = reproduce_solution(project, after, search_input, plan, report)
        recorder = RowSampler(project.config.source.rows, plan.published)
        with temporary_folder_beside(candidate.folder) as scratch:
            draft = CandidatePaths(make_private_folder(scratch / candidate.folder.name))
            table = apply_solution(prepared.table, search_input, plan, solution, prepared.private)
            order = write_candidate(table, plan.published, prepared.person, draft.folder, recorder)
            sensitive = {name: replace(tuples, persons=None) for name, tuples in search_input.sensitive.items()}
            reference = reference_of(search_input, sensitive)
            # The persons behind the source's combinations may take half of the memory.
            del search_input, solution, table
            check = _check_candidate(draft, order, plan, reference, reading_engine(prepared.table), report)
            rules = _judge_candidate_rules(project, plan, check, draft) if check.holds else None
            if rules is None or rules.failing:
                _discard_former(candidate.folder, scratch)
                _journal.append_entry(journal, "run-refused", now, {"plan": plan.digest})
                raise CandidateFails(failing=_failing(check) if rules is None else failing_text(rules))
            if sampled:
                save_sample(before.table, recorder, check.digest, draft.sample)
            _journal.refuse_unwritable(journal)
            replace_folder(draft.folder, candidate.folder)
    facts = {"plan": plan.digest, "candidate": check.digest, "rows": check.rows, "suppressed": check.suppressed_rows}
    facts["otherwise_masked"] = check.otherwise_masked_rows
    _journal.append_entry(journal, "run", now, {**facts, "order": order_digest(candidate)})
    return RunResult(candidate.data, plan, check, rules, sampled)


def _discard_former(folder: Path, scratch: Path) -> None:
    """Remove the candidate of an earlier run: `evaluate` would measure it as if it were the present plan's."""
    if folder.exists():
        move(folder, scratch / "former")


def _judge_candidate_rules(project: Project, plan: Plan, check: CheckReport, candidate: CandidatePaths) -> RuleReport:
    """The rules of the protocols on the candidate, kept beside it; a project without protocol has none."""
    rules = rules_of(project)
    if not rules:
        return RuleReport(check.digest, ())
    report = judge_rules(context_of(project, plan, check, candidate), rules, "run")
    with translate_write_errors(candidate.folder):
        text = json.dumps(report.as_dict(), ensure_ascii=False, indent=2)
        candidate.rules.write_text(text + "\n", "utf-8", newline="\n")
    return report


def order_digest(candidate: CandidatePaths) -> str:
    """Digest of the private order of persons beside a candidate; empty where rows are counted."""
    return content_digest(candidate.order) if candidate.order.exists() else ""


def refuse_stale(project: Project, plan: Plan) -> None:
    """Stop where source or dictionary are no longer those that the plan was made from."""
    if plan.source != project.config.source.digest:
        raise PlanStale(what=messages.text("plan.stale_source"))
    if plan.dictionary != project.dictionary_digest:
        raise PlanStale(what=messages.text("plan.stale_dictionary"))


def source_of(plan: Plan, source: OpenTable) -> OpenTable:
    """What was opened, where its rows are those that the plan was made on: in place they may have changed."""
    try:
        return refuse_changed_source(source)
    except SourceMoved:
        raise PlanStale(what=messages.text("plan.stale_source")) from None


def reproduce_solution(
    project: Project, after: AfterSteps, search_input: SearchInput, plan: Plan, report: Progress
) -> Solution:
    """The plan's own solution: as it was saved for exactly this input, else found again.

    Any line of the plan that differs from what the solution makes stops the run.
    """
    if digest_of(search_input.policy.as_dict()) != digest_of(plan.policy):
        raise PlanStale(what=messages.text("plan.stale_policy"))
    saved = saved_solution(project, search_input)
    if saved is not None and plan_of(project, after, search_input, saved, plan.asked).digest == plan.digest:
        stage_progress(report, "search")(1.0)
        return saved
    solution = solve(search_input, report)
    if isinstance(solution, NoSolution):
        raise PlanStale(what=messages.text("plan.stale_outcome"))
    again = plan_of(project, after, search_input, solution, plan.asked)
    if again.digest != plan.digest:
        raise PlanStale(what=messages.text("plan.stale_outcome"))
    return solution


def reference_of(search_input: SearchInput, sensitive: Mapping[str, Tuples]) -> SourceReference:
    """What the candidate is compared with: the source as it was read for the search."""
    return SourceReference(
        search_input.quasi.n_rows, sensitive, search_input.sensitive_hierarchies, search_input.population
    )


def _check_candidate(
    target: CandidatePaths,
    order: Path | None,
    plan: Plan,
    reference: SourceReference,
    engine: Engine | None,
    report: Progress,
) -> CheckReport:
    stage_progress(report, "check")(0.5)
    check = check_file(target.data, plan, target.folder, order, reference, engine)
    with translate_write_errors(target.folder):
        target.verdict.write_text(
            json.dumps(check.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n"
        )
    return check


def reading_engine(table: Table) -> Engine | None:
    """The engine of a table where it can read the file that was written; without one, DuckDB does."""
    return table.engine if table.engine.reads_files else None


def apply_solution(
    table: Table, search_input: SearchInput, plan: Plan, solution: Solution, scratch: Path | None
) -> Table:
    """The table with what the plan publishes in place of the original; columns it does not name stay."""
    if drops_everybody(search_input.policy, solution):
        raise NothingLeft()
    dropped = solution.published.suppressed if search_input.policy.suppressed == "drop" else None
    tuples, width = solution.tuples, len(solution.published.names)
    # Link columns pass unchanged here; they are renumbered below by what each household publishes.
    codes = [*solution.published.codes.T, *tuples.codes[:, width:].T]
    vocabularies = [*solution.published.vocabularies, *tuples.vocabularies[width:]]
    masks = {name: mask for name, mask in solution.masks.items() if name in plan.published}
    table = solution.representatives.replace_in(table)
    table = table.recode(tuples, codes, vocabularies, masks, dropped)
    table = mask_dependents(table, row_level_dependents(plan.followers, plan.published, search_input.policy))
    if (links := tuples.names[width:]) and scratch is not None:
        table = renumber_households(table, plan.published, links, scratch)
    return table


def _failing(check: CheckReport) -> str:
    failed = [v for v in check.verdicts if v.state not in (State.HOLDS, State.ATTESTED)]
    return ", ".join(f"{messages.text(f'plan.criterion.{v.rule}')} ({v.failing_rows})" for v in failed)
