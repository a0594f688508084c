"""What `people_risk` found, and its file format `celosia/people-risk/2`.

Knows the names of the figures and how they are written. Ignores how they are computed (room `risk`).
The definition and source of each figure are in the catalogue under `people_risk.<section>_<figure>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia import messages
from celosia.drawing.charts import Series, horizontal_bars
from celosia.drawing.picture import Drawing
from celosia.model.plain import plain_fields
from celosia.model.reports.report import Drawings, Records, Report, flat_lines

PEOPLE_RISK_FORMAT = "celosia/people-risk/2"


@dataclass(frozen=True, slots=True)
class FrequencySection:
    """How many rows, of the file and of the population they stand for, share their keys."""

    classes: int
    smallest: float | None
    smallest_population: float | None
    unique_rows: int
    violations: Mapping[int, int]  # rows whose fk is below k
    sum_sample: float
    sum_population: float
    weight: str | None  # the variable that weighs
    missing: str
    alpha: float | None

    def as_dict(self) -> dict[str, Any]:
        """The section as data."""
        return {
            "classes": self.classes,
            "smallest_fk": self.smallest,
            "smallest_Fk": self.smallest_population,
            "unique_rows": self.unique_rows,
            "violations": {str(k): rows for k, rows in self.violations.items()},
            "sum_fk": self.sum_sample,
            "sum_Fk": self.sum_population,
            "weight": self.weight,
            "missing": self.missing,
            "alpha": self.alpha,
        }


@dataclass(frozen=True, slots=True)
class RiskSection:
    """Individual or household risk over the rows."""

    highest: float | None
    expected: float  # re-identifications expected over all rows
    rate: float | None
    high_threshold: float | None
    high_rows: int

    def as_dict(self) -> dict[str, Any]:
        """The section as data."""
        return {
            "highest": self.highest,
            "expected_reidentifications": self.expected,
            "rate": self.rate,
            "high_threshold": self.high_threshold,
            "high_rows": self.high_rows,
        }


@dataclass(frozen=True, slots=True)
class HouseholdSection:
    """Risk that somebody of a household is found, seen by its rows."""

    variable: str
    households: int
    risk: RiskSection

    def as_dict(self) -> dict[str, Any]:
        """The section as data."""
        return {"variable": self.variable, "households": self.households} | self.risk.as_dict()


@dataclass(frozen=True, slots=True)
class AttackSection:
    """Prosecutor or journalist."""

    highest: float | None
    mean: float | None
    above: Mapping[str, float]  # share of records above each threshold
    short_classes: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The section as data."""
        figures = {"highest": self.highest, "mean": self.mean, "above": dict(self.above)}
        return figures if self.short_classes is None else figures | {"short_classes": self.short_classes}


@dataclass(frozen=True, slots=True)
class AttackersSection:
    """The three attackers."""

    unit: str  # rows or persons
    prosecutor: AttackSection
    journalist: AttackSection | None
    journalist_from: str | None  # population or weights
    marketer: float | None

    def as_dict(self) -> dict[str, Any]:
        """The section as data."""
        return plain_fields(self, "unit prosecutor journalist journalist_from marketer")


@dataclass(frozen=True, slots=True)
class PopulationSection:
    """What is known or estimated of the population."""

    size: float
    size_from: str  # population, weights or fraction
    fraction: float
    k_map: int | None  # smallest class of the file in the population table
    uniques: Mapping[str, float | None]  # expected population uniques by estimator
    uniqueness: Mapping[str, float | None]  # the same as a share of the population
    chosen: str  # the estimator that Dankar's rule chooses

    def as_dict(self) -> dict[str, Any]:
        """The section as data."""
        return {
            "size": self.size,
            "size_from": self.size_from,
            "sampling_fraction": self.fraction,
            "k_map": self.k_map,
            "uniques": dict(self.uniques),
            "uniqueness": dict(self.uniqueness),
            "chosen": self.chosen,
        }


@dataclass(frozen=True, slots=True, repr=False)
class PeopleRiskReport(Report):
    """Everything `people_risk` says about a table."""

    variables: tuple[str, ...]
    rows: int
    persons: int | None
    masked_rows: int  # rows whose keys are all masked: in no class, set apart
    frequencies: FrequencySection
    individual: RiskSection
    household: HouseholdSection | None
    attackers: AttackersSection
    population: PopulationSection | None

    @property
    def summary(self) -> str:
        """How many re-identifications are to be expected, and the highest risk."""
        return messages.text(
            "reports.summary.people_risk",
            rows=self.rows,
            expected=messages.decimal(self.individual.expected, 1),
            highest="–" if self.individual.highest is None else messages.part(self.individual.highest),
        )

    def records(self) -> Records:
        """One line per figure; `record_risk` gives the risk of each row to those who hold the data."""
        figures = self.as_dict()
        del figures["format"]
        return flat_lines(figures)

    def drawings(self) -> Drawings:
        """The share of records above each threshold, for the prosecutor and the journalist."""
        return {"attackers": self._chart} if self.attackers.prosecutor.above else {}

    def _chart(self) -> Drawing:
        given = {"prosecutor": self.attackers.prosecutor, "journalist": self.attackers.journalist}
        known = {name: attack for name, attack in given.items() if attack is not None}
        thresholds = list(self.attackers.prosecutor.above)
        series = [
            Series(messages.text(f"reports.chart.{name}"), tuple(attack.above.get(limit, 0.0) for limit in thresholds))
            for name, attack in known.items()
        ]
        names = [messages.text("reports.chart.above", limit=limit) for limit in thresholds]
        return horizontal_bars("attackers", messages.text("reports.chart.attackers"), names, series)

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files."""
        return {
            "format": PEOPLE_RISK_FORMAT,
            "variables": list(self.variables),
            "rows": self.rows,
            "persons": self.persons,
            "masked_rows": self.masked_rows,
            "frequencies": self.frequencies.as_dict(),
            "individual": self.individual.as_dict(),
            "household": None if self.household is None else self.household.as_dict(),
            "global": {
                "expected_reidentifications": self.individual.expected,
                "rate": self.individual.rate,
                "household_expected_reidentifications": None
                if self.household is None
                else self.household.risk.expected,
                "household_rate": None if self.household is None else self.household.risk.rate,
            },
            "attackers": self.attackers.as_dict(),
            "population": None if self.population is None else self.population.as_dict(),
        }
