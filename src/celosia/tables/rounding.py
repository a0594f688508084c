"""Unbiased random rounding of counts, always the same for the same cell.

Knows values, names of cells and a secret key. Ignores relations: margins are rounded on their own, so a rounded table
need not add up and its sums disclose nothing. A value goes to one of the two multiples of the base around it, to the
upper one with a chance equal to how far it is from the lower, so the expected value is the true one. The draw depends
on (key, name, value): in another table or another run the same cell with the same value is rounded alike, so repeated
requests do not average the noise away. The key undoes nothing by itself but says which way a value was rounded: it
stays private.
Sources: Cox 1987 and Hundepool et al. 2012, section 5.4.2 (unbiased random rounding); Fraser and Wooton 2005 (keys).
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence

import numpy as np

from celosia.model.value_errors import ValueOutOfRange
from celosia.tables.grid import Values

SHORTEST_KEY = 16  # bytes
_DRAWS = 1 << 128


def round_randomly(values: Values, base: int, key: bytes, names: Sequence[str]) -> Values:
    """Each count as a multiple of the base, less than one base away, right on average over keys."""
    if base < 2:
        raise ValueOutOfRange(parameter="base", given=base, allowed="≥ 2")
    if len(key) < SHORTEST_KEY:
        raise ValueOutOfRange(parameter="key", given=len(key), allowed=f"≥ {SHORTEST_KEY} bytes")
    pairs = zip(np.asarray(values, np.int64).tolist(), names, strict=True)
    return np.array([_round_value(value, base, key, name) for value, name in pairs], np.int64)


def _round_value(value: int, base: int, key: bytes, name: str) -> int:
    rest = value % base
    upward = rest > 0 and _draw(key, base, name, value) * base < rest * _DRAWS
    return value - rest + (base if upward else 0)


def _draw(key: bytes, base: int, name: str, value: int) -> int:
    """A whole number below 2^128, random to whoever lacks the key; no floating point is involved."""
    text = f"{base}\x00{value}\x00{name}".encode()
    return int.from_bytes(hmac.digest(key, text, hashlib.sha256)[:16], "big")
