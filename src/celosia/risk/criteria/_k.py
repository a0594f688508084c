"""k-anonymity: every class holds at least k persons (rows where no person key exists).

Knows class sizes. Ignores sensitive values.
Source: Samarati and Sweeney 1998; MINSAL norm, definitions (k > 1 compulsory, > 3 ideal).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from celosia.risk.criteria._classes import Classes, Domain, Mask
from celosia.risk.criteria._criterion import Criterion, Merging
from celosia.risk.criteria._parameters import Choice, Parameter, Whole

UNIT = Choice(("persons", "rows"), default="persons")


class KAnonymity(Criterion):
    """Class size at least k. Persons of a union are at least those of each part, so it absorbs."""

    name = "k"
    parameters: ClassVar[Mapping[str, Parameter]] = {"k": Whole(1), "unit": UNIT}
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
