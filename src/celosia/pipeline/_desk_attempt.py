"""The test with a person, as the outsider sees it: the candidate, its most exposed records, and a form to fill.

Knows published values only: no source, plan, journal, path or figure of the house leaves through here, not even in an
error. What is written is a draft of its author until it is handed over; then it stands in claims.csv and waits for the
house to judge it. Source: MINSAL, Verificación y Validación 4; ICO, motivated-intruder test.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import private_folder, replacing, scratch_beside
from celosia.errors import (
    AnswerUnfit,
    AttemptClosed,
    AttemptIncomplete,
    CelosiaError,
    EditedMeanwhile,
    NothingTried,
    NotIndependent,
)
from celosia.model.intruder_desk import ATTEMPT_FORMAT, CONFIDENCES, Answer, Attempt, PublicColumn
from celosia.model.plan import digest_of
from celosia.model.worksheet import ExposedRecord, Worksheet
from celosia.pipeline import _journal
from celosia.pipeline._approve import digest_for
from celosia.pipeline._archive import _pack
from celosia.pipeline._author import author
from celosia.pipeline._call import Place, moment
from celosia.pipeline._claims_sheet import Cells, claims_alone, hand_over
from celosia.pipeline._intruder_project import candidate_of, candidate_target
from celosia.pipeline._kept import digest_of_file, keep_report, kept_report
from celosia.pipeline._plan import read_plan
from celosia.pipeline._project import Project, is_project, open_project
from celosia.pipeline._release_files import _harmless, published_file, write_dictionary
from celosia.pipeline._rule_context import published_variables
from celosia.pipeline._worksheet import worksheet_of

RECORDS = 20
_WORKSHEET = "worksheet"
_LONGEST, _MOST_MINUTES = 500, 6  # characters of an answer, digits of its minutes
_SPOKEN = (AnswerUnfit, AttemptClosed, AttemptIncomplete, EditedMeanwhile, NothingTried)


@contextlib.contextmanager
def _behind_the_curtain() -> Iterator[None]:
    """What is wrong inside the house is not told outside: it may name files, columns or people of the source."""
    try:
        yield
    except _SPOKEN:
        raise
    except (CelosiaError, OSError, KeyError, ValueError, TypeError):
        raise AttemptClosed() from None


# --- the records to be tried ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sheet(Worksheet):
    rows: int = 0
    columns: tuple[PublicColumn, ...] = ()


def kept_worksheet(folder: Path, candidate: str) -> _Sheet:
    """The most exposed records of this very candidate; made once and kept, for it reads the whole file."""
    kept = kept_report(folder, _WORKSHEET)
    if kept is not None and kept.document.get("candidate") == candidate:
        with contextlib.suppress(KeyError, TypeError, ValueError):
            return _sheet_from(kept.document)
    attacked = candidate_target(folder, (), ())
    if attacked.digest != candidate:
        raise AttemptClosed()
    made = worksheet_of(attacked, RECORDS)
    labels = {one.name: one.label for one in _variables(open_project(folder))}
    columns = tuple(PublicColumn(name, labels.get(name, "")) for name in attacked.view.names)
    sheet = _Sheet(made.candidate, made.records, attacked.view.rows, columns)
    keep_report(folder, _WORKSHEET, asdict(sheet), also=("plan.json",))
    return sheet


def _sheet_from(held: Mapping[str, Any]) -> _Sheet:
    records = tuple(
        ExposedRecord(one["row"], tuple((name, value) for name, value in one["values"]), one["alike"])
        for one in held["records"]
    )
    return _Sheet(held["candidate"], records, held["rows"], tuple(PublicColumn(**one) for one in held["columns"]))


def _variables(project: Project) -> Sequence[Any]:
    return published_variables(project.variables(), read_plan(project.folder))


# --- what the outsider sees -----------------------------------------------------------------------


def open_attempts(root: Place) -> tuple[str, ...]:
    """The projects under a folder that have a candidate to be tried; the others are nobody's business outside."""
    own = [path for path in sorted(Path(root).iterdir()) if not path.name.startswith(".") and not path.is_symlink()]
    return tuple(path.name for path in own if is_project(path) and _has_candidate(path))


