"""The canonical text of typed values: what `13101`, `true` or `2024-03-04` look like as cells.

Knows Arrow types and Python values. Ignores where they come from. Whole numbers carry no decimal mark whatever their
type, other floats are the shortest text that reads back alike; dates and times are ISO 8601, a time stamp
at midnight is its date, one with a zone is in UTC. What is not a plain value is refused by column name.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from celosia import messages
from celosia.data.errors import UnsupportedColumn
from celosia.model.values import MISSING

# Characters that make a cell look filled when it is not; the same list for every reader.
WHITESPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
_EXACT_WHOLE = 1e15
_SLICE = 65_536


def unsupported_column(variable: str, kind: str) -> UnsupportedColumn:
    """The error for a column that holds something else than plain values."""
    return UnsupportedColumn(variable=variable, kind=messages.text(f"reading.kinds.{kind}"))


def refuse_types(schema: pa.Schema, names: tuple[str, ...]) -> None:
    """Refuses columns that are not plain values, before anything is read."""
    for name, field in zip(names, schema, strict=True):
        kind = refusal_kind(field.type)
        if kind:
            raise unsupported_column(name, kind)


def canonical_text(array: pa.Array) -> pa.StringArray:
    """The canonical text of an array; missing stays null here."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _extension_text(array)
    if pa.types.is_dictionary(kind):
        # Decoding knows no string views, which Polars gives.
        return canonical_text(array.dictionary).take(array.indices)
    for holds, convert in _CONVERTERS:
        if holds(kind):
            return convert(array)
    return pc.cast(array, pa.string())


def _extension_text(array: pa.ExtensionArray) -> pa.StringArray:
    if getattr(array.type, "extension_name", "") == "arrow.uuid":
        return pa.array([None if value is None else str(value) for value in array.to_pylist()], pa.string())
    return canonical_text(array.storage)


def _float_text(array: pa.Array) -> pa.StringArray:
    number = pc.cast(array, pa.float64()) if not pa.types.is_float32(array.type) else array
    number = pc.if_else(pc.is_nan(number), pa.scalar(None, number.type), number)
    exact = pc.and_(pc.equal(number, pc.floor(number)), pc.less(pc.abs(number), _EXACT_WHOLE))
    whole = pc.cast(pc.if_else(exact, number, pa.scalar(0, number.type)), pa.int64(), safe=False)
    return pc.if_else(exact, pc.cast(whole, pa.string()), pc.cast(number, pa.string()))


def _timestamp_text(array: pa.Array) -> pa.StringArray:
    zoned = array.type.tz is not None
    plain = pc.cast(array, pa.timestamp(array.type.unit)) if zoned else array  # the instant is kept in UTC
    text = _drop_idle_fraction(pc.cast(plain, pa.string()))
    stamp = pc.replace_substring(text, " ", "T")
    if zoned:
        return pc.binary_join_element_wise(stamp, "Z", "")
    return pc.replace_substring_regex(stamp, "T00:00:00$", "")


def _time_text(array: pa.Array) -> pa.StringArray:
    return _drop_idle_fraction(pc.cast(array, pa.string()))


def _drop_idle_fraction(text: pa.StringArray) -> pa.StringArray:
    return pc.replace_substring_regex(pc.replace_substring_regex(text, r"(\.\d*?)0+$", r"\1"), r"\.$", "")


_CONVERTERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.StringArray]], ...] = (
    (pa.types.is_floating, _float_text),
    (pa.types.is_timestamp, _timestamp_text),
    (pa.types.is_time, _time_text),
)
_PLAIN: tuple[Callable[[pa.DataType], bool], ...] = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_date,
    pa.types.is_time,
    pa.types.is_timestamp,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
)
_KINDS: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_nested, "nested"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
    (pa.types.is_binary_view, "binary"),
    (pa.types.is_fixed_size_binary, "binary"),
    (pa.types.is_duration, "interval"),
    (pa.types.is_interval, "interval"),
)


def refusal_kind(kind: pa.DataType) -> str:
    """Why a type is refused; empty when it is plain."""
    if isinstance(kind, pa.BaseExtensionType):
        name = getattr(kind, "extension_name", "")
        if name == "arrow.json":
            return "json"
        return "" if name == "arrow.uuid" else refusal_kind(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return refusal_kind(kind.value_type)
    if any(holds(kind) for holds in _PLAIN):
        return ""
    return next((reason for holds, reason in _KINDS if holds(kind)), "other")


def slice_batch(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
    """A batch in pieces small enough for text offsets of 32 bits."""
    return [batch.slice(start, _SLICE) for start in range(0, batch.num_rows, _SLICE)]


def canonical_cells(text: pa.StringArray) -> tuple[pa.StringArray, int, int]:
    """Cells with missing as the empty text; how many were blanks only, and how many held null characters.

    No text format keeps a null character and no person typed one: it is taken out and counted.
    """
    filled = pc.fill_null(text, MISSING)
    nulls = pc.sum(pc.match_substring(filled, "\x00")).as_py() or 0
    if nulls:
        filled = pc.replace_substring(filled, "\x00", "")
    blank = pc.and_(pc.equal(pc.utf8_trim(filled, WHITESPACE), MISSING), pc.not_equal(filled, MISSING))
    count = pc.sum(blank).as_py() or 0
    return (pc.if_else(blank, MISSING, filled) if count else filled), count, nulls


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
