"""Runs from PERSONAL to STATS that are refused as a whole."""

from __future__ import annotations

from celosia.errors._tree import BadInput, Refusal


class NotStats(BadInput):
    """The folder holds no stats.toml."""

    fields = ("path",)


class ScanRefuses(Refusal):
    """What was about to be committed holds something that STATS may not hold."""

    fields = ("findings",)


class CatalogueDisagrees(Refusal):
    """Tables without an entry in the catalogue, or entries without a table."""

    fields = ("uncatalogued", "absent")


class TitleTellsHidden(Refusal):
    """A title holds a number that the table hides."""

    fields = ("table",)


class NeverRan(BadInput):
    """STATS holds nothing yet: there has been no run."""

    fields = ("path",)


class RoundingBelowK(BadInput):
    """A table is rounded to a base smaller than the k of an audience."""

    fields = ("table", "base", "k")


class RoundedSums(BadInput):
    """A rounded table may hold persons and rows only."""

    fields = ("table", "measure")


class StatsTableUnknown(BadInput):
    """A run was asked for a table that stats.toml does not declare."""

    fields = ("table", "known")


class AuditUnfinished(Refusal):
    """The time given ran out before the hidden cells of some tables were proved safe."""

    fields = ("tables", "cells", "seconds")


class CutsCross(BadInput):
    """Linked tables cut one column in ways that do not fit into each other."""

    fields = ("tables", "column")
