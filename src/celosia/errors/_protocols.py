"""Protocols as data, and what a project may change in them."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal, WrongUse


class UnknownProtocol(WrongUse):
    """No protocol has this id."""

    fields = ("protocol", "known")


class ProtocolDamaged(BadInput):
    """A protocol's data file holds a part that nobody could judge or explain."""

    fields = ("path", "part", "reason")


class ClaimsUnclear(BadInput):
    """A line of the intruder's results cannot be read."""

    fields = ("path", "line")


class OverrideElsewhere(BadInput):
    """The project overrides a protocol that it does not name."""

    fields = ("protocol", "named")


class OverrideUnknown(BadInput):
    """The project overrides a rule that its protocol does not have."""

    fields = ("protocol", "rule", "known")


class OverrideUnexplained(Refusal):
    """The project overrides a rule without a written reason."""

    fields = ("protocol", "rule")


class OverrideNotPossible(BadInput):
    """The project changes a part of a rule that cannot be changed, or to a value it cannot have."""

    fields = ("protocol", "rule", "allowed")


class WeakerThanNorm(Refusal):
    """A threshold below what a norm asks was chosen without a written reason."""

    fields = ("measure", "given", "protocol", "minimum")


class ReasonNeeded(Refusal):
    """A variable would be excepted from a rule without a written reason."""

    fields = ("variable", "rule")


class NotExcepted(WrongUse):
    """An exception would be withdrawn that the project does not hold."""

    fields = ("variable", "rule")
