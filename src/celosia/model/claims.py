"""What the motivated intruder claimed about one candidate: `claims.csv`, `celosia/claims/1`.

Knows counts. The claims themselves stay in the file: they may name people. Source: MINSAL, Verificación 4.
"""

from __future__ import annotations

from dataclasses import dataclass

CLAIMS_FORMAT = "celosia/claims/1"
CLAIM_COLUMNS = ("target", "source_used", "claim", "confidence", "correct", "minutes", "note")


@dataclass(frozen=True, slots=True)
class Claims:
    """The attempts on one candidate: how many, how long, how many claimed somebody and how many rightly."""

    candidate: str  # digest of the file that was attacked
    rows: int  # attempts, with or without a claim
    correct: int
    claims: int = 0
    minutes: int = 0

    def as_dict(self) -> dict[str, str | int]:
        """The counts as data."""
        counts = {"claims": self.claims, "correct": self.correct, "minutes": self.minutes}
        return {"candidate": self.candidate, "attempts": self.rows, **counts}
