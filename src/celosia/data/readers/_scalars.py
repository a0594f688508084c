"""The canonical text of single Python values, the same as `_canonical` gives for columns.

Knows numbers, dates and times. Ignores where they come from.
"""

from __future__ import annotations

import datetime as dt
import math

_EXACT_WHOLE = 1e15


def cell_text(value: object) -> str | None:
    """A value as a cell; None when missing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, dt.datetime):
        midnight = value.time() == dt.time() and value.tzinfo is None
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)


def number_text(value: float) -> str | None:
    """A number as a cell: whole numbers without a decimal mark, others as short as they read back."""
    if math.isnan(value):
        return None
    if value == math.floor(value) and abs(value) < _EXACT_WHOLE if math.isfinite(value) else False:
        return str(int(value))
    return repr(value)
