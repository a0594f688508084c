"""Rare values of each variable and the strong indirect identifiers proposed, in format `celosia/rarity/1`.

Knows counts. Ignores the values themselves, which are given on request only.
Source: MEL protocol III.2 (levels of identifiers) and III.2.b (rare values are strong identifiers).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from celosia import messages
from celosia.drawing.charts import Series, horizontal_bars
from celosia.drawing.picture import Drawing
from celosia.model.plain import plain_fields
from celosia.model.reports.report import Drawings, Records, Report

FORMAT = "celosia/rarity/1"
RARE = 3  # a value held by at most this many units is rare: ATENEA's RI ≥ 0.3


class StrongReason(StrEnum):
    """Why a variable is proposed as a strong indirect identifier."""

    NATURE = "nature"  # what it is: address, phone, plate, e-mail, personal web; or the dictionary says so
    RARE = "rare"  # a category told by others, like a disease or a post, that few people have
    NEARLY_UNIQUE = "nearly_unique"  # nearly every value belongs to one unit alone


@dataclass(frozen=True, slots=True)
class VariableRarity:
    """How many values of one variable are rare, and how many units hold one."""

    name: str
    values: int
    rare_values: int
    rare_units: int
    single_values: int  # values of one unit alone
    strong: StrongReason | None = None


@dataclass(frozen=True, slots=True, repr=False)
class RarityReport(Report):
    """The rare values of a table, variable by variable, as counts."""

    unit: str  # rows, or persons where a key exists
    units: int
    threshold: int
    variables: tuple[VariableRarity, ...]

    @property
    def strong(self) -> tuple[str, ...]:
        """The variables proposed as strong indirect identifiers."""
        return tuple(variable.name for variable in self.variables if variable.strong)

    @property
    def summary(self) -> str:
        """How many variables have rare values, and how many seem strong identifiers."""
        rare = sum(variable.rare_values > 0 for variable in self.variables)
        return messages.text(
            "reports.summary.rarity",
            count=len(self.variables),
            rare=rare,
            threshold=self.threshold,
            strong=len(self.strong),
        )

    def records(self) -> Records:
        """One line per variable."""
        names = "values rare_values rare_units single_values strong"
        return [{"variable": variable.name, **plain_fields(variable, names)} for variable in self.variables]

    def drawings(self) -> Drawings:
        """The share of the units that hold a rare value, by variable."""
        return {"rare-values": self._chart} if self.variables and self.units else {}

    def _chart(self) -> Drawing:
        ordered = sorted(self.variables, key=lambda variable: (-variable.rare_units, variable.name))
        shares = tuple(variable.rare_units / self.units for variable in ordered)
        title = messages.text("reports.chart.rare_values", threshold=self.threshold)
        return horizontal_bars("rare-values", title, [variable.name for variable in ordered], [Series("", shares)])

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files; no value is named."""
        return {"format": FORMAT, **plain_fields(self, "unit units threshold variables strong")}
