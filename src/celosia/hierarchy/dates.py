"""Dates: day → month → quarter → semester → year → span of years.

Knows calendar dates written in a declared format. Ignores times of day and weeks (a week may belong to two
months, so it does not nest). Labels as in YAPÓ 2.4 and 2.5: `2024-01`, `2024-Q1`, `2024`, `2020-2024`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from celosia.hierarchy.builder import Builder, Detail, LeafLabels
from celosia.model.parameters import Many, Text, Whole, conflict

UNITS = ("month", "quarter", "semester", "year", "span")
_FORMATS = {
    "yyyy-mm-dd": r"(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})",
    "dd/mm/yyyy": r"(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>\d{4})",
    "dd-mm-yyyy": r"(?P<d>\d{1,2})-(?P<m>\d{1,2})-(?P<y>\d{4})",
    "mm/dd/yyyy": r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})",
    "yyyymmdd": r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})",
    "yyyy-mm": r"(?P<y>\d{4})-(?P<m>\d{2})",
    "yyyy": r"(?P<y>\d{4})",
}
PARAMS = {
    "format": Text(default="yyyy-mm-dd", choices=tuple(_FORMATS)),
    "levels": Many(Text(choices=UNITS)),
    "span": Whole(default=5, minimum=2),
    "span_start": Whole(default=2000, minimum=0),
    "quarter_mark": Text(default="Q"),
    "semester_mark": Text(default="S"),
}


def place_dates(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """The month, quarter, … of each date, in order of time."""
    units = _units(settings)
    shape = re.compile(_FORMATS[settings["format"]], re.ASCII)
    days = {text: day for text in plain if (day := _read(shape, text)) is not None}
    ordered = sorted(days.items(), key=lambda item: (item[1], item[0]))
    return LeafLabels({text: tuple(_label(unit, day, settings) for unit in units) for text, day in ordered}, len(units))


def _units(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The declared levels, finest first; by default all that the format leaves, without semester and span."""
    finest = {"yyyy-mm": 1, "yyyy": 4}.get(settings["format"], 0)
    default = ("span",) if finest == 4 else tuple(u for u in ("month", "quarter", "year") if UNITS.index(u) >= finest)
    units: tuple[str, ...] = settings["levels"] or default
    ranks = [UNITS.index(unit) for unit in units]
    if ranks != sorted(set(ranks)) or ranks[0] < finest:
        raise conflict("dates", "levels", "date_levels")
    return units


def _read(shape: re.Pattern[str], text: str) -> date | None:
    match = shape.fullmatch(text)
    if match is None:
        return None
    parts = match.groupdict()
    try:
        return date(int(parts["y"]), int(parts.get("m") or 1), int(parts.get("d") or 1))
    except ValueError:
        return None


def _label(unit: str, day: date, settings: Mapping[str, Any]) -> str:
    year = f"{day.year:04d}"
    match unit:
        case "month":
            return f"{year}-{day.month:02d}"
        case "quarter":
            return f"{year}-{settings['quarter_mark']}{(day.month + 2) // 3}"
        case "semester":
            return f"{year}-{settings['semester_mark']}{(day.month + 5) // 6}"
        case "year":
            return year
    first = day.year - (day.year - settings["span_start"]) % settings["span"]
    return f"{first:04d}-{first + settings['span'] - 1:04d}"


def detail(settings: Mapping[str, Any], level: int) -> Detail:
    """The month, quarter, …; of a span, how many years."""
    unit = _units(settings)[level - 1]
    return {"unit": unit, "size": str(settings["span"])} if unit == "span" else {"unit": unit}


DATES = Builder("dates", PARAMS, place_dates, detail)
