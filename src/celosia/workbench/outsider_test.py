"""The test with a person: the candidate and its most exposed records as the outsider sees them, and claims.csv.

What the outsider sees holds published values only: no source, plan, journal, path or figure of the institution, not
even in an error. What is written is a draft of its author until it is handed over; then it is a line of claims.csv
that waits to be judged. Every cell of that file may name a person: none is ever in an error or in the journal.
Source: MINSAL, Verificación y Validación 4; ICO, motivated-intruder test.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from celosia import messages
from celosia.data.sheets import read_rows, write_rows
from celosia.errors import CelosiaError
from celosia.model.claims import CLAIM_COLUMNS, Outsider
from celosia.model.paths import DATA, DICTIONARY, ProjectPaths
from celosia.model.plan import digest_of
from celosia.model.reports.worksheet import Worksheet
from celosia.model.variables import Variable
from celosia.pipeline.assessment.evaluate import candidate_of
from celosia.pipeline.candidate.approvals import digest_for
from celosia.pipeline.candidate.claims import NO, YES, form_rows, head_length, refuse_wrong_head, with_outsider
from celosia.pipeline.candidate.rule_context import published_variables
from celosia.pipeline.intruder.candidate_target import candidate_target
from celosia.pipeline.intruder.worksheet import worksheet_of
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.author import author
from celosia.pipeline.project.errors import EditedMeanwhile
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import Project, ProjectArg, is_project, open_project
from celosia.pipeline.project.saved_reports import save_report, saved_report
from celosia.pipeline.release.archive import add_to_archive
from celosia.pipeline.release.data_files import neutralise_cell, open_published_file, write_dictionary
from celosia.storage import atomic_write, exclusive_lock, make_private_folder, temporary_folder_beside
from celosia.workbench.errors import AnswerUnfit, AttemptClosed, AttemptIncomplete, NothingTried, NotIndependent
from celosia.workbench.views.intruder import ATTEMPT_FORMAT, CONFIDENCES, Answer, Attempt, PublicColumn
from celosia.workbench.views.saved import decode

RECORDS = 20
Cells = list[str]  # a row of claims.csv
CORRECT = CLAIM_COLUMNS.index("correct")
CLAIM = CLAIM_COLUMNS.index("claim")
_WORKSHEET = "worksheet"
_LONGEST, _MOST_MINUTES = 500, 6  # characters of an answer, digits of its minutes
_SHOWN_ERRORS = (AnswerUnfit, AttemptClosed, AttemptIncomplete, EditedMeanwhile, NothingTried)


@contextlib.contextmanager
def hide_internal_errors() -> Iterator[None]:
    """Replace errors that may name files, columns or people of the source: the outsider must not see them."""
    try:
        yield
    except _SHOWN_ERRORS:
        raise
    except (CelosiaError, OSError, KeyError, ValueError, TypeError):
        raise AttemptClosed() from None


# --- the records to be tried ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OutsiderSheet(Worksheet):
    """The most exposed records of a candidate, and the columns it publishes."""

    rows: int = 0
    columns: tuple[PublicColumn, ...] = ()


def worksheet_for(project: Project, candidate: str) -> OutsiderSheet:
    """The most exposed records of this very candidate; made once and saved, for it reads the whole file."""
    saved = saved_report(project, _WORKSHEET)
    if saved is not None and saved.document.get("candidate") == candidate:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            return decode(OutsiderSheet, saved.document)
    target = candidate_target(project, (), ())
    if target.digest != candidate:
        raise AttemptClosed()
    worksheet = worksheet_of(target, RECORDS)
    labels = {variable.name: variable.label for variable in _published_variables(project)}
    columns = tuple(PublicColumn(name, labels.get(name, "")) for name in target.view.names)
    sheet = OutsiderSheet(worksheet.candidate, worksheet.records, target.view.rows, columns)
    save_report(project, _WORKSHEET, asdict(sheet), also=(project.paths.plan,))
    return sheet


def _published_variables(project: Project) -> Sequence[Variable]:
    return published_variables(project.variables, project.plan)


# --- what the outsider sees -----------------------------------------------------------------------


def open_attempts(root: PathArg) -> tuple[str, ...]:
    """The projects under a folder that have a candidate to be tried; the others are not shown to outsiders."""
    folders = [path for path in sorted(Path(root).iterdir()) if not path.name.startswith(".") and not path.is_symlink()]
    candidates = [(path.name, ProjectPaths(path).candidate) for path in folders if is_project(path)]
    return tuple(name for name, paths in candidates if paths.data.is_file() and paths.verdict.is_file())


def attempt_view(source: ProjectArg, name: str = "") -> Attempt:
    """The candidate, its most exposed records, and what this person wrote about them."""
    try:
        with hide_internal_errors():
            project = open_project(source)
            sheet = worksheet_for(project, digest_for(project, "candidate"))
            expected, draft = _draft_digest(project, name, sheet.candidate), _read_draft(project, name, sheet.candidate)
    except AttemptClosed:
        return Attempt(open=False)
    return Attempt(True, sheet.rows, sheet.columns, sheet.records, draft.answers, draft.sent, expected)


def attempt_file(source: ProjectArg, target: PathArg) -> Path:
    """Write the candidate and its public dictionary into a .zip: what everybody has after the publication."""
    path = Path(target)
    with hide_internal_errors():
        project = open_project(source)
        data, digest = candidate_of(project), digest_for(project, "candidate")
        with open_published_file(data) as published, temporary_folder_beside(path) as scratch:
            if published.digest != digest:
                raise AttemptClosed()
            write_dictionary(_published_variables(project), published, scratch / DICTIONARY)
            with atomic_write(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
                add_to_archive(archive, data, DATA)
                add_to_archive(archive, scratch / DICTIONARY, DICTIONARY)
    return path


# --- what the outsider writes ---------------------------------------------------------------------


def save_attempt(
    source: ProjectArg, answers: Sequence[Answer], *, expected: str, name: str = "", now: datetime | None = None
) -> Attempt:
    """Save a draft: only its author sees it, and it counts for nothing."""
    with hide_internal_errors():
        project = open_project(source)
        with claims_lock(project.folder):
            sheet, draft = _unchanged_draft(project, name, expected)
            written = _check_answers(answers, sheet, draft.sent)
            _write_draft(project, name, replace(draft, answers=(*draft.sent_answers, *written)))
    return attempt_view(project, name)


def send_claims(
    source: ProjectArg,
    claims: Sequence[Answer],
    *,
    expected: str,
    independent: bool,
    name: str = "",
    now: datetime | None = None,
) -> Attempt:
    """Hand over the attempts: they are added to claims.csv, unjudged, and their author can no longer change them.

    `independent` is the author's statement that they do not know the data. The journal gets who and how many, never
    what.
    """
    if not independent:
        raise NotIndependent()
    with hide_internal_errors():
        project = open_project(source)
        with claims_lock(project.folder):
            sheet, draft = _unchanged_draft(project, name, expected)
            written = _check_answers(claims, sheet, draft.sent)
            _refuse_incomplete(written)
            sending = replace(draft, answers=(*draft.sent_answers, *written), handing=True)
            _write_draft(project, name, sending)
            rows = [_claim_cells(answer) for answer in written]
            day = utc_now(now).date().isoformat()
            outsider = Outsider(neutralise_cell(name or author()), independent, day)
            add_attempts(project.folder, sheet.candidate, rows, outsider, again=draft.handing)
            sent = (*draft.sent, *(answer.row for answer in written))
            _write_draft(project, name, replace(sending, sent=sent, handing=False))
        facts = {
            "candidate": sheet.candidate,
            "attempts": len(written),
            "independent": independent,
            "claims": sum(bool(answer.claim) for answer in written),
        }
        _journal.append_entry(project.paths.journal, "claims", utc_now(now), facts, who=name)
    return attempt_view(project, name)


def _unchanged_draft(project: Project, name: str, expected: str) -> tuple[OutsiderSheet, _Draft]:
    """The sheet and the draft, where both are still what their author was shown."""
    candidate = digest_for(project, "candidate")
    if _draft_digest(project, name, candidate) != expected:
        raise EditedMeanwhile(path=messages.text("intruder.worksheet.title"))
    return worksheet_for(project, candidate), _read_draft(project, name, candidate)


def _check_answers(answers: Sequence[Answer], sheet: Worksheet, sent: Sequence[int]) -> list[Answer]:
    """The answers that are not blank; each about a record of the sheet that was not handed over yet."""
    left = {record.row for record in sheet.records if record.row not in sent}
    plain = [_plain_answer(answer) for answer in answers]
    rows = [answer.row for answer in plain]
    if not set(rows) <= left or len(set(rows)) < len(rows):
        raise AttemptClosed()
    for answer in plain:
        _refuse_unfit(answer)
    return [answer for answer in plain if not answer.blank]


def _plain_answer(answer: Answer) -> Answer:
    """The answer on single lines, without characters that a spreadsheet would run or a terminal obey."""
    texts = {
        key: " ".join("".join(sign if sign.isprintable() else " " for sign in str(value)).split())
        for key, value in asdict(answer).items()
        if key != "row"
    }
    return Answer(row=int(answer.row), **texts)


def _refuse_unfit(answer: Answer) -> None:
    minutes, confidence = answer.minutes, answer.confidence
    for key in ("source_used", "claim", "note"):
        if len(getattr(answer, key)) > _LONGEST:
            raise _unfit_answer(answer, key, messages.text("web_intruder.form.shorter", most=_LONGEST))
    if minutes and not (minutes.isascii() and minutes.isdecimal() and len(minutes) <= _MOST_MINUTES):
        raise _unfit_answer(answer, "minutes", f"0–{10**_MOST_MINUTES - 1}")
    if confidence and confidence not in CONFIDENCES:
        raise _unfit_answer(answer, "confidence", ", ".join(CONFIDENCES))


def _unfit_answer(answer: Answer, key: str, allowed: str) -> AnswerUnfit:
    return AnswerUnfit(row=answer.row, field=messages.text(f"intruder.worksheet.{key}"), allowed=allowed)


def _refuse_incomplete(answers: Sequence[Answer]) -> None:
    if not answers:
        raise NothingTried()
    for answer in answers:
        if not answer.complete:
            raise AttemptIncomplete(row=answer.row)


def _claim_cells(answer: Answer) -> Cells:
    target = messages.text("intruder.worksheet.target", row=str(answer.row))
    confidence = messages.text(f"intruder.severity.{answer.confidence}") if answer.confidence else ""
    cells = (target, answer.source_used, answer.claim, confidence, "", answer.minutes, answer.note)
    return [neutralise_cell(cell) for cell in cells]


# --- the draft of each author ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Draft:
    """What somebody wrote about a candidate, and which of it was handed over."""

    candidate: str
    answers: tuple[Answer, ...] = ()
    sent: tuple[int, ...] = ()  # rows
    handing: bool = False  # a process may have died while handing over

    @property
    def sent_answers(self) -> tuple[Answer, ...]:
        return tuple(answer for answer in self.answers if answer.row in self.sent)


def _draft_path(project: Project, name: str) -> Path:
    # By a digest: a name may hold characters that a file's name may not.
    return project.paths.attempts / f"{hashlib.sha256((name or author()).encode()).hexdigest()[:16]}.json"


def _read_draft(project: Project, name: str, candidate: str) -> _Draft:
    """What somebody wrote about this candidate."""
    try:
        document = json.loads(_draft_path(project, name).read_text("utf-8"))
        if document["format"] == ATTEMPT_FORMAT and document["candidate"] == candidate:
            return decode(_Draft, document)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    return _Draft(candidate)


def _write_draft(project: Project, name: str, draft: _Draft) -> None:
    path = _draft_path(project, name)
    make_private_folder(project.paths.intruder)
    make_private_folder(path.parent)
    with atomic_write(path) as file:
        file.write_text(
            json.dumps({"format": ATTEMPT_FORMAT, **asdict(draft)}, ensure_ascii=False), "utf-8", newline="\n"
        )


def _draft_digest(project: Project, name: str, candidate: str) -> str:
    return digest_of({"candidate": candidate, "own": digest_of_file(_draft_path(project, name))})


# --- claims.csv -----------------------------------------------------------------------------------


@contextlib.contextmanager
def claims_lock(folder: Path) -> Iterator[None]:
    """Hold claims.csv: of all who hand over or judge at once, one at a time."""
    with exclusive_lock(make_private_folder(ProjectPaths(folder).private) / ".claims.lock"):
        yield


def claim_rows(folder: Path) -> list[Cells]:
    """Every row of a project's claims.csv, each as wide as its head; none where there is no file."""
    path = ProjectPaths(folder).claims
    if not path.is_file():
        return []
    rows = [[cell.strip() for cell in row] for row in read_rows(path)]
    refuse_wrong_head(rows, path.name)
    length = head_length(rows)
    return [*rows[:length], *([*row, *[""] * (len(CLAIM_COLUMNS) - len(row))] for row in rows[length:])]


