"""What one step of a plan did, and its JSON. Figures and names of columns only: never a cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Change:
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
        return {
            "technique": self.technique,
            "columns": list(self.columns),
            "rows": self.rows,
            "rows_touched": self.rows_touched,
            "share": self.share,
            "cells_touched": dict(self.cells_touched),
            "removed": list(self.removed),
            "renamed": dict(self.renamed),
            "rows_dropped": self.rows_dropped,
            "preserved": list(self.preserved),
            "notes": dict(self.notes),
            "loss": dict(self.loss),
        }
