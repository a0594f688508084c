"""What keeps an intruder's file from being used."""

from __future__ import annotations

from celosia.errors._protocols import ClaimsUnclear
from celosia.errors._tree import BadInput, Refusal, WrongUse


class NothingShared(BadInput):
    """A file that the intruder brings has none of the columns that are published."""

    fields = ("file", "names")


class PairsWithoutList(WrongUse):
    """Columns are paired with those of an outside list, and there is no list."""

    fields = ()


class ClaimsUnjudged(ClaimsUnclear):
    """A claim of the intruder that nobody in the house has called right or wrong."""


class AttemptClosed(Refusal):
    """The test with a person cannot be made now; why is the house's business."""


class AttemptIncomplete(Refusal):
    """An attempt lacks what is needed to judge or to count it."""

    fields = ("row",)


class AnswerUnfit(Refusal):
    """Something written about a record cannot be kept as it is."""

    fields = ("row", "field", "allowed")


class NothingTried(Refusal):
    """Nothing was written down that could be sent."""


class NotIndependent(Refusal):
    """The test is sent without saying that whoever made it does not know the data."""
