"""What one step of a plan did, and its JSON. Figures and names of columns only: never a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain_fields

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StepChange:
    """The report of a step: what it touched, what it kept, what it cost."""

    technique: str
    columns: tuple[str, ...]  # as they are named after the step
    rows: int  # of the table before
    rows_touched: int
    cells_touched: Mapping[str, int]  # per column that stays
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=lambda: _NONE)  # new name -> the column it stands for
    rows_dropped: int = 0
    preserved: tuple[str, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    loss: Mapping[str, float | None] = field(default_factory=lambda: _NONE)  # per column; the pipeline adds it

    @property
    def share(self) -> float:
        """Share of the rows that the step touched."""
        return self.rows_touched / self.rows if self.rows else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The change as data."""
        return plain_fields(
            self,
            "technique columns rows rows_touched share cells_touched removed renamed rows_dropped preserved notes loss",
        )
