"""A first description of each kind of hierarchy, fitted to the values of a column: where a person begins to edit.

Knows texts and the official lists. Ignores roles. The range of intervals is that of the data, as ARX's assistant
sets it (MINSAL, Anexo II.1.7).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from celosia.hierarchy.masks import short_numbers
from celosia.hierarchy.official import LISTS, lookup
from celosia.model.variables import Scale, Variable
from celosia.pipeline.intake.proposed_hierarchies import default_spec

_SAMPLE = 500
_TERRITORY_STEPS = {4: [2, 4], 5: [2, 3, 5], 6: [2, 4, 6]}
_WHOLE, _DECIMAL = re.compile(r"[+-]?\d+"), re.compile(r"[+-]?\d+([.,]\d+)?")


def starting_spec(builder: str, plain: Sequence[str]) -> dict[str, Any]:
    """A description of a kind that suits these values as far as can be seen."""
    start = _STARTS.get(builder)
    return {"builder": builder} if start is None else {"builder": builder, **start(plain)}


def _interval_spec(plain: Sequence[str]) -> dict[str, Any]:
    texts = [text for text in plain if _DECIMAL.fullmatch(text)]
    numbers = [float(text.replace(",", ".")) for text in texts] or [0.0, 100.0]
    whole = all(_WHOLE.fullmatch(text) for text in texts)
    low, high = min(numbers), max(numbers)
    width = _round_width(high - min(low, 0.0), whole)
    start = 0 if low >= 0 else int(math.floor(low / width) * width)
    spec: dict[str, Any] = {"width": width, "start": start, "end": math.floor(high) if whole else math.ceil(high)}
    spec["end"] = max(spec["end"], start + 1)
    if not whole:
        spec |= {"whole": False, "decimal": "," if any("," in text for text in texts) else "."}
    return spec | {"factor": 2, "top": True}


def _round_width(span: float, whole: bool) -> float | int:
    """10 for ages; otherwise what the proposal takes for such a range."""
    if whole and 20 < span <= 125:
        return 10
    proposed = default_spec(Variable("", scale=Scale.DISCRETE), ["0", f"{max(span, 1.0):f}"])
    width: float | int = proposed["width"]
    return width


def _mask_spec(plain: Sequence[str]) -> dict[str, Any]:
    widths = {len(text) for text in plain}
    if len(widths) == 1 and all(text.isdigit() for text in plain):
        width = widths.pop()
        return {"side": "right", "steps": _TERRITORY_STEPS.get(width, list(range(1, width + 1)))}
    spec: dict[str, Any] = {"side": "right", "steps": list(range(1, min(max(widths, default=1), 12) + 1))}
    _, width = short_numbers(plain, {"builder": "mask", **spec})
    return spec | ({"width": width} if width else {})  # 9 beside 45 is 09: alone it would be hidden whole at once


def _date_spec(plain: Sequence[str]) -> dict[str, Any]:
    proposed = default_spec(Variable("", scale=Scale.DATE), plain)
    form = proposed.get("format", "yyyy-mm-dd")
    return {"format": form, "levels": ["month", "quarter", "year"], "top": True}


def _official_spec(plain: Sequence[str]) -> dict[str, Any]:
    """The list that knows most of the values."""
    sample = plain[:: max(len(plain) // _SAMPLE, 1)]
    known = {name: sum(lookup(name).knows(value) for value in sample) for name in LISTS}
    best = max(LISTS, key=lambda name: known[name])
    return {"list": best, "levels": list(lookup(best).levels), "labels": "code", "top": True}


_STARTS: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "intervals": _interval_spec,
    "mask": _mask_spec,
    "dates": _date_spec,
    "official": _official_spec,
    "order": lambda plain: {"factor": 2, "top": True},
    "frequency": lambda plain: {"minimums": [5, 25], "top": True},
}
