"""Masking characters from one end: '05302' → '053**' → '05***' → '*****'.

Source: MINSAL, Anexo II.2 (CUT: two digits of region, one of province, two of comuna).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from celosia.hierarchy._builder import Builder, Placed
from celosia.model.parameters import Param, conflict

PARAMS = {
    "side": Param("text", default="right", choices=("right", "left")),
    "steps": Param("wholes", minimum=1),
    "width": Param("whole", minimum=1),
}


def place(plain: Sequence[str], settings: Mapping[str, Any]) -> Placed:
    """Masked labels of each value; the step that hides the widest value is the top level."""
    width = settings["width"]
    shown = {value: _padded(value, width) for value in plain}
    widest = width or max(map(len, shown.values()), default=1)
    steps = settings["steps"] or tuple(range(1, widest + 1))
    if any(low >= high for low, high in pairwise(steps)):
        raise conflict("mask", "steps", "increasing")
    partial = tuple(step for step in steps if step < widest)
    labels = {
        value: tuple(_masked(text, step, settings["side"]) for step in partial)
        for value, text in shown.items()
        if width is None or len(text) == width
    }
    return Placed(labels, len(partial), closed=len(partial) < len(steps), top="*" * widest)


def _padded(value: str, width: int | None) -> str:
    """Zeros on the left of a shorter number, only where a width was declared: `5302` is then `05302`."""
    digits = value.isascii() and value.isdigit()
    return value.zfill(width) if width is not None and digits else value


def _masked(text: str, step: int, side: str) -> str:
    hidden = min(step, len(text))
    if side == "right":
        return text[: len(text) - hidden] + "*" * hidden
    return "*" * hidden + text[hidden:]


MASK = Builder("mask", PARAMS, place)
