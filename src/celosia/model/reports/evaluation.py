"""What a released file is still worth, and how exposed people remain: the report that compares two files.

Every figure has its name, definition and source in the catalogue under `evaluation.measure.<id>`.
Sources: ATENEA guide 4.2.5; MINSAL, Implementación; MEL protocol IV.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from celosia import messages
from celosia.drawing.charts import before_and_after, horizontal_bars, pair_squares, risk_and_loss, vertical_bars
from celosia.drawing.picture import Drawing
from celosia.model.plain import plain_fields
from celosia.model.reports.report import Drawings, Records, Report
from celosia.model.reports.scenarios import threshold_text

FORMAT = "celosia/evaluation/2"
_NONE: Mapping[str, Any] = MappingProxyType({})
_INTERVAL = re.compile(r"(≤ |> )?-?\d+(\.\d+)?(–-?\d+(\.\d+)?)?")
_FRACTION = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file's name and dimensions."""

    name: str
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class VariableLoss:
    """What one variable lost; the figures of matched records are None where no key was given."""

    variable: str
    missing_before: int
    missing_after: int
    masked_cells: int
    masked_share: float
    loss: float  # share of the information lost, from both distributions
    recoded: bool  # a number before, words after
    changed_cells: int | None = None
    changed_share: float | None = None
    il1s: float | None = None
    squared_error_share: float | None = None


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """What the release gave up; `level` says whether records or only distributions were compared."""

    level: str  # "records" | "distributions"
    loss: float
    variables: tuple[VariableLoss, ...]
    masked_cells: int
    masked_cells_share: float
    masked_rows: int  # rows with at least one masked cell that was not masked before
    masked_rows_share: float
    suppressed_rows: int  # rows that left, or whose quasi-identifiers are all masked
    suppressed_share: float
    dropped_rows: int
    search: Mapping[str, float | None] = field(default_factory=lambda: _NONE)  # the search's metrics, with hierarchies
    linked_rows: int | None = None


@dataclass(frozen=True, slots=True)
class PropertyCheck:
    """One property of one variable (or pair, or model term), before and after."""

    property: str
    variable: str
    before: float | None
    after: float | None
    difference: float | None
    relative: float | None  # difference ÷ before; None where before is zero
    tolerance: float | None  # None: the rule of the property is not a tolerance
    passes: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class ContrastLine:
    """One untouched variable in MEL's contrast: both files must say exactly the same."""

    variable: str
    label: str
    scale: str  # "continuous" | "categorical"
    equal: bool
    statistics: Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True, slots=True)
class VariableDistance:
    """How far one variable's distribution moved."""

    variable: str
    total_variation: float | None
    hellinger: float | None
    kolmogorov_smirnov: float | None
    earth_mover: float | None


@dataclass(frozen=True, slots=True)
class AssociationChange:
    """Association of every pair before and after."""

    variables: tuple[str, ...]
    before: tuple[tuple[float | None, ...], ...]
    after: tuple[tuple[float | None, ...], ...]
    change: tuple[tuple[float | None, ...], ...]
    largest: float | None
    mean: float | None
    left_out: tuple[str, ...] = ()

    def chart(self) -> Drawing:
        """What was added to the association of each pair."""
        title, key = messages.text("evaluation.chart.association"), messages.text("evaluation.chart.association_key")
        words = messages.text("evaluation.chart.association_words", largest=self.largest or 0.0, mean=self.mean or 0.0)
        return pair_squares(title, words, key, self.variables, self.change)


@dataclass(frozen=True, slots=True)
class Propensity:
    """Whether a model can tell the two files apart."""

    pmse: float
    expected: float
    ratio: float | None
    standardised: float | None
    parameters: int
    rows: int
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NumericLoss:
    """Numbers of matched records."""

    variables: tuple[str, ...]
    records: int
    il1s: float | None
    il1s_per_cell: float | None
    squared_error_share: float | None
    eigenvalues: float | None
    eigenvalues_used: int
    eigenvalues_zero: int
    within_reach: float | None


@dataclass(frozen=True, slots=True)
class RiskSide:
    """How exposed one file leaves people over the quasi-identifiers."""

    rows: int
    persons: int | None
    classes: int
    k: int | None
    k_persons: int | None
    unique_rows: int
    rows_below: Mapping[str, int]
    masked_rows: int  # rows with every quasi-identifier masked, whoever masked them
    at_risk: int  # rows with 1/f at or above the threshold
    at_risk_share: float
    largest_risk: float | None  # 1/k
    class_sizes: tuple[tuple[str, int, int], ...]  # (sizes, classes, rows)


