"""The request: who asks, for what, within which limits."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal, WrongUse


class RequestMissing(Refusal):
    """The project has no request yet."""

    fields = ("path",)


class RequestIncomplete(Refusal):
    """Items of the request that something needs are empty."""

    fields = ("path", "items")


class RequestVariablesUnknown(BadInput):
    """The request names variables that the dictionary does not have."""

    fields = ("path", "setting", "variables")


class PropertyIncomplete(WrongUse):
    """A property to preserve lacks the variables or the period it needs."""

    fields = ("property",)
