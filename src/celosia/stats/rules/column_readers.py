"""Columns read inside DuckDB, PostgreSQL and Spark: as local times in a stated zone, or as numbers.

Knows the types a date is stored in (date, timestamp, instant with time zone, text), and whole, decimal and floating
numbers and text with its decimal and thousands marks. Ignores what is counted. NaN is missing, as Spark and SQLite
take it; the infinities, and NaN among decimals, are above every limit on the three engines, so that one comparison
refuses them. Numbers compare exactly with declared borders. Engines carry different editions of the time zones, so the
changes of a zone's clock are taken from Python's and written into the query. A session in UTC is assumed: the sources
open theirs so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import ibis

from celosia.stats.rules.reference_rules import DAY_TEXT, FIRST_DAY, LAST_DAY, LIMIT, number_text

Expression = Any  # an Ibis column
_KNOWN_FROM, _KNOWN_UNTIL = datetime(1900, 1, 1, tzinfo=UTC), datetime(2051, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ClockChange:
    """A change of a zone's clock: from this instant on it is so many seconds ahead of UTC."""

    since: datetime  # UTC, without zone
    seconds: int


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column as the rule needs it: where it has no value, where it could be read, and what was read there."""

    missing: Expression
    valid: Expression
    value: Expression


@cache
def changes(zone: str) -> tuple[ClockChange, ...]:
    """The clock of a zone from 1900 to 2050; the first and the last hold before and after."""
    clock = ZoneInfo(zone)
    changes_found = [ClockChange(datetime(1, 1, 1), _utc_offset(_KNOWN_FROM, clock))]
    day = _KNOWN_FROM
    while day < _KNOWN_UNTIL:
        following = day + timedelta(days=1)
        if _utc_offset(following, clock) != changes_found[-1].seconds:
            since = _first_with(_utc_offset(following, clock), day, following, clock)
            changes_found.append(ClockChange(since.replace(tzinfo=None), _utc_offset(following, clock)))
        day = following
    return tuple(changes_found)


def _utc_offset(instant: datetime, clock: ZoneInfo) -> int:
    offset = instant.astimezone(clock).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def _first_with(seconds: int, low: datetime, high: datetime, clock: ZoneInfo) -> datetime:
    """The first second at which the clock shows the offset that it shows at `high` and not at `low`."""
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        low, high = (low, middle) if _utc_offset(middle, clock) == seconds else (middle, high)
    return high


def local_times(column: Expression, zone: str | None, stored: str) -> ReadColumn:
    """The local time of each row; an unreadable one is some other, valid time."""
    kind = column.type()
    if kind.is_string():
        return _read_text_column(column, zone, stored)
    first, last = FIRST_DAY.isoformat(), (LAST_DAY + timedelta(days=1)).isoformat()
    plain = column if kind.is_date() or kind.timezone is None else column.cast("timestamp")
    moment = ibis.date if kind.is_date() else ibis.timestamp
    valid = (plain >= moment(first)) & (plain < moment(last))
    safe = ibis.ifelse(valid, plain, moment("2000-01-01"))
    if kind.is_date() or (kind.timezone is None and stored == "local"):
        return ReadColumn(column.isnull(), valid, safe)
    if zone is None:
        return ReadColumn(column.isnull(), ibis.literal(False), safe)
    return ReadColumn(column.isnull(), valid, safe + _ahead_of_utc(plain, zone))


def _ahead_of_utc(instant: Expression, zone: str) -> Expression:
    """How far the clock of a zone is ahead at an instant, by halving the changes of the clock."""
    return choose_by_halving(
        changes(zone),
        lambda change: instant < ibis.timestamp(change.since.isoformat()),
        lambda change: ibis.interval(seconds=change.seconds),
    )


def choose_by_halving(
    items: Sequence[Any], before: Callable[[Any], Expression], shown: Callable[[Any], Expression]
) -> Expression:
    """What is shown for the last item that is not after the row: nested choices, as deep as log2 of the items."""
    if len(items) == 1:
        return shown(items[0])
    half = len(items) // 2
    low, high = choose_by_halving(items[:half], before, shown), choose_by_halving(items[half:], before, shown)
    return ibis.ifelse(before(items[half]), low, high)


def strip_blanks(column: Expression) -> tuple[Expression, Expression]:
    """The text of a column without blanks around it, and where there is none."""
    text = column.strip()
    return text, text.isnull() | (text == "")


def matches(text: Expression, pattern: str) -> Expression:
    """Whether a whole text matches; a line break at its end is no end for some engines."""
    return text.re_search(pattern) & ~text.contains("\n")


def written_days(column: Expression) -> ReadColumn:
    """The day as it is written in a text, whatever the clock and the zone that follow it: births and years.

    It stays text: days of four, two and two digits are in order in every collation.
    """
    text, missing = strip_blanks(column)
    valid = matches(text, DAY_TEXT) & ~text.re_search("^(1000-01-01|9999-12-31)")
    return ReadColumn(missing, valid, text.left(10))


def _read_text_column(column: Expression, zone: str | None, stored: str) -> ReadColumn:
    text, missing = strip_blanks(column)
    valid = matches(text, DAY_TEXT)
    safe = ibis.ifelse(valid, text, "2000-01-01")
    valid &= ~text.re_search("^(1000-01-01|9999-12-31)")
    timed = safe.length() > 10
    instant = timed if stored == "utc" else timed & safe.re_search("(Z|[+-][0-9]{2}(:[0-9]{2})?)$")
    wall = safe.left(16).cast("timestamp")
    if zone is None:
        return ReadColumn(missing, valid & ~instant, wall)
    short = (safe.length() == 16) | safe.re_search("[T ].*[+-][0-9]{2}$")  # no seconds, or an offset of whole hours
    utc = ibis.ifelse(short, safe + ":00", safe).cast("timestamp('UTC')").cast("timestamp")
    return ReadColumn(missing, valid, ibis.ifelse(instant, utc + _ahead_of_utc(utc, zone), wall))


_PLACES = 18  # decimals that are read of a text; further ones cannot change on which side of a border it lies
_EXACT = f"decimal(38, {_PLACES})"
_NARROW_PLACES = 3
_NARROW = f"decimal(18, {_NARROW_PLACES})"
_FORGIVING = ("duckdb", "pyspark")  # what cannot be cast is NULL there, without a test before


def numbers(column: Expression, dialect: str, decimal: str = ".", thousands: str = "", places: int = 0) -> ReadColumn:
    """The number of each row, to be compared with borders of so many places; an unreadable one is NULL or 0."""
    if column.type().is_string():
        missing, valid, text = _number_texts(column, dialect, decimal, thousands)
        return ReadColumn(missing, valid, _exact_decimal(text, dialect, places))
    valid = (column > border_for(column, Decimal(-LIMIT))) & (column < border_for(column, Decimal(LIMIT)))
    missing = column.isnull() | column.isnan() if column.type().is_floating() else column.isnull()
    return ReadColumn(missing, valid, column)


def border_for(value: Expression, border: Decimal) -> Expression:
    """A border in the type of what is compared with it: a number with few decimals reaches it or passes it alike."""
    kind = value.type()
    if kind.is_floating():
        return ibis.literal(float(border), "float64")
    if kind.is_integer() or border == border.to_integral_value():
        return ibis.literal(math.ceil(border), "int64")
    scale = kind.scale or 0
    return ibis.literal(border.quantize(Decimal(1).scaleb(-scale), ROUND_CEILING), f"decimal(38, {scale})")


def degrees(column: Expression, dialect: str, decimal: str, thousands: str, limit: int) -> ReadColumn:
    """Coordinates as floating numbers; an unreadable one is 0."""
    if column.type().is_string():
        missing, valid, text = _number_texts(column, dialect, decimal, thousands)
        read = ReadColumn(missing, valid, _cast(text, "float64", dialect))
    else:
        read = numbers(column, dialect)
    low, high = (border_for(read.value, Decimal(end)) for end in (-limit, limit))
    valid = read.valid & (read.value >= low) & (read.value <= high)
    return ReadColumn(read.missing, valid, ibis.ifelse(valid, read.value.cast("float64"), 0.0))


def _number_texts(
    column: Expression, dialect: str, decimal: str, thousands: str
) -> tuple[Expression, Expression, Expression]:
    """Where there is no value, where there is a number, and its text with a point; PostgreSQL casts all or nothing."""
    text, missing = strip_blanks(column)
    valid = matches(text, number_text(decimal, thousands))
    safe = text if dialect in _FORGIVING else ibis.ifelse(valid, text, "0")
    bare = safe.replace(thousands, "") if thousands else safe
    return missing, valid, bare if decimal == "." else bare.replace(decimal, ".")


def _cast(text: Expression, kind: str, dialect: str) -> Expression:
    return text.try_cast(kind) if dialect in _FORGIVING else text.cast(kind)


def _exact_decimal(text: Expression, dialect: str, places: int) -> Expression:
    """A text as a decimal; cutting it behind the places of the borders leaves it on the same side of each.

    DuckDB reads narrow decimals a hundred times faster than wide ones; only a minus or an exponent needs these.
    """
    wide = _cast(ibis.ifelse(text.length() > _PLACES, _truncate_decimals(text, _PLACES), text), _EXACT, dialect)
    if places > _NARROW_PLACES:
        return wide
    narrow = _cast(_truncate_decimals(text, _NARROW_PLACES), _NARROW, dialect).cast(_EXACT)
    return ibis.ifelse(text.re_search("[-eE]"), wide, narrow)


def _truncate_decimals(text: Expression, places: int) -> Expression:
    """A text without further decimals; what has an exponent or no point stays."""
    plain = text.contains(".") & ~text.re_search("[eE]")
    return ibis.ifelse(plain, text.left(text.find(".") + 1 + places), text)
