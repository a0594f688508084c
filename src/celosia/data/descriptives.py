"""Descriptives of a column, from its distinct values and their counts.

Knows frequencies. Ignores engines: sums are made here in a fixed order, since engines add floats in any order
(DESIGN §4, rule 7). Source: ATENEA guide 4.2.2.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.table import Frequencies
from celosia.model.reports.profile import CategoryCount, NumberSummary, RareValues
from celosia.model.values import MISSING

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_ASTERISKS = r"^\*+$"


def missing_rows(frequencies: Frequencies) -> int:
    """Rows whose cell is missing."""
    return _rows_where(frequencies, pc.equal(frequencies.values, MISSING))


def masked_rows(frequencies: Frequencies) -> int:
    """Rows whose cell holds only asterisks."""
    return _rows_where(frequencies, pc.match_substring_regex(frequencies.values, _ASTERISKS))


def unknown_rows(frequencies: Frequencies, unknown: Collection[str]) -> int:
    """Rows whose cell holds a declared code of unknown."""
    codes = pa.array(sorted(unknown), frequencies.values.type)
    return _rows_where(frequencies, pc.is_in(frequencies.values, value_set=codes))


def rare_values(frequencies: Frequencies, threshold: int) -> RareValues:
    """Values that occur in at most `threshold` rows; missing and masked are not values."""
    special = pc.or_(
        pc.equal(frequencies.values, MISSING), pc.match_substring_regex(frequencies.values, _ASTERISKS)
    ).to_numpy(zero_copy_only=False)
    rare = (frequencies.counts <= threshold) & ~special
    return RareValues(threshold, int(rare.sum()), int(frequencies.counts[rare].sum()))


def numbers_in(frequencies: Frequencies, decimal: str = ".") -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The distinct numbers of a column in ascending order, and the rows behind each."""
    texts = pc.utf8_trim_whitespace(frequencies.values)
    if decimal == ",":
        texts = pc.replace_substring(texts, ",", ".")
    numeric = pc.match_substring_regex(texts, _NUMBER)
    numbers = texts.filter(numeric).cast(pa.float64()).to_numpy(zero_copy_only=False)
    counts = frequencies.counts[numeric.to_numpy(zero_copy_only=False)]
    order = np.argsort(numbers, kind="stable")
    return numbers[order], counts[order]


def summarise_numbers(frequencies: Frequencies, decimal: str, unknown: Collection[str]) -> NumberSummary | None:
    """Totals, mean, variance and quantiles of the cells that hold a number; None when none does."""
    codes = pa.array(sorted(unknown), frequencies.values.type)
    known = pc.invert(pc.is_in(frequencies.values, value_set=codes))
    known_values = Frequencies(
        frequencies.values.filter(known), frequencies.counts[known.to_numpy(zero_copy_only=False)]
    )
    values, counts = numbers_in(known_values, decimal)
    count = int(counts.sum())
    if count == 0:
        return None
    total = math.fsum((values * counts).tolist())
    mean = total / count
    spread = math.fsum((counts * (values - mean) ** 2).tolist())
    others = int(known_values.counts.sum()) - count - missing_rows(known_values) - masked_rows(known_values)
    return NumberSummary(
        count=count,
        not_numeric=others,
        total=total,
        mean=mean,
        variance=spread / (count - 1) if count > 1 else None,
        minimum=float(values[0]),
        maximum=float(values[-1]),
        quantiles={f"{p:g}": quantile(values, counts, p) for p in QUANTILES},
    )


def quantile(values: NDArray[np.float64], counts: NDArray[np.int64], p: float) -> float:
    """Type-7 quantile of values repeated `counts` times, without repeating them."""
    ends = np.cumsum(counts)
    position = (int(ends[-1]) - 1) * p
    low, high = np.searchsorted(ends, [math.floor(position), math.ceil(position)], side="right")
    return float(values[low] + (position - math.floor(position)) * (values[high] - values[low]))


def categories(frequencies: Frequencies, rows: int, at_most: int, above: int = 0) -> tuple[CategoryCount, ...]:
    """The most frequent categories held by more than `above` rows, ties in code-point order.

    Missing is shown apart and is not among them. A value that few hold points at them, so it is counted only.
    """
    order = np.argsort(-frequencies.counts, kind="stable")
    listed = []
    for i in order[frequencies.counts[order] > above]:
        value = frequencies.values[int(i)].as_py()
        if value != MISSING:
            listed.append(CategoryCount(value, int(frequencies.counts[i]), int(frequencies.counts[i]) / rows))
        if len(listed) == at_most:
            break
    return tuple(listed)


def _rows_where(frequencies: Frequencies, mask: pa.Array) -> int:
    return int(frequencies.counts[mask.to_numpy(zero_copy_only=False)].sum())
