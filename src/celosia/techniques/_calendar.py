"""The day of each cell: dates in declared formats, times of day, and instants in a declared time zone.

Knows the formats of the hierarchies' dates and ISO 8601 times. Ignores what a day is for. A time without an offset
is taken as local to the declared zone, so its day is the one written; an instant with an offset has no day until a
zone is declared (YAPÓ 2.4). Days are whole numbers yyyymmdd: they compare as dates do, and their difference divided by
10000 is a number of completed years.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.hierarchy.registry import BUILDERS
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import unknown_in
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._identifiers import silent_cells
from celosia.techniques._values import refuse_unreadable
from celosia.techniques.errors import ZoneNeeded

FORMATS = next(builder for builder in BUILDERS if builder.name == "dates").params["format"].choices
DAY_FORMATS = tuple(shape for shape in FORMATS if "dd" in shape)
_CLOCK = r"[T ](?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
_TIME = rf"(?:{_CLOCK} ?(?P<offset>Z|[+-]\d{{2}}(?::?\d{{2}})?)?)?"
_NEEDS_ZONE = -1
_BEYOND = 10**9  # no zone is so far away
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY, _LAST_DAY = (date.min - _EPOCH.date()).days, (date.max - _EPOCH.date()).days
Longs = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Days:
    """The day of each line, 0 where the cell holds none (missing, masked, unknown)."""

    numbers: NDArray[np.int64]

    @property
    def present(self) -> NDArray[np.bool_]:
        """The lines with a day."""
        return self.numbers > 0


def days_in(technique: str, given: StepInput, name: str, settings: Settings) -> Days:
    """The days of a column; cells that are no date in the declared formats are refused with their count."""
    formats, zone = settings["formats"], time_zone(technique, settings.get("zone"))
    encoded = given.columns[name].dictionary_encode()
    plain = ~silent_cells(encoded.dictionary, unknown_in(settings, name))
    days = np.where(plain, _read(encoded.dictionary, tuple(_shape(text) for text in formats), zone), 0)
    codes = encoded.indices.to_numpy(zero_copy_only=False)
    refuse_unreadable(technique, given, name, (plain & (days == 0))[codes], "date", formats=", ".join(formats))
    without_zone = (days == _NEEDS_ZONE)[codes]
    if without_zone.any():
        raise ZoneNeeded(technique=technique, variable=name, rows=int(given.rows[without_zone].sum()))
    return Days(days[codes])


def time_zone(technique: str, name: str | None) -> ZoneInfo | None:
    """The zone of that IANA name."""
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise wrong_setting(technique, "zone", "zone") from None


def parse_day(technique: str, parameter: str, text: str) -> int:
    """A day given as a parameter, yyyy-mm-dd."""
    try:
        return int(f"{date.fromisoformat(text):%Y%m%d}")
    except ValueError:
        raise wrong_setting(technique, parameter, "iso_date") from None


def iso_text(number: int) -> str:
    """A day as yyyy-mm-dd."""
    return f"{number // 10000:04d}-{number // 100 % 100:02d}-{number % 100:02d}"


def _read(values: pa.Array, shapes: Sequence[str], zone: ZoneInfo | None) -> Longs:
    """The day of each text; 0 when no format reads it, or two of them read different days."""
    days, clash = np.zeros(len(values), np.int64), np.zeros(len(values), bool)
    for shape in shapes:
        day = _days(pc.extract_regex(values, shape), zone)
        clash |= (day != 0) & (days != 0) & (day != days)
        days = np.where(days == 0, day, days)
    return np.where(clash, 0, days)


def _days(parts: pa.StructArray, zone: ZoneInfo | None) -> Longs:
    """The days behind the parts of texts, 0 where they make none."""
    read = np.asarray(parts.is_valid().to_numpy(zero_copy_only=False), bool)
    year, month, day = _part(parts, "y", 0), _part(parts, "m", 1), _part(parts, "d", 1)
    read &= (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    months = np.where(read, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    dates = (months.astype("datetime64[D]").astype(np.int64) + day - 1).astype("datetime64[D]")
    read &= dates.astype("datetime64[M]") == months  # no 31 April
    names = [field.name for field in parts.type]
    if "hour" not in names:
        return np.where(read, _day_numbers(dates), 0)
    hour, minute, second = (_part(parts, part, 0) for part in ("hour", "minute", "second"))
    read &= (hour < 24) & (minute < 60) & (second < 60)
    with_offset = read & np.asarray(
        pc.not_equal(pc.fill_null(parts.field("offset"), ""), "").to_numpy(zero_copy_only=False)
    )
    numbers = np.where(read, _day_numbers(dates), 0)
    if zone is None:
        return np.where(with_offset, _NEEDS_ZONE, numbers)
    offset_seconds = _offsets(parts.field("offset").filter(pa.array(with_offset)))
    instants = (dates.astype(np.int64) * 86400 + hour * 3600 + minute * 60 + second)[with_offset] - offset_seconds
    numbers[with_offset] = np.where(np.abs(offset_seconds) < 86400, _local_days(instants, zone), 0)
    return numbers


def _part(parts: pa.StructArray, name: str, absent: int) -> Longs:
    """A part of each text as a whole number."""
    if parts.type.get_field_index(name) < 0:
        return np.full(len(parts), absent, np.int64)
    texts = pc.fill_null(parts.field(name), "")
    numbers = pc.if_else(pc.equal(texts, ""), str(absent), texts).cast(pa.int64())
    return np.asarray(numbers.to_numpy(zero_copy_only=False), np.int64)


def _offsets(texts: pa.Array) -> Longs:
    """Seconds east of Greenwich of Z, ±hh, ±hhmm and ±hh:mm; there are few different ones."""
    encoded = texts.dictionary_encode()
    seconds = [_seconds(text) for text in encoded.dictionary.to_pylist()]
    return np.array(seconds, np.int64)[encoded.indices.to_numpy(zero_copy_only=False)]


def _seconds(text: str) -> int:
    if text == "Z":
        return 0
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset_seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -offset_seconds if text[0] == "-" else offset_seconds


def _local_days(instants: Longs, zone: ZoneInfo) -> Longs:
    """The day in a zone of each instant, in seconds since 1970 UTC; 0 beyond the calendar.

    The zone is consulted once for each hour; only within an hour in which its clocks change, for each instant.
    """
    hours, index = np.unique(instants // 3600, return_inverse=True)
    begins = np.array([_utc_offset(hour * 3600, zone) for hour in hours.tolist()], np.int64)
    ends = np.array([_utc_offset(hour * 3600 + 3599, zone) for hour in hours.tolist()], np.int64)
    offset_seconds = begins[index.reshape(-1)]
    changing = (begins != ends)[index.reshape(-1)]
    offset_seconds[changing] = [_utc_offset(instant, zone) for instant in instants[changing].tolist()]
    dates = (instants + np.where(offset_seconds == _BEYOND, 0, offset_seconds)) // 86400
    known = (offset_seconds != _BEYOND) & (dates >= _FIRST_DAY) & (dates <= _LAST_DAY)
    return np.where(known, _day_numbers(np.where(known, dates, 0).astype("datetime64[D]")), 0)


def _utc_offset(instant: int, zone: ZoneInfo) -> int:
    """Seconds a zone is ahead of UTC at an instant."""
    try:
        offset = (_EPOCH + timedelta(seconds=instant)).astimezone(zone).utcoffset()
    except (OverflowError, ValueError):
        return _BEYOND
    return _BEYOND if offset is None else int(offset.total_seconds())


def _day_numbers(dates: NDArray[np.datetime64]) -> Longs:
    """Dates as yyyymmdd."""
    months = dates.astype("datetime64[M]")
    count = months.astype(np.int64)
    day = (dates - months.astype("datetime64[D]")).astype(np.int64) + 1
    return np.asarray((1970 + count // 12) * 10000 + (count % 12 + 1) * 100 + day, np.int64)


@cache
def _shape(text: str) -> str:
    """The expression of a declared format; day and month may lack their zero between marks, as people write them."""
    short = r"\d{1,2}" if text.startswith(("dd/", "dd-", "mm/")) else r"\d{2}"
    shape = re.escape(text).replace("yyyy", r"(?P<y>\d{4})")
    shape = shape.replace("mm", f"(?P<m>{short})").replace("dd", f"(?P<d>{short})")
    return f"^{shape}{_TIME if 'dd' in text else ''}$"
