"""What keeps an intruder's file from being used."""

from __future__ import annotations

from celosia.errors._tree import BadInput


class NothingShared(BadInput):
    """A file that the intruder brings has none of the columns that are published."""

    fields = ("file", "names")
