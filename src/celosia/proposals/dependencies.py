"""Which column determines which: exact and near functional dependencies.

Knows numbers of distinct values and of distinct pairs, which any engine counts; a determines b when the pairs (a, b)
are as many as the values of a. Ignores cells. Masking b is vain while a is published (X7: region and comuna, age and
year of birth).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PairCounter = Callable[[int, int], int]
PairTest = Callable[[int, int], bool]
_KEY = 0.95  # a column with so many distinct values per row determines everything, trivially
_ALIKE = 0.95  # a column that repeats another has at least this share of its values
_CONVINCING = math.log(1e6)  # a coincidence of one in a million or less
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


def repeated_columns(
    names: Sequence[str],
    distinct: Sequence[int],
    rows: int,
    pairs: PairCounter,
    *,
    separations: Sequence[float],
    hopeless: PairTest | None = None,
) -> dict[str, str]:
    """The columns that only repeat an earlier one in other words, each with the one it repeats.

    b repeats a where a gives b always and has hardly more values: a code and its name, which may call two unknown
    codes alike. A column that groups another, as a region groups comunas, says less and repeats nothing.
    """
    repeated: dict[str, str] = {}
    for a, b in alike_pairs(distinct, rows):
        if names[b] in repeated or names[a] in repeated or (hopeless and hopeless(a, b)):
            continue
        # Each row beyond the first of a value of a would have shared its value of b by chance.
        surprise = -(rows - distinct[a]) * math.log1p(-min(separations[b], 1 - 1e-9))
        if surprise >= _CONVINCING and pairs(min(a, b), max(a, b)) == distinct[a]:
            repeated[names[b]] = names[a]
    return repeated


def alike_pairs(distinct: Sequence[int], rows: int) -> list[tuple[int, int]]:
    """Pairs (a, b) of columns with hardly fewer values in b; of equal ones, the earlier is a."""
    return [
        (a, b)
        for a, many in enumerate(distinct)
        for b, few in enumerate(distinct)
        if 1 < few <= many < _KEY * rows and few >= _ALIKE * many and (few < many or a < b)
    ]


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
