"""Errors that `risk` raises."""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse
from celosia.model.value_errors import ValueOutOfRange


class PopulationLevelsDiffer(BadInput, fields="variable values"):
    """A hierarchy sends values elsewhere once the values of the population table are there too."""


class TooManyCombinations(WrongUse, fields="variables size limit"):
    """The sets of variables to try for special uniques are too many."""


class CriterionIncomplete(ValueOutOfRange, fields="criterion parameter known"):
    """A criterion lacks one of its parameters."""
