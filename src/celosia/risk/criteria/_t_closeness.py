"""t-closeness: the sensitive values of a class are distributed nearly as in the reference.

Distance: equal (half the L1 distance), ordered (earth mover over the sorted values; numbers by size, other
texts by code point, missing first) or hierarchical (earth mover where moving between two values costs the level at
which they meet, divided by the height). All are convex, so classes that pass, pass together.
Source: Li, Li and Venkatasubramanian 2007.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import WrongUse
from celosia.model.value_order import ordered_positions
from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._parameters import Choice, Name, Parameter, Ratio

REFERENCE = Choice(("source", "release"), default="source")


class TCloseness(Criterion):
    """Distance to the reference distribution at most t."""

    name = "t"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": Name(),
        "t": Ratio(Fraction(0), Fraction(1)),
        "distance": Choice(("equal", "ordered", "hierarchical"), default="equal"),
        "reference": REFERENCE,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Convex where the reference stands still."""
        return Merging.FREE if self.on_release else Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Distances by dense counts, in whole numbers."""
        held, domain = classes.counts(self.variable), classes.domains[self.variable]
        dense = np.zeros((len(classes), len(domain.vocabulary)), np.int64)
        dense[held.owner, held.values] = held.rows
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
        group = partitions(domain, self.distance)
        for level in group:
            merged = np.zeros((len(dense), len(domain.vocabulary)), np.int64)
            for code, label in enumerate(level):
                merged[:, label] += dense[:, code]
            reference = np.bincount(level, domain.reference, len(domain.vocabulary)).astype(np.int64)
            total += np.abs(merged * domain.total - size[:, None] * reference).sum(axis=1)
        return total, 2 * len(group)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows beyond the largest part that can still be close enough."""
        from celosia.kernels.judge import judge_equal, judge_ordered, judge_partitions

        held, domain = classes.counts(self.variable), classes.domains[self.variable]
        entries = (held.offsets, held.values, held.rows, alive)
        bounds = (max(domain.total, 1), self.t.numerator, self.t.denominator)
        if self.distance == "ordered":
            passes, lost = judge_ordered(*entries, *domain.once("ranked", lambda: _ranked(domain)), *bounds)
        elif self.distance == "equal":
            passes, lost = judge_equal(*entries, domain.reference, *bounds)
        else:
            grouped = domain.once(self.distance, lambda: _grouped(domain, self.distance))
            passes, lost = judge_partitions(*entries, *grouped, *bounds)
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
    return np.stack([_dense(level) for level in maps])


def _dense(labels: NDArray[np.int32]) -> NDArray[np.int64]:
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _ranked(domain: Domain) -> tuple[Any, Any]:
    order = ordered_codes(domain)
    rank = np.zeros(len(domain.vocabulary), np.int64)
    rank[order] = np.arange(len(order))
    return rank, domain.reference[order]


def _grouped(domain: Domain, distance: str) -> tuple[Any, Any]:
    group = partitions(domain, distance)
    width = int(group.max(initial=0)) + 1
    reference = np.stack([np.bincount(level, domain.reference, width) for level in group])
    return group, reference.astype(np.int64)