@dataclass(frozen=True, slots=True)
class RiskComparison:
    """The first risk analysis beside the second."""

    quasi: tuple[str, ...]
    threshold: str
    before: RiskSide
    after: RiskSide
    scenarios: tuple[tuple[str, float, float], ...] = ()  # (variables, share at risk before, after), riskiest first

    def class_size_chart(self) -> Drawing:
        """Share of rows by the size of their class, before and after."""
        shares = [[rows / max(side.rows, 1) for _, _, rows in side.class_sizes] for side in (self.before, self.after)]
        title, axis = messages.text("evaluation.chart.class_sizes"), messages.text("evaluation.chart.class_size_axis")
        names = [name for name, _, _ in self.before.class_sizes]
        return vertical_bars("class-sizes", title, names, before_and_after(*shares), axis)

    def scenario_chart(self) -> Drawing:
        """Share at risk in each scenario, before and after, the riskiest first."""
        ordered = sorted(self.scenarios, key=lambda scenario: (-scenario[1], scenario[0]))
        title = messages.text("evaluation.chart.scenarios", threshold=threshold_text(self.threshold))
        both = before_and_after([before for _, before, _ in ordered], [after for _, _, after in ordered])
        return horizontal_bars("scenarios", title, [name for name, _, _ in ordered], both if ordered else both[:1])

    def loss_chart(self, loss: float) -> Drawing:
        """Risk and loss of both files: near the corner is better."""
        points = [(messages.text("evaluation.before"), self.before.at_risk_share, 0.0)]
        points.append((messages.text("evaluation.after"), self.after.at_risk_share, loss))
        return risk_and_loss_chart(points, self.threshold)


def risk_and_loss_chart(points: Sequence[tuple[str, float, float]], threshold: str) -> Drawing:
    """One dot per release: its name, share at risk and share of information lost."""
    risk = messages.text("evaluation.chart.risk_axis", threshold=threshold_text(threshold))
    axes = (messages.text("evaluation.chart.loss_axis"), risk)
    return risk_and_loss(messages.text("evaluation.chart.risk_utility"), points, axes)


@dataclass(frozen=True, slots=True)
class Distribution:
    """Shares of a variable's frequent categories in both files, for pictures; rare ones are joined."""

    variable: str
    labels: tuple[str, ...]  # an empty label: all the others together
    before: tuple[float, ...]
    after: tuple[float, ...]

    def chart(self, number: int = 0) -> Drawing:
        """The shares of the categories, before and after."""
        title = messages.text("evaluation.chart.distribution", variable=self.variable)
        names = [_category_words(name) for name in self.labels]
        return horizontal_bars(f"distribution-{number}", title, names, before_and_after(self.before, self.after))


def _category_words(name: str) -> str:
    """A category; the ends of an interval of numbers with the decimal mark of the language."""
    if not name:
        return messages.text("evaluation.chart.others")
    if set(name) == {"*"}:
        return messages.text("evaluation.chart.masked")
    if not _INTERVAL.fullmatch(name):
        return name
    return _FRACTION.sub(lambda number: messages.decimal(float(number[0]), len(number[0].partition(".")[2])), name)


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationReport(Report):
    """Two files compared."""

    before: FileFacts
    after: FileFacts
    equal_rows: bool
    variables: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    loss: InformationLoss
    properties: tuple[PropertyCheck, ...]
    distances: tuple[VariableDistance, ...]
    association: AssociationChange | None
    propensity: Propensity | None
    numeric: NumericLoss | None = None
    contrast: tuple[ContrastLine, ...] = ()
    risk: RiskComparison | None = None
    distributions: tuple[Distribution, ...] = ()
    weights: str | None = None
    key: str | None = None

    @property
    def passes(self) -> bool:
        """Whether every check that was asked for holds."""
        return all(check.passes for check in self.properties) and all(line.equal for line in self.contrast)

    @property
    def summary(self) -> str:
        """What was lost, and whether what was asked for is kept."""
        key = "reports.summary.evaluation_passes" if self.passes else "reports.summary.evaluation_fails"
        said = messages.text(key, rows=self.after.rows, loss=messages.percent(self.loss.loss))
        if self.risk is None:
            return said
        shares = [messages.part(side.at_risk_share) for side in (self.risk.before, self.risk.after)]
        return f"{said} {messages.text('reports.summary.evaluation_risk', before=shares[0], after=shares[1])}"

    def records(self) -> Records:
        """What each variable lost."""
        names = "variable loss masked_share changed_share missing_before missing_after"
        return [plain_fields(variable, names) for variable in self.loss.variables]

    def drawings(self) -> Drawings:
        """Class sizes, risk by scenario, risk and loss, associations, and the distribution of each variable."""
        drawn: dict[str, Any] = {}
        if self.risk is not None:
            drawn["class-sizes"] = self.risk.class_size_chart
            drawn["risk"] = self.risk.scenario_chart
            drawn["risk-utility"] = partial(self.risk.loss_chart, self.loss.loss)
        if self.association is not None:
            drawn["association"] = self.association.chart
        for number, distribution in enumerate(self.distributions, start=1):
            if distribution.labels:
                drawn[f"distribution-{number:02d}"] = partial(distribution.chart, number)
        return drawn

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        return {"format": FORMAT, **plain_fields(self), "passes": self.passes}
