"""The project folder, its dictionary and its journal."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal

# --- dictionary ----------------------------------------------------------------------------------


class DictionaryColumnMissing(BadInput):
    """The dictionary lacks one of its columns."""

    fields = ("path", "column")


class DictionaryWordUnknown(BadInput):
    """A cell of the dictionary holds a word that its column does not accept."""

    fields = ("path", "line", "column", "allowed")


class DictionaryRepeats(BadInput):
    """The dictionary describes a variable twice."""

    fields = ("path", "variable")


class DictionaryDisagrees(BadInput):
    """Dictionary and table do not name the same columns."""

    fields = ("path", "absent", "unknown")


class DictionaryNeeded(BadInput):
    """The protocol begins with the base and its dictionary; only the base was given."""


class RoleMissing(Refusal):
    """A variable has no role, so nothing may be published."""

    fields = ("variables",)


# --- project -------------------------------------------------------------------------------------


class NotAProject(BadInput):
    """The folder is not a celosia project."""

    fields = ("path",)


class WorkingCopyMissing(BadInput):
    """The project's private working copy is not there."""

    fields = ("path",)


class WorkingCopyChanged(BadInput):
    """The working copy does not match the project's record of it."""

    fields = ("path",)


class BadProjectFile(BadInput):
    """A project file cannot be parsed."""

    fields = ("path", "line")


class WrongSetting(BadInput):
    """A key of the project file is missing, unknown or holds something of another kind."""

    fields = ("path", "setting", "expected")


class JournalBroken(Refusal):
    """The journal's chain does not hold: a line was changed, removed or inserted."""

    fields = ("path", "line")


# Further families are declared in the same way by section below.
