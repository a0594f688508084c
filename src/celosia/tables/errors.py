"""Errors that `tables` raises."""

from __future__ import annotations

from celosia.errors import BadInput, Refusal


class TablesDisagree(BadInput, fields="dimensions cells"):
    """Linked tables count different people in the same cells."""


class TableUnprotectable(Refusal, fields="cells"):
    """Hidden cells follow from the rest even when everything that may be hidden is."""
