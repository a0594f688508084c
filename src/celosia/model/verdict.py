"""What a check says of a written file: rule by rule, asked and measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from celosia.model.plain import plain_fields

VERDICT_FORMAT = "celosia/verdict/1"


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
class CheckReport:
    """All rules on a written file, and its plain figures."""

    file: str
    digest: str
    rows: int
    classes: int
    suppressed_rows: int
    verdicts: tuple[Verdict, ...]
    k: int | None
    k_persons: int | None

    @property
    def holds(self) -> bool:
        """Whether every rule holds or is attested."""
        return bool(self.verdicts) and all(v.state in (State.HOLDS, State.ATTESTED) for v in self.verdicts)

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        names = "file digest rows classes suppressed_rows k k_persons holds verdicts"
        return {"format": VERDICT_FORMAT, **plain_fields(self, names)}
