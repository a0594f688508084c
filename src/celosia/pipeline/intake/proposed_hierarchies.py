"""A first hierarchy for each variable, from its scale and its values: dates, bands of numbers, digits of a territory.

Knows formats and official lists. Ignores what a project describes: a person's description always comes first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from celosia.hierarchy.official import lookup
from celosia.hierarchy.registry import build
from celosia.model.values import CellKind, kind_of
from celosia.model.variables import Kind, Scale, Variable

MOST = 0.9  # share of the values that must agree before a list or a format is proposed
_TERRITORY = {"cl-cut": [2, 3, 5], "co-divipola": [3, 5], "py-distritos": [2, 4], "pe-ubigeo": [2, 4, 6]}
_DATES = ("yyyy-mm-dd", "dd/mm/yyyy", "dd-mm-yyyy", "yyyymmdd")
_BANDS = 16  # a range of numbers is first cut into about this many bands
_SUPPRESS = {"builder": "suppress"}


def default_spec(variable: Variable, vocabulary: Sequence[str]) -> dict[str, Any]:
    """A first description by scale and values; one level `*` where nothing better is known."""
    plain = [value for value in vocabulary if kind_of(value, variable.unknown) is CellKind.PLAIN]
    if variable.scale == Scale.DATE:
        return _date_spec(plain)
    if variable.scale in (Scale.DISCRETE, Scale.CONTINUOUS):
        return _interval_spec(plain)
    if variable.kind == Kind.LOCATION:
        return _territory_spec(plain)
    return dict(_SUPPRESS)


def _date_spec(plain: Sequence[str]) -> dict[str, Any]:
    for form in _DATES:
        spec = {"builder": "dates", "format": form, "top": True, "uncovered": "suppress"}
        if plain and _share_placed(spec, plain) >= MOST:
            return spec
    return dict(_SUPPRESS)


def _share_placed(spec: Mapping[str, Any], plain: Sequence[str]) -> float:
    sample = plain[:: max(len(plain) // 500, 1)]
    made = build(dict(spec), sample)
    first = made.labels[1]
    return sum(first[label] != "*" for label in made.maps[1].tolist()) / len(sample)


def _interval_spec(plain: Sequence[str]) -> dict[str, Any]:
    numbers = [number for value in plain if (number := _number(value)) is not None]
    if not plain or len(numbers) < MOST * len(plain) or min(numbers) < 0:
        return dict(_SUPPRESS)
    return {
        "builder": "intervals",
        "width": _round_width(max(numbers)),
        "end": math.floor(max(numbers)) + 1,
        "top": True,
        "uncovered": "suppress",
    }


def complete_description(spec: Mapping[str, Any], vocabulary: Sequence[str], unknown: Sequence[str]) -> dict[str, Any]:
    """A description of intervals with the borders it leaves open taken from the values; any other as it is."""
    if spec.get("builder") != "intervals" or "width" not in spec or "end" in spec:
        return dict(spec)
    plain = [value for value in vocabulary if kind_of(value, unknown) is CellKind.PLAIN]
    numbers = [number for value in plain if (number := _number(value)) is not None] or [0.0]
    width, end = spec["width"], math.floor(max(numbers)) + 1
    start = min(spec.get("start", 0), math.floor(min(numbers) / width) * width)
    return {**spec, **({"start": start} if start else {}), "end": end}


def _round_width(largest: float) -> float | int:
    """10 for ages; otherwise the 1, 2 or 5 times a power of ten that cuts the range into about sixteen bands."""
    if largest <= 125:
        return 10 if largest > 20 else 2
    raw = largest / _BANDS
    power = 10 ** math.floor(math.log10(raw))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= raw)


def _territory_spec(plain: Sequence[str]) -> dict[str, Any]:
    """Digits masked from the right where the values are codes of a list; a spreadsheet may have eaten their zero."""
    for padded in (False, True):
        for list_id, steps in _TERRITORY.items():
            width = steps[-1]
            whole = [value.zfill(width) if padded and len(value) == width - 1 else value for value in plain]
            fits = [value for value in whole if len(value) == width and value.isdigit() and _is_in_list(list_id, value)]
            if plain and len(fits) >= MOST * len(plain):
                stated = {"width": width} if padded else {}
                return {"builder": "mask", "steps": steps, **stated, "uncovered": "suppress"}
    return dict(_SUPPRESS)


def _is_in_list(list_id: str, value: str) -> bool:
    official = lookup(list_id)
    return official.knows(value) or official.knows(value[:4]) if list_id == "pe-ubigeo" else official.knows(value)


def _number(value: str) -> float | None:
    try:
        number = float(value.replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None  # «Inf» and «NaN» are texts, whatever Python makes of them
