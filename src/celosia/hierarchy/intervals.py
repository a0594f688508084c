"""Intervals [lo, hi) of numbers, each next level joining neighbours.

Knows numbers written as text, whole or with decimals. Ignores units. Base width and grouping factor as in
MINSAL, Anexo II.1.7 (0–118, width 10, factor 2: 10, 20, 40, 80, 160); explicit cuts as in YAPÓ 2.2 and 2.4.
Labels of whole numbers name the last number inside (`30 a 39`); of others, the border (`100-500`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from celosia.hierarchy.builder import Builder, Detail, LeafLabels
from celosia.model.parameters import Flag, Many, Number, Text, TomlTable, Whole, conflict

PARAMS = {
    "width": Number(),
    "start": Number(default=Decimal(0)),
    "end": Number(),
    "cuts": Many(Number()),
    "open_low": Flag(default=False),
    "open_high": Flag(default=False),
    "factor": Whole(default=2, minimum=2),
    "coarser": TomlTable(),
    "height": Whole(minimum=1),
    "label": Text(default="{low} a {high}"),
    "whole": Flag(default=True),
    "decimal": Text(default=".", choices=(".", ",")),
    "complete": Flag(default=False),
}
_MOST_BANDS = 100_000


class Band(NamedTuple):
    """An interval [low, high); None is an open end."""

    low: Decimal | None
    high: Decimal | None


def place_numbers(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """The bands of each number, at each level."""
    levels = _levels(settings)
    closed = levels[-1] == (Band(None, None),)
    named = [[_label(band, settings) for band in bands] for bands in (levels[:-1] if closed else levels)]
    holders = [_holders(levels[0], bands) for bands in levels[: len(named)]]
    numbers = _numbers(plain, settings)
    if settings["complete"]:
        numbers |= _domain(settings, set(numbers.values()))
    labels = {}
    for text, number in sorted(numbers.items(), key=lambda item: (item[1], item[0])):
        base_band = _position(levels[0], number)
        if base_band is not None:
            labels[text] = tuple(names[holder[base_band]] for names, holder in zip(named, holders, strict=True))
    return LeafLabels(labels, len(named), closed=closed)


def _levels(settings: Mapping[str, Any]) -> list[tuple[Band, ...]]:
    if "{low}" not in settings["label"] or "{high}" not in settings["label"]:
        raise conflict("intervals", "label", "low_and_high")
    base = _bands(_cuts(settings), settings)
    if settings["coarser"] is not None:
        levels = [base, *(_bands(_own_cuts(cuts), settings) for cuts in settings["coarser"])]
        _check_nested(levels)
    else:
        levels = [base]
        while len(levels[-1]) > 1:
            levels.append(_join_neighbours(levels[-1], settings["factor"]))
    return levels[: settings["height"]]


def _cuts(settings: Mapping[str, Any]) -> tuple[Decimal, ...]:
    if (settings["cuts"] is None) == (settings["width"] is None):
        raise conflict("intervals", "cuts, width", "cuts_or_width")
    if settings["cuts"] is not None:
        return _increasing(settings["cuts"])
    width, start, end = settings["width"], settings["start"], settings["end"]
    if end is None or end <= start or width <= 0 or (end - start) / width > _MOST_BANDS:
        raise conflict("intervals", "start, end, width", "range")
    # An open upper end begins at `end`; otherwise the last band still holds `end`.
    count = int(-(-(end - start) // width)) if settings["open_high"] else int((end - start) // width) + 1
    cuts = tuple(start + width * step for step in range(count + 1))
    return (*cuts[:-1], end) if settings["open_high"] else cuts


def _own_cuts(cuts: Any) -> tuple[Decimal, ...]:
    if not isinstance(cuts, list | tuple):
        raise conflict("intervals", "coarser", "nested")
    try:
        return _increasing(tuple(Decimal(str(cut)) for cut in cuts))
    except (TypeError, ArithmeticError):
        raise conflict("intervals", "coarser", "nested") from None


def _increasing(cuts: tuple[Decimal, ...]) -> tuple[Decimal, ...]:
    if not cuts or any(low >= high for low, high in pairwise(cuts)):
        raise conflict("intervals", "cuts", "increasing")
    return cuts


def _bands(cuts: tuple[Decimal, ...], settings: Mapping[str, Any]) -> tuple[Band, ...]:
    if settings["whole"] and any(cut != int(cut) for cut in cuts):
        raise conflict("intervals", "whole", "whole_cuts")
    low = (Band(None, cuts[0]),) if settings["open_low"] else ()
    high = (Band(cuts[-1], None),) if settings["open_high"] else ()
    bands = (*low, *(Band(*pair) for pair in pairwise(cuts)), *high)
    if not bands:
        raise conflict("intervals", "cuts", "two_cuts")
    return bands


def _join_neighbours(bands: tuple[Band, ...], factor: int) -> tuple[Band, ...]:
    """Groups of `factor` neighbours; a short last group keeps the width of the others where it has an end."""
    groups = [bands[start : start + factor] for start in range(0, len(bands), factor)]
    joined = [Band(group[0].low, group[-1].high) for group in groups]
    last = groups[-1]
    if len(last) < factor and last[-1].high is not None and last[-1].low is not None:
        width = last[-1].high - last[-1].low
        if all(_width(band) == width for band in bands[-2:]):
            joined[-1] = Band(joined[-1].low, last[-1].high + width * (factor - len(last)))
    return tuple(joined)


def _width(band: Band) -> Decimal | None:
    return None if band.low is None or band.high is None else band.high - band.low


def _check_nested(levels: Sequence[tuple[Band, ...]]) -> None:
    for below, above in pairwise(levels):
        borders = {band.low for band in below} | {band.high for band in below}
        inside = {band.low for band in above} | {band.high for band in above}
        if not inside <= borders or (below[0].low, below[-1].high) != (above[0].low, above[-1].high):
            raise conflict("intervals", "coarser", "nested")


def _numbers(plain: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Decimal]:
    """The values that are numbers as declared; the others stay out and are counted by the caller."""
    mark = re.escape(settings["decimal"])
    shape = re.compile(r"[+-]?[0-9]+" if settings["whole"] else rf"[+-]?[0-9]+({mark}[0-9]+)?")
    texts = (text for text in plain if shape.fullmatch(text))
    return {text: Decimal(text.replace(settings["decimal"], ".")) for text in texts}


def _domain(settings: Mapping[str, Any], present: set[Decimal]) -> dict[str, Decimal]:
    """Every whole number of a declared range that the data happen to lack."""
    cuts = _cuts(settings)
    low, high = int(cuts[0]), int(settings["end"] if settings["end"] is not None else cuts[-1] - 1)
    if not settings["whole"] or high - low > _MOST_BANDS:
        raise conflict("intervals", "complete", "whole_range")
    return {str(number): Decimal(number) for number in range(low, high + 1) if Decimal(number) not in present}


def _position(bands: Sequence[Band], number: Decimal) -> int | None:
    low, high = 0, len(bands)
    while low < high:
        middle = (low + high) // 2
        upper = bands[middle].high
        if upper is not None and number >= upper:
            low = middle + 1
        else:
            high = middle
    if low == len(bands):
        return None
    lower = bands[low].low
    return low if lower is None or number >= lower else None


def _holders(base: Sequence[Band], wider: Sequence[Band]) -> list[int]:
    """Which band of a level holds each base band: levels are nested, so its lower end decides."""
    return [0 if band.low is None else _position(wider, band.low) or 0 for band in base]


def _label(band: Band, settings: Mapping[str, Any]) -> str:
    def number_text(number: Decimal) -> str:
        return f"{number.normalize():f}".replace(".", settings["decimal"])

    if band.low is None and band.high is not None:
        return f"<{number_text(band.high)}"
    if band.low is not None and band.high is None:
        return f"{number_text(band.low)}+"
    if band.low is None or band.high is None:
        return "*"
    last = band.high - 1 if settings["whole"] else band.high
    if last == band.low:
        return number_text(band.low)
    label: str = settings["label"].replace("{low}", number_text(band.low)).replace("{high}", number_text(last))
    return label


def detail(settings: Mapping[str, Any], level: int) -> Detail:
    """One width where the description gives one; cuts of one's own have many."""
    if settings["width"] is None or (settings["coarser"] is not None and level > 1):
        return {}
    width: Decimal = settings["width"] * settings["factor"] ** (level - 1)
    return {"size": f"{width.normalize():f}"}


INTERVALS = Builder("intervals", PARAMS, place_numbers, detail)
