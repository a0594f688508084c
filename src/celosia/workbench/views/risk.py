"""A project's risk as a page shows it: roles, declared scenarios and the saved reports, typed as their JSON is.

Knows names of variables, counts and shares; only `FrequencyLines` holds categories. Ignores how they are counted.
Source: ATENEA G3_DE 4.2.3 (scenarios), 4.2.5 (again after treatment); MEL IV.2.b (geography).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.model.reports.evaluation import RiskComparison
from celosia.model.reports.overview import Exposed, Linkable, SingleValue, SizeBand
from celosia.model.reports.special_uniques import RepeatedPersons, SizeCount
from celosia.workbench.views.saved import Saved


@dataclass(frozen=True, slots=True)
class RiskCriterion:
    """A criterion exactly as written, and the greatest frequency that it puts at risk."""

    exact: str
    largest_f: int


@dataclass(frozen=True, slots=True)
class ScenarioLine:
    """A scenario: its variables, their levels, its criterion and, where it was counted, whom it puts at risk."""

    variables: tuple[str, ...]
    levels: Mapping[str, int]
    criterion: RiskCriterion
    order: int = 0
    at_risk: int = 0
    share: float = 0.0
    table: FrequencyLines | None = None


@dataclass(frozen=True, slots=True)
class FrequencyLine:
    """One combination of categories and its frequency."""

    values: tuple[str, ...]
    f: int
    at_risk: bool


@dataclass(frozen=True, slots=True)
class FrequencyLines:
    """The first combinations of a scenario; `listed` is the number of all."""

    variables: tuple[str, ...]
    lines: tuple[FrequencyLine, ...]
    listed: int


@dataclass(frozen=True, slots=True)
class ScenarioList:
    """The first scenarios, ordered by risk; `listed` is the number of all."""

    unit: str  # rows or persons
    units: int
    rows: int
    scenarios: tuple[ScenarioLine, ...]
    listed: int


@dataclass(frozen=True, slots=True)
class OverviewMeasures:
    """The measures of the table over its quasi-identifiers."""

    rows: int
    persons: int | None
    classes: int
    k: int | None
    k_persons: int | None
    sensitive: Mapping[str, Mapping[str, Any]]  # variable → figure


@dataclass(frozen=True, slots=True)
class OverviewFigures:
    """Class sizes, units at risk, and the three kinds of risk."""

    sensitive: tuple[str, ...]
    unit: str  # rows or persons
    units: int
    measures: OverviewMeasures
    bands: tuple[SizeBand, ...]
    criterion: RiskCriterion
    at_risk: Exposed
    singling_out: Exposed
    linkability: Linkable | None
    inference: Mapping[str, SingleValue]


@dataclass(frozen=True, slots=True)
class FrequencyFigures:
    """How many rows share their keys."""

    classes: int
    smallest_fk: float | None
    unique_rows: int
    violations: Mapping[str, int]  # k → rows in classes below it


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """Individual or household risk over the rows."""

    highest: float | None
    expected_reidentifications: float
    rate: float | None
    high_rows: int


@dataclass(frozen=True, slots=True)
class AttackerFigures:
    """The success of a prosecutor or journalist."""

    highest: float | None
    mean: float | None
    above: Mapping[str, float]  # share of records above each threshold


@dataclass(frozen=True, slots=True)
class Attackers:
    """The three attackers."""

    unit: str
    prosecutor: AttackerFigures
    journalist: AttackerFigures | None
    marketer: float | None


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """Individual and global risk, and the three attackers."""

    frequencies: FrequencyFigures
    individual: RiskFigures
    household: RiskFigures | None
    attackers: Attackers


@dataclass(frozen=True, slots=True)
class ScoreFigures:
    """The sum and the maximum of the scores of the rows."""

    total: float
    maximum: float


@dataclass(frozen=True, slots=True)
class DisFigures:
    """The rows in each interval of the DIS score."""

    edges: tuple[float, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SpecialFigures:
    """Rows that few variables single out."""

    rows: int
    unique_rows: int
    special_rows: int
    sizes: tuple[SizeCount, ...]
    scoring: str
    score: ScoreFigures
    dis: DisFigures
    contributions: Mapping[str, float | None]
    skipped_cells: int
    persons: RepeatedPersons | None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AreaLevel:
    """The areas of one level of detail."""

    level: int
    areas: int
    smallest: int | None
    small_areas: int
    small_units: int
    missing: int
    masked: int
    unknown: int
    passes: bool


@dataclass(frozen=True, slots=True)
class AreaFigures:
    """The rule of a minimum of units over one geographic variable."""

    variable: str
    unit: str
    unit_variable: str | None
    minimum: int
    units: int
    finest_level: int | None
    treatments: tuple[str, ...]
    levels: tuple[AreaLevel, ...]


@dataclass(frozen=True, slots=True)
class GeographyFigures:
    """The rule over every geographic variable."""

    variables: tuple[AreaFigures, ...]


@dataclass(frozen=True, slots=True)
class AfterFigures:
    """The first risk analysis beside the same on the candidate."""

    risk: RiskComparison | None


@dataclass(frozen=True, slots=True)
class RiskView:
    """What is known of a project's risk without counting anything."""

    digest: str  # of celosia.toml
    household: str | None
    variables: tuple[str, ...]
    quasi: tuple[str, ...]
    places: tuple[str, ...]
    identifiers: tuple[str, ...]
    scenarios: tuple[ScenarioLine, ...]  # declared
    candidate: bool
    request: bool
    overview: Saved[OverviewFigures] | None = None
    ordered: Saved[ScenarioList] | None = None
    table: Saved[ScenarioList] | None = None
    people: Saved[PeopleFigures] | None = None
    special: Saved[SpecialFigures] | None = None
    geography: Saved[GeographyFigures] | None = None
    after: Saved[AfterFigures] | None = None
