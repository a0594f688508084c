"""What the motivated intruder claimed: `claims.csv`, `celosia/claims/1`, filled by hand or by the intruder's command.

Knows the file: its format in the first cell, the digest of the candidate in the second line, then a header and one
attempt per row; an attempt that led to no claim is a row too, with its minutes. A row with a target alone is a record
that nobody tried yet. A claim that nobody judged right or wrong cannot be counted and is refused. Never a cell of the
file in an error: it may name a person.
Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from celosia import messages
from celosia.data.sheets import read_rows
from celosia.model.claims import CLAIM_COLUMNS, CLAIMS_FORMAT, Claims
from celosia.model.errors import UnknownFormat
from celosia.pipeline.candidate.errors import ClaimsUnclear, ClaimsUnjudged

COLUMNS = CLAIM_COLUMNS
YES, NO = ("yes", "sí", "si", "true", "1"), ("no", "false", "0")
HEAD_ROWS = 3  # format, candidate, header
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
    return [[CLAIMS_FORMAT], ["candidate", candidate], list(COLUMNS), *([target, *blank] for target in targets)]


def read_claims(path: Path) -> Claims | None:
    """The intruder's results in a file; None where nobody tried yet."""
    if not path.is_file():
        return None
    rows = [[cell.strip() for cell in row] for row in read_rows(path)]
    refuse_wrong_head(rows, str(path))
    tried = [(line, row) for line, row in enumerate(rows[HEAD_ROWS:], start=HEAD_ROWS + 1) if any(row[1:])]
    attempts = [_attempt(row, str(path), line) for line, row in tried]
    return Claims(
        candidate=rows[1][1] if len(rows[1]) > 1 else "",
        rows=len(attempts),
        correct=sum(attempt.correct for attempt in attempts),
        claims=sum(attempt.claimed for attempt in attempts),
        minutes=sum(attempt.minutes for attempt in attempts),
    )


def refuse_wrong_head(rows: Sequence[Sequence[str]], path: str) -> None:
    file_format = rows[0][0] if rows and rows[0] else ""
    if file_format != CLAIMS_FORMAT:
        known = file_format[:40] if file_format.startswith("celosia/") else "?"
        raise UnknownFormat(path=path, found=known, expected=CLAIMS_FORMAT)
    if len(rows) < 2 or list(rows[1][:1]) != ["candidate"]:
        raise ClaimsUnclear(path=path, line=2)
    if len(rows) < HEAD_ROWS or tuple(rows[2][: len(COLUMNS)]) != COLUMNS:
        raise ClaimsUnclear(path=path, line=3)


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
