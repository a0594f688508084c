"""What the page shows of attacks and of the test with a person.

Knows reports, published values of the records to be tried, and what the outsider wrote; nothing of the original. What
an outsider sees (`Attempt`) holds no figure that the candidate itself does not show.
Source: MINSAL, Verificación y Validación 4.
"""

from __future__ import annotations

from dataclasses import dataclass

from celosia.model.claims import Outsider
from celosia.model.reports.attacks import AttackReport, HumanPart
from celosia.model.reports.status import GateStatus
from celosia.model.reports.worksheet import ExposedRecord

ATTEMPT_FORMAT = "celosia/attempt/1"
CONFIDENCES = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class IntruderView:
    """The last attacks on a project's candidate, the test with a person, and what its norms still ask for."""

    candidate: bool
    report: AttackReport | None = None
    when: str = ""
    current: bool = False  # the report is of this very candidate
    human: HumanPart | None = None
    unjudged: int = 0  # claims that nobody called right or wrong
    fault: str = ""  # why the claims cannot be counted, where they cannot
    gates: tuple[GateStatus, ...] = ()
    outsiders: tuple[Outsider, ...] = ()  # who tried


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """A published column: its name and what it is called."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the outsider wrote about one record."""

    row: int  # of the published file, the first is 1
    source_used: str = ""
    claim: str = ""
    confidence: str = ""  # one of CONFIDENCES
    minutes: str = ""
    note: str = ""

    @property
    def blank(self) -> bool:
        """Whether nothing was written."""
        return not any((self.source_used, self.claim, self.confidence, self.minutes, self.note))

    @property
    def complete(self) -> bool:
        """Whether it can be judged and counted: a claim with its source and confidence, else the minutes spent."""
        return bool(self.source_used and self.confidence) if self.claim else bool(self.minutes)


@dataclass(frozen=True, slots=True)
class Attempt:
    """All that an outsider sees: the candidate, the records to be tried, and what they themselves wrote."""

    open: bool
    rows: int = 0
    columns: tuple[PublicColumn, ...] = ()
    records: tuple[ExposedRecord, ...] = ()
    answers: tuple[Answer, ...] = ()
    sent: tuple[int, ...] = ()  # rows whose answers were handed over
    expected: str = ""  # what a later edit must find unchanged


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """One attempt that was handed over, with what the file publishes of its record where that is known."""

    line: int  # of claims.csv
    target: str
    source_used: str
    claim: str
    confidence: str
    correct: str  # yes, no, or nothing yet
    minutes: str
    note: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimsView:
    """The attempts that were handed over, for whoever judges them."""

    current: bool  # on this very candidate
    lines: tuple[ClaimLine, ...]
    expected: str
