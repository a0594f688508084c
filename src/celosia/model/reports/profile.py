"""The exploratory profile of a table: what is in it, variable by variable, and how exposed it is.

Source: ATENEA guide 4.2.2 (dimensions, scale, kind, totals, means, quantiles, frequencies); MEL III.2.b (rare values).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from celosia import messages
from celosia.model.plain import plain_fields
from celosia.model.reports.report import Records, Report

FORMAT = "celosia/profile/1"


@dataclass(frozen=True, slots=True)
class NumberSummary:
    """Descriptives of the cells that hold a number; `not_numeric` counts the others that are not missing."""

    count: int
    not_numeric: int
    total: float
    mean: float
    variance: float | None  # sample variance (n − 1); none for a single number
    minimum: float
    maximum: float
    quantiles: Mapping[str, float]  # linear interpolation (type 7), keys "0.01"… "0.99"


@dataclass(frozen=True, slots=True)
class CategoryCount:
    """A category with its rows and share of all rows."""

    value: str
    rows: int
    share: float


@dataclass(frozen=True, slots=True)
class RareValues:
    """How many values occur in at most `threshold` rows, and how many rows hold one."""

    threshold: int
    values: int
    rows: int


@dataclass(frozen=True, slots=True)
class VariableProfile:
    """What one column holds; `categories` is empty where showing values would show people."""

    name: str
    label: str
    role: str
    scale: str
    kind: str
    distinct: int
    missing: int
    masked: int
    unknown: int
    rare: RareValues
    numbers: NumberSummary | None = None
    categories: tuple[CategoryCount, ...] = ()
    other_rows: int = 0  # rows of the categories beyond those listed
    veiled: bool = False


@dataclass(frozen=True, slots=True)
class Exposure:
    """How the proposed quasi-identifiers single people out."""

    quasi: tuple[str, ...]
    person: str | None
    persons: int | None
    classes: int
    k: int | None
    k_persons: int | None
    unique_rows: int
    rows_below: Mapping[str, int]


@dataclass(frozen=True, slots=True, repr=False)
class ProfileReport(Report):
    """Dimensions, one entry per variable, and the exposure of the proposed quasi-identifiers."""

    source: str
    rows: int
    columns: int
    variables: tuple[VariableProfile, ...]
    exposure: Exposure | None = None
    dependencies: tuple[tuple[str, str], ...] = field(default=())

    @property
    def summary(self) -> str:
        """The dimensions, and how many rows the proposed quasi-identifiers single out."""
        said = messages.text("reports.summary.profile", rows=self.rows, columns=self.columns)
        if self.exposure is None:
            return said
        alone = messages.text(
            "reports.summary.profile_exposure",
            variables=", ".join(self.exposure.quasi),
            unique=self.exposure.unique_rows,
        )
        return f"{said} {alone}"

    def records(self) -> Records:
        """One line per variable: what it is and counts, no category."""
        names = "role scale kind distinct missing masked"
        return [
            {"variable": each.name, **plain_fields(each, names), "rare_values": each.rare.values}
            for each in self.variables
        ]

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        return {"format": FORMAT, **asdict(self)}
