"""Entropy l-diversity: exp(entropy of the sensitive value) at least l in every class.

Compared with a relative tolerance of 1e-12: a class 2-2-2 has entropy exactly ln 3 and passes l = 3. Where persons
are known, at least l - 1 of them must lack each value, as in distinct l: entropy over rows may look high while one
person brings all the variety and everybody holds the same value. When each has one row this follows from entropy.
Source: Machanavajjhala et al. 2007.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._k import UNIT
from celosia.risk.criteria._parameters import Flag, Name, Parameter, Ratio

TOLERANCE = 1e-12


class EntropyL(Criterion):
    """exp(entropy) at least l; entropy is concave, so classes that pass, pass together."""

    name = "entropy_l"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": Name(),
        "l": Ratio(Fraction(1), Fraction(10**6)),
        "missing_counts": Flag(default=True),
        "unit": UNIT,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Concave."""
        return Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Entropy from the counts of countable values."""
        held = classes.counts(self.variable)
        countable = classes.domains[self.variable].countable(self.missing_counts)
        counted = countable[held.values]
        owner, rows = held.owner[counted], held.rows[counted].astype(float)
        total = np.bincount(owner, rows, minlength=len(classes))
        weighted = np.bincount(owner, rows * np.log(rows), minlength=len(classes))
        safe = np.maximum(total, 1)
        diversity = np.exp(np.log(safe) - weighted / safe)
        visible = np.diff(held.offsets) > 0
        diverse = ~visible | ((total > 0) & (diversity >= float(self.l) * (1 - TOLERANCE)))
        return diverse & self.persons_lack(classes, countable, math.ceil(self.l) - 1)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows beyond the largest part of enough entropy."""
        from celosia.kernels.judge import judge_entropy

        held = classes.counts(self.variable)
        countable = classes.domains[self.variable].countable(self.missing_counts)
        passes, lost = judge_entropy(held.offsets, held.values, held.rows, alive, countable, float(self.l))
        return passes & self.persons_lack(classes, countable, math.ceil(self.l) - 1), lost
