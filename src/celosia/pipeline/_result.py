"""The result of a project as a page shows it: the verdict from what `run` left, rows side by side, the evaluation kept.

Knows where a candidate, its verdict and its plan are. `result_view` and `side_by_side` measure nothing and take no
longer on a million rows than on a thousand, save for the digest of the file; `check_result` and `evaluation_report`
are long and keep what they found.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.preview import VEIL, is_veiled, shown_cell
from celosia.errors import BadProjectFile, CelosiaError, NoCandidate, NotOnThisEngine, ValueOutOfRange
from celosia.model.evaluation import RiskComparison, RiskSide
from celosia.model.plan import Plan, digest_of
from celosia.model.results import LastCheck, LaterRule, Result, SideColumn, SideRow, Sides
from celosia.model.rules import RuleReport, RuleResult, rule_report_from
from celosia.model.values import is_masked
from celosia.model.variables import Treatment, Variable
from celosia.model.verdict import CheckReport
from celosia.model.verification import InHouseReport
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._kept import keep_report, kept_report
from celosia.pipeline._plan import dictionary_digest, read_plan
from celosia.pipeline._policy import policy_of
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._rule_context import origins, read_check
from celosia.pipeline._sample import FILE, Sample, read_sample
from celosia.pipeline._step_text import plain_step
from celosia.protocols import MEASURES, Stage, combined

MOST_ROWS = 200  # of a side-by-side page
EVALUATION, CHECK = "evaluation", "check"  # names of the reports kept
_DEPENDS = ("plan.json", "private/candidate/verdict.json")


def result_view(folder: Place) -> Result:
    """The present candidate: verdict, what it gave up, rule by rule; quick, because nothing is measured again."""
    project = open_project(folder)
    journal = _journal.entries(project.journal_path)
    refused = _refused(journal)
    home = project.folder / "private" / "candidate"
    try:
        check, plan = read_check(home), read_plan(project.folder)
    except CelosiaError:
        return Result(candidate=False, refused=refused)
    run = _last(journal, "run")
    suppressed, share = _suppressed(check, plan)
    kept = set(origins(plan).values())
    return Result(
        candidate=True,
        refused=refused,
        stale=_stale(project, plan, check, run),
        digest=check.digest,
        when=str(run.get("when", "")),
        method=plan.method,
        source_rows=project.config.source.rows,
        rows=check.rows,
        classes=check.classes,
        k=check.k,
        k_persons=check.k_persons,
        suppressed_rows=suppressed,
        suppressed_share=share,
        dropped=_drops(plan),
        masked={name: rows for name, rows in plan.masked_sensitive.items() if rows and name in plan.published},
        loss=plan.loss,
        loss_definition=plan.loss_definition,
        published=plan.published,
        withheld=tuple(one.name for one in project.variables() if one.name not in kept),
        verdicts=check.verdicts,
        rules=_rule_results(project.folder, check),
        later=_later(project),
        check=_last_check(journal, check),
    )


def _last(journal: Sequence[Mapping[str, Any]], what: str) -> Mapping[str, Any]:
    return next((entry for entry in reversed(journal) if entry.get("what") == what), {})


def _refused(journal: Sequence[Mapping[str, Any]]) -> str:
    """When the last run was refused, if no other came after it."""
    runs = [entry for entry in journal if entry.get("what") in ("run", "run-refused")]
    return str(runs[-1]["when"]) if runs and runs[-1]["what"] == "run-refused" else ""


def _last_check(journal: Sequence[Mapping[str, Any]], check: CheckReport) -> LastCheck | None:
    for entry in reversed(journal):
        facts = entry.get("facts") or {}
        if entry.get("what") == "check" and facts.get("candidate") == check.digest:
            return LastCheck(str(entry["when"]), str(entry["who"]), bool(facts["agrees"]), bool(facts["holds"]))
    return None


def _drops(plan: Plan) -> bool:
    return str(plan.policy.get("suppressed", "keep")) == "drop"


def _suppressed(check: CheckReport, plan: Plan) -> tuple[int, float]:
    """Rows suppressed, and their share of the rows that were there (M26)."""
    count = plan.suppressed_rows if _drops(plan) else check.suppressed_rows
    total = check.rows + count if _drops(plan) else check.rows
    return count, count / total if total else 0.0


def _rule_results(folder: Path, check: CheckReport) -> tuple[RuleResult, ...]:
    """The rules as the run judged them on this very file."""
    path = folder / "private" / "candidate" / "rules.json"
    if not path.is_file():
        return ()
    try:
        found = rule_report_from(json.loads(path.read_text("utf-8")), str(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise BadProjectFile(path=str(path), line="?") from None
    return found.results if found.digest == check.digest else ()


def _later(project: Project) -> tuple[LaterRule, ...]:
    stated = read_toml(project.folder / "celosia.toml").get("overrides", {})
    found = [(rule, MEASURES[rule.measure].since) for rule in combined(project.config.protocols, stated)]
    return tuple(
        LaterRule(rule.protocol, rule.id, rule.section, since.name.lower())
        for rule, since in found
        if since in (Stage.RELEASE, Stage.PUBLISH)
    )


# --- does the candidate belong to the project as it is now? ----------------------------------------


def _stale(project: Project, plan: Plan, check: CheckReport, run: Mapping[str, Any]) -> tuple[str, ...]:
    facts = run.get("facts") or {}
    document = read_toml(project.folder / "celosia.toml")
    declared = [dict(plain_step(step)) for step in document.get("steps", ())]
    found = {
        "source": plan.source != project.config.source.digest,
        "dictionary": plan.dictionary != dictionary_digest(project),
        "steps": declared != [dict(step) for step in plan.steps],
        "policy": not _same_policy(project, plan, document),
        "plan": facts.get("plan") != plan.digest,
        "file": facts.get("candidate") != check.digest or _digest(project.folder) != check.digest,
    }
    return tuple(what for what, differs in found.items() if differs)


def _same_policy(project: Project, plan: Plan, document: Mapping[str, Any]) -> bool:
    """Whether the settings still add up to the policy of the plan."""
    place = {old: new for new, old in origins(plan).items()}
    lines = [_as_planned(variable, place.get(variable.name)) for variable in project.variables()]
    try:
        policy = policy_of(document, lines, project.config.protocols, **plan.asked)
    except CelosiaError:
        return False
    return digest_of(policy.as_dict()) == digest_of(plan.policy)


def _as_planned(variable: Variable, name: str | None) -> Variable:
    """The variable under the name it is published with; one that a step took away is published no more."""
    if name is None:
        return replace(variable, purpose="", treatment=Treatment.REMOVE)
    return replace(variable, name=name)


def _digest(folder: Path) -> str:
    try:
        with (folder / "private" / "candidate" / "data.csv").open("rb") as stream:
            return f"sha256:{hashlib.file_digest(stream, 'sha256').hexdigest()}"
    except OSError:
        return ""


# --- rows side by side ------------------------------------------------------------------------------


def side_by_side(folder: Place, rows: int = 20, offset: int = 0) -> Sides:
    """Rows of the source beside what is published of the same rows; private cells of the source are veiled."""
    if not 0 < rows <= MOST_ROWS or offset < 0:
        raise ValueOutOfRange(parameter="rows", given=str(rows), allowed=f"1–{MOST_ROWS}")
    project = open_project(folder)
    home = project.folder / "private" / "candidate"
    found = read_sample(home / FILE, rows, offset)
    if project.in_place is not None:
        raise NotOnThisEngine(what=messages.text("scale.side_by_side"), engine="PostgreSQL")
    if found is None or found[0].digest != read_check(home).digest:
        raise NoCandidate(path=str(project.folder))
    sample, kept = found
    plan = read_plan(project.folder)
    described = {one.name: one for one in project.variables()}
    pairs = _pairs(sample, plan)
    keys = {project.config.person, project.config.household}
    columns = tuple(
        SideColumn(old, new, old in keys or is_veiled(described.get(old, Variable(old)))) for old, new in pairs
    )
    before = [_column_before(sample, one.before, one.veiled) for one in columns]
    quasi = [sample.published.index(name) for name in plan.policy["quasi"] if name in sample.published]
    made = tuple(_row(sample, i, columns, [cells[i] for cells in before], quasi) for i in range(len(sample.before)))
    return Sides(columns, made, offset, kept, project.config.source.rows)


def _pairs(sample: Sample, plan: Plan) -> list[tuple[str, str]]:
    """Published columns in their order, each with the one it comes from, then those that do not leave."""
    source = origins(plan)
    leaving = [(source.get(name, name), name) for name in sample.published]
    pairs = [(old if old in sample.columns else "", new) for old, new in leaving]
    taken = {old for old, _ in pairs}
    return [*pairs, *((name, "") for name in sample.columns if name not in taken)]


def _column_before(sample: Sample, name: str, veiled: bool) -> tuple[str, ...]:
    """A column of the source as it may be seen; a column that a step made has none."""
    if not name:
        return ("",) * len(sample.before)
    place = sample.columns.index(name)
    return tuple(VEIL if veiled else shown_cell(row[place]) for row in sample.before)


def _row(sample: Sample, i: int, columns: Sequence[SideColumn], before: Sequence[str], quasi: Sequence[int]) -> SideRow:
    cells, after = dict(zip(sample.columns, sample.before[i], strict=True)), sample.after[i]
    position = sample.positions[i] + 1
    if after is None:
        return SideRow(position, tuple(before), None, (True,) * len(sample.published), False)
    changed = tuple(cells.get(one.before) != new for one, new in zip(columns, after, strict=False))
    starred = bool(quasi) and all(is_masked(after[place]) for place in quasi)
    shown = [
        VEIL if one.veiled and not differs else shown_cell(text)  # an identifier that is published as it was
        for one, differs, text in zip(columns, changed, after, strict=False)
    ]
    return SideRow(position, tuple(before), tuple(shown), changed, starred)


# --- long work, whose report is kept ----------------------------------------------------------------


def check_result(folder: Place, *, now: datetime | None = None, report: Progress = None) -> InHouseReport:
    """Read the candidate back and judge it again, as `check` does, and keep the report for the page."""
    from celosia.pipeline._in_house import check_in_house, judge_candidate, recorded_digest

    if open_project(folder).config.protocols:
        made = check_in_house(folder, now=now, report=report)
    else:  # without a norm there are criteria alone
        found = judge_candidate(folder, report)
        made = InHouseReport(found.check, RuleReport(found.check.digest, ()), recorded_digest(found.candidate))
        facts = {"candidate": found.check.digest, "agrees": made.agrees, "holds": made.agrees and found.check.holds}
        _journal.append(found.project.journal_path, "check", moment(now), facts)
    keep_report(folder, CHECK, made.as_dict(), also=_DEPENDS, now=now)
    return made


def evaluation_report(folder: Place, *, now: datetime | None = None, report: Progress = None) -> dict[str, Any]:
    """Compare source and candidate and keep what was found: losses, distributions, risk, what the norms ask to keep."""
    from celosia.pipeline._evaluate import evaluate

    project = open_project(folder)
    plan = read_plan(project.folder)
    match = {new: old for new, old in origins(plan).items() if new != old}
    known = {variable.name for variable in project.variables()}
    renamed = {new: old for new, old in match.items() if old in known}
    found = evaluate(project.folder, match=renamed or None, report=report)
    document = {
        "candidate": read_check(project.folder / "private" / "candidate").digest,
        "evaluation": found.as_dict(),
        "closing": _closing(project, report),
        "contrast": _contrast(project),
    }
    keep_report(folder, EVALUATION, document, also=_DEPENDS, now=now)
    return document


def _closing(project: Project, report: Progress) -> dict[str, Any] | None:
    """The properties that the request chose; None where it chose none."""
    from celosia.pipeline._closing import closing_evaluation
    from celosia.pipeline._request import read_request

    if not (project.folder / "request.toml").is_file() or not read_request(project.folder).properties:
        return None
    return closing_evaluation(project.folder, report=report).as_dict()


def _contrast(project: Project) -> dict[str, Any] | None:
    """MEL's contrast over the variables chosen in the request; None under other norms or before they are chosen."""
    from celosia.pipeline._mel import contrast_report

    if "mel" not in project.config.protocols:
        return None
    try:
        return contrast_report(project.folder).as_dict()
    except CelosiaError as fault:  # the choice of variables is not made yet, or not as the norm asks: said in words
        return {"refused": str(fault)}


def evaluation_view(folder: Place) -> dict[str, Any] | None:
    """The evaluation that was kept, with the risk that is left in words; None before there is one."""
    from celosia.dossier import residual_risk

    kept = kept_report(folder, EVALUATION)
    if kept is None:
        return None
    risk = kept.document["evaluation"]["risk"]
    compared = None
    if risk:
        before, after = RiskSide(**risk["before"]), RiskSide(**risk["after"])
        compared = RiskComparison(tuple(risk["quasi"]), risk["threshold"], before, after)
    return {**kept.document, "when": kept.when, "stale": kept.stale, "residual": residual_risk(compared)}
