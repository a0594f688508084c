"""Risk scenarios, what was found for each, and the report `celosia/risk/1` that orders them.

Knows names of variables, criteria and counts. Ignores how they are counted (room `risk`). A frequency table holds
categories of the variables: it is made on request, for the house, and is no part of the report otherwise.
Source: ATENEA guide G3_DE, section 4.2.3 (RI = 1/f; at risk when RI >= 0.3 unless a scenario says otherwise).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from celosia import messages
from celosia.drawing.charts import Series, horizontal_bars
from celosia.drawing.picture import Drawing
from celosia.model.errors import UnknownFormat
from celosia.model.plain import plain_fields
from celosia.model.reports.report import Drawings, Records, Report
from celosia.model.value_errors import ValueOutOfRange

RISK_FORMAT = "celosia/risk/1"
THRESHOLD = Fraction(3, 10)
# An exponent of millions would be worked out digit by digit.
_WRITTEN = re.compile(r"\d{1,18}/\d{1,18}|\d{0,18}[.,]?\d{0,18}([eE][+-]?\d{1,2})?")
_DRAWN = 20  # scenarios in a picture
_NONE: Mapping[str, Any] = MappingProxyType({})


def exact_threshold(value: Any) -> Fraction | None:
    """A criterion exactly as written (0.3, 0,3 or 3/10), above 0 and at most 1; None when it is not one."""
    written = str(value).strip()
    if isinstance(value, bool) or not _WRITTEN.fullmatch(written):
        return None
    try:
        threshold = Fraction(written.replace(",", "."))
    except (ValueError, ZeroDivisionError):
        return None
    return threshold if 0 < threshold <= 1 else None


def threshold_of(value: Any) -> Fraction:
    """The criterion, or an error that says what is accepted."""
    threshold = exact_threshold(value)
    if threshold is None:
        raise ValueOutOfRange(parameter="threshold", given=value, allowed=messages.text("risk.accepted_threshold"))
    return threshold


def threshold_text(threshold: Fraction | str) -> str:
    """A criterion with as few decimals as it needs, up to four; otherwise as a fraction, also of 0.3333333333333333."""
    threshold = Fraction(threshold).limit_denominator(10**12)
    for digits in range(1, 5):
        if (threshold * 10**digits).denominator == 1:
            return messages.decimal(float(threshold), digits)
    return str(threshold)


def largest_at_risk(threshold: Fraction) -> int:
    """The greatest frequency whose 1/f reaches the criterion: 3 for 0.3, because 1/3 is above it."""
    return threshold.denominator // threshold.numerator


def indicator_tenths(frequency: int) -> int:
    """1/f in tenths, halves upwards, as the guide prints it; 0 where the combination does not occur."""
    return (20 + frequency) // (2 * frequency) if frequency else 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """A combination of variables by which somebody could be found, with its criterion and levels of detail."""

    variables: tuple[str, ...]
    threshold: Fraction = THRESHOLD
    levels: Mapping[str, int] = field(default_factory=lambda: _NONE)  # of each variable's hierarchy; 0 elsewhere
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)  # order in its table
    origin: str = "declared"  # declared in the project, named in the command, or generated

    @property
    def columns(self) -> tuple[tuple[str, int], ...]:
        """Each variable with its level."""
        return tuple((name, self.levels.get(name, 0)) for name in self.variables)


@dataclass(frozen=True, slots=True)
class FrequencyLine:
    """One combination of categories."""

    values: tuple[str, ...]
    frequency: int
    at_risk: bool

    def as_dict(self) -> dict[str, Any]:
        """The indicator of a combination that does not occur is null: it has no risk."""
        indicator = 1 / self.frequency if self.frequency else None
        return {"values": list(self.values), "f": self.frequency, "ri": indicator, "at_risk": self.at_risk}


@dataclass(frozen=True, slots=True)
class FrequencyTable:
    """The frequencies of a scenario; `cells` is the size of the whole cross table, of which `lines` may be a part."""

    variables: tuple[str, ...]
    lines: tuple[FrequencyLine, ...]
    cells: int

    @property
    def complete(self) -> bool:
        """Whether every cell of the cross table has its line."""
        return len(self.lines) == self.cells

    def as_dict(self) -> dict[str, Any]:
        """The lines in their order."""
        return plain_fields(self, "variables cells complete lines")


@dataclass(frozen=True, slots=True)
class ScenarioRisk:
    """What was counted for one scenario."""

    scenario: Scenario
    at_risk: int  # units
    share: float
    rows_at_risk: int  # with f counted in rows, as the guide writes it; the same where rows are the unit
    rows_share: float
    combinations: int  # that occur
    combinations_at_risk: int
    unique: int  # combinations of a single unit
    apart_rows: int = 0  # every variable masked: nothing to look for
    apart_units: int = 0
    table: FrequencyTable | None = None

    def as_dict(self, order: int) -> dict[str, Any]:
        """One line of the report."""
        scenario = self.scenario
        shown: dict[str, Any] = {
            "order": order,
            "variables": list(scenario.variables),
            "threshold": float(scenario.threshold),
            "at_risk": self.at_risk,
            "share": self.share,
            "criterion": {"exact": str(scenario.threshold), "largest_f": largest_at_risk(scenario.threshold)},
            "levels": {name: scenario.levels.get(name, 0) for name in scenario.variables},
            "origin": scenario.origin,
            "rows_at_risk": self.rows_at_risk,
            "rows_share": self.rows_share,
            "combinations": self.combinations,
            "combinations_at_risk": self.combinations_at_risk,
            "unique": self.unique,
            "masked": {"rows": self.apart_rows, "units": self.apart_units},
        }
        return shown if self.table is None else shown | {"table": self.table.as_dict()}


@dataclass(frozen=True, slots=True, repr=False)
class ScenarioReport(Report):
    """Every scenario, the one with the largest share of units at risk first (A18)."""

    rows: int
    persons: int | None
    scenarios: tuple[ScenarioRisk, ...]
    left_out: tuple[str, ...] = ()  # quasi-identifiers to be removed, which generated scenarios do not combine

    @property
    def unit(self) -> str:
        """What is counted: persons where their key is known, otherwise rows."""
        return "rows" if self.persons is None else "persons"

    @property
    def units(self) -> int:
        """How many there are."""
        return self.rows if self.persons is None else self.persons

    @property
    def summary(self) -> str:
        """How many scenarios there are, and the share at risk in the riskiest."""
        if not self.scenarios:
            return messages.text("reports.summary.risk_empty", rows=self.rows)
        worst = self.scenarios[0]
        return messages.text(
            "reports.summary.risk",
            count=len(self.scenarios),
            variables=" × ".join(worst.scenario.variables),
            share=messages.part(worst.share),
            unit=messages.text(f"tables.unit.{self.unit}"),
        )

    def records(self) -> Records:
        """One line per scenario, the riskiest first."""
        names = "order variables threshold at_risk share rows_at_risk combinations combinations_at_risk unique".split()
        lines = [risk.as_dict(order) for order, risk in enumerate(self.scenarios, start=1)]
        return [
            {name: " × ".join(line[name]) if name == "variables" else line[name] for name in names} for line in lines
        ]

    def drawings(self) -> Drawings:
        """The share at risk in each scenario."""
        return {"risk": self._chart} if self.scenarios else {}

    def _chart(self) -> Drawing:
        shown = self.scenarios[:_DRAWN]
        title = messages.text("evaluation.chart.scenarios", threshold=threshold_text(shown[0].scenario.threshold))
        names = [" × ".join(risk.scenario.variables) for risk in shown]
        return horizontal_bars("scenarios", title, names, [Series("", tuple(risk.share for risk in shown))])

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files."""
        return {
            "format": RISK_FORMAT,
            "unit": self.unit,
            "units": self.units,
            "rows": self.rows,
            "persons": self.persons,
            "left_out": list(self.left_out),
            "scenarios": [risk.as_dict(order) for order, risk in enumerate(self.scenarios, start=1)],
        }


def scenario_report_from(data: Mapping[str, Any], path: str = "-") -> ScenarioReport:
    """Read a report back without its tables of frequencies; a format of another version is refused by name."""
    if data.get("format") != RISK_FORMAT:
        raise UnknownFormat(path=path, found=str(data.get("format")), expected=RISK_FORMAT)
    return ScenarioReport(data["rows"], data["persons"], tuple(_risk_from(line) for line in data["scenarios"]))


def _risk_from(line: Mapping[str, Any]) -> ScenarioRisk:
    levels = {name: level for name, level in line["levels"].items() if level}
    threshold = Fraction(line["criterion"]["exact"])
    scenario = Scenario(tuple(line["variables"]), threshold, levels, origin=line["origin"])
    plain = ("at_risk", "share", "rows_at_risk", "rows_share", "combinations", "combinations_at_risk", "unique")
    apart = line["masked"]
    figures = {name: line[name] for name in plain}
    return ScenarioRisk(scenario, **figures, apart_rows=apart["rows"], apart_units=apart["units"])
