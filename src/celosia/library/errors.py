"""Errors that `library` raises."""

from __future__ import annotations

from celosia.errors import WrongUse


class UnknownLanguage(WrongUse, fields="given"):
    """There are no sentences in that language."""
