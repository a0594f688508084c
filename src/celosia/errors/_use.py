"""How a command or call can be wrong."""

from __future__ import annotations

from celosia.errors._tree import WrongUse

# --- wrong use -----------------------------------------------------------------------------------


class UnknownVariable(WrongUse):
    """A named variable is not in the table."""

    fields = ("variable", "known")


class RepeatedVariable(WrongUse):
    """The same variable is named twice where each may appear once."""

    fields = ("variable",)


class NothingChosen(WrongUse):
    """An operation needs at least one variable."""

    fields = ("option",)


class SensitiveIsQuasi(WrongUse):
    """The same variable is named as sensitive and as quasi-identifier."""

    fields = ("variable",)


class ValueOutOfRange(WrongUse):
    """A parameter lies outside what it may be."""

    fields = ("parameter", "given", "allowed")


class MissingExtra(WrongUse):
    """An optional part of celosia is not installed."""

    fields = ("feature", "extra")
