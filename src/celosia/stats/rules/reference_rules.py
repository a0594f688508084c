"""The reference implementation of the rules of STATS in Python: one value in, its label out.

Knows dates, time zones, numbers and grids. Ignores databases. SQLite, whose columns hold anything, calls these
functions from inside its own queries; what the other engines compute in SQL (`rules`) is the same, and a test
compares them.
Source: YAPÓ 2.2 (ages), 2.3 (grid), 2.4 (amounts, months), 2.5 (spans of years), 2.6 (days and weeks of events).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from celosia.stats.declaration.declaration import NOT_STATED, UNMAPPED, Dimension
from celosia.techniques.grid import bands as grid_bands
from celosia.techniques.grid import cells_around

BLANKS = " \t\n\r\v\f"
OLDEST = 130  # years; more is a mistake of the source, not a person
LIMIT = 10**15  # numbers from here on are refused, as are NaN and the infinities, which every engine sorts above it
FIRST_DAY, LAST_DAY = date(1000, 1, 2), date(9999, 12, 30)  # a day may be moved by a zone and keeps four digits
_YEAR = "[1-9][0-9]{3}"
_LEAP = "([1-9][0-9](0[48]|[2468][048]|[13579][26])|([2468][048]|[13579][26])00)"
_MONTHS = "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])"
_AWAY = "(Z|[+-](0[0-9]|1[0-4])(:[0-5][0-9])?)"
_CLOCK = f"[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{{1,9}})?{_AWAY}?)?"
DAY_TEXT = f"^({_YEAR}-({_MONTHS})|{_LEAP}-02-29)({_CLOCK})?$"
_PARTS = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d(?::\d\d)?)?)?", re.ASCII
)
Key = str


def rule_key(dimension: Dimension, zone: str | None, today: date) -> Key:
    """A rule with all it needs to know, as one text."""
    settings = {name: _json_value(value) for name, value in dimension.settings.items() if value is not None}
    return json.dumps([dimension.rule, settings, zone, today.isoformat()], sort_keys=True)


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json_value(item) for item in value]
    return str(value) if isinstance(value, Decimal) else dict(value) if isinstance(value, Mapping) else value


@lru_cache(maxsize=200_000)
def label(key: Key, *values: Any) -> str:
    """The label of a value by a rule; UNMAPPED where the rule has none for it."""
    rule, settings, zone, today = _read(key)
    if any(_is_missing(value) for value in values):
        return NOT_STATED
    category = _RULES[rule](settings, zone, today, *values)
    return UNMAPPED if category is None else category


@cache
def _read(key: Key) -> tuple[str, Mapping[str, Any], ZoneInfo | None, date]:
    rule, settings, zone, today = json.loads(key)
    return rule, settings, None if zone is None else ZoneInfo(zone), date.fromisoformat(today)


def _is_missing(value: Any) -> bool:
    """NULL, a blank text, and NaN, which some engines take for the same."""
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or (isinstance(value, str) and not value.strip(BLANKS))


def local_day(value: Any, zone: ZoneInfo | None, stored: str) -> date | None:
    """The day of a date, time or text in the stated zone; None when it is none."""
    moment = _moment(value) if isinstance(value, str) else value
    if isinstance(moment, datetime):
        if not FIRST_DAY <= moment.date() <= LAST_DAY:
            return None
        return _date_in_zone(moment, zone, stored)
    return moment if isinstance(moment, date) and FIRST_DAY <= moment <= LAST_DAY else None


def written_day(value: Any, zone: ZoneInfo | None, stored: str) -> date | None:
    """The same for births and years, of which a text states the day whatever clock and zone follow it."""
    text = value.strip(BLANKS) if isinstance(value, str) else ""
    return local_day(text[:10] if text and _moment(text) else value, zone, stored)


def _date_in_zone(moment: datetime, zone: ZoneInfo | None, stored: str) -> date | None:
    if moment.tzinfo is None and stored == "utc":
        moment = moment.replace(tzinfo=UTC)
    if moment.tzinfo is None:
        return moment.date()
    return None if zone is None else moment.astimezone(zone).date()


def _moment(text: str) -> date | datetime | None:
    text = text.strip(BLANKS)
    if re.match(DAY_TEXT, text) is None or "\n" in text:
        return None
    year, month, day, hour, minute, second, away = _PARTS.fullmatch(text).groups()  # type: ignore[union-attr]
    whole_day = date(int(year), int(month), int(day))
    if hour is None:
        return whole_day
    zone = None if away is None else timezone(_offset(away))
    return datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=zone)


def _offset(text: str) -> timedelta:
    digits = text[1:].replace(":", "").ljust(4, "0")
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) if text != "Z" else timedelta()
    return -away if text[0] == "-" else away


def number(value: Any, decimal: str = ".", thousands: str = "") -> Decimal | None:
    """A number, exactly as written; None when it is none or too large."""
    if isinstance(value, str):
        value = value.strip(BLANKS)
        if re.match(number_text(decimal, thousands), value) is None or "\n" in value:
            return None
        value = (value.replace(thousands, "") if thousands else value).replace(decimal, ".")
    if isinstance(value, float):
        value = repr(value) if math.isfinite(value) else LIMIT
    exact = Decimal(value)
    return exact if exact.is_finite() and abs(exact) < LIMIT else None


def number_text(decimal: str, thousands: str) -> str:
    """The texts that are numbers, as an expression that every engine reads alike."""
    whole = f"[0-9]{{1,3}}([{thousands}][0-9]{{3}}){{1,4}}|[0-9]{{1,15}}" if thousands else "[0-9]{1,15}"
    return rf"^[+-]?({whole})([{decimal}][0-9]*)?([eE]-[0-9]{{1,2}})?$"


def _age(settings: Mapping[str, Any], zone: ZoneInfo | None, today: date, value: Any) -> str | None:
    at = today if settings["at"] == "run" else date.fromisoformat(settings["at"])
    birth = written_day(value, zone, settings["stored"])
    if birth is not None:
        years = (_day_number(at) - _day_number(birth)) // 10000 if birth <= at else -1
    else:
        years_read = None if isinstance(value, date) else number(value)
        years = -1 if years_read is None else math.floor(years_read)
    return band_label(settings["bands"], years) if 0 <= years <= OLDEST else None


def _day_number(day: date) -> int:
    return day.year * 10000 + day.month * 100 + day.day


def band_label(bands: Sequence[int], years: int) -> str:
    """The band of an age."""
    labels = band_labels(bands)
    return labels[sum(years >= border for border in bands) - (bands[0] == 0)]


def band_labels(bands: Sequence[int]) -> tuple[str, ...]:
    """«<18», «18-24», …, «45+»; no band lies below 0."""
    between = [f"{low}-{high - 1}" if high - low > 1 else f"{low}" for low, high in pairwise(bands)]
    return (*([] if bands[0] == 0 else [f"<{bands[0]}"]), *between, f"{bands[-1]}+")


def _period(settings: Mapping[str, Any], zone: ZoneInfo | None, today: date, value: Any) -> str | None:
    day = local_day(value, zone, settings["stored"])
    return None if day is None else period_label(day, settings["by"])


def period_label(day: date, by: str) -> str:
    """The period of a day; weeks are those of ISO 8601."""
    if by == "week":
        week = day.isocalendar()
        return f"{week.year}-W{week.week:02d}"
    quarter = f"{day.year}-Q{(day.month + 2) // 3}"
    return {"day": day.isoformat(), "month": day.isoformat()[:7], "quarter": quarter, "year": f"{day.year}"}[by]


def _buckets(settings: Mapping[str, Any], zone: ZoneInfo | None, today: date, value: Any) -> str | None:
    amount = number(value, settings["decimal"], settings["thousands"])
    borders = [Decimal(border) for border in settings["borders"]]
    if amount is None or amount < borders[0]:
        return None
    return bucket_labels(borders)[sum(amount >= border for border in borders) - 1]


def bucket_labels(borders: Sequence[Decimal]) -> tuple[str, ...]:
    """«0-100», «100-500», …, «1000+»: each holds its lower border and not its upper one."""
    texts = [f"{border:f}" for border in borders]
    return (*(f"{low}-{high}" for low, high in pairwise(texts)), f"{texts[-1]}+")


def _span(settings: Mapping[str, Any], zone: ZoneInfo | None, today: date, value: Any) -> str | None:
    year = _year(value, zone, settings["stored"])
    return None if year is None else span_label(year, settings["years"], settings["start"])


def _year(value: Any, zone: ZoneInfo | None, stored: str) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"[1-9][0-9]{3}([.]0*)?", value.strip(BLANKS)):
        return int(value.strip(BLANKS)[:4])
    if isinstance(value, str | date):
        day = written_day(value, zone, stored)
        return None if day is None else day.year
    exact = number(value)
    return math.floor(exact) if exact is not None and 1000 <= exact < 10000 else None


def span_label(year: int, years: int, start: int) -> str:
    """«2020-2024»: spans of so many years, counted from a year in which one begins."""
    first = year - (year - start) % years
    return f"{first:04d}-{first + years - 1}"


def _grid(settings: Mapping[str, Any], zone: ZoneInfo | None, today: date, *point: Any) -> str | None:
    lat, lng = (number(coordinate, settings["decimal"], settings["thousands"]) for coordinate in point)
    if lat is None or lng is None or abs(lat) > 90 or abs(lng) > 180:
        return None
    return cell_label(float(lat), float(lng), settings["km"])


def cell_label(lat: float, lng: float, km: int) -> str:
    """The centre of the cell that holds a point, in hundredths of a degree."""
    count = grid_bands(km)
    band = min(math.floor(abs(lat) / 90 * count), count - 1)
    around = cells_around(band, count, km)
    column = min(math.floor((lng + 180) / 360 * around), around - 1) if lng < 180 else 0
    return band_text(band, count, lat < 0) + " " + column_text(column, around)


def band_text(band: int, count: int, south: bool) -> str:
    """The latitude of the centre of a band."""
    hundredths = 9000 * (2 * band + 1) // (2 * count)
    return f"{'S' if south else 'N'}{hundredths // 100:02d}.{hundredths % 100:02d}"


def column_text(column: int, around: int) -> str:
    """The longitude of the centre of a cell."""
    hundredths = 36000 * (2 * column + 1) // (2 * around) - 18000
    size = abs(hundredths)
    return f"{'W' if hundredths < 0 else 'E'}{size // 100:03d}.{size % 100:02d}"


_RULES: Mapping[str, Callable[..., str | None]] = {
    "age": _age,
    "period": _period,
    "buckets": _buckets,
    "span": _span,
    "grid": _grid,
}
