"""Dates to a period: day, week, month, quarter, semester, year or span of years.

Knows dates, times and time zones. Ignores what happened then. Weeks are those of ISO 8601 (2024-W03); the other labels
are those of the hierarchies' dates (2024-01, 2024-Q1, 2024, 2020-2024). An instant with an offset is brought to the
declared zone; a time without one is taken as being in it. What is no date is refused with its count.
Source: YAPÓ 2.4 (month, quarter, year, time zone stated), 2.5 (span of years), 2.6 (day, week).
"""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa

from celosia.hierarchy.registry import BUILDERS, build
from celosia.hierarchy.rows import to_rows
from celosia.model.parameters import Many, Text
from celosia.techniques._calendar import FORMATS, days_in, iso_text
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import replace_cells, text_array
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._families import recoding
from celosia.techniques._parameters import ZONE

_NAME = "period"
_UNITS = ("day", "week", "month", "quarter", "semester", "year", "span")
_FINEST = {"yyyy": _UNITS.index("year"), "yyyy-mm": _UNITS.index("month")}
_MARKS = ("span", "span_start", "quarter_mark", "semester_mark")
_DATES = next(builder for builder in BUILDERS if builder.name == "dates").params


def _refuse_finer_unit(settings: Settings) -> None:
    if any(_UNITS.index(settings["unit"]) < _FINEST.get(shape, 0) for shape in settings["formats"]):
        raise wrong_setting(_NAME, "unit", "finer_than_format")


def _group_column(given: StepInput, name: str, settings: Settings) -> pa.Array:
    days = days_in(_NAME, given, name, settings)
    numbers, index = np.unique(days.numbers[days.present], return_inverse=True)
    labels = _labels([iso_text(number) for number in numbers.tolist()], settings)
    return replace_cells(given.columns[name], days.present, text_array(labels).take(pa.array(index.reshape(-1))))


def _labels(days: list[str], settings: Settings) -> list[str]:
    unit = settings["unit"]
    if unit == "day":
        return days
    if unit == "week":
        weeks = (date.fromisoformat(day).isocalendar() for day in days)
        return [f"{week.year:04d}-W{week.week:02d}" for week in weeks]
    marks = {name: settings[name] for name in _MARKS}
    rows = to_rows(build({"builder": "dates", "levels": [unit], **marks}, days))
    label = {leaf: period for leaf, period, *_ in rows}
    return [label[day] for day in days]


TECHNIQUE = recoding(
    _NAME,
    {
        "unit": Text(required=True, choices=_UNITS),
        "formats": Many(Text(choices=FORMATS), default=("yyyy-mm-dd",)),
        "zone": ZONE,
        **{name: _DATES[name] for name in _MARKS},
    },
    _group_column,
    check=_refuse_finer_unit,
    norms=("Y11", "Y13"),
)
