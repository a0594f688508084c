"""Hierarchies, the search, the plan and its run."""

from __future__ import annotations

from celosia.errors._engines import TooManyTuples
from celosia.errors._tree import BadInput, Refusal, WrongUse
from celosia.errors._use import ValueOutOfRange

# --- hierarchies ---------------------------------------------------------------------------------


class UnknownOfficialList(WrongUse):
    """No official code list has that id."""

    fields = ("list", "known")


class UnknownBuilder(WrongUse):
    """No hierarchy builder has that name."""

    fields = ("builder", "known")


class UnknownParameter(WrongUse):
    """A builder or technique does not take that parameter."""

    fields = ("owner", "parameter", "known")


class WrongParameter(WrongUse):
    """A parameter of a builder or technique is missing or is not what it accepts."""

    fields = ("owner", "parameter", "allowed")


class ValuesOutsideBuilder(BadInput):
    """A builder cannot place some values; which ones are given on request only."""

    fields = ("variable", "builder", "count")


class ValuesOutsideList(BadInput):
    """Some values are not in the official list; which ones are given on request only."""

    fields = ("variable", "list", "count")


class HierarchyGap(BadInput):
    """A hierarchy does not cover values of the data; which ones are given on request only."""

    fields = ("variable", "missing", "file")


class HierarchyRagged(BadInput):
    """Rows of a hierarchy file have fewer or more levels than its first row."""

    fields = ("file", "rows", "levels")


class HierarchyConflict(BadInput):
    """A hierarchy file repeats values and sends them to different groups."""

    fields = ("file", "values")


class HierarchySplit(BadInput):
    """A level is not coarser than the one below: some of its groups split."""

    fields = ("file", "level", "groups")


class TooManyToEdit(WrongUse):
    """A column has more values than a person edits one by one."""

    fields = ("variable", "values", "most")


class IdentifierHasNoHierarchy(WrongUse):
    """An identifier is never published, so no hierarchy of it is edited: its values would be shown."""

    fields = ("variable",)


class ValuesVeiled(WrongUse):
    """The values of a column never reach a screen, so its tree is not edited there."""

    fields = ("variable",)


class LevelOutsideHierarchy(WrongUse):
    """A level asked for does not exist in the hierarchy, or the minimum is above the maximum."""

    fields = ("variable", "minimum", "maximum", "height")


# --- search --------------------------------------------------------------------------------------


class TuplesDisagree(BadInput):
    """A sensitive variable's tuples are not over the same rows and vocabularies as the quasi-identifiers."""

    fields = ("variable",)


class LatticeTooLarge(WrongUse):
    """Too many combinations of levels to search without a time limit."""

    fields = ("nodes", "limit")


class CriterionIncomplete(ValueOutOfRange):
    """A criterion lacks one of its parameters."""

    fields = ("criterion", "parameter", "known")


class CriterionNotForWildcard(WrongUse):
    """Only k-anonymity in rows can be counted when a masked cell stands for any value."""

    fields = ("criterion",)


# --- plan and run --------------------------------------------------------------------------------


class NothingToPublish(Refusal):
    """No quasi-identifier has a stated purpose, so nothing may be published."""


class NothingLeft(Refusal):
    """Every record is suppressed, so no file would be left."""


class NoPlan(BadInput):
    """The project has no plan yet."""

    fields = ("path",)


class PlanStale(Refusal):
    """The plan was made for another source, dictionary or policy."""

    fields = ("what",)


class NoFeasiblePlan(Refusal):
    """Nothing satisfies the policy; the nearest miss is said."""

    fields = ("suppressed", "allowed", "hint")


class CandidateFails(Refusal):
    """A criterion does not hold on the file that was written; it was removed."""

    fields = ("failing",)


class OrderIncomplete(WrongUse):
    """The recipe needs the quasi-identifiers in the order in which they give way."""

    fields = ("missing",)


class BelowProtocol(Refusal):
    """A project asks less than a protocol it follows."""

    fields = ("measure", "given", "protocol", "minimum")


class NoSensitivePublished(WrongUse):
    """A diversity is asked for and no sensitive variable is published."""

    fields = ()


class SensitiveHierarchyMissing(BadInput):
    """The hierarchical distance needs the hierarchy of the sensitive variable, and nothing describes it."""

    fields = ("variable",)


class PartitionNotPossible(WrongUse):
    """The parts of a search would prove nothing about their union."""

    fields = ("variable", "reason")


class PartitionedSearch(WrongUse):
    """What was asked for looks at all rows at once, and the project is searched part by part."""

    fields = ("variable",)


class SearchTooLarge(TooManyTuples):
    """The combinations of a search do not fit in memory; what this policy can do about it is said."""

    fields = ("columns", "most", "largest", "advice")


class LinkedRowsMethod(WrongUse):
    """A method that treats rows one by one cannot keep a household's mask from being read off another member."""

    fields = ("method", "columns")


class HouseholdsExceedLimit(Refusal):
    """Suppressing households whole takes more rows than the policy allows."""

    fields = ("own", "added", "allowed", "columns")
