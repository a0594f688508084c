"""What is known of one column: its distinct values and how many rows hold each.

Knows vocabularies and counts; a very distinct column may bring a deterministic sample of its values.
Ignores engines and files: the caller counts. Source of the measures: ATENEA guide 4.2.3 (distinguishability),
MEL protocol III.2.b (rare values).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING, is_masked

JUDGED = 2_000  # values judged per column: enough for a rate to a percent, cheap for a hundred columns


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Distinct values of a column in code-point order and the rows behind each.

    `total_distinct` is the true number of distinct values when `values` is only a sample of them.
    """

    name: str
    values: Sequence[str]
    counts: NDArray[np.int64]
    rows: int
    total_distinct: int | None = None

    def __post_init__(self) -> None:
        unordered = any(a >= b for a, b in pairwise(self.values))  # looked up by bisection: order is a promise
        if unordered or len(self.values) != len(self.counts):
            raise AssertionError("values of a column out of order, or without counts")

    @property
    def distinct(self) -> int:
        """Number of distinct values in the column, missing and masked ones included."""
        return len(self.values) if self.total_distinct is None else self.total_distinct

    @property
    def is_sample(self) -> bool:
        """Whether `values` is only a part of the vocabulary."""
        return self.distinct > len(self.values)

    @classmethod
    def of(cls, name: str, cells: Iterable[str]) -> ColumnFacts:
        """Count the cells of a column held in memory."""
        tally = Counter(cells)
        values = sorted(tally)
        return cls(name, values, np.array([tally[v] for v in values], dtype=np.int64), sum(tally.values()))


def masked_positions(facts: ColumnFacts) -> list[int]:
    """Positions of the values made of asterisks only; they stand together in code-point order."""
    span = range(bisect_left(facts.values, "*"), bisect_left(facts.values, "+"))
    return [i for i in span if is_masked(facts.values[i])]


def plain_positions(facts: ColumnFacts) -> NDArray[np.int64]:
    """Positions of the values that are neither missing nor masked."""
    plain = np.ones(len(facts.values), dtype=bool)
    plain[masked_positions(facts)] = False
    if len(facts.values) and facts.values[0] == MISSING:
        plain[0] = False
    return np.flatnonzero(plain)


def row_count(facts: ColumnFacts, value: str) -> int:
    """Rows that hold a value; 0 when it is not among those known."""
    at = bisect_left(facts.values, value)
    return int(facts.counts[at]) if at < len(facts.values) and facts.values[at] == value else 0


def evenly_spaced(positions: Sequence[int] | NDArray[np.int64], limit: int = JUDGED) -> list[int]:
    """At most `limit` of the positions, evenly spread and always the same."""
    if len(positions) <= limit:
        return [int(i) for i in positions]
    return [int(positions[i]) for i in np.linspace(0, len(positions) - 1, limit).astype(int)]


def distinctness(facts: ColumnFacts) -> float:
    """Distinct values per row: 1.0 for a key, near 0 for sex."""
    return facts.distinct / facts.rows if facts.rows else 0.0


def separation(facts: ColumnFacts) -> float:
    """Probability that two different rows drawn at random hold different values."""
    if facts.rows < 2:
        return 0.0
    sizes, repeats = _sizes(facts)
    same = float((sizes * np.maximum(sizes - 1, 0) * repeats).sum())
    return 1.0 - same / (facts.rows * (facts.rows - 1))


def entropy(facts: ColumnFacts) -> float:
    """Shannon entropy of the column, in bits."""
    if not facts.rows:
        return 0.0
    sizes, repeats = _sizes(facts)
    shares = sizes[sizes > 0] / facts.rows
    # "+ 0.0" because a constant column would print as -0.0
    return float(-(shares * np.log2(shares) * repeats[sizes > 0]).sum()) + 0.0


def _sizes(facts: ColumnFacts) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rows per value and how many values have that size; values not sampled share what is left evenly."""
    sizes = np.asarray(facts.counts, dtype=np.float64)
    repeats = np.ones_like(sizes)
    if facts.is_sample:
        others = facts.distinct - len(facts.values)
        rest = max(facts.rows - float(sizes.sum()), 0.0)
        sizes, repeats = np.append(sizes, rest / others), np.append(repeats, float(others))
    return sizes, repeats


def rare_values(facts: ColumnFacts, threshold: int) -> int:
    """How many plain values appear in `threshold` rows or fewer; scaled up when only a sample is known."""
    plain = plain_positions(facts)
    rare = int((np.asarray(facts.counts)[plain] <= threshold).sum())
    return round(rare * facts.distinct / len(facts.values)) if facts.is_sample else rare
