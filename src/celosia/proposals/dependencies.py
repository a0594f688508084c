"""Which column determines which: exact and near functional dependencies.

Knows numbers of distinct values and of distinct pairs, which any engine counts; a determines b when the pairs (a, b)
are as many as the values of a. Ignores cells. Masking b is vain while a is published (X7: region and comuna, age and
year of birth).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PairCounter = Callable[[int, int], int]
PairTest = Callable[[int, int], bool]
_KEY = 0.95  # a column with so many distinct values per row determines everything, trivially
_BY_CHANCE = 0.1  # a near dependency leaves at most this share of the pairs that independence would bring


class Dependency(NamedTuple):
    """`determinant` gives `dependent`; share 1.0 when it always does."""

    determinant: str
    dependent: str
    share: float


def dependencies(
    names: Sequence[str],
    distinct: Sequence[int],
    rows: int,
    pairs: PairCounter,
    *,
    separations: Sequence[float] | None = None,
    least: float = 0.95,
    hopeless: PairTest | None = None,
) -> list[Dependency]:
    """Dependencies whose share (values of a / pairs a, b) is at least `least`; keys and constants left out.

    `pairs(i, j)` is asked once for each unordered pair of columns that can depend on one another; `hopeless(a, b)`
    may say beforehand, and cheaply, that b does not follow from a.
    """
    counted: dict[tuple[int, int], int] = {}
    dependent_pairs = []
    for a, b in _candidates(distinct, rows, least):
        if hopeless and hopeless(a, b):
            continue
        pair = (min(a, b), max(a, b))
        if pair not in counted:
            counted[pair] = pairs(*pair)
        share = distinct[a] / counted[pair]
        expected = _pairs_by_chance(distinct[a], rows, separations[b] if separations else 0.5)
        if share >= least and expected >= 1 and counted[pair] - distinct[a] <= _BY_CHANCE * expected:
            dependent_pairs.append(Dependency(names[a], names[b], share))
    return dependent_pairs


def contradiction_test(codes: NDArray[np.integer]) -> PairTest:
    """A test on some rows of a table: whether they already hold a value of a with two values of b."""
    values = [np.unique(column).size for column in codes.T]
    wide = codes.astype(np.int64)
    seen: dict[tuple[int, int], int] = {}

    def hopeless(a: int, b: int) -> bool:
        pair = (min(a, b), max(a, b))
        if pair not in seen:
            first, second = wide[:, pair[0]], wide[:, pair[1]]
            seen[pair] = int(np.unique(first * (int(second.max(initial=0)) + 1) + second).size)
        return seen[pair] > values[a]

    return hopeless


def _candidates(distinct: Sequence[int], rows: int, least: float) -> list[tuple[int, int]]:
    """Ordered pairs worth counting: a is no key, b no constant, and b has few enough values to follow from a."""
    usable = [i for i, n in enumerate(distinct) if n > 1]
    return [
        (a, b)
        for a in usable
        for b in usable
        if a != b and distinct[a] < _KEY * rows and distinct[b] * least <= distinct[a]
    ]


def _pairs_by_chance(values: int, rows: int, separation: float) -> float:
    """Pairs beyond one per value that independent columns would show, at the least."""
    repeats = rows / values - 1
    return float(values * (1 - (1 - separation) ** repeats))