def attempts_in(rows: Sequence[Cells]) -> list[tuple[int, Cells]]:
    """The attempts with their lines; a target alone is none."""
    length = head_length(rows) if rows else 0
    return [(line, row) for line, row in enumerate(rows[length:], start=length + 1) if any(row[1:])]


def answer_of(row: Cells) -> str:
    """The institution's answer: yes, no, or nothing yet."""
    answer = row[CORRECT].lower()
    return "yes" if answer in YES else "no" if answer in NO else ""


def count_unjudged(rows: Sequence[Cells]) -> int:
    """How many claims nobody called right or wrong."""
    return sum(bool(row[CLAIM]) and not answer_of(row) for _, row in attempts_in(rows))


def with_answers(rows: Sequence[Cells], answers: Mapping[int, str], yes: str) -> list[Cells]:
    """The rows with the answers to some lines."""
    answered = [list(row) for row in rows]
    for line, answer in answers.items():
        answered[line - 1][CORRECT] = {"yes": yes, "no": "no", "": ""}[answer]
    return answered


def add_attempts(
    folder: Path, candidate: str, attempts: Sequence[Cells], outsider: Outsider, again: bool = False
) -> None:
    """Add the attempts of an outsider on a candidate; those on another one are put away under its digest first.

    `again` where a process may have died while handing over the same ones: what is there is not entered twice.
    """
    rows = claim_rows(folder)
    if rows and rows[1][1:2] != [candidate]:
        _put_away(folder, rows[1][1] if len(rows[1]) > 1 else "")
        rows = []
    rows = with_outsider(rows or form_rows(candidate), outsider)
    length = head_length(rows)
    for attempt in attempts:
        if again and any(_is_same(row, attempt) for row in rows[length:]):
            continue
        # The line that waits for this target is filled; without one a line is added.
        lines = enumerate(rows[length:], start=length)
        place = next((place for place, row in lines if row[0] == attempt[0] and not any(row[1:])), len(rows))
        rows[place : place + 1] = [attempt]
    write_rows(ProjectPaths(folder).claims, rows)


def _is_same(row: Cells, attempt: Cells) -> bool:
    return row[:CORRECT] == attempt[:CORRECT] and row[CORRECT + 1 :] == attempt[CORRECT + 1 :]


def _put_away(folder: Path, candidate: str) -> None:
    private = make_private_folder(ProjectPaths(folder).intruder)
    short = "".join(sign for sign in candidate.removeprefix("sha256:")[:12] if sign.isalnum()) or "other"
    ProjectPaths(folder).claims.replace(private / f"claims-{short}.csv")
