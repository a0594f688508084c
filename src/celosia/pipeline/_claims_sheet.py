"""claims.csv as a page fills it: attempts handed over, and the house's answer to each claim.

Knows cells and lines. What others wrote stays as it was, and whoever edits is alone while doing so. Every cell may name
a person: none is ever in an error or in the journal.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from celosia.data.files import alone, private_folder
from celosia.data.sheets import read_rows, write_rows
from celosia.model.claims import CLAIM_COLUMNS
from celosia.pipeline._claims import _HEAD, _NO, _YES, _refuse_head, claims_path, form_rows

Cells = list[str]
CORRECT = CLAIM_COLUMNS.index("correct")
CLAIM = CLAIM_COLUMNS.index("claim")


@contextlib.contextmanager
def claims_alone(folder: Path) -> Iterator[None]:
    """Of all who hand over or judge at once, one at a time."""
    with alone(private_folder(folder / "private") / ".claims.lock"):
        yield


def sheet_rows(folder: Path) -> list[Cells]:
    """Every row of a project's claims.csv, each as wide as its head; none where there is no file."""
    path = claims_path(folder)
    if not path.is_file():
        return []
    rows = [[cell.strip() for cell in row] for row in read_rows(path)]
    _refuse_head(rows, path.name)
    return [*rows[:_HEAD], *(_wide(row) for row in rows[_HEAD:])]


def _wide(row: Cells) -> Cells:
    return [*row, *[""] * (len(CLAIM_COLUMNS) - len(row))]


def attempts_in(rows: Sequence[Cells]) -> list[tuple[int, Cells]]:
    """The attempts with their lines; a target alone is none."""
    return [(line, row) for line, row in enumerate(rows[_HEAD:], start=_HEAD + 1) if any(row[1:])]


def answer_of(row: Cells) -> str:
    """The house's answer: yes, no, or nothing yet."""
    said = row[CORRECT].lower()
    return "yes" if said in _YES else "no" if said in _NO else ""


def unjudged_in(rows: Sequence[Cells]) -> int:
    """How many claims nobody called right or wrong."""
    return sum(bool(row[CLAIM]) and not answer_of(row) for _, row in attempts_in(rows))


def hand_over(folder: Path, candidate: str, attempts: Sequence[Cells], again: bool = False) -> None:
    """Add attempts on a candidate; those on another one are put away under its digest first.

    `again` where a process may have died while handing over the same ones: what stands there is not entered twice.
    """
    rows = sheet_rows(folder)
    if rows and rows[1][1:2] != [candidate]:
        _put_away(folder, rows[1][1] if len(rows[1]) > 1 else "")
        rows = []
    rows = rows or form_rows(candidate)
    for attempt in attempts:
        if not (again and any(_same(row, attempt) for row in rows[_HEAD:])):
            _enter(rows, attempt)
    write_rows(claims_path(folder), rows)


def _enter(rows: list[Cells], attempt: Cells) -> None:
    """Fill the line that waits for this target, or add one."""
    for place, row in enumerate(rows):
        if place >= _HEAD and row[0] == attempt[0] and not any(row[1:]):
            rows[place] = attempt
            return
    rows.append(attempt)


def _same(row: Cells, attempt: Cells) -> bool:
    return row[:CORRECT] == attempt[:CORRECT] and row[CORRECT + 1 :] == attempt[CORRECT + 1 :]


def _put_away(folder: Path, candidate: str) -> None:
    home = private_folder(folder / "private" / "intruder")
    short = "".join(sign for sign in candidate.removeprefix("sha256:")[:12] if sign.isalnum()) or "other"
    claims_path(folder).replace(home / f"claims-{short}.csv")


def judged(rows: Sequence[Cells], answers: Mapping[int, str], yes: str) -> list[Cells]:
    """The rows with the answers to some lines."""
    made = [list(row) for row in rows]
    for line, answer in answers.items():
        made[line - 1][CORRECT] = {"yes": yes, "no": "no", "": ""}[answer]
    return made
