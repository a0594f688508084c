"""How strongly two columns go together, and how much of it a step takes away.

Knows text columns line by line. Ignores techniques. Two columns of numbers: Spearman's rank correlation with mean
ranks, on the rows where both are numbers. Otherwise Cramér's V = √(χ²/(n·(min(r, c) − 1))) of the values as they stand,
numbers in ten groups of equal size. A code such as «05302» is no number. Source: ATENEA guide, section 4.2.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.numbers import NumberColumn, number_column
from celosia.techniques._contract import Settings, coded, unknown_in

Whole = NDArray[np.int64]
Pair = tuple[pa.Array, pa.Array]
_GROUPS = 10


def associations_lost(
    before: Mapping[str, pa.Array], after: Mapping[str, pa.Array], compare: Iterable[str], settings: Settings
) -> dict[str, dict[str, dict[str, Any]]]:
    """For each changed column and each other one: the measure, before, after, and what was lost of its strength."""
    now = {**before, **after}
    return {
        name: {
            other: _lost((before[name], before[other]), (now[name], now[other]), settings, (name, other))
            for other in compare
            if other != name
        }
        for name in after
    }


def _lost(before: Pair, after: Pair, settings: Settings, names: tuple[str, str]) -> dict[str, Any]:
    measure, was = association(*before, settings, names)
    _, remains = association(*after, settings, names)
    lost = None if was is None or remains is None else abs(was) - abs(remains)
    return {"measure": measure, "before": was, "after": remains, "lost": lost}


def association(
    one: pa.Array, other: pa.Array, settings: Settings, names: tuple[str, str] = ("", "")
) -> tuple[str, float | None]:
    """The measure that fits two columns, and its value; none where one of them does not vary."""
    numbers = _numbers(one, settings, names[0]), _numbers(other, settings, names[1])
    if numbers[0] is not None and numbers[1] is not None:
        both = numbers[0].plain & numbers[1].plain
        return "spearman", spearman(numbers[0].values[both], numbers[1].values[both])
    return "cramer_v", cramer_v(_categories(one, numbers[0]), _categories(other, numbers[1]))


def _numbers(cells: pa.Array, settings: Settings, name: str) -> NumberColumn | None:
    column = number_column(cells, settings.get("decimal", "."), unknown_in(settings, name))
    code = pc.any(pc.match_substring_regex(cells, "^0[0-9]")).as_py()
    return None if column.unreadable or code or not column.plain.any() else column


def _categories(cells: pa.Array, numbers: NumberColumn | None) -> Whole:
    if numbers is None:
        return coded(cells)[0]
    codes = np.full(len(cells), _GROUPS, np.int64)  # cells without a number are a group of their own
    doubled, count = _doubled_ranks(numbers.values[numbers.plain]), int(numbers.plain.sum())
    codes[numbers.plain] = (doubled - 1) * _GROUPS // (2 * count)
    return codes


def spearman(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """Rank correlation in whole numbers, rounded once."""
    count = len(one)
    x, y = (_doubled_ranks(values) - (count + 1) for values in (one, other))
    spread = _whole_product(x, x) * _whole_product(y, y)
    return _whole_product(x, y) / math.sqrt(spread) if spread else None


def _doubled_ranks(values: NDArray[np.float64]) -> Whole:
    """Twice the mean rank of each value, so that it is a whole number."""
    _, label, size = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return np.asarray((2 * last - size + 1)[label.reshape(-1)], np.int64)


def _whole_product(one: Whole, other: Whole) -> int:
    """Σ x·y without overflow: 64-bit sums over short stretches."""
    largest = max(int(np.abs(one).max(initial=1)) * int(np.abs(other).max(initial=1)), 1)
    stretch = max(2**62 // largest, 1)
    return sum(int((one[i : i + stretch] * other[i : i + stretch]).sum()) for i in range(0, len(one), stretch))


def cramer_v(one: Whole, other: Whole) -> float | None:
    """Cramér's V of two columns of codes."""
    count = len(one)
    if count == 0:
        return None
    x, y = (np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in (one, other))
    rows, columns = np.bincount(x), np.bincount(y)
    smaller = min(len(rows), len(columns)) - 1
    if smaller == 0:
        return None
    cell, observed = np.unique(x * len(columns) + y, return_counts=True)
    terms = observed / rows[cell // len(columns)] * (observed / columns[cell % len(columns)])
    return math.sqrt(max(math.fsum(terms.tolist()) - 1, 0.0) / smaller)
