"""(alpha, k)-anonymity: classes of at least k, and no sensitive value with a share above alpha.

The share is of rows and, where persons are known, of the persons who show a value too: one person with many rows
must not make a value that everybody holds look rare.
Source: Wong, Li, Fu and Wang 2006 (every value is sensitive).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._k import UNIT, KAnonymity
from celosia.risk.criteria._parameters import Name, Parameter, Ratio, Whole


class AlphaK(Criterion):
    """Size at least k and every share at most alpha."""

    name = "alpha_k"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": Name(),
        "alpha": Ratio(Fraction(0), Fraction(1), above_minimum=True),
        "k": Whole(1),
        "unit": UNIT,
    }
    need = Need.COUNTS
    __slots__ = ()

    @property
    def size_alone(self) -> Criterion:
        """Masking a value does not make a class larger."""
        return KAnonymity(k=self.k, unit=self.unit)

    @property
    def smallest_class(self) -> int:
        """A person has at least one row."""
        return int(self.k)

    def merging(self, domain: Domain | None) -> Merging:
        """An upper limit on shares is linear."""
        return Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Both conditions, in whole numbers."""
        held = classes.counts(self.variable)
        size = np.zeros(len(classes), np.int64)
        np.add.at(size, held.owner, held.rows)
        above = held.rows * self.alpha.denominator > size[held.owner] * self.alpha.numerator
        shares = np.bincount(held.owner[above], minlength=len(classes)) == 0
        return shares & self._of_persons(classes) & (classes.sizes(self.unit) >= self.k)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled; a class below k is lost whole."""
        from celosia.kernels.judge import judge_shares

        held = classes.counts(self.variable)
        allowed = np.full(len(classes.domains[self.variable].vocabulary), self.alpha.numerator, np.int64)
        large = classes.sizes(self.unit) >= self.k
        entries = (held.offsets, held.values, held.rows, alive & large)
        passes, lost = judge_shares(*entries, allowed, self.alpha.denominator)
        return passes & self._of_persons(classes) & large, np.where(large, lost, classes.rows)

    def _of_persons(self, classes: Classes) -> Mask:
        countable = classes.domains[self.variable].countable(missing_counts=True)
        found = classes.commonest(self.variable, countable) if self.by_person else None
        if found is None:
            return np.ones(len(classes), bool)
        most, holders = found
        return most * self.alpha.denominator <= holders * self.alpha.numerator
