"""What the motivated intruder claimed: `claims.csv`, `celosia/claims/2`, filled by hand or on the outsider's page.

Knows the file: its format in the first cell, the digest of the candidate in the second line, then the statement of
independence and, in one column for each person who tried, the name or code, the answer to the statement and the day;
then a header and one attempt per row. An attempt that led to no claim is a row too, with its minutes. A row with a
target alone is a record that nobody tried yet. A claim that nobody judged right or wrong cannot be counted and is
refused. Never a cell of the file in an error: it may name a person. Files of `celosia/claims/1` do not say who tried.
Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from celosia import messages
from celosia.data.sheets import read_rows
from celosia.model.claims import CLAIM_COLUMNS, CLAIMS_FORMAT, UNNAMED_FORMAT, Claims, Outsider
from celosia.model.errors import UnknownFormat
from celosia.pipeline.candidate.errors import ClaimsUnclear, ClaimsUnjudged

COLUMNS = CLAIM_COLUMNS
YES, NO = ("yes", "sí", "si", "true", "1"), ("no", "false", "0")
_PERSON_LINES = ("outsider", "independent", "date")
_HEADS = {CLAIMS_FORMAT: ("candidate", "statement", *_PERSON_LINES), UNNAMED_FORMAT: ("candidate",)}
_LONGEST = 6  # digits of a number of minutes


@dataclass(frozen=True, slots=True)
class _Attempt:
    claimed: bool
    correct: bool
    minutes: int


def form_rows(candidate: str, rows: Sequence[int] = ()) -> list[list[str]]:
    """The cells of an empty form, with a line for each published row that is to be tried."""
    blank = [""] * (len(COLUMNS) - 1)
    targets = [messages.text("intruder.worksheet.target", row=str(row)) for row in rows]
    head = [[CLAIMS_FORMAT], ["candidate", candidate], ["statement", messages.text("intruder.statement")]]
    people = [[line, ""] for line in _PERSON_LINES]
    return [*head, *people, list(COLUMNS), *([target, *blank] for target in targets)]


def head_length(rows: Sequence[Sequence[str]]) -> int:
    """How many rows stand before the attempts; `refuse_wrong_head` has seen them."""
    return len(_HEADS[rows[0][0]]) + 2


def with_outsider(rows: Sequence[Sequence[str]], outsider: Outsider) -> list[list[str]]:
    """The rows with a person in their head: whoever is there already by that name is not entered twice."""
    length = head_length(rows)
    head = [list(row) for row in rows[: length - 1]]
    if rows[0][0] == UNNAMED_FORMAT:
        head = form_rows(rows[1][1] if len(rows[1]) > 1 else "")[:-1]
    people = [person for person in _outsiders(head, "") if person.name != outsider.name]
    head[-len(_PERSON_LINES) :] = _person_lines([*people, outsider])
    return [*head, list(COLUMNS), *(list(row) for row in rows[length:])]


def _person_lines(people: Sequence[Outsider]) -> list[list[str]]:
    answers = [messages.text(f"dictionary.answer.{'yes' if person.independent else 'no'}") for person in people]
    cells = ([person.name for person in people], answers, [person.when for person in people])
    return [[line, *values] for line, values in zip(_PERSON_LINES, cells, strict=True)]


def read_claims(path: Path) -> Claims | None:
    """The intruder's results in a file; None where nobody tried yet."""
    if not path.is_file():
        return None
    rows = [[cell.strip() for cell in row] for row in read_rows(path)]
    refuse_wrong_head(rows, str(path))
    length = head_length(rows)
    tried = [(line, row) for line, row in enumerate(rows[length:], start=length + 1) if any(row[1:])]
    attempts = [_attempt(row, str(path), line) for line, row in tried]
    claims = Claims(
        candidate=rows[1][1] if len(rows[1]) > 1 else "",
        rows=len(attempts),
        correct=sum(attempt.correct for attempt in attempts),
        claims=sum(attempt.claimed for attempt in attempts),
        minutes=sum(attempt.minutes for attempt in attempts),
        sources=tuple(dict.fromkeys(row[1] for _, row in tried if row[1])),
    )
    if rows[0][0] == UNNAMED_FORMAT:
        return claims
    statement = rows[2][1] if len(rows[2]) > 1 else ""
    return replace(claims, statement=statement, outsiders=_outsiders(rows[: length - 1], str(path)))


def _outsiders(head: Sequence[Sequence[str]], path: str) -> tuple[Outsider, ...]:
    """Those who tried, one in each column; an answer or a day without a name belongs to nobody."""
    names, answers, days = (list(row[1:]) for row in head[-len(_PERSON_LINES) :])
    width = max(map(len, (names, answers, days)))
    people = []
    for column in range(width):
        name, answer, day = (cells[column].strip() if column < len(cells) else "" for cells in (names, answers, days))
        _refuse_unclear_person(name, answer.lower(), day, path, len(head))
        if name:
            people.append(Outsider(name, answer.lower() in YES, day))
    return tuple(people)


def _refuse_unclear_person(name: str, answer: str, day: str, path: str, last: int) -> None:
    """Each of the three lines by its number, where its cell cannot be read; the last one is that of the day."""
    if not name and (answer or day):
        raise ClaimsUnclear(path=path, line=last - 2)
    if answer and answer not in (*YES, *NO):
        raise ClaimsUnclear(path=path, line=last - 1)
    try:
        date.fromisoformat(day or "2026-01-01")
    except ValueError:
        raise ClaimsUnclear(path=path, line=last) from None


def refuse_wrong_head(rows: Sequence[Sequence[str]], path: str) -> None:
    file_format = rows[0][0] if rows and rows[0] else ""
    if file_format not in _HEADS:
        known = file_format[:40] if file_format.startswith("celosia/") else "?"
        raise UnknownFormat(path=path, found=known, expected=CLAIMS_FORMAT)
    for place, name in enumerate(_HEADS[file_format], start=1):
        if len(rows) <= place or list(rows[place][:1]) != [name]:
            raise ClaimsUnclear(path=path, line=place + 1)
    last = head_length(rows)
    if len(rows) < last or tuple(rows[last - 1][: len(COLUMNS)]) != COLUMNS:
        raise ClaimsUnclear(path=path, line=last)


def _attempt(row: Sequence[str], path: str, line: int) -> _Attempt:
    cells = dict(zip(COLUMNS, (*row, *[""] * len(COLUMNS)), strict=False))
    answer, minutes, claimed = cells["correct"].lower(), cells["minutes"], bool(cells["claim"])
    known = answer in (*YES, *NO) or (not answer and not claimed)
    counted = minutes.isdecimal() and len(minutes) <= _LONGEST if minutes else claimed
    if claimed and not answer and counted:
        raise ClaimsUnjudged(path=path, line=line)
    if not known or not counted:
        raise ClaimsUnclear(path=path, line=line)
    return _Attempt(claimed or answer in YES, answer in YES, int(minutes or 0))
