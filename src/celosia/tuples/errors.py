"""Errors that `tuples` raises."""

from __future__ import annotations

from celosia.errors import Refusal


class TooManyTuples(Refusal, fields="columns most largest"):
    """The combinations of some columns do not fit in the memory that the work may take."""
