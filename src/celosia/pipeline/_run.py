"""`run`: apply the plan, write the candidate aside, read it back, measure it; keep it only if every rule holds."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from celosia import messages
from celosia.data.candidate import write_candidate
from celosia.data.engines import Engine
from celosia.data.files import content_digest, private_folder, scratch_beside, writing_into
from celosia.data.table import Table
from celosia.errors import CandidateFails, NothingLeft, PlanStale, SourceMoved
from celosia.hierarchy import CompiledHierarchy
from celosia.model.plan import Plan, digest_of
from celosia.model.rules import RuleReport
from celosia.model.verdict import CheckReport, State
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._check import check_file
from celosia.pipeline._ground import Ground, masked_along, told_by_row
from celosia.pipeline._households import renumbered
from celosia.pipeline._mel import refuse_unapproved
from celosia.pipeline._open import Opened, opened, settled_source
from celosia.pipeline._plan import dictionary_digest, drops_everybody, ground_for, plan_of, read_plan
from celosia.pipeline._progress import Progress, ready_kernels, stage
from celosia.pipeline._project import Project, open_project
from celosia.pipeline._rule_context import context_of
from celosia.pipeline._rules import failing_text, judge_rules, rules_of
from celosia.pipeline._sample import FILE, Watched, save_sample
from celosia.pipeline._solve import Solution, solve
from celosia.pipeline._steps import Stepped, stepped
from celosia.risk import PopulationLevels
from celosia.solver import NoSolution
from celosia.tuples import Tuples


@dataclass(frozen=True, slots=True)
class Ran:
    """A candidate that passed, its check, and the rules of its protocols that can be judged by now."""

    candidate: Path
    plan: Plan
    check: CheckReport
    rules: RuleReport
    sampled: bool = True  # whether rows before and after were kept side by side


def run_plan(
    folder: Place,
    *,
    now: datetime | None = None,
    report: Progress = None,
    engine: str | None = None,
    memory: str | None = None,
) -> Ran:
    """Apply the project's plan; a candidate is left only if it was read back and every rule holds on it."""
    project, now = open_project(folder), moment(now)
    folder = project.folder
    plan = read_plan(folder)
    refuse_unapproved(project)
    ready_kernels(report)
    _refuse_stale(project, plan)
    with (
        opened(folder, traced=True, engine=engine, memory=memory) as source,
        stepped(project, source_of(plan, source), report=report) as after,
    ):
        found, sampled = after.found, source.table.traced  # rows that stay in a database have no order of their own
        ground = ground_for(project, found, **plan.asked)
        solution = solved_again(project, after, ground, plan, report)
        watched = Watched(project.config.source.rows, plan.published)
        with scratch_beside(folder / "private" / "candidate") as scratch:
            made = private_folder(scratch / "candidate")
            order = _written(found, ground, plan, solution, made, watched)
            against = _reference(ground)
            del ground, solution  # the persons behind the source's combinations may take half of the memory
            check = _checked(made, order, plan, against, reading_engine(found.table), report)
            if not check.holds:
                _journal.append(project.journal_path, "run-refused", now, {"plan": plan.digest})
                raise CandidateFails(failing=_failing(check))
            rules = _rules_judged(project, plan, check, scratch / "candidate")
            if rules.failing:
                _journal.append(project.journal_path, "run-refused", now, {"plan": plan.digest})
                raise CandidateFails(failing=failing_text(rules))
            if sampled:
                save_sample(source.table, watched, check.digest, made / FILE)
            _journal.refuse_unwritable(project.journal_path)
            _put_in_place(scratch / "candidate", folder / "private" / "candidate")
    facts = {"plan": plan.digest, "candidate": check.digest, "rows": check.rows, "suppressed": check.suppressed_rows,
             "order": order_digest(folder / "private" / "candidate")}  # fmt: skip
    _journal.append(project.journal_path, "run", now, facts)
    return Ran(folder / "private" / "candidate" / "data.csv", plan, check, rules, sampled)


def _rules_judged(project: Project, plan: Plan, check: CheckReport, candidate: Path) -> RuleReport:
    """The rules of the protocols on the candidate, kept beside it; a project without protocol has none."""
    rules = rules_of(project.folder)
    if not rules:
        return RuleReport(check.digest, ())
    report = judge_rules(context_of(project, plan, check, candidate), rules, "run")
    with writing_into(candidate):
        text = json.dumps(report.as_dict(), ensure_ascii=False, indent=2)
        (candidate / "rules.json").write_text(text + "\n", "utf-8")
    return report


