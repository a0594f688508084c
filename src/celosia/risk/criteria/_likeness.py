"""Criteria on the distribution of a sensitive variable: t-closeness, delta-disclosure, beta-likeness, (alpha, k).

Knows the counts of the sensitive values of each class and the reference distribution, that of all records or of the
kept ones. Ignores the other variables. Sources stand with each class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import WrongUse
from celosia.hierarchy.value_order import ordered_positions
from celosia.model.parameters import Name, Parameter, Ratio, Text
from celosia.risk.criteria._class_size import SIZE, UNIT, KAnonymity
from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need

_VARIABLE = Name(required=True)
_REFERENCE = Text(choices=("source", "release"), default="source")
_STRICT = 2e-12  # equality must fail although comparisons allow 1e-12


class TCloseness(Criterion):
    """t-closeness: the distance of a class to the reference distribution is at most t.

    Distance: equal (half the L1 distance), ordered (earth mover over the sorted values; numbers by size, other texts
    by code point, missing first) or hierarchical (earth mover where moving between two values costs the level at
    which they meet, divided by the height). All are convex, so classes that pass, pass together.
    Source: Li, Li and Venkatasubramanian 2007.
    """

    name = "t"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": _VARIABLE,
        "t": Ratio(required=True),
        "distance": Text(choices=("equal", "ordered", "hierarchical"), default="equal"),
        "reference": _REFERENCE,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Convex where the reference does not move."""
        return Merging.FREE if self.on_release else Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Distances by dense counts, in whole numbers."""
        counts, domain = classes.counts(self.variable), classes.domains[self.variable]
        dense = np.zeros((len(classes), len(domain.vocabulary)), np.int64)
        dense[counts.owner, counts.values] = counts.rows
        size = dense.sum(axis=1)
        distance, steps = self._distance(dense, size, domain)
        allowed = [steps * self.t.numerator * int(n) * domain.total for n in size]
        return np.array([int(d) * self.t.denominator <= a for d, a in zip(distance, allowed, strict=True)], bool)

    def _distance(self, dense: Counts, size: Counts, domain: Domain) -> tuple[Counts, int]:
        if self.distance == "ordered":
            order = ordered_codes(domain)
            gap = dense[:, order] * domain.total - size[:, None] * domain.reference[order]
            return np.abs(np.cumsum(gap, axis=1)).sum(axis=1), max(len(order) - 1, 1)
        total = np.zeros(len(dense), np.int64)
        levels = partitions(domain, self.distance)
        for level in levels:
            merged = np.zeros((len(dense), len(domain.vocabulary)), np.int64)
            for code, label in enumerate(level):
                merged[:, label] += dense[:, code]
            reference = np.bincount(level, domain.reference, len(domain.vocabulary)).astype(np.int64)
            total += np.abs(merged * domain.total - size[:, None] * reference).sum(axis=1)
        return total, 2 * len(levels)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows beyond the largest part that can still be close enough."""
        from celosia.kernels.judge import judge_equal, judge_ordered, judge_partitions

        counts, domain = classes.counts(self.variable), classes.domains[self.variable]
        entries = (counts.offsets, counts.values, counts.rows, alive)
        bounds = (max(domain.total, 1), self.t.numerator, self.t.denominator)
        if self.distance == "ordered":
            passes, lost = judge_ordered(*entries, *domain.once("ranks", lambda: _value_ranks(domain)), *bounds)
        elif self.distance == "equal":
            passes, lost = judge_equal(*entries, domain.reference, *bounds)
        else:
            levels = domain.once(self.distance, lambda: _level_references(domain, self.distance))
            passes, lost = judge_partitions(*entries, *levels, *bounds)
        return passes, np.zeros_like(lost) if self.on_release else lost


def ordered_codes(domain: Domain) -> NDArray[np.int64]:
    """Codes of the visible values in their natural order, the same that `measure` reports."""
    codes = np.flatnonzero(~domain.masked & domain.present)
    _, order = ordered_positions([domain.vocabulary[code] for code in codes])
    return codes[order].astype(np.int64)


def partitions(domain: Domain, distance: str) -> NDArray[np.int64]:
    """The partitions of the values whose mean L1 distance is the earth mover's distance on the tree."""
    if distance == "equal":
        return np.arange(len(domain.vocabulary), dtype=np.int64)[None, :]
    if domain.hierarchy is None:
        raise WrongUse(detail=f"t: hierarchical, {domain.variable}")
    maps = list(domain.hierarchy.maps)
    if len(domain.hierarchy.labels[-1]) == 1 and len(maps) > 1:
        maps.pop()  # all values meet at the top: nothing is left to move
    return np.stack([np.unique(level, return_inverse=True)[1].reshape(-1).astype(np.int64) for level in maps])


def _value_ranks(domain: Domain) -> tuple[Any, Any]:
    """The rank of each value in its order, and the reference in that order."""
    order = ordered_codes(domain)
    rank = np.zeros(len(domain.vocabulary), np.int64)
    rank[order] = np.arange(len(order))
    return rank, domain.reference[order]


def _level_references(domain: Domain, distance: str) -> tuple[Any, Any]:
    """The partitions, and the reference of each of their parts."""
    levels = partitions(domain, distance)
    width = int(levels.max(initial=0)) + 1
    reference = np.stack([np.bincount(level, domain.reference, width) for level in levels])
    return levels, reference.astype(np.int64)


