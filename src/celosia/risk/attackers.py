"""Three attackers: prosecutor, journalist, marketer.

Knows how many units of the file, and of the population, share each class. Ignores files and sensitive values.
- The prosecutor knows that his target took part: 1/f in a class of f.
- The journalist looks for anybody, in a population of which the file is part: 1/F. A class that the population
  table holds fewer times than the file does counts as often as in the file.
- The marketer links everybody he can: the share of records he expects to get right.
"Above" a threshold is exact: one in three is above 0.33, one in eleven above 0.09.
Source: El Emam, Dankar 2008; El Emam 2013 (thresholds 0.05, 0.09, 0.2, 0.33).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Sizes = NDArray[np.int64] | NDArray[np.float64]
THRESHOLDS = (Fraction(1, 20), Fraction(9, 100), Fraction(1, 5), Fraction(33, 100))


@dataclass(frozen=True, slots=True)
class Attack:
    """What an attacker who picks one record may expect."""

    highest: float | None
    mean: float | None  # over records: also the share that the marketer gets right
    above: dict[Fraction, float]  # share of records at a risk above each threshold
    short: int = 0  # classes with fewer units in the population than in the file


def prosecutor(sizes: Counts, thresholds: Sequence[Fraction] = THRESHOLDS) -> Attack:
    """1/f of every record, from the sizes of the classes."""
    return _attack(sizes, sizes, thresholds)


def journalist(sizes: Counts, population: Sizes, thresholds: Sequence[Fraction] = THRESHOLDS) -> Attack:
    """1/F of every record, from the sizes of the classes in the file and in the population."""
    return _attack(sizes, np.maximum(population, sizes), thresholds, int((population < sizes).sum()))


def marketer(sizes: Counts, population: Sizes | None = None) -> float | None:
    """Expected share of records linked right: classes ÷ records, or the mean of 1/F where the population is known."""
    return (prosecutor(sizes) if population is None else journalist(sizes, population)).mean


def _attack(sizes: Counts, among: Sizes, thresholds: Sequence[Fraction], short: int = 0) -> Attack:
    total = int(sizes.sum())
    if not total:
        return Attack(None, None, dict.fromkeys(thresholds, 0.0), short)
    above = {limit: int(sizes[among * limit.numerator < limit.denominator].sum()) / total for limit in thresholds}
    return Attack(float(1 / among.min()), float((sizes / among).sum()) / total, above, short)
