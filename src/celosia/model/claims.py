"""What the motivated intruder tried on one candidate, and who that was: `claims.csv`, `celosia/claims/2`.

Knows counts, the names or codes of those who tried, and the sources they used. The claims themselves stay in the file:
they may name people. Source: MINSAL, Verificación 4.
"""

from __future__ import annotations

from dataclasses import dataclass

CLAIMS_FORMAT = "celosia/claims/2"
UNNAMED_FORMAT = "celosia/claims/1"  # of before it said who tried
CLAIM_COLUMNS = ("target", "source_used", "claim", "confidence", "correct", "minutes", "note")


@dataclass(frozen=True, slots=True)
class Outsider:
    """Somebody who tried: a name or a code, whether they stated that they are independent, and when they tried."""

    name: str
    independent: bool = False
    when: str = ""  # a day, as 2026-11-20

    @property
    def complete(self) -> bool:
        """Whether all that has to be known of them is there."""
        return bool(self.name and self.independent and self.when)


@dataclass(frozen=True, slots=True)
class Claims:
    """The attempts on one candidate: how many, how long, how many claimed somebody and how many rightly, by whom."""

    candidate: str  # digest of the file that was attacked
    rows: int  # attempts, with or without a claim
    correct: int
    claims: int = 0
    minutes: int = 0
    outsiders: tuple[Outsider, ...] = ()
    statement: str = ""  # of independence, as those who tried read it
    sources: tuple[str, ...] = ()  # what they searched, each once

    @property
    def independent(self) -> bool:
        """Whether everybody who tried is on record with a statement of independence and a day."""
        return bool(self.outsiders and self.statement) and all(outsider.complete for outsider in self.outsiders)

    def as_dict(self) -> dict[str, str | int]:
        """The counts as data."""
        counts = {"claims": self.claims, "correct": self.correct, "minutes": self.minutes}
        return {"candidate": self.candidate, "attempts": self.rows, **counts}
