"""The intruder as a page shows it: attacks run in the background and saved, and the judgement of the claims.

Knows projects. Nothing is attacked in `intruder_view`: it reads what the last attack left and says whether that was
this very candidate. Sources: WP29 opinion 05/2014; MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from celosia.data.sheets import write_rows
from celosia.model.reports.attacks import AttackReport, HumanPart, attack_report_from
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.assessment.errors import NoCandidate
from celosia.pipeline.candidate.approvals import digest_for
from celosia.pipeline.candidate.intruder_evidence import recorded_attacks
from celosia.pipeline.intruder.claims import human_part, outsiders_of
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.fallbacks import value_or, value_or_reason
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project, ProjectArg, open_project, refuse_edited
from celosia.pipeline.project.progress import Progress
from celosia.pipeline.release.status import read_facts, status_of
from celosia.workbench.outsider_test import (
    Cells,
    answer_of,
    attempts_in,
    claim_rows,
    claims_lock,
    count_unjudged,
    with_answers,
    worksheet_for,
)
from celosia.workbench.views.intruder import ClaimLine, ClaimsView, IntruderView

GATE = "intruder"
FEWEST, MOST = 100, 2_000  # people that each attack is tried on
_ROW = re.compile(r"(\d+)\s*$")
Values = tuple[tuple[str, str], ...]  # of a published record, with their columns


def intrude_project(
    source: ProjectArg,
    *,
    external: PathArg | None = None,
    on: Mapping[str, str] | None = None,
    control: PathArg | None = None,
    attempts: int = MOST,
    seed: int = 0,
    report: Progress = None,
    now: datetime | None = None,
) -> AttackReport:
    """Attack the project's candidate, which saves the report, and save the worksheet of the exposed records.

    `external` is an outside list, `on` the published name of each of its columns that has another; `control` holds
    records kept apart before the plan was made.
    """
    from celosia.pipeline.intruder.attack import intrude

    if not FEWEST <= attempts <= MOST:
        raise ValueOutOfRange(parameter="attempts", given=str(attempts), allowed=f"{FEWEST}–{MOST}")
    project = open_project(source)
    attacks = intrude(
        str(project.folder),
        external=None if external is None else str(external),
        on=on,
        control=None if control is None else str(control),
        attempts=attempts,
        seed=seed,
        report=report,
        now=now,
    )
    worksheet_for(project, attacks.target)
    return attacks


def intruder_view(source: ProjectArg, *, now: datetime | None = None) -> IntruderView:
    """What the last attacks and the test with a person found, and what is missing; nothing is tried here."""
    project = open_project(source)
    candidate = candidate_digest(project)
    report, when = saved_attacks(project)
    status = status_of(read_facts(project), utc_now(now).date())
    human, unjudged, fault = _claims_result(project, candidate)
    return IntruderView(
        candidate=bool(candidate),
        report=report,
        when=when,
        current=report is not None and bool(candidate) and report.target == candidate,
        human=human,
        unjudged=unjudged,
        fault=fault,
        gates=tuple(gate for gate in status.gates if gate.gate == GATE),
        outsiders=() if human is None else outsiders_of(project),
    )


def candidate_digest(project: Project) -> str:
    """The digest of the present candidate; empty where there is none that was checked."""
    return value_or("", lambda: digest_for(project, "candidate"))


def saved_attacks(project: Project) -> tuple[AttackReport | None, str]:
    """The last report and when it was made, also of another candidate; none where there is none that can be read."""
    try:
        report = attack_report_from(json.loads(project.paths.intruder_report.read_text("utf-8")))
    except (OSError, KeyError, TypeError, ValueError):
        return None, ""
    record = recorded_attacks(project, report.target)
    return (report, record.when) if record.report is not None else (None, "")


def _claims_result(project: Project, candidate: str) -> tuple[HumanPart | None, int, str]:
    """The attempts as a rate, how many claims wait for an answer, and why they cannot be counted otherwise."""
    unjudged, reason = value_or_reason(0, lambda: count_unjudged(claim_rows(project.folder)))
    if unjudged or reason:
        return None, unjudged, reason
    human, reason = value_or_reason(None, lambda: human_part(project, candidate))
    return human, 0, reason


def intruder_file(source: ProjectArg, target: PathArg, *, now: datetime | None = None) -> Path:
    """Write the verdict of the saved attacks as a page or PDF, by the suffix of the target."""
    from celosia.pipeline.intruder.documents import save_intruder

    project = open_project(source)
    report, _ = saved_attacks(project)
    if report is None:
        raise NoCandidate(path=project.folder.name)
    return save_intruder(report, [target], now=now)[0]


# --- judging the claims ---------------------------------------------------------------------------


def received_claims(source: ProjectArg) -> ClaimsView:
    """Every attempt that was handed over, with the institution's answer where there is one."""
    project = open_project(source)
    expected, rows = digest_of_file(project.paths.claims), claim_rows(project.folder)
    candidate = candidate_digest(project)
    current = bool(candidate) and len(rows) > 1 and rows[1][1:2] == [candidate]
    # Where the plan or the source changed, the claims can be judged by their row alone.
    records = value_or((), lambda: worksheet_for(project, candidate).records) if current else ()
    values = {record.row: record.values for record in records}
    return ClaimsView(current, tuple(_claim_line(line, row, values) for line, row in attempts_in(rows)), expected)


def _claim_line(line: int, row: Cells, values: Mapping[int, Values]) -> ClaimLine:
    target, used, claim, confidence, _, minutes, note = row[:7]
    number = _ROW.search(target)
    published = values.get(int(number.group(1)), ()) if number and len(number.group(1)) < 12 else ()
    return ClaimLine(line, target, used, claim, confidence, answer_of(row), minutes, note, published)


def judge_claims(
    source: ProjectArg, answers: Mapping[int, str], *, expected: str | None = None, now: datetime | None = None
) -> int:
    """Write whether claims were right, by the line of claims.csv: yes, no, or nothing; give how many still wait."""
    project = open_project(source)
    path = project.paths.claims
    with claims_lock(project.folder):
        refuse_edited(path, expected)
        rows = claim_rows(project.folder)
        known = [line for line, row in attempts_in(rows) if row[2]]
        for line, answer in answers.items():
            if line not in known or answer not in ("yes", "no", ""):
                raise ValueOutOfRange(parameter="claims", given=str(line), allowed=", ".join(map(str, known)) or "–")
        answered = with_answers(rows, answers, "sí" if project.config.language == "es" else "yes")
        write_rows(path, answered)
    correct = sum(answer == "yes" for answer in answers.values())
    facts = {"claims": len(answers), "correct": correct, "candidate": rows[1][1] if len(rows[1]) > 1 else ""}
    _journal.append_entry(project.paths.journal, "claims-judged", utc_now(now), facts)
    return count_unjudged(answered)
