"""A first look at how exposed the people of a table are, and its file format `celosia/risk-overview/1`.

Knows counts by class size and the three kinds of risk apart. Ignores how they are counted (room `risk`). No cell.
Sources: Samarati 2001, Sweeney 2002 (classes); ATENEA G3_DE 4.2.3 (RI); Working Party 29, Opinion 05/2014 (singling
out, linkability, inference), which MINSAL's norm takes over in its introduction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from celosia.model.reports.measures import MeasureReport
from celosia.model.reports.scenarios import largest_at_risk

OVERVIEW_FORMAT = "celosia/risk-overview/1"


@dataclass(frozen=True, slots=True)
class SizeBand:
    """The classes of some sizes: how many they are, and whom they hold; a person is counted once in each band."""

    low: int
    high: int | None  # None: from `low` on
    classes: int
    units: int
    rows: int


@dataclass(frozen=True, slots=True)
class Exposed:
    """Units of one kind of risk, and their share of all."""

    units: int
    share: float


@dataclass(frozen=True, slots=True)
class Linkable:
    """What a key that repeats would join: persons behind the rows, and those seen in more than one class."""

    persons: int
    rows: int
    scattered: int


@dataclass(frozen=True, slots=True)
class SingleValue:
    """Classes in which a sensitive variable has one value only: who is known to be there gives it away."""

    classes: int
    units: int
    share: float


@dataclass(frozen=True, slots=True)
class RiskOverview:
    """Sizes of the classes over the quasi-identifiers, units at risk, and the three risks one by one."""

    quasi: tuple[str, ...]
    measures: MeasureReport
    bands: tuple[SizeBand, ...]
    threshold: Fraction
    at_risk: Exposed
    singling_out: Exposed
    linkability: Linkable | None
    inference: Mapping[str, SingleValue]

    @property
    def unit(self) -> str:
        """What is counted: persons where their key is known, otherwise rows."""
        return "rows" if self.measures.persons is None else "persons"

    def as_dict(self) -> dict[str, Any]:
        """The overview as it is kept in files."""
        rows, persons = self.measures.rows, self.measures.persons
        return {
            "format": OVERVIEW_FORMAT,
            "quasi": list(self.quasi),
            "sensitive": list(self.inference),
            "unit": self.unit,
            "units": rows if persons is None else persons,
            "measures": self.measures.as_dict(),
            "bands": [asdict(band) for band in self.bands],
            "criterion": {"exact": str(self.threshold), "largest_f": largest_at_risk(self.threshold)},
            "at_risk": asdict(self.at_risk),
            "singling_out": asdict(self.singling_out),
            "linkability": None if self.linkability is None else asdict(self.linkability),
            "inference": {name: asdict(figures) for name, figures in self.inference.items()},
        }
