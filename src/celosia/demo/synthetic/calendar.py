"""Days as whole numbers since 1970-01-01, and what can be read off them.

Knows the Gregorian calendar through NumPy. Ignores clocks and locales.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

from celosia.demo.synthetic.draws import Index
from celosia.model.value_errors import ValueOutOfRange

_FIRST, _LAST = 1880, 2100


@cache
def _table() -> tuple[Index, Index, Index, pa.Array]:
    """Year, month (0–11), day of the month and text of every day we may meet."""
    days = np.arange(f"{_FIRST}-01-01", f"{_LAST + 1}-01-01", dtype="datetime64[D]")
    months = days.astype("datetime64[M]")
    year = days.astype("datetime64[Y]").astype(np.int64) + 1970
    return (
        year,
        months.astype(np.int64) % 12,
        (days - months).astype(np.int64) + 1,
        pa.array(np.datetime_as_string(days).tolist()),
    )


_ORIGIN = int(np.datetime64(f"{_FIRST}-01-01", "D").astype(np.int64))


def days_of(year: int) -> Index:
    """All days of a year."""
    if not _FIRST + 110 <= year < _LAST:
        raise ValueOutOfRange(parameter="year", given=year, allowed=f"{_FIRST + 110}…{_LAST - 1}")
    return np.arange(f"{year}-01-01", f"{year + 1}-01-01", dtype="datetime64[D]").astype(np.int64)


def weekday_and_month(days: Index) -> tuple[Index, Index]:
    """Day of the week (0 Monday) and month (0 January)."""
    return (days + 3) % 7, _table()[1][days - _ORIGIN]


def date_texts(days: Index) -> pa.Array:
    """`2024-02-29`."""
    return _table()[3].take(pa.array(days - _ORIGIN))


def age_in_years_and_months(birth: Index, day: Index) -> tuple[Index, Index]:
    """Completed years, and completed months in all."""
    year, month, of_month, _ = _table()
    born, now = birth - _ORIGIN, day - _ORIGIN
    months = (year[now] - year[born]) * 12 + month[now] - month[born] - (of_month[now] < of_month[born])
    return months // 12, months
