"""Numbers read from a text column: distinct values with their rows, apart from what is no number.

Knows decimal marks and the kinds of cell. Ignores engines: text becomes float64 here, once, and sums are made
by the caller in the order given, since engines add floating numbers in any order (DESIGN §4, rule 7).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

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


def read_numbers(
    values: pa.Array, counts: NDArray[np.int64], decimal: str = ".", unknown: Collection[str] = ()
) -> Numbers:
    """The numbers behind distinct texts and their counts."""
    missing = _mask(pc.equal(values, MISSING))
    masked = _mask(pc.match_substring_regex(values, r"^\*+$"))
    declared = _mask(pc.is_in(values, value_set=pa.array(sorted(unknown), values.type)))
    other = ~(missing | masked | declared)
    parsed = _parsed(values, decimal)
    readable = other & np.isfinite(parsed)
    distinct, label = np.unique(parsed[readable] + 0.0, return_inverse=True)  # -0 and 0 are one number
    rows = np.zeros(len(distinct), np.int64)
    np.add.at(rows, label.reshape(-1), counts[readable])
    kinds = (missing, masked, declared, other & ~readable)
    return Numbers(distinct, rows, *(int(counts[kind].sum()) for kind in kinds))


def _parsed(values: pa.Array, decimal: str) -> NDArray[np.float64]:
    """Each text as a number, NaN where it is none; blanks around it do not count."""
    trimmed = pc.utf8_trim_whitespace(values)
    mark = rf"\{decimal}"
    number = pc.match_substring_regex(trimmed, mark.join(_GRAMMAR))
    pointed = pc.replace_substring(trimmed, decimal, ".") if decimal != "." else trimmed
    unsigned = pc.replace_substring_regex(pointed, r"^\+", "")
    chosen = pc.if_else(number, unsigned, pa.scalar("nan", values.type))
    return chosen.cast(pa.float64()).to_numpy(zero_copy_only=False)


def _mask(found: pa.Array) -> NDArray[np.bool_]:
    return found.to_numpy(zero_copy_only=False).astype(bool)
