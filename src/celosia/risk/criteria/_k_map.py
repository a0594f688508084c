"""k-map: every class of the release has at least k persons in a population table generalised the same way.

Knows how many units of the population share each class. Ignores how many the file itself holds: a class of one
row may stand when k persons outside share its published values. Without a population nothing passes.
Source: Sweeney 2002 (k-map); El Emam, Dankar 2008.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from celosia.risk.criteria._classes import Classes, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging
from celosia.risk.criteria._parameters import Name, Parameter, Whole


class KMap(Criterion):
    """Population of a class at least k. That of a union is the sum of its parts', so it absorbs."""

    name = "k_map"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "k": Whole(1),
        "population": Name(),  # the table: a file beside the project's, a database
        "count": Name(default="", optional=True),  # its column that tells how many persons a row stands for
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
