"""Numbers and text: read from cells, apart from what is no number, and written back.

Knows decimal marks and the kinds of cell. Ignores engines: text becomes float64 here, once, and sums are made
by the caller in the order given, since engines add floating numbers in any order (DESIGN §4, rule 7).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.model.values import MISSING

_GRAMMAR = (r"^[+-]?([0-9]+(", r"[0-9]*)?|", r"[0-9]+)([eE][+-]?[0-9]{1,3})?$")  # the mark goes between


@dataclass(frozen=True, slots=True)
class Numbers:
    """The distinct numbers of a column, ascending, and the rows behind each and behind the other kinds."""

    values: NDArray[np.float64]
    rows: NDArray[np.int64]
    missing: int
    masked: int
    unknown: int
    unreadable: int  # neither number nor a declared kind


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """A column of cells as numbers; NaN where a cell holds none."""

    values: NDArray[np.float64]
    plain: NDArray[np.bool_]  # cells that hold a number
    unreadable: int  # cells that are neither number, missing, masked nor a declared code


def number_column(cells: pa.Array, decimal: str = ".", unknown: Collection[str] = ()) -> NumberColumn:
    """Every cell of a column as a number, in its place."""
    missing, masked, declared = _kinds(cells, unknown)
    parsed = _parse_numbers(cells, decimal)
    plain = ~(missing | masked | declared) & np.isfinite(parsed)
    unreadable = int((~(missing | masked | declared | plain)).sum())
    return NumberColumn(np.where(plain, parsed + 0.0, np.nan), plain, unreadable)


def number_texts(values: NDArray[np.float64], decimals: int | None = None, decimal: str = ".") -> pa.Array:
    """Numbers as text: the shortest that reads back the same, or rounded half to even; never an exponent."""
    rounded = values if decimals is None else _round_half_even(values, decimals)
    texts = pa.array(rounded + 0.0).cast(pa.large_string())
    exponent = _mask(pc.match_substring(texts, "e"))
    if exponent.any():
        plain = [f"{Decimal(repr(float(number))):f}" for number in rounded[exponent]]
        texts = pc.replace_with_mask(texts, pa.array(exponent), pa.array(plain, pa.large_string()))
    whole = pc.replace_substring_regex(texts, r"^(-?[0-9]+)\.0$", r"\1")
    return whole if decimal == "." else pc.replace_substring(whole, ".", decimal)


def _round_half_even(values: NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    """Rounded half to even; numbers from 2^53 on are whole already, and scaling the largest would overflow."""
    small = np.abs(values) < 2.0**53
    return np.where(small, np.round(np.where(small, values, 0.0), min(decimals, 290)), values)


def read_numbers(
    values: pa.Array, counts: NDArray[np.int64], decimal: str = ".", unknown: Collection[str] = ()
) -> Numbers:
    """The numbers behind distinct texts and their counts."""
    missing, masked, declared = _kinds(values, unknown)
    other = ~(missing | masked | declared)
    parsed = _parse_numbers(values, decimal)
    readable = other & np.isfinite(parsed)
    distinct, label = np.unique(parsed[readable] + 0.0, return_inverse=True)  # -0 and 0 are one number
    rows = np.zeros(len(distinct), np.int64)
    np.add.at(rows, label.reshape(-1), counts[readable])
    kinds = (missing, masked, declared, other & ~readable)
    return Numbers(distinct, rows, *(int(counts[kind].sum()) for kind in kinds))


def _kinds(values: pa.Array, unknown: Collection[str]) -> tuple[NDArray[np.bool_], ...]:
    """Which cells are missing, masked, or a declared code."""
    missing = _mask(pc.equal(values, MISSING))
    masked = _mask(pc.match_substring_regex(values, r"^\*+$"))
    return missing, masked, _mask(pc.is_in(values, value_set=pa.array(sorted(unknown), values.type)))


def _parse_numbers(values: pa.Array, decimal: str) -> NDArray[np.float64]:
    """Each text as a number, NaN where it is none; blanks around it do not count."""
    trimmed = pc.utf8_trim_whitespace(values)
    mark = rf"\{decimal}"
    number = pc.match_substring_regex(trimmed, mark.join(_GRAMMAR))
    pointed = pc.replace_substring(trimmed, decimal, ".") if decimal != "." else trimmed
    unsigned = pc.replace_substring_regex(pointed, r"^\+", "")
    chosen = pc.if_else(number, unsigned, pa.scalar("nan", values.type))
    return chosen.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _mask(flags: pa.Array) -> NDArray[np.bool_]:
    return flags.to_numpy(zero_copy_only=False).astype(bool)
