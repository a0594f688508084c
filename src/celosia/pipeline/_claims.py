"""What the motivated intruder claimed: `claims.csv`, `celosia/claims/1`, filled by hand or by the intruder's own verb.

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
from celosia.data.sheets import read_rows, write_rows
from celosia.errors import AlreadyExists, ClaimsUnclear, ClaimsUnjudged, UnknownFormat
from celosia.model.claims import CLAIM_COLUMNS, CLAIMS_FORMAT, Claims
from celosia.pipeline._call import Place

COLUMNS = CLAIM_COLUMNS
_YES, _NO = ("yes", "sí", "si", "true", "1"), ("no", "false", "0")
_HEAD = 3  # format, candidate, header
_LONGEST = 6  # digits of a number of minutes


@dataclass(frozen=True, slots=True)
class _Attempt:
    claimed: bool
    correct: bool
    minutes: int


def claims_path(folder: Place) -> Path:
    """Where a project keeps the intruder's results."""
    return Path(folder) / "claims.csv"


def write_claims_form(
    folder: Place, target: Place | None = None, *, replace: bool = False, records: int = 0
) -> Path:  # fmt: skip
    """An empty worksheet for the intruder, bound to the present candidate; filled ones are not overwritten.

    With `records`, a row for each of that many released records, the most exposed first.
    """
    from celosia.pipeline._approve import digest_for

    path = Path(target) if target is not None else claims_path(folder)
    if path.exists() and not replace:
        raise AlreadyExists(path=str(path))
    digest = digest_for(folder, "candidate")
    write_rows(path, form_rows(digest, _exposed(Path(folder), records) if records else ()))
    return path


def form_rows(candidate: str, rows: Sequence[int] = ()) -> list[list[str]]:
    """The cells of an empty form, with a line for each published row that is to be tried."""
    blank = [""] * (len(COLUMNS) - 1)
    targets = [messages.text("intruder.worksheet.target", row=str(row)) for row in rows]
    return [[CLAIMS_FORMAT], ["candidate", candidate], list(COLUMNS), *([target, *blank] for target in targets)]


def _exposed(folder: Path, records: int) -> list[int]:
    from celosia.pipeline._intruder_project import candidate_target
    from celosia.pipeline._worksheet import worksheet_of

    return [one.row for one in worksheet_of(candidate_target(folder, (), ()), records).records]


def read_claims(folder: Place) -> Claims | None:
    """The intruder's results of a project; None where nobody tried yet."""
    path = claims_path(folder)
    if not path.is_file():
        return None
    rows = [[cell.strip() for cell in row] for row in read_rows(path)]
    _refuse_head(rows, str(path))
    tried = [(line, row) for line, row in enumerate(rows[_HEAD:], start=_HEAD + 1) if any(row[1:])]
    attempts = [_attempt(row, str(path), line) for line, row in tried]
    return Claims(
        candidate=rows[1][1] if len(rows[1]) > 1 else "",
        rows=len(attempts),
        correct=sum(one.correct for one in attempts),
        claims=sum(one.claimed for one in attempts),
        minutes=sum(one.minutes for one in attempts),
    )


def _refuse_head(rows: Sequence[Sequence[str]], path: str) -> None:
    found = rows[0][0] if rows and rows[0] else ""
    if found != CLAIMS_FORMAT:
        known = found[:40] if found.startswith("celosia/") else "?"
        raise UnknownFormat(path=path, found=known, expected=CLAIMS_FORMAT)
    if len(rows) < 2 or list(rows[1][:1]) != ["candidate"]:
        raise ClaimsUnclear(path=path, line=2)
    if len(rows) < _HEAD or tuple(rows[2][: len(COLUMNS)]) != COLUMNS:
        raise ClaimsUnclear(path=path, line=3)


def _attempt(row: Sequence[str], path: str, line: int) -> _Attempt:
    cells = dict(zip(COLUMNS, (*row, *[""] * len(COLUMNS)), strict=False))
    answer, minutes, claimed = cells["correct"].lower(), cells["minutes"], bool(cells["claim"])
    known = answer in (*_YES, *_NO) or (not answer and not claimed)
    counted = minutes.isdecimal() and len(minutes) <= _LONGEST if minutes else claimed
    if claimed and not answer and counted:
        raise ClaimsUnjudged(path=path, line=line)
    if not known or not counted:
        raise ClaimsUnclear(path=path, line=line)
    return _Attempt(claimed or answer in _YES, answer in _YES, int(minutes or 0))
