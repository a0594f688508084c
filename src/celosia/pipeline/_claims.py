"""What the motivated intruder claimed: `claims.csv`, `celosia/claims/1`, filled by hand or by the intruder's own verb.

Knows the file: its format in the first cell, the digest of the candidate in the second line, then a header and one
attempt per row; an attempt that led to no claim is a row too. Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from celosia.data.sheets import read_rows
from celosia.errors import ClaimsUnclear, UnknownFormat
from celosia.pipeline._call import Place

CLAIMS_FORMAT = "celosia/claims/1"
COLUMNS = ("target", "source_used", "claim", "confidence", "correct", "minutes", "note")
_YES, _NO = ("yes", "sí", "si", "true", "1"), ("no", "false", "0", "")
_HEAD = 3  # format, candidate, header


@dataclass(frozen=True, slots=True)
class Claims:
    """The attempts on one candidate: how many, and how many named somebody rightly."""

    candidate: str  # digest of the file that was attacked
    rows: int
    correct: int


def read_claims(folder: Place) -> Claims | None:
    """The intruder's results of a project; None where nobody tried yet."""
    path = Path(folder) / "claims.csv"
    if not path.is_file():
        return None
    rows = [[cell.strip() for cell in row] for row in read_rows(path)]
    found = rows[0][0] if rows and rows[0] else ""
    if found != CLAIMS_FORMAT:
        raise UnknownFormat(path=str(path), found=found[:40] if found.startswith("celosia/") else "?",
                            expected=CLAIMS_FORMAT)  # fmt: skip
    if len(rows) < _HEAD or rows[1][:1] != ["candidate"] or tuple(rows[2][: len(COLUMNS)]) != COLUMNS:
        raise ClaimsUnclear(path=str(path), line=2 if len(rows) < 2 or rows[1][:1] != ["candidate"] else 3)
    attempts = [(line, row) for line, row in enumerate(rows[_HEAD:], start=_HEAD + 1) if any(row)]
    place = COLUMNS.index("correct")
    answers = [_answer(row[place] if len(row) > place else "", str(path), line) for line, row in attempts]
    return Claims(rows[1][1] if len(rows[1]) > 1 else "", len(attempts), sum(answers))


def _answer(word: str, path: str, line: int) -> bool:
    if word.lower() not in (*_YES, *_NO):
        raise ClaimsUnclear(path=path, line=line)
    return word.lower() in _YES