def order_digest(candidate: Path) -> str:
    """Digest of the private order of persons beside a candidate; empty where rows are counted."""
    path = candidate / "order.parquet"  # a file, or a folder of parts
    return content_digest(path) if path.exists() else ""


def _refuse_stale(project: Project, plan: Plan) -> None:
    if plan.source != project.config.source.digest:
        raise PlanStale(what=messages.text("plan.stale_source"))
    if plan.dictionary != dictionary_digest(project):
        raise PlanStale(what=messages.text("plan.stale_dictionary"))


def source_of(plan: Plan, found: Opened) -> Opened:
    """What was opened, where its rows are those that the plan was made on: in place they may have changed."""
    try:
        return settled_source(found)
    except SourceMoved:
        raise PlanStale(what=messages.text("plan.stale_source")) from None


def solved_again(project: Project, after: Stepped, ground: Ground, plan: Plan, report: Progress) -> Solution:
    """The plan's own solution, found again from plan and source; any line that differs stops the run."""
    if digest_of(ground.policy.as_dict()) != digest_of(plan.policy):
        raise PlanStale(what=messages.text("plan.stale_policy"))
    solution = solve(ground, report)
    if isinstance(solution, NoSolution) or plan_of(project, after, ground, solution, plan.asked).digest != plan.digest:
        raise PlanStale(what=messages.text("plan.stale_outcome"))
    return solution


def _written(
    found: Opened, ground: Ground, plan: Plan, solution: Solution, target: Path, watched: Watched
) -> Path | None:
    table = as_published(found.table, ground, plan, solution, found.private)
    return write_candidate(table, plan.published, found.person, target, watched)


@dataclass(frozen=True, slots=True)
class _Reference:
    """What a written file is held against: how many rows the source has, and how its sensitive values lie in them."""

    rows: int
    sensitive: Mapping[str, Tuples]
    hierarchies: Mapping[str, CompiledHierarchy]
    population: PopulationLevels | None


def _reference(ground: Ground) -> _Reference:
    sensitive = {name: replace(tuples, persons=None) for name, tuples in ground.sensitive.items()}
    return _Reference(ground.quasi.n_rows, sensitive, ground.sensitive_hierarchies, ground.population)


def _checked(
    target: Path, order: Path | None, plan: Plan, against: _Reference, engine: Engine | None, report: Progress
) -> CheckReport:
    if told := stage(report, "check"):
        told(0.5)
    check = check_file(target / "data.csv", plan, target, order, against.sensitive, against.rows, against.hierarchies,
                       against.population, engine)  # fmt: skip
    with writing_into(target):
        (target / "verdict.json").write_text(json.dumps(check.as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    return check


def reading_engine(table: Table) -> Engine | None:
    """The engine of a table where it can read the file that was written; else nobody, and DuckDB does."""
    return table.engine if table.engine.reads_files else None


def as_published(table: Table, ground: Ground, plan: Plan, solution: Solution, scratch: Path) -> Table:
    """The table with what the plan publishes in place of the original; columns it does not name stay."""
    if drops_everybody(ground.policy, solution):
        raise NothingLeft()
    dropped = solution.published.suppressed if ground.policy.suppressed == "drop" else None
    tuples, width = solution.tuples, len(solution.published.names)
    codes = [*solution.published.codes.T, *tuples.codes[:, width:].T]  # link columns pass as they are …
    vocabularies = [*solution.published.vocabularies, *tuples.vocabularies[width:]]
    masks = {name: mask for name, mask in solution.masks.items() if name in plan.published}
    table = solution.stand_ins.put_in(table)
    table = table.recode(tuples, codes, vocabularies, masks, dropped)
    table = masked_along(table, told_by_row(plan.followers, plan.published, ground.policy))
    if links := tuples.names[width:]:
        table = renumbered(table, plan.published, links, scratch)  # … and numbered by what each household publishes
    return table


def _put_in_place(made: Path, target: Path) -> None:
    """Replace the old candidate by the new one; a kill in between leaves one of them whole."""
    old = target.with_name(".candidate.old")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        os.rename(target, old)
    os.rename(made, target)
    shutil.rmtree(old, ignore_errors=True)


def _failing(check: CheckReport) -> str:
    failed = [v for v in check.verdicts if v.state not in (State.HOLDS, State.ATTESTED)]
    return ", ".join(f"{messages.text(f'plan.criterion.{v.rule}')} ({v.failing_rows})" for v in failed)
