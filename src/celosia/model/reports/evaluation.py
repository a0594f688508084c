"""What a released file is still worth, and how exposed people remain: the report that compares two files.

Every figure has its name, definition and source in the catalogue under `evaluation.measure.<id>`.
Sources: ATENEA guide 4.2.5; MINSAL, Implementación; MEL protocol IV.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain_fields

FORMAT = "celosia/evaluation/2"
_NONE: Mapping[str, Any] = MappingProxyType({})


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


@dataclass(frozen=True, slots=True)
class Distribution:
    """Shares of a variable's frequent categories in both files, for pictures; rare ones are joined."""

    variable: str
    labels: tuple[str, ...]  # an empty label: all the others together
    before: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class EvaluationReport:
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

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        return {"format": FORMAT, **plain_fields(self), "passes": self.passes}
