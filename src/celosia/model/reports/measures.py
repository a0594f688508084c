"""What `measure` found, and its file format `celosia/measure/1`.

Knows the names of the figures and how they are written. Ignores how they are computed (room `risk`).
A figure that does not exist is null and `undefined` says why; nothing here holds a value of a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from celosia.model.errors import UnknownFormat

MEASURE_FORMAT = "celosia/measure/1"
THRESHOLDS = (2, 3, 5, 10)
Figure = int | float | None


class MissingReading(StrEnum):
    """How an empty cell of a quasi-identifier is read."""

    OWN = "own"  # a category of its own: decides verdicts
    WILDCARD = "wildcard"  # may be any value: reported, never decides


class ValueOrder(StrEnum):
    """The order behind the ordered distance."""

    NUMERIC = "numeric"
    TEXT = "text"


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


@dataclass(frozen=True, slots=True)
class MeasureReport:
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


_TABLE_FIGURES = {
    "classes": lambda report: report.classes,
    "k": lambda report: report.k,
    "k_persons": lambda report: report.k_persons,
    "unique_rows": lambda report: report.unique_rows,
}


def _all_as_dict(sensitive: Mapping[str, SensitiveMeasures]) -> dict[str, Any]:
    return {name: measures.as_dict() for name, measures in sensitive.items()}


def measure_report_from_dict(data: Mapping[str, Any], path: str = "-") -> MeasureReport:
    """Read a report back; a format of another version is refused by name."""
    if data.get("format") != MEASURE_FORMAT:
        raise UnknownFormat(path=path, found=str(data.get("format")), expected=MEASURE_FORMAT)
    suppressed = data["suppressed"]
    return MeasureReport(
        rows=data["rows"],
        persons=data["persons"],
        classes=data["classes"],
        k=data["k"],
        k_persons=data["k_persons"],
        unique_rows=data["unique_rows"],
        rows_below={int(threshold): count for threshold, count in data["rows_below"].items()},
        sensitive=_all_from_dict(data["sensitive"]),
        suppressed=SuppressedRows(suppressed["rows"], suppressed["persons"], _all_from_dict(suppressed["sensitive"])),
        missing=MissingReading(data["reading"]["missing"]),
        undefined=_reasons(data["undefined"]),
    )


def _all_from_dict(data: Mapping[str, Any]) -> dict[str, SensitiveMeasures]:
    return {name: _sensitive_from_dict(part) for name, part in data.items()}


def _sensitive_from_dict(data: Mapping[str, Any]) -> SensitiveMeasures:
    return SensitiveMeasures(
        figures={name: figure for name, figure in data.items() if not isinstance(figure, Mapping)},
        order=ValueOrder(data["reading"]["order"]),
        delta_present=data["present_values"]["delta"],
        masked=MaskedValues(**data["masked"]),
        undefined=_reasons(data["undefined"]),
    )


def _reasons(data: Mapping[str, str]) -> dict[str, Undefined]:
    return {name: Undefined(reason) for name, reason in data.items()}
