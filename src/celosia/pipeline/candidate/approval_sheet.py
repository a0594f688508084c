"""The approval sheet of a project: what `approve` and `sign` show, collected from the project's files.

Knows the plan, the candidate and what was measured on it. The rows that it shows are of the written candidate alone,
from combinations that k rows or more share, and are published anyway. Nothing in it depends on the day or the reader.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from celosia import messages
from celosia.data.candidate import read_back
from celosia.dossier.approval_sheet import FrontierLine, SheetFacts, approval_sheet
from celosia.dossier.document import Document
from celosia.dossier.intruder_words import finding_sentence, intruder_sentences
from celosia.dossier.minsal import Attempts, Override
from celosia.dossier.reports import RuleLine
from celosia.dossier.stored import document_text
from celosia.dossier.technique import done_by
from celosia.model.people import Approval
from celosia.model.plan import Plan
from celosia.model.protocols import Severity
from celosia.model.reports.attacks import attack_report_from
from celosia.model.rules import RuleReport, RuleResult
from celosia.model.verdict import CheckReport, State
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.errors import NothingToApprove
from celosia.pipeline.candidate.present_state import judged_rules, plan_and_check
from celosia.pipeline.candidate.rule_context import original_names, published_variables
from celosia.pipeline.candidate.rules import rules_of
from celosia.pipeline.planning.report_basis import basis_of, current_policy
from celosia.pipeline.project.folder import Project
from celosia.pipeline.project.saved_reports import saved_report
from celosia.protocols.words import asked_text, measured_text, sentence_of
from celosia.risk.classes import fully_masked
from celosia.risk.measures import measure
from celosia.storage import temporary_folder_beside
from celosia.tuples.finer import tuples_with_each
from celosia.tuples.table import Tuples

SUBJECTS = ("plan", "candidate", "residual", "release")
_SHOWN_ROWS = 3
_LONGEST = 60  # characters of a cell; published text may be longer than a page is wide


def sheet_for(
    project: Project,
    what: str,
    *,
    rules: RuleReport | None = None,
    residual: Mapping[str, Any] | None = None,
    approvals: Sequence[Approval] = (),
    language: str | None = None,
) -> Document:
    """What a person is shown before approving or signing; `rules` where they were judged later than the run."""
    plan, check = plan_and_check(project)
    if plan is None or (check is None and what != "plan"):
        raise NothingToApprove(what=what)
    spoken = language or project.config.language
    with messages.speaking(spoken):
        facts = _collect_facts(project, what, plan, check, rules or judged_rules(project, check))
        facts = facts | {"residual": residual or {}, "approvals": tuple(approvals)}
        return approval_sheet(SheetFacts(**facts), spoken)


def sheet_digest(sheet: Document) -> str:
    """What stands for every word of a sheet."""
    return "sha256:" + hashlib.sha256(document_text(sheet).encode("utf-8")).hexdigest()


def _collect_facts(
    project: Project, what: str, plan: Plan, check: CheckReport | None, rules: RuleReport | None
) -> dict[str, Any]:
    request, published = project.request, set(original_names(plan).values())
    withheld = tuple(variable.name for variable in project.variables if variable.name not in published)
    title = (request.title or str(request.source.get("name", ""))) if request else ""
    measured = _measured_on_file(project, plan, check) if check else {}
    return {
        "what": what,
        "title": title or project.config.name,
        "project": project.config.name,
        "plan": plan,
        "protocols": protocol_titles(project),
        "variables": published_variables(project.variables, plan),
        "withheld": withheld,
        "check": check,
        "done": done_by(plan, check, len(withheld)) if check else None,
        "persons": project.config.person is not None,
        "frontier": _near_points(project, plan),
        "attempts": _attempts(project, check),
        "findings": _findings(project, check),
        "rules": rule_lines(rules),
        "overrides": override_lines(project),
        **measured,
    }


def protocol_titles(project: Project) -> tuple[str, ...]:
    """The norms of a project by their titles."""
    return tuple(messages.text(f"protocols.title.{name}") for name in project.config.protocols)


def override_lines(project: Project) -> tuple[Override, ...]:
    """What the project asks otherwise than its norms, and why."""
    changed = [rule for rule in rules_of(project) if rule.overridden]
    return tuple(Override(rule.protocol, sentence_of(rule), rule.overridden) for rule in changed)


def rule_lines(report: RuleReport | None) -> tuple[RuleLine, ...]:
    """The rules judged, in words."""
    return tuple(
        RuleLine(
            sentence_of(result),
            result.protocol,
            result.section,
            asked_text(result),
            measured_text(result),
            _state_words(result),
        )
        for result in (report.results if report else ())
    )


def _state_words(result: RuleResult) -> str:
    """How a rule ended; one that only recommends says so where it is not met."""
    words = messages.text(f"plan.state_words.{result.state.value}")
    recommends = result.severity is Severity.SHOULD and result.state not in (State.HOLDS, State.ATTESTED)
    return messages.text("documents.internal.recommended", state=words) if recommends else words


# --- the written file -----------------------------------------------------------------------------


def _measured_on_file(project: Project, plan: Plan, check: CheckReport) -> dict[str, Any]:
    """The least number of distinct sensitive values in a group, and a few rows of the most repeated combinations."""
    quasi, data = plan.policy["quasi"], project.paths.candidate.data
    sensitive = [name for name in plan.policy["sensitive"] if name in plan.published]
    asked = [int(criterion["k"]) for criterion in plan.policy["criteria"] if criterion["criterion"] == "k"]
    least = max((2, *asked))
    if not data.is_file():
        raise NothingToApprove(what="candidate")
    if not quasi:
        return {"sample_least": least}
    with (
        temporary_folder_beside(project.paths.working_copy) as scratch,
        read_back(data, scratch, None, (*quasi, *sensitive), check.rows) as again,
    ):
        tuples, tables = tuples_with_each(again.table, tuple(quasi), sensitive, None)
    figures = measure(tuples, tables).sensitive
    return {
        "masked": {name: _rows_without_value(table) for name, table in tables.items()},
        "distinct": {name: figures[name].figures["l"] for name in sensitive},
        "sample": _rows_of(data, plan.published, quasi, _most_repeated(tuples, least)),
        "sample_least": least,
    }


def _rows_without_value(table: Tuples) -> int:
    """Rows whose sensitive value, the last column, is masked."""
    return int(table.rows[fully_masked(table.codes[:, -1:], table.vocabularies[-1:])].sum())


def _most_repeated(tuples: Tuples, least: int) -> list[tuple[str, ...]]:
    """The most repeated combinations in sight, none of fewer rows than `least`; of equals, in code-point order."""
    shared = ~fully_masked(tuples.codes, tuples.vocabularies) & (tuples.rows >= least)
    places = np.flatnonzero(shared)
    chosen = places[np.argsort(-tuples.rows[places], kind="stable")][:_SHOWN_ROWS]
    return [tuple(v[code] for v, code in zip(tuples.vocabularies, tuples.codes[i], strict=True)) for i in chosen]


def _rows_of(
    data: Path, published: Sequence[str], quasi: Sequence[str], combinations: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], ...]:
    """The first row of the file with each combination, as it is written there."""
    rows: dict[tuple[str, ...], tuple[str, ...]] = {}
    with data.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        places = [header.index(name) for name in quasi]
        for line in lines:
            combination = tuple(line[place] for place in places)
            if combination in combinations and combination not in rows:
                rows[combination] = tuple(_shorten(line[header.index(name)]) for name in published)
            if len(rows) == len(combinations):
                break
    return tuple(rows[combination] for combination in combinations if combination in rows)


def _shorten(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else cell[: _LONGEST - 1] + "…"


# --- frontier and intruder ------------------------------------------------------------------------


def _near_points(project: Project, plan: Plan) -> tuple[FrontierLine, ...]:
    """The points next to what the plan was asked: its own, or those of a frontier saved since of the present files."""
    asked = [int(criterion["k"]) for criterion in plan.policy["criteria"] if criterion["criterion"] == "k"]
    known = plan.notes.get("neighbours") or (_saved_points(project, plan) if asked else ())
    if not known:
        return ()
    points = {(int(p["k"]), Fraction(p["limit"])): p for p in known}
    k, limit = max(asked), Fraction(str(plan.policy["limit"]))
    ks, limits = ({key[axis] for key in points} for axis in (0, 1))
    near = [(other, limit) for other in _neighbours(ks, k)] + [(k, other) for other in _neighbours(limits, limit)]
    keys = sorted({key for key in ((k, limit), *near) if key in points})
    return tuple(_line(points[key], key == (k, limit)) for key in keys)


def _saved_points(project: Project, plan: Plan) -> Sequence[Mapping[str, Any]]:
    """The points of `explain --frontier`, for plans that have none of their own."""
    saved = saved_report(project, "frontier")
    if saved is None or saved.document.get("basis") != basis_of(project, current_policy(project), "frontier"):
        return ()
    curve = saved.document["frontier"]
    return curve["points"] if curve["metric"] == plan.loss_definition else ()


def _neighbours(values: set[Any], own: Any) -> list[Any]:
    below, above = [v for v in values if v < own], [v for v in values if v > own]
    return ([max(below)] if below else []) + ([min(above)] if above else [])


def _line(point: Mapping[str, Any], own: bool) -> FrontierLine:
    names = ("feasible", "loss", "suppressed_rows", "suppressed_share", "proved")
    return FrontierLine(
        k=int(point["k"]), limit=float(Fraction(point["limit"])), own=own, **{name: point[name] for name in names}
    )


def _attempts(project: Project, check: CheckReport | None) -> Attempts | None:
    claims = read_claims(project.paths.claims)
    if claims is None or check is None:
        return None
    return Attempts(claims.rows, claims.correct, claims.candidate == check.digest)


def _findings(project: Project, check: CheckReport | None) -> tuple[str, ...] | None:
    """What the automatic attacks said of this very candidate; None where they were not made on it."""
    if check is None:
        return None
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        report = attack_report_from(json.loads(project.paths.intruder_report.read_text("utf-8")))
        if report.target == check.digest:
            grave = [finding_sentence(finding) for finding in report.findings if finding.severity != "low"]
            return tuple(dict.fromkeys((*intruder_sentences(report), *grave)))
    return None
