"""Tables of values as lines that a person types: `old = new`, or `column = value | value`.

Knows text alone. Ignores techniques. The sign with blanks around it divides; without any such, the first one does, so
that a value may hold it. An empty side is a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BETWEEN, _SIGN, _BAR = " = ", "=", "|"


class LineUnclear(Exception):
    """A line that is no pair, or contradicts another line; the text itself is not quoted."""

    def __init__(self, line: int):
        super().__init__(line)
        self.line = line


def read_lines(kind: str, text: str) -> dict[str, Any]:
    """The table that lines describe: texts for `pairs`, lists of texts for `conditions`."""
    table: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        padded = f" {line} "  # a side may be empty
        left, sign, right = (part.strip() for part in padded.partition(_BETWEEN if _BETWEEN in padded else _SIGN))
        value = right if kind == "pairs" else [part.strip() for part in right.split(_BAR)]
        if not sign or table.setdefault(left, value) != value:
            raise LineUnclear(number)
    return table


def write_lines(table: Mapping[str, Any]) -> str:
    """The lines that describe a table."""
    return "\n".join(
        f"{key}{_BETWEEN}{f' {_BAR} '.join(value) if isinstance(value, list | tuple) else value}"
        for key, value in table.items()
    )
