"""Masking characters from one end: '05302' → '053**' → '05***' → '*****'.

Source: MINSAL, Anexo II.2 (CUT: two digits of region, one of province, two of comuna).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from celosia.hierarchy.builder import Builder, Detail, LeafLabels
from celosia.model.parameters import Many, Text, Whole, conflict

PARAMS = {
    "side": Text(default="right", choices=("right", "left")),
    "steps": Many(Whole(minimum=1)),
    "width": Whole(minimum=1),
}


def place_masked(plain: Sequence[str], settings: Mapping[str, Any]) -> LeafLabels:
    """Masked labels of each value; the step that hides the widest value is the top level."""
    width = settings["width"]
    # Zeros on the left of a shorter number, only where a width was declared: `5302` is then `05302`.
    padded = {value: value.zfill(width) if width is not None and _is_number(value) else value for value in plain}
    widest = width or max(map(len, padded.values()), default=1)
    steps = settings["steps"] or tuple(range(1, widest + 1))
    if any(low >= high for low, high in pairwise(steps)):
        raise conflict("mask", "steps", "increasing")
    partial = tuple(step for step in steps if step < widest)
    labels = {
        value: tuple(_mask_text(text, step, settings["side"]) for step in partial)
        for value, text in padded.items()
        if width is None or len(text) == width
    }
    return LeafLabels(labels, len(partial), closed=len(partial) < len(steps), top="*" * widest)


def short_numbers(plain: Sequence[str], spec: Mapping[str, Any]) -> tuple[int, int]:
    """How many numbers a mask hides whole at level 1 because others are longer, and the width that would keep them.

    Neither where a width was declared, or where padding with zeros would not fit every value.
    """
    widest = max(map(len, plain), default=0)
    first = min(spec.get("steps") or (1,), default=1)
    if spec.get("builder") != "mask" or spec.get("width") or first >= widest or not all(map(_is_number, plain)):
        return 0, 0
    short = sum(len(value) <= first for value in plain)
    return (short, widest) if short else (0, 0)


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit()


def _mask_text(text: str, step: int, side: str) -> str:
    hidden = min(step, len(text))
    if side == "right":
        return text[: len(text) - hidden] + "*" * hidden
    return "*" * hidden + text[hidden:]


def detail(settings: Mapping[str, Any], level: int) -> Detail:
    """How many characters are hidden, and at which end."""
    steps = settings["steps"] or range(1, level + 1)
    return {"unit": settings["side"], "size": str(steps[level - 1])}


MASK = Builder("mask", PARAMS, place_masked, detail)
