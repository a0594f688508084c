"""Days inside DuckDB, PostgreSQL and Spark: a column as local times in a stated zone.

Knows the types a date is stored in: date, timestamp, instant (with time zone) and text. Ignores what the day is for.
Engines carry different editions of the time zones, so the changes of a zone's clock are taken from Python's and written
into the query. A session in UTC is assumed: the sources open theirs so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import ibis

from celosia.stats._plain import BLANKS, DAY_TEXT, FIRST_DAY, LAST_DAY

Expression = Any  # an Ibis column
_KNOWN_FROM, _KNOWN_UNTIL = datetime(1900, 1, 1, tzinfo=UTC), datetime(2051, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a zone's clock: from this instant on it is so many seconds ahead of UTC."""

    since: datetime  # UTC, without zone
    seconds: int


@dataclass(frozen=True, slots=True)
class Read:
    """A column as the rule needs it: where it has no value, where it could be read, and what was read there."""

    missing: Expression
    valid: Expression
    value: Expression


@cache
def changes(zone: str) -> tuple[Change, ...]:
    """The clock of a zone from 1900 to 2050; the first and the last hold before and after."""
    clock = ZoneInfo(zone)
    found = [Change(datetime(1, 1, 1), _ahead(_KNOWN_FROM, clock))]
    day = _KNOWN_FROM
    while day < _KNOWN_UNTIL:
        following = day + timedelta(days=1)
        if _ahead(following, clock) != found[-1].seconds:
            since = _first_with(_ahead(following, clock), day, following, clock)
            found.append(Change(since.replace(tzinfo=None), _ahead(following, clock)))
        day = following
    return tuple(found)


def _ahead(instant: datetime, clock: ZoneInfo) -> int:
    offset = instant.astimezone(clock).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def _first_with(seconds: int, low: datetime, high: datetime, clock: ZoneInfo) -> datetime:
    """The first second at which the clock shows the offset that it shows at `high` and not at `low`."""
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=int((high - low).total_seconds()) // 2)
        low, high = (low, middle) if _ahead(middle, clock) == seconds else (middle, high)
    return high


def local_times(column: Expression, zone: str | None, stored: str) -> Read:
    """The local time of each row; an unreadable one is some other, valid time."""
    kind = column.type()
    if kind.is_string():
        return _from_text(column, zone, stored)
    first, last = FIRST_DAY.isoformat(), (LAST_DAY + timedelta(days=1)).isoformat()
    plain = column if kind.is_date() or kind.timezone is None else column.cast("timestamp")
    moment = ibis.date if kind.is_date() else ibis.timestamp
    valid = (plain >= moment(first)) & (plain < moment(last))
    safe = ibis.ifelse(valid, plain, moment("2000-01-01"))
    if kind.is_date() or (kind.timezone is None and stored == "local"):
        return Read(column.isnull(), valid, safe)
    if zone is None:
        return Read(column.isnull(), ibis.literal(False), safe)
    return Read(column.isnull(), valid, safe + _ahead_of_utc(plain, zone))


def _ahead_of_utc(instant: Expression, zone: str) -> Expression:
    """How far the clock of a zone is ahead at an instant, by halving the changes of the clock."""
    return halved(
        changes(zone),
        lambda change: instant < ibis.timestamp(change.since.isoformat()),
        lambda change: ibis.interval(seconds=change.seconds),
    )


def halved(items: Sequence[Any], before: Callable[[Any], Expression], shown: Callable[[Any], Expression]) -> Expression:
    """What is shown for the last item that is not after the row: nested choices, as deep as log2 of the items."""
    if len(items) == 1:
        return shown(items[0])
    half = len(items) // 2
    low, high = halved(items[:half], before, shown), halved(items[half:], before, shown)
    return ibis.ifelse(before(items[half]), low, high)


def stripped(column: Expression) -> tuple[Expression, Expression]:
    """The text of a column without blanks around it, and where there is none."""
    text = column.strip()
    return text, text.isnull() | (text == "")


def matches(text: Expression, pattern: str) -> Expression:
    """Whether a whole text matches; a line break at its end is no end for some engines."""
    return text.re_search(pattern) & ~text.contains("\n")


def written_days(column: Expression) -> Read:
    """The day as it is written in a text, whatever the clock and the zone that follow it: births and years.

    It stays text: days of four, two and two digits are in order in every collation.
    """
    text, missing = stripped(column)
    valid = matches(text, DAY_TEXT) & ~text.re_search("^(1000-01-01|9999-12-31)")
    return Read(missing, valid, text.left(10))


def _from_text(column: Expression, zone: str | None, stored: str) -> Read:
    text, missing = stripped(column)
    valid = matches(text, DAY_TEXT)
    safe = ibis.ifelse(valid, text, "2000-01-01")
    valid &= ~text.re_search("^(1000-01-01|9999-12-31)")
    timed = safe.length() > 10
    instant = timed if stored == "utc" else timed & safe.re_search("(Z|[+-][0-9]{2}(:[0-9]{2})?)$")
    wall = safe.left(16).cast("timestamp")
    if zone is None:
        return Read(missing, valid & ~instant, wall)
    short = (safe.length() == 16) | safe.re_search("[T ].*[+-][0-9]{2}$")  # no seconds, or an offset of whole hours
    utc = ibis.ifelse(short, safe + ":00", safe).cast("timestamp('UTC')").cast("timestamp")
    return Read(missing, valid, ibis.ifelse(instant, utc + _ahead_of_utc(utc, zone), wall))


__all__ = ["BLANKS", "Change", "Read", "changes", "halved", "local_times", "matches", "stripped", "written_days"]
