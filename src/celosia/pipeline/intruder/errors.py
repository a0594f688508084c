"""Errors that `pipeline.intruder` raises."""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse


class NothingShared(BadInput, fields="file names"):
    """A file that the intruder brings has none of the columns that are published."""


class PairsWithoutList(WrongUse, fields=""):
    """Columns are paired with those of an outside list, and there is no list."""