class DeltaDisclosure(Criterion):
    """Delta-disclosure privacy: shares within a factor 2**delta of the reference.

    |log2(share in the class ÷ share in the reference)| < delta, for every value that occurs in the class (binary
    logarithm and values present, as in ARX). The upper side alone still bounds what finer nodes can keep.
    Source: Brickell and Shmatikov 2008.
    """

    name = "delta"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": _VARIABLE,
        "delta": Ratio(maximum=64, above_minimum=True, required=True),
        "reference": _REFERENCE,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """A rare value may join, so nothing is inherited."""
        return Merging.FREE

    def judge(self, classes: Classes) -> Mask:
        """Logarithm of the ratio of shares, entry by entry."""
        counts, domain = classes.counts(self.variable), classes.domains[self.variable]
        size = np.bincount(counts.owner, counts.rows, minlength=len(classes))
        share = counts.rows / size[counts.owner]
        with np.errstate(divide="ignore"):
            ratio = np.abs(np.log2(share / (domain.reference[counts.values] / max(domain.total, 1))))
        broken = counts.owner[ratio >= float(self.delta) * (1 - 1e-12)]
        return np.bincount(broken, minlength=len(classes)) == 0

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows above the highest share allowed."""
        from celosia.kernels.judge import judge_share_range

        counts, domain = classes.counts(self.variable), classes.domains[self.variable]
        limits = domain.once(f"delta {self.delta}", lambda: self._limits(domain))
        passes, lost = judge_share_range(counts.offsets, counts.values, counts.rows, alive, *limits)
        return passes, np.zeros_like(lost) if self.on_release else lost

    def _limits(self, domain: Domain) -> tuple[Any, Any]:
        share = domain.reference / max(domain.total, 1)
        factor = 2.0 ** (float(self.delta) * (1 - 1e-12))
        return share / factor * (1 + _STRICT), share * factor * (1 - _STRICT)


class BetaLikeness(Criterion):
    """Beta-likeness: no value of a class is more frequent than in the reference by more than a relative gain beta.

    Basic: (p - q)/q ≤ beta. Enhanced: ≤ min(beta, -ln q), stricter for frequent values. Upper limits on shares are
    linear, so classes that pass, pass together.
    Source: Cao and Karras 2012.
    """

    name = "beta"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": _VARIABLE,
        "beta": Ratio(maximum=1000, above_minimum=True, required=True),
        "variant": Text(choices=("basic", "enhanced"), default="basic"),
        "reference": _REFERENCE,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Linear where the reference does not move."""
        return Merging.FREE if self.on_release else Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Relative gain, entry by entry."""
        counts, domain = classes.counts(self.variable), classes.domains[self.variable]
        size = np.zeros(len(classes), np.int64)
        np.add.at(size, counts.owner, counts.rows)
        here = counts.rows * domain.total
        there = domain.reference[counts.values] * size[counts.owner]
        if self.variant == "basic":
            gain, scale = self.beta.numerator, self.beta.denominator
            good = np.array([int(a - b) * scale <= gain * int(b) for a, b in zip(here, there, strict=True)], bool)
        else:
            good = here <= there * (1 + self._gains(domain)[counts.values]) * (1 + 1e-12)
        return np.bincount(counts.owner[~good], minlength=len(classes)) == 0

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows above the highest share allowed."""
        from celosia.kernels.judge import judge_share_range, judge_shares

        counts, domain = classes.counts(self.variable), classes.domains[self.variable]
        limits = domain.once(f"beta {self.variant} {self.beta}", lambda: self._limits(domain))
        kernel = judge_shares if self.variant == "basic" else judge_share_range
        passes, lost = kernel(counts.offsets, counts.values, counts.rows, alive, *limits)
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


class AlphaK(Criterion):
    """(alpha, k)-anonymity: classes of at least k, and no sensitive value with a share above alpha.

    The share is of rows and, where persons are known, of the persons who show a value too: one person with many rows
    must not make a value that everybody holds look rare.
    Source: Wong, Li, Fu and Wang 2006 (every value is sensitive).
    """

    name = "alpha_k"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": _VARIABLE,
        "alpha": Ratio(above_minimum=True, required=True),
        "k": SIZE,
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
        counts = classes.counts(self.variable)
        size = np.zeros(len(classes), np.int64)
        np.add.at(size, counts.owner, counts.rows)
        above = counts.rows * self.alpha.denominator > size[counts.owner] * self.alpha.numerator
        shares = np.bincount(counts.owner[above], minlength=len(classes)) == 0
        return shares & self._person_shares(classes) & (classes.sizes(self.unit) >= self.k)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled; a class below k is lost whole."""
        from celosia.kernels.judge import judge_shares

        counts = classes.counts(self.variable)
        allowed = np.full(len(classes.domains[self.variable].vocabulary), self.alpha.numerator, np.int64)
        large = classes.sizes(self.unit) >= self.k
        entries = (counts.offsets, counts.values, counts.rows, alive & large)
        passes, lost = judge_shares(*entries, allowed, self.alpha.denominator)
        return passes & self._person_shares(classes) & large, np.where(large, lost, classes.rows)

    def _person_shares(self, classes: Classes) -> Mask:
        """Classes in which no value belongs to more than a share alpha of the persons who show one."""
        countable = classes.domains[self.variable].countable(missing_counts=True)
        persons = classes.commonest(self.variable, countable) if self.by_person else None
        if persons is None:
            return np.ones(len(classes), bool)
        most, holders = persons
        return most * self.alpha.denominator <= holders * self.alpha.numerator
