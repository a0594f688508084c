"""Distinct l-diversity: at least l different values of the sensitive variable in every class.

Empty cells count as a value unless told otherwise (the norm's Table 1, REQUIREMENTS X3); masked ones never do,
and a class with nothing visible is safe (X4). Where persons are known, of those of a class who show a value at
least l - 1 must lack each one: with l = 2, no value is held by everybody, though a person may hold several. When
each person has one row this says no more than l distinct values.
Source: Machanavajjhala et al. 2007; MINSAL norm, definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Counts, Domain, Mask, ValueCounts, ValueExtremes, ValueSets
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._k import UNIT
from celosia.risk.criteria._parameters import Flag, Name, Parameter, Whole


class DistinctL(Criterion):
    """At least l distinct values."""

    name = "distinct_l"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "variable": Name(),
        "l": Whole(1),
        "missing_counts": Flag(default=True),
        "unit": UNIT,
    }
    need = Need.DISTINCT
    __slots__ = ()

    @property
    def smallest_class(self) -> int:
        """l values need l rows; a class with everything masked may be smaller."""
        return 1

    def merging(self, domain: Domain | None) -> Merging:
        """Values only join; but a class with everything masked passes and one visible value undoes that."""
        return Merging.CLOSED if domain is not None and domain.has_masked else Merging.ABSORBING

    def judge(self, classes: Classes) -> Mask:
        """l countable values, or nothing visible; and l - 1 persons lacking each value."""
        held = classes.counts(self.variable)
        countable = classes.domains[self.variable].countable(self.missing_counts)
        distinct = np.bincount(held.owner[countable[held.values]], minlength=len(classes))
        visible = np.diff(held.offsets) > 0
        return (~visible | (distinct >= self.l)) & self.persons_lack(classes, countable, self.l - 1)

    def measure(self, classes: Classes, alive: Mask) -> tuple[Mask, Counts]:
        """From sets or extremes where they suffice; no finer node keeps the visible rows of a failing class."""
        held = classes.values[self.variable]
        domain = classes.domains[self.variable]
        if isinstance(held, ValueCounts):
            return self._measure_counts(classes, held, domain, alive)
        passes = self._measure_light(held, domain)
        return passes, np.where(passes, 0, classes.rows)

    def _measure_light(self, held: ValueSets | ValueExtremes, domain: Domain) -> Mask:
        if isinstance(held, ValueExtremes):
            return (held.low < held.high) if self.l >= 2 else (held.low <= held.high)
        wanted = sum(1 << int(code) for code in np.flatnonzero(domain.countable(self.missing_counts)))
        return np.bitwise_count(held.bits & np.uint64(wanted)) >= self.l

    def _measure_counts(self, classes: Classes, held: ValueCounts, domain: Domain, alive: Mask) -> tuple[Mask, Counts]:
        from celosia.kernels.judge import judge_distinct

        countable = domain.countable(self.missing_counts)
        passes, lost = judge_distinct(held.offsets, held.values, held.rows, alive, countable, self.l)
        return passes & self.persons_lack(classes, countable, self.l - 1), lost
