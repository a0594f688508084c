"""Errors that `cli` raises."""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse


class OutputLost(BadInput):
    """What was to be said could not be written to standard output."""


class PassphraseNeeded(WrongUse, fields=""):
    """Nobody can be asked for the passphrase."""
