"""The test with a person: the form that the motivated intruder fills in, and what was claimed, as a rate.

Knows claims.csv and the candidate it belongs to. Ignores the attacks by computation.
"""

from __future__ import annotations

from pathlib import Path

from celosia.data.sheets import write_rows
from celosia.model.claims import Claims, Outsider
from celosia.model.reports.attacks import HumanPart
from celosia.pipeline.candidate.claims import form_rows, read_claims
from celosia.pipeline.candidate.errors import NothingToApprove
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.storage import AlreadyExists


def write_claims_form(
    folder: ProjectArg, target: PathArg | None = None, *, replace: bool = False, records: int = 0
) -> Path:
    """An empty worksheet for the intruder, bound to the present candidate; filled ones are not overwritten.

    With `records`, a row for each of that many released records, the most exposed first.
    """
    from celosia.pipeline.candidate.approvals import digest_for

    project = open_project(folder)
    path = Path(target) if target is not None else project.paths.claims
    if path.exists() and not replace:
        raise AlreadyExists(path=str(path))
    digest = digest_for(project, "candidate")
    write_rows(path, form_rows(digest, _exposed_rows(project, records) if records else ()))
    return path


def _exposed_rows(project: Project, records: int) -> list[int]:
    from celosia.pipeline.intruder.candidate_target import candidate_target
    from celosia.pipeline.intruder.worksheet import worksheet_of

    return [record.row for record in worksheet_of(candidate_target(project), records).records]


def claims_summary(folder: ProjectArg) -> HumanPart | None:
    """The attempts of a project as a rate with its interval; None where nobody tried yet."""
    from celosia.pipeline.candidate.approvals import digest_for

    project = open_project(folder)
    claims = read_claims(project.paths.claims)
    if claims is None:
        return None
    try:
        return summarise_claims(claims, digest_for(project, "candidate"))
    except NothingToApprove:
        # There is no candidate now: whatever was tried is of another one.
        return summarise_claims(claims, "")


def outsiders_of(folder: ProjectArg) -> tuple[Outsider, ...]:
    """Those who tried, as claims.csv names them."""
    claims = read_claims(open_project(folder).paths.claims)
    return () if claims is None else claims.outsiders


def human_part(project: Project, candidate: str) -> HumanPart | None:
    """The attempts of a project's claims.csv against a candidate; None where nobody tried yet."""
    claims = read_claims(project.paths.claims)
    return None if claims is None else summarise_claims(claims, candidate)


def summarise_claims(claims: Claims, candidate: str) -> HumanPart:
    """Attempts, claims and correct ones; the rate is of attempts, and none where nothing was tried."""
    # Loads sparse matrices, which nobody needs before an attempt.
    from celosia.attacks.estimates import Trials, rate_interval

    low, high = rate_interval(Trials(claims.rows, claims.correct)) if claims.rows else (None, None)
    return HumanPart(
        candidate=claims.candidate,
        attempts=claims.rows,
        claims=claims.claims,
        correct=claims.correct,
        minutes=claims.minutes,
        current=claims.candidate == candidate,
        rate=claims.correct / claims.rows if claims.rows else None,
        low=low,
        high=high,
    )