def _has_candidate(folder: Path) -> bool:
    return all((folder / "private" / "candidate" / name).is_file() for name in ("data.csv", "verdict.json"))


def attempt_view(folder: Place, name: str = "") -> Attempt:
    """The candidate, its most exposed records, and what this person wrote about them."""
    try:
        with _behind_the_curtain():
            place = open_project(folder).folder
            sheet = kept_worksheet(place, digest_for(place, "candidate"))
            expected, own = _expected(place, name, sheet.candidate), _own(place, name, sheet.candidate)
            answers = tuple(Answer(**one) for one in own["answers"])
    except AttemptClosed:
        return Attempt(open=False)
    return Attempt(True, sheet.rows, sheet.columns, sheet.records, answers, tuple(own["sent"]), expected)


def attempt_file(folder: Place, target: Place) -> Path:
    """The candidate and its public dictionary in a .zip: what everybody would have after the publication."""
    path = Path(target)
    with _behind_the_curtain():
        project = open_project(folder)
        digest = digest_for(project.folder, "candidate")
        data = candidate_of(project.folder)
        with published_file(data) as published, scratch_beside(path) as corner:
            if published.digest != digest:
                raise AttemptClosed()
            write_dictionary(_variables(project), published, corner / "dictionary.csv")
            with replacing(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
                _pack(archive, data, "data.csv")
                _pack(archive, corner / "dictionary.csv", "dictionary.csv")
    return path


# --- what the outsider writes ---------------------------------------------------------------------


def save_attempt(
    folder: Place, answers: Sequence[Answer], *, expected: str, name: str = "", now: datetime | None = None
) -> Attempt:
    """Keep a draft: it is its author's alone, and counts for nothing."""
    with _behind_the_curtain():
        place = open_project(folder).folder
        with claims_alone(place):
            sheet, own = _unchanged(place, name, expected)
            written = _checked(answers, sheet, own["sent"])
            _keep(place, name, sheet.candidate, [*_sent_ones(own), *written], own["sent"])
    return attempt_view(folder, name)


def send_claims(
    folder: Place,
    claims: Sequence[Answer],
    *,
    expected: str,
    independent: bool,
    name: str = "",
    now: datetime | None = None,
) -> Attempt:
    """Hand over the attempts: they are added to claims.csv, unjudged, and can no longer be changed by their author.

    `independent` is the author's word that they do not know the data. The journal gets who and how many, never what.
    """
    if not independent:
        raise NotIndependent()
    with _behind_the_curtain():
        project = open_project(folder)
        with claims_alone(project.folder):
            sheet, own = _unchanged(project.folder, name, expected)
            written = _checked(claims, sheet, own["sent"])
            _refuse_incomplete(written)
            kept = [*_sent_ones(own), *written]
            _keep(project.folder, name, sheet.candidate, kept, own["sent"], handing=True)
            hand_over(
                project.folder, sheet.candidate, [_cells(one) for one in written], again=own.get("handing", False)
            )
            _keep(project.folder, name, sheet.candidate, kept, [*own["sent"], *(one.row for one in written)])
        facts = {"candidate": sheet.candidate, "attempts": len(written), "independent": independent,
                 "claims": sum(bool(one.claim) for one in written)}  # fmt: skip
        _journal.append(project.journal_path, "claims", moment(now), facts, who=name)
    return attempt_view(folder, name)


def _unchanged(folder: Path, name: str, expected: str) -> tuple[_Sheet, dict[str, Any]]:
    """The sheet and the draft, where both are still what their author was shown."""
    candidate = digest_for(folder, "candidate")
    if _expected(folder, name, candidate) != expected:
        raise EditedMeanwhile(path=messages.text("intruder.worksheet.title"))
    return kept_worksheet(folder, candidate), _own(folder, name, candidate)


def _checked(answers: Sequence[Answer], sheet: Worksheet, sent: Sequence[int]) -> list[Answer]:
    """The answers that say something; each about a record of the sheet that was not handed over yet."""
    left = [one.row for one in sheet.records if one.row not in sent]
    written = [_plain(one) for one in answers]
    rows = [one.row for one in written]
    if not set(rows) <= set(left) or len(set(rows)) < len(rows):
        raise AttemptClosed()
    for one in written:
        _refuse_unfit(one)
    return [one for one in written if not one.blank]


def _plain(one: Answer) -> Answer:
    """The answer on single lines, without what a spreadsheet would run or a terminal obey."""
    texts = {
        key: " ".join("".join(sign if sign.isprintable() else " " for sign in str(value)).split())
        for key, value in asdict(one).items()
        if key != "row"
    }
    return Answer(row=int(one.row), **texts)


def _refuse_unfit(one: Answer) -> None:
    for key in ("source_used", "claim", "note"):
        if len(getattr(one, key)) > _LONGEST:
            raise _unfit(one, key, messages.text("web_intruder.form.shorter", most=_LONGEST))
    if one.minutes and not (one.minutes.isascii() and one.minutes.isdecimal() and len(one.minutes) <= _MOST_MINUTES):
        raise _unfit(one, "minutes", f"0–{10**_MOST_MINUTES - 1}")
    if one.confidence and one.confidence not in CONFIDENCES:
        raise _unfit(one, "confidence", ", ".join(CONFIDENCES))


def _unfit(one: Answer, key: str, allowed: str) -> AnswerUnfit:
    return AnswerUnfit(row=one.row, field=messages.text(f"intruder.worksheet.{key}"), allowed=allowed)


def _refuse_incomplete(written: Sequence[Answer]) -> None:
    if not written:
        raise NothingTried()
    for one in written:
        if not one.complete:
            raise AttemptIncomplete(row=one.row)


def _cells(one: Answer) -> Cells:
    target = messages.text("intruder.worksheet.target", row=str(one.row))
    sure = messages.text(f"intruder.severity.{one.confidence}") if one.confidence else ""
    return [_harmless(cell) for cell in (target, one.source_used, one.claim, sure, "", one.minutes, one.note)]


# --- each author's own page -----------------------------------------------------------------------


def _own_path(folder: Path, name: str) -> Path:
    who = hashlib.sha256((name or author()).encode()).hexdigest()[:16]  # a name may hold what a file's may not
    return folder / "private" / "intruder" / "attempts" / f"{who}.json"


def _own(folder: Path, name: str, candidate: str) -> dict[str, Any]:
    """What somebody wrote about this candidate."""
    try:
        held = json.loads(_own_path(folder, name).read_text("utf-8"))
        if held["format"] == ATTEMPT_FORMAT and held["candidate"] == candidate:
            return dict(held)
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        pass
    return {"answers": [], "sent": []}


def _sent_ones(own: Mapping[str, Any]) -> list[Answer]:
    return [Answer(**one) for one in own["answers"] if one["row"] in own["sent"]]


def _keep(
    folder: Path, name: str, candidate: str, answers: Sequence[Answer], sent: Sequence[int], handing: bool = False
) -> None:
    path = _own_path(folder, name)
    private_folder(folder / "private" / "intruder")
    private_folder(path.parent)
    held = {"format": ATTEMPT_FORMAT, "candidate": candidate, "answers": [asdict(one) for one in answers],
            "sent": list(sent), "handing": handing}  # fmt: skip
    with replacing(path) as draft:
        draft.write_text(json.dumps(held, ensure_ascii=False), "utf-8")


def _expected(folder: Path, name: str, candidate: str) -> str:
    return digest_of({"candidate": candidate, "own": digest_of_file(_own_path(folder, name))})
