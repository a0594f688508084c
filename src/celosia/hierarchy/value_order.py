"""The natural order of the values of a variable: numbers as numbers, anything else by code point.

Knows texts. Ignores tables. An empty cell comes first in both orders; a decimal mark may be a point or a comma.
Numbers that are equal but written differently ("1", "01") stay two values, in code-point order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from celosia.model.values import MISSING, ValueOrder

_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


def ordered_positions(values: Sequence[str]) -> tuple[ValueOrder, list[int]]:
    """Which order applies, and the positions of the values from first to last."""
    plain = [value for value in values if value != MISSING]
    if not plain or not all(_NUMBER.fullmatch(value) for value in plain):
        return ValueOrder.TEXT, sorted(range(len(values)), key=lambda place: values[place])
    return ValueOrder.NUMERIC, sorted(range(len(values)), key=lambda place: _number_key(values[place]))


def _number_key(value: str) -> tuple[bool, Decimal, str]:
    return value != MISSING, Decimal(value.replace(",", ".") or "0"), value
