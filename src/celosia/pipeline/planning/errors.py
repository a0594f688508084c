"""Errors that `pipeline.planning` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse
from celosia.tuples.errors import TooManyTuples


class RoleMissing(Refusal, fields="variables"):
    """A variable has no role, so nothing may be published."""


class PopulationLacks(BadInput, fields="missing known"):
    """The population table does not have some of the variables."""


class UnusableCounts(BadInput, fields="variable rows"):
    """The counts of a population table are not whole numbers."""


class NothingToPublish(Refusal):
    """No quasi-identifier has a stated purpose, so nothing may be published."""


class QuasiRemoved(Refusal, fields="variables"):
    """The quasi-identifiers with a purpose are all to be removed, so nothing may be published."""


class HierarchyNotUnderstood(WrongUse, fields="variable known"):
    """What was given as a hierarchy is no description, table or official list."""


class PurposeMissing(WrongUse, fields="variables"):
    """A column that is to leave has no purpose."""


class NothingLeft(Refusal):
    """Every record is suppressed, so no file would be left."""


class NoFeasiblePlan(Refusal, fields="suppressed allowed hint"):
    """Nothing satisfies the policy; the nearest miss is said."""


class OrderIncomplete(WrongUse, fields="missing"):
    """The recipe needs the quasi-identifiers in the order in which they give way."""


class BelowProtocol(Refusal, fields="measure given protocol minimum"):
    """A project asks less than a protocol it follows."""


class NoSensitivePublished(WrongUse, fields=""):
    """A diversity is asked for and no sensitive variable is published."""


class SensitiveHierarchyMissing(BadInput, fields="variable"):
    """The hierarchical distance needs the hierarchy of the sensitive variable, and nothing describes it."""


class PartitionNotPossible(WrongUse, fields="variable reason"):
    """The parts of a search would prove nothing about their union."""


class PartitionedSearch(WrongUse, fields="variable"):
    """What was asked for looks at all rows at once, and the project is searched part by part."""


class SearchTooLarge(TooManyTuples, fields="columns most largest advice"):
    """The combinations of a search do not fit in memory; what this policy can do about it is said."""


class LinkedRowsMethod(WrongUse, fields="method columns"):
    """A method that treats rows one by one cannot keep a household's mask from being read off another member."""


class HouseholdsExceedLimit(Refusal, fields="own added allowed columns"):
    """Suppressing households whole takes more rows than the policy allows."""


class StepTooLarge(Refusal, fields="technique columns rows need memory"):
    """A technique by row needs more memory for its columns than the work may take."""


class UnmappedListed(BadInput, fields="technique variable distinct rows path"):
    """Values without a counterpart, left as a private list to be completed."""
