"""The result of a project as a page shows it: the verdict that `run` left, rows side by side, the saved evaluation.

Knows where a candidate, its verdict and its plan are. `result_view` and `side_by_side` measure nothing and take no
longer on a million rows than on a thousand, save for the digest of the file; `check_result` and `evaluation_report`
take long and save their reports.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from celosia import messages
from celosia.data.preview import VEIL, display_cell, is_veiled
from celosia.model.plan import Plan, digest_of
from celosia.model.reports.verification import InHouseReport
from celosia.model.rules import RuleReport, RuleResult, rule_report_from
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.values import is_masked
from celosia.model.variables import Treatment, Variable
from celosia.model.verdict import CheckReport
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.before_after_sample import Sample, read_sample
from celosia.pipeline.candidate.rule_context import original_names, read_check
from celosia.pipeline.planning.policy import policy_of
from celosia.pipeline.planning.step_syntax import plain_step
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.errors import BadProjectFile
from celosia.pipeline.project.fallbacks import value_or, value_or_reason
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.progress import Progress
from celosia.pipeline.project.saved_reports import save_report, saved_report
from celosia.protocols.load import combined_rules
from celosia.protocols.measures import MEASURES, Stage
from celosia.workbench.errors import NotOnThisEngine
from celosia.workbench.views.result import EvaluationView, LastCheck, LaterRule, Result, SideColumn, SideRow, Sides
from celosia.workbench.views.saved import Saved, saved_report_of

MOST_ROWS = 200  # of a side-by-side page
EVALUATION, CHECK = "evaluation", "check"  # names of saved reports
Entry = Mapping[str, Any]  # of the journal


def result_view(source: ProjectArg) -> Result:
    """The present candidate: verdict, what it gave up, rule by rule; quick, because nothing is measured again."""
    project = open_project(source)
    journal = project.journal.entries
    runs = [entry for entry in journal if entry.get("what") in ("run", "run-refused")]
    refused = str(runs[-1]["when"]) if runs and runs[-1]["what"] == "run-refused" else ""
    checked = value_or(None, lambda: (read_check(project.paths.candidate), project.plan))
    if checked is None:
        return Result(candidate=False, refused=refused)
    check, plan = checked
    run: Entry = next((entry for entry in reversed(runs) if entry["what"] == "run"), {})
    origin_names = set(original_names(plan).values())
    return Result(
        candidate=True,
        refused=refused,
        stale=_stale_parts(project, plan, check, run),
        digest=check.digest,
        when=str(run.get("when", "")),
        method=plan.method,
        source_rows=project.config.source.rows,
        rows=check.rows,
        classes=check.classes,
        k=check.k,
        k_persons=check.k_persons,
        suppression=check.suppression,
        masked={name: rows for name, rows in plan.masked_sensitive.items() if rows and name in plan.published},
        loss=plan.loss,
        loss_definition=plan.loss_definition,
        published=plan.published,
        withheld=tuple(variable.name for variable in project.variables if variable.name not in origin_names),
        verdicts=check.verdicts,
        rules=_rule_results(project, check),
        later=_later_rules(project),
        check=_last_check(journal, check),
    )


def _last_check(journal: Sequence[Entry], check: CheckReport) -> LastCheck | None:
    for entry in reversed(journal):
        facts = entry.get("facts") or {}
        if entry.get("what") == "check" and facts.get("candidate") == check.digest:
            return LastCheck(str(entry["when"]), str(entry["who"]), bool(facts["agrees"]), bool(facts["holds"]))
    return None


def _rule_results(project: Project, check: CheckReport) -> tuple[RuleResult, ...]:
    """The rules as the run judged them on this very file."""
    path = project.paths.candidate.rules
    if not path.is_file():
        return ()
    try:
        report = rule_report_from(json.loads(path.read_text("utf-8")), str(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadProjectFile(path=str(path), line="?") from None
    return report.results if report.digest == check.digest else ()


def _later_rules(project: Project) -> tuple[LaterRule, ...]:
    rules = combined_rules(project.config.protocols, project.settings.get("overrides", {}))
    stages = [(rule, MEASURES[rule.measure].since) for rule in rules]
    return tuple(
        LaterRule(rule.protocol, rule.id, rule.section, since.name.lower())
        for rule, since in stages
        if since in (Stage.RELEASE, Stage.PUBLISH)
    )


# --- does the candidate belong to the project as it is now? ----------------------------------------


def _stale_parts(project: Project, plan: Plan, check: CheckReport, run: Entry) -> tuple[str, ...]:
    facts = run.get("facts") or {}
    declared = [dict(plain_step(step)) for step in project.settings.get("steps", ())]
    differences = {
        "source": plan.source != project.config.source.digest,
        "dictionary": plan.dictionary != project.dictionary_digest,
        "steps": declared != [dict(step) for step in plan.steps],
        "policy": not _is_same_policy(project, plan),
        "plan": facts.get("plan") != plan.digest,
        "file": facts.get("candidate") != check.digest or _candidate_digest(project) != check.digest,
    }
    return tuple(what for what, differs in differences.items() if differs)


def _is_same_policy(project: Project, plan: Plan) -> bool:
    """Whether the settings still add up to the policy of the plan."""
    published = {old: new for new, old in original_names(plan).items()}
    lines = [_planned_variable(variable, published.get(variable.name)) for variable in project.variables]
    policy = value_or(None, lambda: policy_of(project.settings, lines, project.config.protocols, **plan.asked))
    return policy is not None and digest_of(policy.as_dict()) == digest_of(plan.policy)


def _planned_variable(variable: Variable, name: str | None) -> Variable:
    """The variable under the name it is published with; one that a step took away is published no more."""
    if name is None:
        return replace(variable, purpose="", treatment=Treatment.REMOVE)
    return replace(variable, name=name)


def _candidate_digest(project: Project) -> str:
    try:
        with project.paths.candidate.data.open("rb") as stream:
            return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except OSError:
        return ""


# --- rows side by side ------------------------------------------------------------------------------


def side_by_side(source: ProjectArg, rows: int = 20, offset: int = 0) -> Sides:
    """Rows of the source beside what is published of the same rows; private cells of the source are veiled."""
    if not 0 < rows <= MOST_ROWS or offset < 0:
        raise ValueOutOfRange(parameter="rows", given=str(rows), allowed=f"1–{MOST_ROWS}")
    project = open_project(source)
    candidate = project.paths.candidate
    saved = read_sample(candidate.sample, rows, offset)
    if project.in_place is not None:
        raise NotOnThisEngine(what=messages.text("scale.side_by_side"), engine="PostgreSQL")
    if saved is None or saved[0].digest != read_check(candidate).digest:
        raise NoCandidate(path=str(project.folder))
    sample, count = saved
    variables = {variable.name: variable for variable in project.variables}
    keys = {project.config.person, project.config.household}
    columns = tuple(
        SideColumn(old, new, old in keys or is_veiled(variables.get(old, Variable(old))))
        for old, new in _column_pairs(sample, project.plan)
    )
    before = [_cells_before(sample, column) for column in columns]
    quasi = [sample.published.index(name) for name in project.plan.policy["quasi"] if name in sample.published]
    shown = tuple(
        _side_row(sample, place, columns, tuple(cells[place] for cells in before), quasi)
        for place in range(len(sample.before))
    )
    return Sides(columns, shown, offset, count, project.config.source.rows)


def _column_pairs(sample: Sample, plan: Plan) -> list[tuple[str, str]]:
    """Published columns in their order, each with the one it comes from, then those that do not leave."""
    source = original_names(plan)
    leaving = [(source.get(name, name), name) for name in sample.published]
    pairs = [(old if old in sample.columns else "", new) for old, new in leaving]
    taken = {old for old, _ in pairs}
    return [*pairs, *((name, "") for name in sample.columns if name not in taken)]


def _cells_before(sample: Sample, column: SideColumn) -> tuple[str, ...]:
    """A column of the source as it may be seen; a column that a step made has none."""
    if not column.before:
        return ("",) * len(sample.before)
    place = sample.columns.index(column.before)
    return tuple(VEIL if column.veiled else display_cell(row[place]) for row in sample.before)


def _side_row(
    sample: Sample, place: int, columns: Sequence[SideColumn], before: tuple[str, ...], quasi: Sequence[int]
) -> SideRow:
    cells, after = dict(zip(sample.columns, sample.before[place], strict=True)), sample.after[place]
    number = sample.positions[place] + 1
    if after is None:
        return SideRow(number, before, None, (True,) * len(sample.published), False)
    changed = tuple(cells.get(column.before) != new for column, new in zip(columns, after, strict=False))
    suppressed = bool(quasi) and all(is_masked(after[column]) for column in quasi)
    shown = tuple(
        VEIL if column.veiled and not differs else display_cell(cell)  # an identifier that is published as it was
        for column, differs, cell in zip(columns, changed, after, strict=False)
    )
    return SideRow(number, before, shown, changed, suppressed)


# --- reports that take long ------------------------------------------------------------------------


def check_result(source: ProjectArg, *, now: datetime | None = None, report: Progress = None) -> InHouseReport:
    """Read the candidate back, judge it again as `check` does, and save the report for the page."""
    from celosia.pipeline.candidate.verifier_check import check_candidate, recheck_candidate, recorded_digest

    project = open_project(source)
    if project.config.protocols:
        checked = check_candidate(project, now=now, report=report)
    else:  # without a norm there are criteria alone
        judged = recheck_candidate(project, report)
        check = judged.check
        checked = InHouseReport(check, RuleReport(check.digest, ()), recorded_digest(judged.candidate))
        facts = {"candidate": check.digest, "agrees": checked.agrees, "holds": checked.agrees and check.holds}
        _journal.append_entry(project.paths.journal, "check", utc_now(now), facts)
    also = (project.paths.plan, project.paths.candidate.verdict)
    save_report(project, CHECK, checked.as_dict(), also=also, now=now)
    return checked


def evaluation_report(source: ProjectArg, *, now: datetime | None = None, report: Progress = None) -> dict[str, Any]:
    """Compare source and candidate and save losses, distributions, risk, and what the norms ask to preserve."""
    from celosia.pipeline.assessment.evaluate import evaluate

    project = open_project(source)
    known = {variable.name for variable in project.variables}
    renamed = {new: old for new, old in original_names(project.plan).items() if new != old and old in known}
    evaluation = evaluate(project, match=renamed or None, report=report)
    document = {
        "candidate": read_check(project.paths.candidate).digest,
        "evaluation": evaluation.as_dict(),
        "closing": _closing_document(project, report),
        "contrast": _contrast_document(project),
    }
    also = (project.paths.plan, project.paths.candidate.verdict)
    save_report(project, EVALUATION, document, also=also, now=now)
    return document


def _closing_document(project: Project, report: Progress) -> dict[str, Any] | None:
    """The properties that the request chose; None where it chose none."""
    from celosia.pipeline.candidate.closing_evaluation import closing_evaluation

    if project.request is None or not project.request.properties:
        return None
    return closing_evaluation(project, report=report).as_dict()


def _contrast_document(project: Project) -> dict[str, Any] | None:
    """MEL's contrast over the variables chosen in the request; None under other norms or before they are chosen."""
    from celosia.pipeline.candidate.mel import contrast_report

    if "mel" not in project.config.protocols:
        return None
    # Refused where the choice of variables is not made yet, or not as the norm asks.
    contrast, reason = value_or_reason(None, lambda: contrast_report(project).as_dict())
    return {"refused": reason} if contrast is None else contrast


def evaluation_view(source: ProjectArg) -> Saved[EvaluationView] | None:
    """The saved evaluation with the residual risk in words; None before there is one."""
    from celosia.dossier.evaluation import residual_risk

    saved = saved_report(source, EVALUATION)
    if saved is None:
        return None
    view = saved_report_of(EvaluationView, {**saved.document, "residual": ""}, saved.when, saved.stale)
    if view is None:
        return None
    return replace(view, report=replace(view.report, residual=residual_risk(view.report.evaluation.risk)))
