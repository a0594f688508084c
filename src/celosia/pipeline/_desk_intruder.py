"""The intruder as a page shows it: attacks run in the background and kept, and the house's judgement of the claims.

Knows projects. Nothing is attacked in `intruder_view`: it reads what the last attack left and says whether that was
this very candidate. Sources: WP29 opinion 05/2014; MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia.data.sheets import write_rows
from celosia.errors import CelosiaError, NoCandidate, ValueOutOfRange
from celosia.model.attacks import AttackReport, HumanPart, attack_report_from
from celosia.model.intruder_desk import ClaimLine, ClaimsView, IntruderView
from celosia.pipeline import _journal
from celosia.pipeline._approve import digest_for
from celosia.pipeline._call import Place, moment
from celosia.pipeline._claims import claims_path
from celosia.pipeline._claims_sheet import (
    Cells,
    answer_of,
    attempts_in,
    claims_alone,
    judged,
    sheet_rows,
    unjudged_in,
)
from celosia.pipeline._desk_attempt import kept_worksheet
from celosia.pipeline._intruder_claims import human_part
from celosia.pipeline._kept import digest_of_file, keep_report, kept_report, refuse_edited
from celosia.pipeline._progress import Progress
from celosia.pipeline._project import open_project
from celosia.pipeline._status import status_of
from celosia.pipeline._status_facts import facts_of

REPORT = "intruder"
GATE = "intruder"
FEWEST, MOST = 100, 2_000  # people that each attack is tried on
_ROW = re.compile(r"(\d+)\s*$")


def intrude_project(
    folder: Place,
    *,
    external: Place | None = None,
    on: Mapping[str, str] | None = None,
    control: Place | None = None,
    attempts: int = MOST,
    seed: int = 0,
    report: Progress = None,
    now: datetime | None = None,
) -> AttackReport:
    """Attack the project's candidate and keep the report for the page, with the worksheet of the exposed records.

    `external` is an outside list, `on` the published name of each of its columns that has another; `control` holds
    records kept apart before the plan was made.
    """
    from celosia.pipeline._intruder import intrude

    if not FEWEST <= attempts <= MOST:
        raise ValueOutOfRange(parameter="attempts", given=str(attempts), allowed=f"{FEWEST}–{MOST}")
    made = intrude(
        str(folder), external=_text(external), on=on, control=_text(control), attempts=attempts, seed=seed,
        report=report, now=now,
    )  # fmt: skip
    keep_report(folder, REPORT, made.as_dict(), also=("plan.json",), now=now)
    kept_worksheet(Path(folder), made.target)
    return made


def _text(path: Place | None) -> str | None:
    return None if path is None else str(path)


def intruder_view(folder: Place, *, now: datetime | None = None) -> IntruderView:
    """What the last attacks and the test with a person found, and what is missing; nothing is tried here."""
    project = open_project(folder)
    candidate = candidate_digest(project.folder)
    report, when = kept_attacks(project.folder)
    told = status_of(facts_of(project.folder), moment(now).date())
    human, unjudged, fault = _claims(project.folder, candidate)
    return IntruderView(
        candidate=bool(candidate),
        report=report,
        when=when,
        current=report is not None and bool(candidate) and report.target == candidate,
        human=human,
        unjudged=unjudged,
        fault=fault,
        gates=tuple(gate for gate in told.gates if gate.gate == GATE),
    )


def candidate_digest(folder: Path) -> str:
    """The digest of the present candidate; empty where there is none that was checked."""
    try:
        return digest_for(folder, "candidate")
    except CelosiaError:
        return ""


def kept_attacks(folder: Path) -> tuple[AttackReport | None, str]:
    """The report that was kept and when; none where there is none that can be read."""
    kept = kept_report(folder, REPORT)
    if kept is None:
        return None, ""
    try:
        return attack_report_from(kept.document), kept.when
    except (KeyError, TypeError, ValueError):
        return None, ""


def _claims(folder: Path, candidate: str) -> tuple[HumanPart | None, int, str]:
    """The attempts as a rate, how many claims wait for an answer, and why they cannot be counted otherwise."""
    try:
        unjudged = unjudged_in(sheet_rows(folder))
        return (None, unjudged, "") if unjudged else (human_part(folder, candidate), 0, "")
    except CelosiaError as fault:
        return None, 0, str(fault)


def intruder_file(folder: Place, target: Place, *, now: datetime | None = None) -> Path:
    """Write the verdict of the kept attacks as a page or PDF, by the suffix of the target."""
    from celosia.pipeline._intruder_pages import save_intruder

    found, _ = kept_attacks(open_project(folder).folder)
    if found is None:
        raise NoCandidate(path=Path(folder).name)
    return save_intruder(found, [target], now=now)[0]


# --- the claims, judged in the house --------------------------------------------------------------


def received_claims(folder: Place) -> ClaimsView:
    """Every attempt that was handed over, with the house's answer where there is one."""
    project = open_project(folder)
    expected, rows = digest_of_file(claims_path(project.folder)), sheet_rows(project.folder)
    candidate = candidate_digest(project.folder)
    current = bool(candidate) and len(rows) > 1 and rows[1][1:2] == [candidate]
    values = _published_values(project.folder, candidate) if current else {}
    return ClaimsView(current, tuple(_line(line, row, values) for line, row in attempts_in(rows)), expected)


def _published_values(folder: Path, candidate: str) -> dict[int, tuple[tuple[str, str], ...]]:
    try:
        return {one.row: one.values for one in kept_worksheet(folder, candidate).records}
    except CelosiaError:  # the plan or the source moved on: the claims can be judged by their row alone
        return {}


def _line(line: int, row: Cells, values: Mapping[int, tuple[tuple[str, str], ...]]) -> ClaimLine:
    target, source, claim, confidence, _, minutes, note = row[:7]
    number = _ROW.search(target)
    shown = values.get(int(number.group(1)), ()) if number and len(number.group(1)) < 12 else ()
    return ClaimLine(line, target, source, claim, confidence, answer_of(row), minutes, note, shown)


def judge_claims(
    folder: Place, answers: Mapping[int, str], *, expected: str | None = None, now: datetime | None = None
) -> int:
    """Write whether claims were right, by the line of claims.csv: yes, no, or nothing; gives how many still wait."""
    project = open_project(folder)
    path = claims_path(project.folder)
    with claims_alone(project.folder):
        refuse_edited(path, expected)
        rows = sheet_rows(project.folder)
        _refuse_wrong(answers, [line for line, row in attempts_in(rows) if row[2]])
        made = judged(rows, answers, "sí" if project.config.language == "es" else "yes")
        write_rows(path, made)
    facts: dict[str, Any] = {"claims": len(answers), "correct": sum(one == "yes" for one in answers.values()),
                             "candidate": rows[1][1] if len(rows[1]) > 1 else ""}  # fmt: skip
    _journal.append(project.journal_path, "claims-judged", moment(now), facts)
    return unjudged_in(made)


def _refuse_wrong(answers: Mapping[int, str], known: list[int]) -> None:
    for line, answer in answers.items():
        if line not in known or answer not in ("yes", "no", ""):
            raise ValueOutOfRange(parameter="claims", given=str(line), allowed=", ".join(map(str, known)) or "–")
