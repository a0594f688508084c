"""The four kinds of cell: plain, missing, masked, unknown.

Knows how a text cell is read. Ignores where it came from.
`*` (only asterisks) is masked, empty or a declared marker is missing, a declared code (99999…) is unknown;
the three never mean the same (DESIGN §3).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

MISSING = ""  # inside, missing is this text and never NULL: joins and groupings stay plain
SUPPRESSED = "*"
_ONLY_ASTERISKS = re.compile(r"\*+")


class CellKind(StrEnum):
    """What a cell says."""

    PLAIN = "plain"
    MISSING = "missing"
    MASKED = "masked"
    UNKNOWN = "unknown"


class MissingReading(StrEnum):
    """How an empty cell of a quasi-identifier is read."""

    OWN = "own"  # a category of its own: decides verdicts
    WILDCARD = "wildcard"  # may be any value: reported, never decides


class ValueOrder(StrEnum):
    """The order behind the ordered distance."""

    NUMERIC = "numeric"
    TEXT = "text"


def is_masked(value: str) -> bool:
    """Whether a value is made of asterisks only."""
    return _ONLY_ASTERISKS.fullmatch(value) is not None


def kind_of(value: str, unknown: Collection[str] = ()) -> CellKind:
    """Kind of a cell inside celosia, where declared missing markers are already empty."""
    if value == MISSING:
        return CellKind.MISSING
    if is_masked(value):
        return CellKind.MASKED
    return CellKind.UNKNOWN if value in unknown else CellKind.PLAIN
