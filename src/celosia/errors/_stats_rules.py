"""PERSONAL to STATS: the file stats.toml, its rules and its maps."""

from __future__ import annotations

from celosia.errors._tree import BadInput


class PasswordInFile(BadInput):
    """A database address with its password is written in the project's file."""

    fields = ("path", "setting")


class ColumnWithoutRule(BadInput):
    """A column of PERSONAL is neither person key, nor dropped, nor used with a rule."""

    fields = ("path", "personal", "columns")


class PersonalColumnAbsent(BadInput):
    """The file names a column that PERSONAL does not have."""

    fields = ("path", "personal", "columns")


class ValuesWithoutMapping(BadInput):
    """Values that the rule of a dimension does not place; they are in a private list."""

    fields = ("table", "dimension", "values", "rows", "path")


class MapUnclear(BadInput):
    """A map file with lines that lack a value or a category, or that give one value two categories."""

    fields = ("path", "incomplete", "repeated")


class RuleNotForType(BadInput):
    """A rule was given a column whose type it cannot read."""

    fields = ("path", "setting", "rule", "kind")
