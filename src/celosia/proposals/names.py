"""Given names and surnames common in Chile, Colombia, Paraguay, Peru and Argentina, without accents.

Knows a few hundred of each (`lists/`), written down from general knowledge: enough for most words of most people, so
that a column of names stands out. Ignores rare names: a column is judged, never a person. Words that are as often a
place or a virtue stay in: the column's rate decides, not one value.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_LISTS = Path(__file__).parent / "lists"


@cache
def frequent_names() -> frozenset[str]:
    """Given names and surnames together: columns mix them."""
    files = ("given_names.txt", "surnames.txt")
    return frozenset(word for file in files for word in (_LISTS / file).read_text("utf-8").split())
