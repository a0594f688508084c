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
from celosia.techniques._columns import encode_values, unknown_in
from celosia.techniques._contract import Settings, StepInput, StepOutcome

Whole = NDArray[np.int64]
Pair = tuple[pa.Array, pa.Array]
_GROUPS = 10


def swap_outcome(
    given: StepInput, columns: Mapping[str, pa.Array], settings: Settings, notes: Mapping[str, Any], *preserved: str
) -> StepOutcome:
    """The outcome of a swap: what it preserves and, for the variables to compare, the association that was lost."""
    kinds = ("distribution", "distribution_by_stratum") if settings["strata"] else ("distribution",)
    if settings["compare"]:
        notes = {**notes, "association": associations_lost(given.columns, columns, settings["compare"], settings)}
    return StepOutcome(columns, preserved=(*kinds, *preserved), notes=notes)


def associations_lost(
    before: Mapping[str, pa.Array], after: Mapping[str, pa.Array], compare: Iterable[str], settings: Settings
) -> dict[str, dict[str, dict[str, Any]]]:
    """For each changed column and each other one: the measure, before, after, and what was lost of its strength."""
    now = {**before, **after}
    return {
        name: {
            other: _compare((before[name], before[other]), (now[name], now[other]), settings, (name, other))
            for other in compare
            if other != name
        }
        for name in after
    }


def _compare(before: Pair, after: Pair, settings: Settings, names: tuple[str, str]) -> dict[str, Any]:
    measure, strength = association(*before, settings, names)
    _, remaining = association(*after, settings, names)
    lost = None if strength is None or remaining is None else abs(strength) - abs(remaining)
    return {"measure": measure, "before": strength, "after": remaining, "lost": lost}


def association(
    first: pa.Array, second: pa.Array, settings: Settings, names: tuple[str, str] = ("", "")
) -> tuple[str, float | None]:
    """The measure that fits two columns, and its value; none where one of them does not vary."""
    numbers = _numbers(first, settings, names[0]), _numbers(second, settings, names[1])
    if numbers[0] is not None and numbers[1] is not None:
        both = numbers[0].plain & numbers[1].plain
        return "spearman", spearman(numbers[0].values[both], numbers[1].values[both])
    return "cramer_v", cramer_v(_categories(first, numbers[0]), _categories(second, numbers[1]))


def _numbers(cells: pa.Array, settings: Settings, name: str) -> NumberColumn | None:
    column = number_column(cells, settings.get("decimal", "."), unknown_in(settings, name))
    code = pc.any(pc.match_substring_regex(cells, "^0[0-9]")).as_py()
    return None if column.unreadable or code or not column.plain.any() else column


def _categories(cells: pa.Array, numbers: NumberColumn | None) -> Whole:
    if numbers is None:
        return encode_values(cells)[0]
    codes = np.full(len(cells), _GROUPS, np.int64)  # cells without a number are a group of their own
    doubled, count = _doubled_ranks(numbers.values[numbers.plain]), int(numbers.plain.sum())
    codes[numbers.plain] = (doubled - 1) * _GROUPS // (2 * count)
    return codes


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Rank correlation in whole numbers, rounded once."""
    count = len(first)
    x, y = (_doubled_ranks(values) - (count + 1) for values in (first, second))
    spread = _whole_product(x, x) * _whole_product(y, y)
    return _whole_product(x, y) / math.sqrt(spread) if spread else None


def _doubled_ranks(values: NDArray[np.float64]) -> Whole:
    """Twice the mean rank of each value, so that it is a whole number."""
    _, label, size = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(size)
    return np.asarray((2 * last - size + 1)[label.reshape(-1)], np.int64)


def _whole_product(x: Whole, y: Whole) -> int:
    """Σ x·y without overflow: 64-bit sums over short stretches."""
    largest = max(int(np.abs(x).max(initial=1)) * int(np.abs(y).max(initial=1)), 1)
    stretch = max(2**62 // largest, 1)
    return sum(int((x[i : i + stretch] * y[i : i + stretch]).sum()) for i in range(0, len(x), stretch))


def cramer_v(first: Whole, second: Whole) -> float | None:
    """Cramér's V of two columns of codes."""
    if not len(first):
        return None
    x, y = (np.unique(codes, return_inverse=True)[1].reshape(-1) for codes in (first, second))
    rows, columns = np.bincount(x), np.bincount(y)
    smaller = min(len(rows), len(columns)) - 1
    if smaller == 0:
        return None
    cell, observed = np.unique(x * len(columns) + y, return_counts=True)
    terms = observed / rows[cell // len(columns)] * (observed / columns[cell % len(columns)])
    return math.sqrt(max(math.fsum(terms.tolist()) - 1, 0.0) / smaller)
