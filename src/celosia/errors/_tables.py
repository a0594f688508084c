"""Errors of protected tables: what cannot be shown without giving a cell away."""

from __future__ import annotations

from celosia.errors._tree import Refusal


class TableUnprotectable(Refusal):
    """Hidden cells follow from the rest even when everything that may be hidden is."""

    fields = ("cells",)
