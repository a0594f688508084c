"""Errors that `evaluation` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal, WrongUse


class UnknownProperty(WrongUse, fields="property known"):
    """A property to keep that evaluation does not know, or that is not written as it must be."""


class KeyRepeats(BadInput, fields="variable file rows"):
    """The key that is to match the records is missing or repeated in some rows."""


class NoCommonRecord(BadInput, fields="variable"):
    """The key matches no record of the two files."""


class ContrastTooSmall(Refusal, fields="chosen needed"):
    """The contrast of untouched variables needs more of them."""


class ContrastOneKind(Refusal, fields="kind"):
    """The contrast must hold both kinds of variable when both are published."""
