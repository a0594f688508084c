"""Population uniqueness: the estimated share of people unique in the population is at most a threshold.

A judgement on all kept classes together. When the estimate is too high the classes of one unit go: they are the only
ones that may be unique in the population, and without them every estimator says none is.
Nothing can be concluded from one node about another: an estimate may rise or fall when classes merge.
Source: Dankar, El Emam, Neisa, Roffey 2012 and the estimators named there (risk/population).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging, Need
from celosia.risk.criteria._k import UNIT
from celosia.risk.criteria._parameters import Choice, Parameter, Ratio


class PopulationUniqueness(Criterion):
    """Estimated population uniques ÷ population at most the threshold; `fraction` is the share that was sampled."""

    name = "population_uniqueness"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "threshold": Ratio(Fraction(0), Fraction(1)),
        "fraction": Ratio(Fraction(0), Fraction(1), above_minimum=True),
        "model": Choice(("dankar", "pitman", "zayatz", "snb"), default="dankar"),
        "unit": UNIT,
    }
    need = Need.ALL_CLASSES
    __slots__ = ()

    def merging(self, domain: Domain | None) -> Merging:
        """An estimate follows no order."""
        return Merging.FREE

    def judge(self, classes: Classes) -> Mask:
        """All classes, or all but those of one unit."""
        sizes = classes.sizes(self.unit)
        alone = sizes == 1
        if not alone.any() or self._estimate(sizes) <= self.threshold:
            return np.ones(len(classes), bool)
        return ~alone

    def _estimate(self, sizes: np.ndarray) -> float:
        """The share; a model that does not fit says nothing, so everybody may be unique."""
        from celosia.risk.population import Model, estimated_uniques, sample_of

        sample = sample_of(sizes, float(sizes.sum() / self.fraction))
        found, _ = estimated_uniques(sample, Model(self.model))
        return 1.0 if found is None else found / sample.population
