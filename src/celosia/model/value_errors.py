"""Errors of a parameter: a value outside its range, a name that does not exist."""

from __future__ import annotations

from celosia.errors import WrongUse


class UnknownParameter(WrongUse, fields="owner parameter known"):
    """A builder or technique does not take that parameter."""


class WrongParameter(WrongUse, fields="owner parameter allowed"):
    """A parameter of a builder or technique is missing or is not what it accepts."""


class ValueOutOfRange(WrongUse, fields="parameter given allowed"):
    """A parameter lies outside what it may be."""
