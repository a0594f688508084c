"""Errors that `protocols` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class UnknownProtocol(WrongUse, fields="protocol known"):
    """No protocol has this id."""


class ProtocolDamaged(BadInput, fields="path part reason"):
    """A protocol's data file holds a part that nobody could judge or explain."""


class OverrideElsewhere(BadInput, fields="protocol named"):
    """The project overrides a protocol that it does not name."""


class OverrideUnknown(BadInput, fields="protocol rule known"):
    """The project overrides a rule that its protocol does not have."""


class OverrideUnexplained(Refusal, fields="protocol rule"):
    """The project overrides a rule without a written reason."""


class OverrideNotPossible(BadInput, fields="protocol rule allowed"):
    """The project changes a part of a rule that cannot be changed, or to a value it cannot have."""
