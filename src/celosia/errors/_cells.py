"""Cross tables that cannot be made as asked."""

from __future__ import annotations

from celosia.errors._tree import BadInput


class TablesDisagree(BadInput):
    """Linked tables count different people in the same cells."""

    fields = ("dimensions", "cells")


class TooManyCells(BadInput):
    """A cross table would have more cells than anybody can read."""

    fields = ("rows", "columns", "cells", "limit")
