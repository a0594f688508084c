"""Errors that `solver` raises."""

from __future__ import annotations

from celosia.errors import BadInput, WrongUse


class TuplesDisagree(BadInput, fields="variable"):
    """A sensitive variable's tuples are not over the same rows and vocabularies as the quasi-identifiers."""


class LatticeTooLarge(WrongUse, fields="nodes limit"):
    """Too many combinations of levels to search without a time limit."""


class CriterionNotForWildcard(WrongUse, fields="criterion"):
    """Only k-anonymity in rows can be counted when a masked cell stands for any value."""
