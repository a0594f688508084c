"""The human part of a report: what the motivated intruder claimed of the candidate, as a rate with its interval."""

from __future__ import annotations

from pathlib import Path

from celosia.errors import NothingToApprove
from celosia.model.attacks import HumanPart
from celosia.model.claims import Claims
from celosia.pipeline._call import Place
from celosia.pipeline._claims import read_claims


def human_part(folder: Path, candidate: str) -> HumanPart | None:
    """The attempts of a project's claims.csv; None where nobody tried yet."""
    claims = read_claims(folder)
    return None if claims is None else summary(claims, candidate)


def claims_summary(folder: Place) -> HumanPart | None:
    """The attempts of a project as a rate with its interval; None where nobody tried yet."""
    from celosia.pipeline._approve import digest_for

    claims = read_claims(folder)
    if claims is None:
        return None
    try:
        return summary(claims, digest_for(folder, "candidate"))
    except NothingToApprove:
        return summary(claims, "")  # there is no candidate now: whatever was tried is of another one


def summary(claims: Claims, candidate: str) -> HumanPart:
    """Attempts, claims and right ones; the rate is of attempts, and none where nothing was tried."""
    from celosia.attacks import Trials, rate_interval  # loads sparse matrices, which nobody needs before an attempt

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
