"""Numbers inside DuckDB, PostgreSQL and Spark: a column as numbers that compare exactly with declared borders.

Knows whole, decimal and floating columns, and text with its decimal and thousands marks. Ignores what is counted.
NaN is missing, as Spark and SQLite take it; the infinities, and NaN among decimals, are above every limit on the
three engines, so that one comparison refuses them.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal
from typing import Any

import ibis

from celosia.stats._instants import Read, matches, stripped
from celosia.stats._plain import LIMIT, number_text

Expression = Any  # an Ibis column
_PLACES = 18  # decimals that are read of a text; further ones cannot change on which side of a border it lies
_EXACT = f"decimal(38, {_PLACES})"


def numbers(column: Expression, decimal: str = ".", thousands: str = "") -> Read:
    """The number of each row; an unreadable one is 0."""
    if column.type().is_string():
        return _from_text(column, decimal, thousands)
    valid = (column > border_for(column, Decimal(-LIMIT))) & (column < border_for(column, Decimal(LIMIT)))
    missing = column.isnull() | column.isnan() if column.type().is_floating() else column.isnull()
    return Read(missing, valid, column)


def border_for(value: Expression, border: Decimal) -> Expression:
    """A border in the type of what is compared with it: a number with few decimals reaches it or passes it alike."""
    kind = value.type()
    if kind.is_floating():
        return ibis.literal(float(border), "float64")
    if kind.is_integer() or border == border.to_integral_value():
        return ibis.literal(math.ceil(border), "int64")
    scale = kind.scale or 0
    return ibis.literal(border.quantize(Decimal(1).scaleb(-scale), ROUND_CEILING), f"decimal(38, {scale})")


def degrees(column: Expression, decimal: str, thousands: str, limit: int) -> Read:
    """Coordinates as floating numbers; an unreadable one is 0."""
    if column.type().is_string():
        missing, valid, text = _pointed(column, decimal, thousands)
        read = Read(missing, valid, text.cast("float64"))
    else:
        read = numbers(column)
    low, high = (border_for(read.value, Decimal(end)) for end in (-limit, limit))
    valid = read.valid & (read.value >= low) & (read.value <= high)
    return Read(read.missing, valid, ibis.ifelse(valid, read.value.cast("float64"), 0.0))


def _pointed(column: Expression, decimal: str, thousands: str) -> tuple[Expression, Expression, Expression]:
    """Where there is no value, where there is a number, and that number as every engine writes it (0 elsewhere)."""
    text, missing = stripped(column)
    valid = matches(text, number_text(decimal, thousands))
    safe = ibis.ifelse(valid, text, "0")
    bare = safe.replace(thousands, "") if thousands else safe
    return missing, valid, bare if decimal == "." else bare.replace(decimal, ".")


def _from_text(column: Expression, decimal: str, thousands: str) -> Read:
    missing, valid, text = _pointed(column, decimal, thousands)
    return Read(missing, valid, ibis.ifelse(text.contains("."), _cut(text), text).cast(_EXACT))


def _cut(text: Expression) -> Expression:
    """A text without the decimals that do not fit; what has an exponent is short already."""
    point = text.find(".")
    return ibis.ifelse(text.re_search("[eE]"), text, text.left(point + 1 + _PLACES))
