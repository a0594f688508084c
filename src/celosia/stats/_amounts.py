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
_NARROW_PLACES = 3
_NARROW = f"decimal(18, {_NARROW_PLACES})"
_FORGIVING = ("duckdb", "pyspark")  # what cannot be cast is NULL there, without a test before


def numbers(column: Expression, dialect: str, decimal: str = ".", thousands: str = "", places: int = 0) -> Read:
    """The number of each row, to be compared with borders of so many places; an unreadable one is NULL or 0."""
    if column.type().is_string():
        missing, valid, text = _pointed(column, dialect, decimal, thousands)
        return Read(missing, valid, _exact(text, dialect, places))
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


def degrees(column: Expression, dialect: str, decimal: str, thousands: str, limit: int) -> Read:
    """Coordinates as floating numbers; an unreadable one is 0."""
    if column.type().is_string():
        missing, valid, text = _pointed(column, dialect, decimal, thousands)
        read = Read(missing, valid, _cast(text, "float64", dialect))
    else:
        read = numbers(column, dialect)
    low, high = (border_for(read.value, Decimal(end)) for end in (-limit, limit))
    valid = read.valid & (read.value >= low) & (read.value <= high)
    return Read(read.missing, valid, ibis.ifelse(valid, read.value.cast("float64"), 0.0))


def _pointed(
    column: Expression, dialect: str, decimal: str, thousands: str
) -> tuple[Expression, Expression, Expression]:
    """Where there is no value, where there is a number, and its text with a point; PostgreSQL casts all or nothing."""
    text, missing = stripped(column)
    valid = matches(text, number_text(decimal, thousands))
    safe = text if dialect in _FORGIVING else ibis.ifelse(valid, text, "0")
    bare = safe.replace(thousands, "") if thousands else safe
    return missing, valid, bare if decimal == "." else bare.replace(decimal, ".")


def _cast(text: Expression, kind: str, dialect: str) -> Expression:
    return text.try_cast(kind) if dialect in _FORGIVING else text.cast(kind)


def _exact(text: Expression, dialect: str, places: int) -> Expression:
    """A text as a decimal; cutting it behind the places of the borders leaves it on the same side of each.

    DuckDB reads narrow decimals a hundred times faster than wide ones; only a minus or an exponent needs these.
    """
    wide = _cast(ibis.ifelse(text.length() > _PLACES, _cut(text, _PLACES), text), _EXACT, dialect)
    if places > _NARROW_PLACES:
        return wide
    narrow = _cast(_cut(text, _NARROW_PLACES), _NARROW, dialect).cast(_EXACT)
    return ibis.ifelse(text.re_search("[-eE]"), wide, narrow)


def _cut(text: Expression, places: int) -> Expression:
    """A text without further decimals; what has an exponent or no point stays."""
    plain = text.contains(".") & ~text.re_search("[eE]")
    return ibis.ifelse(plain, text.left(text.find(".") + 1 + places), text)
