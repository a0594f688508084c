"""Criteria on the sizes of equivalence classes: k-anonymity, k-map, re-identification risk and its cost, uniqueness.

Knows how many persons or rows each class has, in the file and in a population. Ignores sensitive values.
Sources stand with each class.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from celosia.model.parameters import Name, Parameter, Ratio, Text, Whole
from celosia.risk.criteria._classes import Classes, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need

SIZE = Whole(minimum=1, maximum=10**9, required=True)
UNIT = Text(choices=("persons", "rows"), default="persons")
_RISK = Ratio(above_minimum=True, required=True)


class KAnonymity(Criterion):
    """k-anonymity: every class has at least k persons, or rows where no person key exists.

    Persons of a union are at least those of each part, so it absorbs.
    Source: Samarati and Sweeney 1998; MINSAL norm, definitions (k > 1 compulsory, > 3 ideal).
    """

    name = "k"
    parameters: ClassVar[Mapping[str, Parameter]] = {"k": SIZE, "unit": UNIT}
    __slots__ = ()

    @property
    def smallest_class(self) -> int:
        """A person has at least one row."""
        return int(self.k)

    def merging(self, domain: Domain | None) -> Merging:
        """Classes only grow."""
        return Merging.ABSORBING

    def judge(self, classes: Classes) -> Mask:
        """Sizes of at least k."""
        return classes.sizes(self.unit) >= self.k


class KMap(Criterion):
    """k-map: every class has at least k persons in a population table generalised the same way.

    How many the file itself holds does not matter: a class of one row may stay when k persons of the population
    share its published values. Without a population nothing passes. The population of a union is the sum of that of
    its parts, so it absorbs.
    Source: Sweeney 2002 (k-map); El Emam, Dankar 2008.
    """

    name = "k_map"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "k": SIZE,
        "population": Name(required=True),  # the table: a file beside the project's, or a database
        "count": Name(default=""),  # the column with the number of persons that a row stands for
    }
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Classes only grow."""
        return Merging.ABSORBING

    def judge(self, classes: Classes) -> Mask:
        """At least k in the population."""
        if classes.population is None:
            return np.zeros(len(classes), bool)
        return classes.population >= self.k


class HighestRisk(Criterion):
    """Re-identification risk 1/f at most the threshold in every class.

    Source: prosecutor risk in El Emam 2013; ATENEA guide G3_DE, section 4.2.3 (RI = 1/f).
    """

    name = "max_risk"
    parameters: ClassVar[Mapping[str, Parameter]] = {"threshold": _RISK, "unit": UNIT}
    __slots__ = ()

    @property
    def smallest_class(self) -> int:
        """The least f with 1/f ≤ threshold."""
        return -(-self.threshold.denominator // self.threshold.numerator)

    def merging(self, domain: Domain | None) -> Merging:
        """Classes only grow."""
        return Merging.ABSORBING

    def judge(self, classes: Classes) -> Mask:
        """In whole numbers."""
        return classes.sizes(self.unit) * self.threshold.numerator >= self.threshold.denominator


class AverageRisk(Criterion):
    """Mean of 1/f over the kept records at most the threshold.

    The mean is classes ÷ size of what is kept; when it is too high, the smallest classes go first, all of one size
    together, until it holds.
    Source: as the highest risk.
    """

    name = "average_risk"
    parameters: ClassVar[Mapping[str, Parameter]] = {"threshold": _RISK, "unit": UNIT}
    need = Need.ALL_CLASSES
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """Fewer classes of the same rows; a person in two classes counts in both, so persons may become fewer."""
        return Merging.CLOSED if self.unit == "rows" else Merging.FREE

    def judge(self, classes: Classes) -> Mask:
        """The classes that stay when the given ones are all there is."""
        sizes = classes.sizes(self.unit)
        size, count = np.unique(sizes, return_counts=True)
        left_classes = np.cumsum(count[::-1])[::-1]
        left_size = np.cumsum((size * count)[::-1])[::-1]
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


class AverageSize(AverageRisk):
    """Mean size of the kept classes at least `size`.

    The mean of 1/f over records is the classes ÷ their size, so this is an average risk of at most 1 ÷ size.
    Source: LeFevre, DeWitt, Ramakrishnan 2006 (average class size), as a bound.
    """

    name = "average_size"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "size": Ratio(minimum=1, maximum=10**9, required=True),
        "unit": UNIT,
    }
    __slots__ = ()

    @property
    def threshold(self) -> Fraction:
        """The average risk that the size stands for."""
        return Fraction(self.size.denominator, self.size.numerator)


