"""Errors that `model` raises."""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse


class UnknownFormat(BadInput, fields="path found expected"):
    """A versioned file carries a format this version does not know."""


class DictionaryColumnMissing(BadInput, fields="path column"):
    """The dictionary lacks one of its columns."""


class DictionaryWordUnknown(BadInput, fields="path line column allowed"):
    """A cell of the dictionary holds a word that its column does not accept."""


class DictionaryRepeats(BadInput, fields="path variable"):
    """The dictionary describes a variable twice."""


class DictionaryDisagrees(BadInput, fields="path absent unknown"):
    """Dictionary and table do not name the same columns."""


class UnknownVariable(WrongUse, fields="variable known"):
    """A named variable is not in the table."""


class RepeatedVariable(WrongUse, fields="variable"):
    """The same variable is named twice where each may appear once."""


class NothingChosen(WrongUse, fields="option"):
    """An operation needs at least one variable."""


class MissingExtra(WrongUse, fields="feature extra"):
    """An optional part of celosia is not installed."""


class NothingToDraw(WrongUse, fields="report"):
    """A report has no picture."""
