"""What the rule over a geographic variable found, and its file format `celosia/geography/1`.

Knows counts of areas and units, level by level. Ignores how they are counted (room `risk`).
Source: MEL protocol IV.2.b and note 4 (more than fifty units of the smallest unit in every category).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from celosia import messages
from celosia.model.plain import plain_fields
from celosia.model.reports.report import Records, Report

FORMAT = "celosia/geography/1"
MINIMUM = 50  # every category needs more than this many units
FLOORS = (10_000, 20_000, 100_000)  # inhabitants that an area is asked to have, in rising severity


class UnitKind(StrEnum):
    """What was counted in each area."""

    ROWS = "rows"
    KEY = "key"  # distinct values of a column that names the units
    MEMBERS = "members"  # the sum of a column that tells how many units a row stands for


class Treatment(StrEnum):
    """What the rule allows for the variable."""

    KEEP = "keep"
    RECODE = "recode"  # to the finest level that passes
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class FloorCount:
    """Areas whose population is below a floor, with their units, and areas of unknown population."""

    floor: int
    areas: int
    units: int
    unknown_areas: int

    @property
    def passes(self) -> bool:
        """Whether every area is known to reach the floor."""
        return self.areas == 0 and self.unknown_areas == 0


@dataclass(frozen=True, slots=True)
class GeographyLevel:
    """The areas of one level of detail; what names no area is counted apart and decides nothing."""

    level: int
    areas: int
    smallest: int | None
    small_areas: int  # areas of no more units than the minimum
    small_units: int
    missing: int
    masked: int
    unknown: int
    passes: bool
    floors: tuple[FloorCount, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The level as JSON."""
        floors = [asdict(floor) | {"passes": floor.passes} for floor in self.floors]
        return asdict(self) | {"floors": floors}


@dataclass(frozen=True, slots=True, repr=False)
class GeographyReport(Report):
    """The rule over one variable: each level, the finest that passes, and what may be done."""

    variable: str
    unit: UnitKind
    unit_variable: str | None
    minimum: int
    units: int
    levels: tuple[GeographyLevel, ...]

    @property
    def finest(self) -> int | None:
        """The finest level at which every area has more units than the minimum."""
        return next((level.level for level in self.levels if level.passes), None)

    @property
    def treatments(self) -> tuple[Treatment, ...]:
        """What is left to choose: a variable with some small area goes, or is recoded upward (X16)."""
        if self.finest == 0:
            return (Treatment.KEEP,)
        return (Treatment.REMOVE,) if self.finest is None else (Treatment.RECODE, Treatment.REMOVE)

    def finest_for(self, floor: int) -> int | None:
        """The finest level at which every area reaches a population floor."""
        passing = (level.level for level in self.levels if level.areas if _reaches(level, floor))
        return next(passing, None)

    @property
    def summary(self) -> str:
        """Whether every area has enough units, and at which level."""
        given = {"variable": self.variable, "minimum": self.minimum}
        if self.finest is None:
            return messages.text("reports.summary.geography_fails", **given)
        return messages.text("reports.summary.geography", **given, level=self.finest)

    def records(self) -> Records:
        """One line per level of detail."""
        return [plain_fields(level, "level areas smallest small_areas small_units passes") for level in self.levels]

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files; no area is named."""
        floors = [count.floor for count in self.levels[0].floors]
        return {
            "format": FORMAT,
            "variable": self.variable,
            "unit": self.unit.value,
            "unit_variable": self.unit_variable,
            "minimum": self.minimum,
            "units": self.units,
            "passes": self.finest == 0,
            "finest_level": self.finest,
            "treatments": [treatment.value for treatment in self.treatments],
            "levels": [level.as_dict() for level in self.levels],
            "finest_by_floor": {str(floor): self.finest_for(floor) for floor in floors},
        }


def _reaches(level: GeographyLevel, floor: int) -> bool:
    return any(count.floor == floor and count.passes for count in level.floors)
