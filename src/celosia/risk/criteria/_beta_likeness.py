"""Beta-likeness: no value of a class is more frequent than in the reference by more than a relative gain beta.

Basic: (p - q)/q ≤ beta. Enhanced: ≤ min(beta, -ln q), stricter for frequent values. Upper limits on shares are
linear, so classes that pass, pass together.
Source: Cao and Karras 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._parameters import Choice, Name, Parameter, Ratio
from celosia.risk.criteria._t_closeness import REFERENCE


class BetaLikeness(Criterion):
    """A bounded relative gain in confidence."""

    name = "beta"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": Name(),
        "beta": Ratio(Fraction(0), Fraction(1000), above_minimum=True),
        "variant": Choice(("basic", "enhanced"), default="basic"),
        "reference": REFERENCE,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Linear where the reference stands still."""
        return Merging.FREE if self.on_release else Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Relative gain, entry by entry."""
        held, domain = classes.counts(self.variable), classes.domains[self.variable]
        size = np.zeros(len(classes), np.int64)
        np.add.at(size, held.owner, held.rows)
        here = held.rows * domain.total
        there = domain.reference[held.values] * size[held.owner]
        if self.variant == "basic":
            gain, scale = self.beta.numerator, self.beta.denominator
            good = np.array([int(a - b) * scale <= gain * int(b) for a, b in zip(here, there, strict=True)], bool)
        else:
            good = here <= there * (1 + self._gains(domain)[held.values]) * (1 + 1e-12)
        return np.bincount(held.owner[~good], minlength=len(classes)) == 0

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows above the highest share allowed."""
        from celosia.kernels.judge import judge_share_range, judge_shares

        held, domain = classes.counts(self.variable), classes.domains[self.variable]
        entries = (held.offsets, held.values, held.rows, alive)
        limits = domain.once(f"beta {self.variant} {self.beta}", lambda: self._limits(domain))
        kernel = judge_shares if self.variant == "basic" else judge_share_range
        passes, lost = kernel(*entries, *limits)
        return passes, np.zeros_like(lost) if self.on_release else lost

    def _gains(self, domain: Domain) -> Any:
        share = domain.reference / max(domain.total, 1)
        with np.errstate(divide="ignore"):
            return np.minimum(float(self.beta), -np.log(share))

    def _limits(self, domain: Domain) -> tuple[Any, Any]:
        if self.variant == "basic":
            gain, scale = self.beta.numerator, self.beta.denominator
            return domain.reference * (gain + scale), max(domain.total, 1) * scale
        share = domain.reference / max(domain.total, 1)
        return np.zeros(len(share)), share * (1 + self._gains(domain))
