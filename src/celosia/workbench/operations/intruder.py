"""Operations of the intruder page and of the outsider's own page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.workbench.operation import ATTEMPT, JUDGE, PREPARE, SIGN, operation

if TYPE_CHECKING:
    from celosia.pipeline.project.progress import Progress
    from celosia.workbench.views.intruder import Answer, Attempt, ClaimsView, IntruderView


@operation(SIGN)
def intruder_view(folder: Path) -> IntruderView:
    """What the last attacks and the test with a person found, and what is missing; nothing is tried."""
    from celosia.workbench import intruder

    return intruder.intruder_view(folder)


@operation(SIGN)
def intruder_file(folder: Path, target: Path) -> Path:
    """Write the verdict of the saved attacks as a page or PDF, by the suffix of the target."""
    from celosia.workbench import intruder

    return intruder.intruder_file(folder, target)


@operation(PREPARE)
def intrude_project(
    folder: Path,
    *,
    attempts: int,
    external: Path | None = None,
    on: Mapping[str, str] | None = None,
    control: Path | None = None,
    report: Progress = None,
) -> None:
    """Attack the present candidate and save the verdict.

    `external` is a list of people, `on` the published name of each of its columns that has another; `control` holds
    records kept apart before the plan was made.
    """
    from celosia.workbench import intruder

    intruder.intrude_project(folder, external=external, on=on, control=control, attempts=attempts, report=report)


@operation(JUDGE)
def received_claims(folder: Path) -> ClaimsView:
    """Every attempt that was handed over, with the institution's answer where there is one."""
    from celosia.workbench import intruder

    return intruder.received_claims(folder)


@operation(JUDGE)
def judge_claims(folder: Path, answers: Mapping[int, str], *, expected: str | None = None) -> int:
    """Write whether claims were right, by the line of claims.csv: yes, no, or nothing; give how many still wait."""
    from celosia.workbench import intruder

    return intruder.judge_claims(folder, answers, expected=expected)


@operation(JUDGE)
def save_worksheet(folder: Path, target: Path) -> Path:
    """Write the most exposed records of the candidate as a worksheet for the test with a person."""
    from celosia.pipeline.intruder import documents

    return documents.save_worksheet(folder, target)


@operation(ATTEMPT)
def open_attempts(root: Path) -> tuple[str, ...]:
    """The projects under a folder that have a candidate to be tried."""
    from celosia.workbench import outsider_test

    return outsider_test.open_attempts(root)


@operation(ATTEMPT)
def attempt_view(folder: Path, name: str = "") -> Attempt:
    """The candidate, its most exposed records, and what this person wrote about them."""
    from celosia.workbench import outsider_test

    return outsider_test.attempt_view(folder, name)


@operation(ATTEMPT)
def attempt_file(folder: Path, target: Path) -> Path:
    """Write the candidate and its public dictionary into a .zip: what everybody has after the publication."""
    from celosia.workbench import outsider_test

    return outsider_test.attempt_file(folder, target)


@operation(ATTEMPT)
def save_attempt(folder: Path, answers: Sequence[Answer], *, expected: str, name: str = "") -> Attempt:
    """Save a person's draft; what was handed over stays as it was."""
    from celosia.workbench import outsider_test

    return outsider_test.save_attempt(folder, answers, expected=expected, name=name)


@operation(ATTEMPT)
def send_claims(folder: Path, claims: Sequence[Answer], *, expected: str, independent: bool, name: str = "") -> Attempt:
    """Hand over the attempts: they are added to claims.csv, unjudged, and their author can no longer change them.

    `independent` is the author's statement that they do not know the data.
    """
    from celosia.workbench import outsider_test

    return outsider_test.send_claims(folder, claims, expected=expected, independent=independent, name=name)
