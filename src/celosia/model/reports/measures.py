"""What `measure` found, and its file format `celosia/measure/1`.

Knows the names of the figures and how they are written. Ignores how they are computed (room `risk`).
A figure that does not exist is null and `undefined` says why; nothing here holds a value of a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

from celosia import messages
from celosia.drawing.charts import Series, vertical_bars
from celosia.drawing.picture import Drawing
from celosia.model.reports.report import Drawings, Records, Report
from celosia.model.values import MissingReading, ValueOrder

MEASURE_FORMAT = "celosia/measure/1"
THRESHOLDS = (2, 3, 5, 10)
Figure = int | float | None


class Undefined(StrEnum):
    """Why a figure does not exist."""

    NO_CLASS = "no_class"  # empty table, or nothing left once masked rows and values are set apart
    WILDCARD = "wildcard"  # the wildcard reading has no such figure
    L_IS_ONE = "l_is_one"  # recursive diversity starts at l = 2
    NO_BETA = "no_beta"  # some gain exceeds -ln p, which no beta can allow
    ABSENT_VALUE = "absent_value"  # a value is missing from some class, so delta is infinite


@dataclass(frozen=True, slots=True)
class MaskedValues:
    """Sensitive cells made of asterisks only: they are never values."""

    rows: int = 0
    classes_fully: int = 0  # classes without any visible value: safe for this variable, set apart
    classes_partly: int = 0  # classes measured on their visible values alone


@dataclass(frozen=True, slots=True)
class SensitiveMeasures:
    """The figures of one sensitive variable."""

    figures: Mapping[str, Figure]
    order: ValueOrder = ValueOrder.TEXT
    delta_present: float | None = None  # delta over the values present in each class, however many are absent
    masked: MaskedValues = field(default_factory=MaskedValues)
    undefined: Mapping[str, Undefined] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The figures first, then what helps to read them."""
        return dict(self.figures) | {
            "reading": {"order": self.order.value},
            "present_values": {"delta": self.delta_present},
            "masked": {
                "rows": self.masked.rows,
                "classes_fully": self.masked.classes_fully,
                "classes_partly": self.masked.classes_partly,
            },
            "undefined": {name: reason.value for name, reason in self.undefined.items()},
        }


@dataclass(frozen=True, slots=True)
class SuppressedRows:
    """The rows whose quasi-identifiers are all masked: no class, measured apart as one group."""

    rows: int = 0
    persons: int | None = None
    sensitive: Mapping[str, SensitiveMeasures] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Counts, then the figures of the group for each sensitive variable."""
        return {"rows": self.rows, "persons": self.persons, "sensitive": _all_as_dict(self.sensitive)}


@dataclass(frozen=True, slots=True, repr=False)
class MeasureReport(Report):
    """Everything `measure` says about a table."""

    rows: int
    persons: int | None
    classes: int
    k: int | None
    k_persons: int | None
    unique_rows: int
    rows_below: Mapping[int, int]
    sensitive: Mapping[str, SensitiveMeasures]
    suppressed: SuppressedRows = field(default_factory=SuppressedRows)
    missing: MissingReading = MissingReading.OWN
    undefined: Mapping[str, Undefined] = field(default_factory=dict)

    def figure(self, measure: str, sensitive: str | None = None) -> Figure:
        """One figure by the id of its measure; those of a sensitive variable need its name."""
        if sensitive is not None:
            return self.sensitive[sensitive].figures[measure]
        if measure.startswith("rows_below_"):
            return self.rows_below[int(measure.removeprefix("rows_below_"))]
        return _TABLE_FIGURES[measure](self)

    @property
    def summary(self) -> str:
        """How many rows and classes there are, and the smallest class."""
        if self.k is None:
            return messages.text("reports.summary.measure_empty", rows=self.rows)
        if self.persons is None:
            return messages.text("reports.summary.measure", rows=self.rows, classes=self.classes, k=self.k)
        k_persons = self.k if self.k_persons is None else self.k_persons
        return messages.text(
            "reports.summary.measure_persons",
            rows=self.rows,
            persons=self.persons,
            classes=self.classes,
            k=self.k,
            k_persons=k_persons,
        )

    def records(self) -> Records:
        """One line per figure; those of a sensitive variable carry its name."""
        table: dict[str, Figure] = {"rows": self.rows, "persons": self.persons, "classes": self.classes, "k": self.k}
        table |= {"k_persons": self.k_persons, "unique_rows": self.unique_rows}
        table |= {f"rows_below_{threshold}": rows for threshold, rows in self.rows_below.items()}
        lines = [{"measure": name, "sensitive": None, "value": value} for name, value in table.items()]
        for variable, measures in self.sensitive.items():
            lines += [
                {"measure": name, "sensitive": variable, "value": value} for name, value in measures.figures.items()
            ]
        return [line for line in lines if line["value"] is not None]

    def drawings(self) -> Drawings:
        """The rows by the size of their class."""
        return {"class-sizes": self._class_sizes} if self.classes else {}

    def _class_sizes(self) -> Drawing:
        edges = sorted(self.rows_below)
        in_classes = self.rows - self.suppressed.rows
        counts = [self.rows_below[edge] for edge in edges]
        rows = [high - low for low, high in pairwise([0, *counts, in_classes])]
        lows = [1, *edges]
        names = [_band(low, high) for low, high in pairwise([*lows, None])]
        shares = tuple(count / max(self.rows, 1) for count in rows)
        title, axis = messages.text("evaluation.chart.class_sizes"), messages.text("evaluation.chart.class_size_axis")
        return vertical_bars("class-sizes", title, names, [Series("", shares)], axis)

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files."""
        return {
            "format": MEASURE_FORMAT,
            "rows": self.rows,
            "persons": self.persons,
            "classes": self.classes,
            "k": self.k,
            "k_persons": self.k_persons,
            "unique_rows": self.unique_rows,
            "rows_below": {str(threshold): count for threshold, count in self.rows_below.items()},
            "sensitive": _all_as_dict(self.sensitive),
            "suppressed": self.suppressed.as_dict(),
            "reading": {"missing": self.missing.value, "sensitive_missing": "own", "l_empty": "value"},
            "undefined": {name: reason.value for name, reason in self.undefined.items()},
        }


def _band(low: int | None, high: int | None) -> str:
    """The sizes from one edge up to the next, as a name: 1, 3–4, 10+."""
    if low is None or high is None:
        return f"{low}+"
    return str(low) if high == low + 1 else f"{low}–{high - 1}"


_TABLE_FIGURES = {
    "classes": lambda report: report.classes,
    "k": lambda report: report.k,
    "k_persons": lambda report: report.k_persons,
    "unique_rows": lambda report: report.unique_rows,
}


def _all_as_dict(sensitive: Mapping[str, SensitiveMeasures]) -> dict[str, Any]:
    return {name: measures.as_dict() for name, measures in sensitive.items()}
