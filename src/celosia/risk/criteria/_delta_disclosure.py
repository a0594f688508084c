"""Delta-disclosure privacy: no value present in a class is much more or less frequent than in the reference.

|log2(share in the class ÷ share in the reference)| < delta, for every value that occurs in the class (binary
logarithm and values present, as in ARX). A value may appear when classes merge, so nothing is inherited; the
upper side alone still bounds what finer nodes can keep.
Source: Brickell and Shmatikov 2008.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._parameters import Name, Parameter, Ratio
from celosia.risk.criteria._t_closeness import REFERENCE

_STRICT = 2e-12  # equality must fail although comparisons allow 1e-12


class DeltaDisclosure(Criterion):
    """Shares within a factor 2**delta of the reference."""

    name = "delta"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": Name(),
        "delta": Ratio(Fraction(0), Fraction(64), above_minimum=True),
        "reference": REFERENCE,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """A rare value may join."""
        return Merging.FREE

    def judge(self, classes: Classes) -> Mask:
        """Logarithm of the ratio of shares, entry by entry."""
        held, domain = classes.counts(self.variable), classes.domains[self.variable]
        size = np.bincount(held.owner, held.rows, minlength=len(classes))
        share = held.rows / size[held.owner]
        with np.errstate(divide="ignore"):
            ratio = np.abs(np.log2(share / (domain.reference[held.values] / max(domain.total, 1))))
        broken = held.owner[ratio >= float(self.delta) * (1 - 1e-12)]
        return np.bincount(broken, minlength=len(classes)) == 0

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows above the highest share allowed."""
        from celosia.kernels.judge import judge_share_range

        held, domain = classes.counts(self.variable), classes.domains[self.variable]
        limits = domain.once(f"delta {self.delta}", lambda: self._limits(domain))
        passes, lost = judge_share_range(held.offsets, held.values, held.rows, alive, *limits)
        return passes, np.zeros_like(lost) if self.on_release else lost

    def _limits(self, domain: Domain) -> tuple[Any, Any]:
        share = domain.reference / max(domain.total, 1)
        factor = 2.0 ** (float(self.delta) * (1 - 1e-12))
        return share / factor * (1 + _STRICT), share * factor * (1 - _STRICT)