class SampleUniqueness(Criterion):
    """The share of records that are unique in the file, among those kept, at most the threshold.

    Judged on all kept classes together. When there are too many, the classes of one unit go: all of them, since
    nothing tells one from another.
    Source: Skinner, Elliot 2002 (sample uniques); ATENEA guide G3_DE, section 4.2.3 (RI = 1 for a unique record).
    """

    name = "sample_uniqueness"
    parameters: ClassVar[Mapping[str, Parameter]] = {"threshold": Ratio(required=True), "unit": UNIT}
    need = Need.ALL_CLASSES
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """What is suppressed at one node may come back at another and make the share smaller or larger."""
        return Merging.FREE

    def judge(self, classes: Classes) -> Mask:
        """All classes, or all but those of one unit; in whole numbers."""
        sizes = classes.sizes(self.unit)
        alone = int((sizes == 1).sum())
        return _all_or_shared(alone * self.threshold.denominator <= int(sizes.sum()) * self.threshold.numerator, sizes)


class Profitability(Criterion):
    """Re-identifying never pays: in every class the gain of a success times its chance 1/f is at most the cost.

    Gain and cost are in the same unit, such as the price of a record on a market and that of an attempt. It is the
    variant in which nobody attacks: what publishing is worth to the publisher is not weighed against it.
    Source: Wan, Vorobeychik, Xia, Clayton, Kantarcioglu, Ganta, Heatherly, Malin 2015 (no-attack variant).
    """

    name = "profitability"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "gain": Ratio(maximum=10**9, above_minimum=True, required=True),
        "cost": Ratio(maximum=10**9, above_minimum=True, required=True),
        "unit": UNIT,
    }
    __slots__ = ()

    @property
    def smallest_class(self) -> int:
        """The least f with gain ÷ f ≤ cost."""
        return max(math.ceil(self.gain / self.cost), 1)

    def merging(self, domain: Domain | None) -> Merging:
        """Classes only grow."""
        return Merging.ABSORBING

    def judge(self, classes: Classes) -> Mask:
        """In whole numbers."""
        return classes.sizes(self.unit) >= min(self.smallest_class, np.iinfo(np.int64).max)


class PopulationUniqueness(Criterion):
    """The estimated share of people unique in the population at most the threshold; `fraction` is the share sampled.

    Judged on all kept classes together. When the estimate is too high the classes of one unit go: they are the only
    ones that may be unique in the population, and without them every estimator says none is.
    Source: Dankar, El Emam, Neisa, Roffey 2012 and the estimators named there (risk/population).
    """

    name = "population_uniqueness"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "threshold": Ratio(required=True),
        "fraction": Ratio(above_minimum=True, required=True),
        "model": Text(choices=("dankar", "pitman", "zayatz", "snb"), default="dankar"),
        "unit": UNIT,
    }
    need = Need.ALL_CLASSES
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """An estimate may rise or fall when classes merge."""
        return Merging.FREE

    def judge(self, classes: Classes) -> Mask:
        """All classes, or all but those of one unit."""
        sizes = classes.sizes(self.unit)
        return _all_or_shared(not (sizes == 1).any() or self._estimate(sizes) <= self.threshold, sizes)

    def _estimate(self, sizes: np.ndarray) -> float:
        """The share; where the model does not fit, everybody may be unique."""
        from celosia.risk.population import Model, estimated_uniques, sample_of

        sample = sample_of(sizes, float(sizes.sum() / self.fraction))
        uniques, _ = estimated_uniques(sample, Model(self.model))
        return 1.0 if uniques is None else uniques / sample.population


def _all_or_shared(holds: bool, sizes: np.ndarray[Any, Any]) -> Mask:
    """Every class where a criterion on the whole holds; else those of several units: nothing tells the rest apart."""
    return np.ones(len(sizes), bool) if holds else sizes != 1
