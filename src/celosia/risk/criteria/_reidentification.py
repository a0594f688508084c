"""Re-identification risk 1/f: the highest of any class, or the average over records.

The average is classes ÷ size of what is kept; when it is too high, the smallest classes go first, all of one
size together, until it holds.
Source: prosecutor risk in El Emam 2013; ATENEA guide G3_DE, section 4.2.3 (RI = 1/f).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._k import UNIT
from celosia.risk.criteria._parameters import Parameter, Ratio

_RISK = Ratio(Fraction(0), Fraction(1), above_minimum=True)


class HighestRisk(Criterion):
    """1/f at most the threshold in every class."""

    name = "max_risk"
    parameters: ClassVar[Mapping[str, Parameter]] = {"threshold": _RISK, "unit": UNIT}
    __slots__ = ()

    @property
    def smallest_class(self) -> int:
        """1/f ≤ threshold, turned around."""
        return -(-self.threshold.denominator // self.threshold.numerator)

    def merging(self, domain: Domain | None) -> Merging:
        """Classes only grow."""
        return Merging.ABSORBING

    def judge(self, classes: Classes) -> Mask:
        """In whole numbers."""
        return classes.sizes(self.unit) * self.threshold.numerator >= self.threshold.denominator


class AverageRisk(Criterion):
    """Mean of 1/f over the kept records at most the threshold."""

    name = "average_risk"
    parameters: ClassVar[Mapping[str, Parameter]] = {"threshold": _RISK, "unit": UNIT}
    need = Need.ALL_CLASSES
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Fewer classes of the same rows; a person in two classes counts in both, so persons may become fewer."""
        return Merging.CLOSED if self.unit == "rows" else Merging.FREE

    def judge(self, classes: Classes) -> Mask:
        """The classes that stay, all given ones being kept so far."""
        sizes = classes.sizes(self.unit)
        size, many = np.unique(sizes, return_counts=True)
        left_classes = np.cumsum(many[::-1])[::-1]
        left_size = np.cumsum((size * many)[::-1])[::-1]
        holds = left_classes * self.threshold.denominator <= left_size * self.threshold.numerator
        cut = size[holds].min() if holds.any() else np.iinfo(np.int64).max
        return sizes >= cut

    def unavoidable(self, classes: Classes) -> int:
        """Rows that no finer node can keep: finer classes are more, and the largest are kept first."""
        if self.unit == "persons" and classes.persons is not None:
            return 0
        rows = np.cumsum(np.sort(classes.rows)[::-1])
        holds = np.arange(1, len(rows) + 1) * self.threshold.denominator <= rows * self.threshold.numerator
        return int(classes.rows.sum() - rows[holds].max(initial=0))
