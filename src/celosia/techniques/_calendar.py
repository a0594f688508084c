"""Days behind cells: dates in declared formats, times of day, and instants brought to a stated time zone.

Knows the formats of the hierarchies' dates and ISO 8601 times. Ignores what a day is for. A time without an offset
is taken as local to the stated zone, so its day is the one written; an instant with an offset has no day until a
zone is stated (YAPÓ 2.4). Days are whole numbers yyyymmdd: they compare as dates do, and their difference divided by
10000 is a number of completed years.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.errors import ZoneNeeded
from celosia.hierarchy import BUILDERS
from celosia.model.parameters import Param, conflict
from celosia.techniques._contract import Given, Settings
from celosia.techniques._values import each_value, refuse_unreadable

FORMATS = next(builder for builder in BUILDERS if builder.name == "dates").params["format"].choices
DAY_FORMATS = tuple(shape for shape in FORMATS if "dd" in shape)
ZONE = Param("text")
_CLOCK = r"[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
_TIME = rf"(?:{_CLOCK} ?(?P<offset>Z|[+-]\d{{2}}(?::?\d{{2}})?)?)?"
_NEEDS_ZONE = -1


@dataclass(frozen=True, slots=True)
class Days:
    """The day of each line, 0 where the cell holds none (missing, masked, unknown)."""

    numbers: NDArray[np.int64]

    @property
    def known(self) -> NDArray[np.bool_]:
        """The lines with a day."""
        return self.numbers > 0


def days_in(technique: str, given: Given, name: str, settings: Settings) -> Days:
    """The days of a column; cells that are no date in the declared formats are refused with their count."""
    formats, zone = settings["formats"], time_zone(technique, settings.get("zone"))
    shapes = tuple(_shape(text) for text in formats)
    made = each_value(given.columns[name], settings["unknown"], lambda values: _read_all(values, shapes, zone))
    refuse_unreadable(technique, given, name, made.failed, "date", formats=", ".join(formats))
    numbers = _numbers(made.cells)
    waiting = numbers == _NEEDS_ZONE
    if waiting.any():
        raise ZoneNeeded(technique=technique, variable=name, rows=int(given.rows[waiting].sum()))
    return Days(numbers)


def time_zone(technique: str, name: str | None) -> ZoneInfo | None:
    """The zone of that IANA name."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise conflict(technique, "zone", "zone", "techniques") from None


def stated_day(technique: str, parameter: str, text: str) -> int:
    """A day given as a parameter, yyyy-mm-dd."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise conflict(technique, parameter, "iso_date", "techniques") from None
    return _number(day)


def iso_text(number: int) -> str:
    """A day as yyyy-mm-dd."""
    return f"{number // 10000:04d}-{number // 100 % 100:02d}-{number % 100:02d}"


def _number(day: date) -> int:
    return day.year * 10000 + day.month * 100 + day.day


_MARK = "\N{NULL}"  # no cell holds it: numbers we wrote stay apart from special cells that look like one


def _numbers(cells: pa.Array) -> NDArray[np.int64]:
    texts = cells.dictionary_encode()
    found = [int(text[1:]) if text.startswith(_MARK) else 0 for text in texts.dictionary.to_pylist()]
    return np.array(found, np.int64)[texts.indices.to_numpy(zero_copy_only=False)]


def _read_all(values: Sequence[str], shapes: Sequence[re.Pattern[str]], zone: ZoneInfo | None) -> list[str | None]:
    return [None if (day := _read(value, shapes, zone)) is None else f"{_MARK}{day}" for value in values]


def _read(value: str, shapes: Sequence[re.Pattern[str]], zone: ZoneInfo | None) -> int | None:
    """The day of a text; None when no format reads it, or two of them read different days."""
    found = {_day(match, zone) for shape in shapes if (match := shape.fullmatch(value))} - {None}
    return found.pop() if len(found) == 1 else None


def _day(match: re.Match[str], zone: ZoneInfo | None) -> int | None:
    parts = match.groupdict()
    try:
        day = date(int(parts["y"]), int(parts.get("m") or 1), int(parts.get("d") or 1))
        if parts.get("hour") is None:
            return _number(day)
        moment = datetime(
            day.year, day.month, day.day, int(parts["hour"]), int(parts["minute"]), int(parts["second"] or 0)
        )
        if parts["offset"] is None:
            return _number(day)
        if zone is None:
            return _NEEDS_ZONE
        return _number(moment.replace(tzinfo=_offset(parts["offset"])).astimezone(zone).date())
    except (ValueError, OverflowError):
        return None


def _offset(text: str) -> timezone:
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-away if text[0] == "-" else away)


@cache
def _shape(text: str) -> re.Pattern[str]:
    """The expression of a declared format; day and month may lack their zero between marks, as people write them."""
    short = r"\d{1,2}" if text.startswith(("dd/", "dd-", "mm/")) else r"\d{2}"
    shape = re.escape(text).replace("yyyy", r"(?P<y>\d{4})")
    shape = shape.replace("mm", f"(?P<m>{short})").replace("dd", f"(?P<d>{short})")
    return re.compile(shape + (_TIME if "dd" in text else ""), re.ASCII)
