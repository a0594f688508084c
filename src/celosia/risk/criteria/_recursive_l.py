"""Recursive (c, l)-diversity: r1 < c·(r_l + r_{l+1} + …), the counts in a class from largest to smallest.

Where persons are known, at least l - 1 of them must lack each value, as in distinct l.
Source: Machanavajjhala et al. 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._k import UNIT
from celosia.risk.criteria._parameters import Flag, Name, Parameter, Ratio, Whole


class RecursiveL(Criterion):
    """The most frequent value is not too frequent beside the rarer ones."""

    name = "recursive_l"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": Name(),
        "l": Whole(1, 10**6),
        "c": Ratio(Fraction(0), Fraction(10**6), above_minimum=True),
        "missing_counts": Flag(default=True),
        "unit": UNIT,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Largest counts add up at most, tails at least."""
        return Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Largest count against the tail, in whole numbers."""
        held = classes.counts(self.variable)
        countable = classes.domains[self.variable].countable(self.missing_counts)
        counted = countable[held.values]
        owner, rows = held.owner[counted], held.rows[counted]
        order = np.lexsort((-rows, owner))
        owner, rows = owner[order], rows[order]
        entries = np.bincount(owner, minlength=len(classes))
        place = np.arange(len(rows)) - np.repeat(np.cumsum(entries) - entries, entries)
        largest = np.zeros(len(classes), np.int64)
        largest[owner[place == 0]] = rows[place == 0]
        tail = np.zeros(len(classes), np.int64)
        np.add.at(tail, owner[place >= self.l - 1], rows[place >= self.l - 1])
        visible = np.diff(held.offsets) > 0
        diverse = ~visible | (largest * self.c.denominator < tail * self.c.numerator)
        return diverse & self.persons_lack(classes, countable, self.l - 1)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows beyond the largest part that passes."""
        from celosia.kernels.judge import judge_recursive

        held = classes.counts(self.variable)
        countable = classes.domains[self.variable].countable(self.missing_counts)
        bounds = (self.l, self.c.numerator, self.c.denominator)
        passes, lost = judge_recursive(held.offsets, held.values, held.rows, alive, countable, *bounds)
        return passes & self.persons_lack(classes, countable, self.l - 1), lost
