"""How the methods of a search compare on one source under one policy: `celosia/methods/1`.

Knows counts and losses. Ignores how they are found; holds no cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

METHODS_FORMAT = "celosia/methods/1"


@dataclass(frozen=True, slots=True)
class MethodResult:
    """What one method gives. A method that cannot be used says why: the code of an error and its fields."""

    method: str
    feasible: bool
    loss: float | None = None
    suppressed_rows: int | None = None
    suppressed_share: float | None = None
    masked_sensitive: int | None = None  # records that lose a sensitive value and stay
    classes: int | None = None
    smallest_class: int | None = None  # in persons where they are known
    seconds: float | None = None
    optimal: bool = False
    order: tuple[str, ...] = ()  # recipe: the order that was used
    refused: str = ""
    fields: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """The methods side by side, by one loss."""

    metric: str
    rows: int
    allowed_rows: int
    person_key: bool
    methods: tuple[MethodResult, ...]

    @property
    def best(self) -> str:
        """The feasible method that loses least; empty when none is."""
        fits = [result for result in self.methods if result.feasible and result.loss is not None]
        return min(fits, key=lambda result: (result.loss, result.suppressed_rows)).method if fits else ""

    def as_dict(self) -> dict[str, Any]:
        """The comparison as its versioned JSON."""
        return {"format": METHODS_FORMAT, **asdict(self), "best": self.best}
