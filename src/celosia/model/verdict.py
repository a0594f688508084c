"""What a check says of a written file: rule by rule, asked and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from celosia.model.plain import plain_fields

VERDICT_FORMAT = "celosia/verdict/2"


class State(StrEnum):
    """What could not be measured has failed."""

    HOLDS = "holds"
    FAILS = "fails"
    ATTESTED = "attested"
    NOT_MEASURABLE = "not_measurable"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule on a written file."""

    rule: str
    asked: Mapping[str, Any]
    measured: float | int | None
    failing_classes: int
    failing_rows: int
    state: State


@dataclass(frozen=True, slots=True)
class Suppression:
    """Records that a release does not show: the one definition that every surface uses (MINSAL Anexo II.1).

    A record is suppressed where the plan took it: it stays in the file with every quasi-identifier masked or, where
    the policy says so, leaves it. It is masked otherwise where the file shows none of its quasi-identifiers and the
    plan did not suppress it: it came so, or its treatments and levels left it so.
    """

    rows: int  # records of the published file
    suppressed: int
    otherwise: int | None  # None in a plan that did not count them
    dropped: bool = False  # whether the suppressed records left the file

    @property
    def records(self) -> int:
        """Records before the suppression."""
        return self.rows + (self.suppressed if self.dropped else 0)

    @property
    def masked(self) -> int:
        """Records of the published file with every quasi-identifier masked."""
        return (0 if self.dropped else self.suppressed) + (self.otherwise or 0)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All rules on a written file, and its plain figures."""

    file: str
    digest: str
    rows: int
    classes: int
    suppressed_rows: int  # by the plan: masked whole, or gone from the file
    verdicts: tuple[Verdict, ...]
    k: int | None
    k_persons: int | None
    otherwise_masked_rows: int = 0  # every quasi-identifier masked, and not by the plan's suppression
    drops_suppressed: bool = False  # whether the suppressed rows left the file
    single_classes: int = 0  # classes of one person, or of one row where persons are not told apart

    @property
    def holds(self) -> bool:
        """Whether every rule holds or is attested."""
        return bool(self.verdicts) and all(v.state in (State.HOLDS, State.ATTESTED) for v in self.verdicts)

    @property
    def suppression(self) -> Suppression:
        """The records that the file does not show, as they were counted on it."""
        return Suppression(self.rows, self.suppressed_rows, self.otherwise_masked_rows, self.drops_suppressed)

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        counts = "rows classes suppressed_rows otherwise_masked_rows drops_suppressed k k_persons single_classes"
        return {"format": VERDICT_FORMAT, **plain_fields(self, f"file digest {counts} holds verdicts")}
