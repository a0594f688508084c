"""l-diversity of a sensitive variable in every equivalence class: distinct, entropy and recursive.

Knows the counts of the sensitive values of each class, and of the persons behind them. Ignores everything else.
Empty cells count as a value unless `missing_counts` is off (the norm's Table 1, REQUIREMENTS X3); masked ones never
do, and a class with nothing visible is safe (X4). Where persons are known, of those of a class who show a value at
least l - 1 must lack each one: with l = 2 no value is held by everybody, though a person may hold several. When each
person has one row, distinct l and entropy l say no less by themselves.
Source: Machanavajjhala et al. 2007; MINSAL norm, definitions (distinct l).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from celosia.model.parameters import Flag, Name, Parameter, Ratio, Whole
from celosia.risk.criteria._class_size import SIZE, UNIT
from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask, ValueCounts, ValueExtremes, ValueSets
from celosia.risk.criteria._criterion import Criterion, Merging, Need

TOLERANCE = 1e-12
_VARIABLE = Name(required=True)
_MISSING_COUNTS = Flag(default=True)


class _Diversity(Criterion):
    """What the three kinds share: the countable values and the persons who lack each of them."""

    __slots__ = ()

    def _countable(self, classes: Classes) -> Mask:
        return classes.domains[self.variable].countable(self.missing_counts)

    def _persons_lack(self, classes: Classes) -> Mask:
        return self.persons_lack(classes, self._countable(classes), math.ceil(self.l) - 1)


class DistinctL(_Diversity):
    """Distinct l-diversity: at least l different values in every class."""

    name = "distinct_l"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": _VARIABLE,
        "l": SIZE,
        "missing_counts": _MISSING_COUNTS,
        "unit": UNIT,
    }
    need = Need.DISTINCT
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Values only join; but a class with everything masked passes and one visible value undoes that."""
        return Merging.CLOSED if domain is not None and domain.has_masked else Merging.ABSORBING

    def judge(self, classes: Classes) -> Mask:
        """l countable values, or nothing visible; and l - 1 persons lacking each value."""
        counts = classes.counts(self.variable)
        distinct = np.bincount(counts.owner[self._countable(classes)[counts.values]], minlength=len(classes))
        return (~counts.visible | (distinct >= self.l)) & self._persons_lack(classes)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """From sets or extremes where they suffice; no finer node keeps the visible rows of a failing class."""
        values = classes.values[self.variable]
        if isinstance(values, ValueCounts):
            return self._measure_counts(classes, values, alive)
        passes = self._judge_light(values, classes)
        return passes, np.where(passes, 0, classes.rows)

    def _judge_light(self, values: ValueSets | ValueExtremes, classes: Classes) -> Mask:
        if isinstance(values, ValueExtremes):
            return (values.low < values.high) if self.l >= 2 else (values.low <= values.high)
        bits = sum(1 << int(code) for code in np.flatnonzero(self._countable(classes)))
        return np.bitwise_count(values.bits & np.uint64(bits)) >= self.l

    def _measure_counts(self, classes: Classes, counts: ValueCounts, alive: Mask) -> tuple[Mask, Counts]:
        from celosia.kernels.judge import judge_distinct

        entries = (counts.offsets, counts.values, counts.rows, alive)
        passes, lost = judge_distinct(*entries, self._countable(classes), self.l)
        return passes & self._persons_lack(classes), lost


class EntropyL(_Diversity):
    """Entropy l-diversity: exp(entropy) at least l; entropy is concave, so classes that pass, pass together.

    Compared with a relative tolerance of 1e-12: a class 2-2-2 has entropy exactly ln 3 and passes l = 3. Entropy over
    rows may look high while one person brings all the variety: hence the persons who lack each value.
    """

    name = "entropy_l"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": _VARIABLE,
        "l": Ratio(minimum=1, maximum=10**6, required=True),
        "missing_counts": _MISSING_COUNTS,
        "unit": UNIT,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Concave."""
        return Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Entropy from the counts of countable values."""
        counts = classes.counts(self.variable)
        counted = self._countable(classes)[counts.values]
        owner, rows = counts.owner[counted], counts.rows[counted].astype(float)
        total = np.bincount(owner, rows, minlength=len(classes))
        weighted = np.bincount(owner, rows * np.log(rows), minlength=len(classes))
        safe = np.maximum(total, 1)
        diversity = np.exp(np.log(safe) - weighted / safe)
        diverse = ~counts.visible | ((total > 0) & (diversity >= float(self.l) * (1 - TOLERANCE)))
        return diverse & self._persons_lack(classes)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows beyond the largest part of enough entropy."""
        from celosia.kernels.judge import judge_entropy

        counts = classes.counts(self.variable)
        entries = (counts.offsets, counts.values, counts.rows, alive)
        passes, lost = judge_entropy(*entries, self._countable(classes), float(self.l))
        return passes & self._persons_lack(classes), lost


class RecursiveL(_Diversity):
    """Recursive (c, l)-diversity: r1 < c·(r_l + r_{l+1} + …), the counts of a class from largest to smallest."""

    name = "recursive_l"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": _VARIABLE,
        "l": Whole(minimum=1, maximum=10**6, required=True),
        "c": Ratio(maximum=10**6, above_minimum=True, required=True),
        "missing_counts": _MISSING_COUNTS,
        "unit": UNIT,
    }
    need = Need.COUNTS
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Largest counts add up at most, tails at least."""
        return Merging.CLOSED

    def judge(self, classes: Classes) -> Mask:
        """Largest count against the tail, in whole numbers."""
        counts = classes.counts(self.variable)
        counted = self._countable(classes)[counts.values]
        owner, rows = counts.owner[counted], counts.rows[counted]
        order = np.lexsort((-rows, owner))
        owner, rows = owner[order], rows[order]
        entries = np.bincount(owner, minlength=len(classes))
        rank = np.arange(len(rows)) - np.repeat(np.cumsum(entries) - entries, entries)
        largest = np.zeros(len(classes), np.int64)
        largest[owner[rank == 0]] = rows[rank == 0]
        tail = np.zeros(len(classes), np.int64)
        np.add.at(tail, owner[rank >= self.l - 1], rows[rank >= self.l - 1])
        diverse = ~counts.visible | (largest * self.c.denominator < tail * self.c.numerator)
        return diverse & self._persons_lack(classes)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """Compiled, with the rows beyond the largest part that passes."""
        from celosia.kernels.judge import judge_recursive

        counts = classes.counts(self.variable)
        entries = (counts.offsets, counts.values, counts.rows, alive)
        bounds = (self.l, self.c.numerator, self.c.denominator)
        passes, lost = judge_recursive(*entries, self._countable(classes), *bounds)
        return passes & self._persons_lack(classes), lost
