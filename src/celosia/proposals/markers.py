"""Codes that say "unknown" and words that say "missing", as proposals.

Knows fixed families only (99999, 88888, 99…; NA, S/I…), never a value of the file's own. Missing words are told, not
applied: NA is Namibia. Source: MINSAL, Anexo II.2 (99999, 88888); MEL dictionaries.
"""

from __future__ import annotations

import numpy as np

from celosia.model.variables import Scale
from celosia.proposals.facts import row_count
from celosia.proposals.shape import Shape, number

MISSING_WORDS = (
    *"NA N/A n/a NULL null None NaN nan #N/A #N/D S/I s/i S/D s/d - . ?".split(),
    *("Sin información", "SIN INFORMACION", "SIN INFORMACIÓN", "Sin dato", "SIN DATO"),
)
_FAMILY = tuple(digit * length for length in range(1, 13) for digit in "089" if (digit, length) != ("0", 1))


def missing_words(shape: Shape) -> list[tuple[str, int]]:
    """Words usual for "missing" that the column holds, with the rows of each."""
    return [(word, rows) for word in MISSING_WORDS if (rows := row_count(shape.facts, word))]


def unknown_codes(shape: Shape, scale: Scale, area: bool = False) -> tuple[str, ...]:
    """Codes of nines or eights that stand apart from the rest of a domain of numbers; zeros too for areas."""
    present = [v for v in _FAMILY if row_count(shape.facts, v)]
    if not present or shape.integer_share < 0.9:
        return ()
    others = _other_numbers(shape, set(present))
    if not others.size:
        return ()
    if area:
        width = len(str(int(others[-1])))  # the domain's own width, a lost zero aside
        return tuple(v for v in present if len(v) >= max(width, 2))
    if scale is Scale.CONTINUOUS:
        return tuple(v for v in present if _is_marker_below(v, others))
    return tuple(v for v in present if v[0] != "0" and _is_marker_above(v, others, scale))


def _other_numbers(shape: Shape, excluded: set[str]) -> np.ndarray:
    numbers = (number(v) for v in shape.values if v not in excluded)
    return np.sort(np.array([n for n in numbers if n is not None], dtype=np.float64))


def _is_marker_above(code: str, others: np.ndarray, scale: Scale) -> bool:
    """At the end of the domain, with a gap before it; a single digit needs a wide one (1, 2 and 9)."""
    value, last = float(code), float(others[-1])
    if len(code) == 1:
        return scale is Scale.CATEGORICAL and last <= value - 4 and last <= 5
    return last <= 0.8 * value


def _is_marker_below(code: str, others: np.ndarray) -> bool:
    """98 and 99 among amounts of thousands."""
    positive = others[others > 0]
    return len(code) >= 2 and positive.size > 0 and float(np.quantile(positive, 0.02)) >= 10 * float(code)
