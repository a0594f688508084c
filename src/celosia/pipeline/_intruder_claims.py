"""The human part of a report: what the motivated intruder claimed of the candidate, as a rate with its interval."""

from __future__ import annotations

from pathlib import Path

from celosia.attacks import Trials, rate_interval
from celosia.model.attacks import HumanPart
from celosia.model.claims import Claims
from celosia.pipeline._claims import read_claims


def human_part(folder: Path, candidate: str) -> HumanPart | None:
    """The attempts of a project's claims.csv; None where nobody tried yet."""
    claims = read_claims(folder)
    return None if claims is None else summary(claims, candidate)


def summary(claims: Claims, candidate: str) -> HumanPart:
    """Attempts, claims and right ones; the rate is of attempts, and none where nothing was tried."""
    low, high = rate_interval(Trials(claims.rows, claims.correct)) if claims.rows else (None, None)
    return HumanPart(
        attempts=claims.rows,
        claims=claims.claims,
        correct=claims.correct,
        minutes=claims.minutes,
        current=claims.candidate == candidate,
        rate=claims.correct / claims.rows if claims.rows else None,
        low=low,
        high=high,
    )
