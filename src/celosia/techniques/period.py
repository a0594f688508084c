"""Dates to a period: day, week, month, quarter, semester, year or span of years.

Knows dates, times and time zones. Ignores what happened then. Weeks are those of ISO 8601 (2024-W03); the other labels
are those of the hierarchies' dates (2024-01, 2024-Q1, 2024, 2020-2024). An instant with an offset is brought to the
stated zone; a time without one is taken as being in it. What is no date is refused with its count.
Source: YAPÓ 2.4 (month, quarter, year, time zone stated), 2.5 (span of years), 2.6 (day, week).
"""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow as pa

from celosia.hierarchy import BUILDERS, build, to_rows
from celosia.model.parameters import Param, conflict
from celosia.techniques._calendar import FORMATS, ZONE, days_in, iso_text
from celosia.techniques._contract import (
    COLUMNS,
    INTO,
    UNKNOWN,
    Given,
    Lines,
    Outcome,
    Settings,
    Technique,
    columns_of,
    placed,
    text_array,
)
from celosia.techniques._draws import Draws
from celosia.techniques._values import new_names, recoded

_NAME = "period"
_UNITS = ("day", "week", "month", "quarter", "semester", "year", "span")
_FINEST = {"yyyy": _UNITS.index("year"), "yyyy-mm": _UNITS.index("month")}
_MARKS = ("span", "span_start", "quarter_mark", "semester_mark")
_DATES = next(builder for builder in BUILDERS if builder.name == "dates").params


def _apply(given: Given, settings: Settings, draws: Draws) -> Outcome:
    if any(_UNITS.index(settings["unit"]) < _FINEST.get(shape, 0) for shape in settings["formats"]):
        raise conflict(_NAME, "unit", "finer_than_format", "techniques")
    names = new_names(_NAME, settings)
    return recoded(names, {name: _grouped(given, name, settings) for name in names})


def _grouped(given: Given, name: str, settings: Settings) -> pa.Array:
    days = days_in(_NAME, given, name, settings)
    numbers, place = np.unique(days.numbers[days.known], return_inverse=True)
    labels = _labels([iso_text(number) for number in numbers.tolist()], settings)
    return placed(given.columns[name], days.known, text_array(labels).take(pa.array(place.reshape(-1))))


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


TECHNIQUE = Technique(
    name=_NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "unit": Param("text", required=True, choices=_UNITS),
        "formats": Param("texts", default=("yyyy-mm-dd",), choices=FORMATS),
        "zone": ZONE,
        **{name: _DATES[name] for name in _MARKS},
        "into": INTO,
        "unknown": UNKNOWN,
    },
    uses=columns_of,
    apply=_apply,
    apart=True,
    norms=("Y11", "Y13"),
)
