"""Plain shapes for pictures: what a chart is made of before it becomes SVG.

Knows pixels, styles by name and text. Ignores what is drawn and how a shape is written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """One rectangle, line, circle or text."""

    kind: str
    style: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    x2: float = 0.0
    y2: float = 0.0
    text: str = ""
    anchor: str = "start"
    turned: int = 0
    opacity: float = 1.0


def rect(style: str, x: float, y: float, width: float, height: float, text: str = "", opacity: float = 1.0) -> Shape:
    """A rectangle; `text` shows when it is pointed at."""
    return Shape(
        "rect", style, _px(x), _px(y), _px(max(width, 0.0)), _px(max(height, 0.0)), text=text, opacity=round(opacity, 3)
    )


def line(style: str, x: float, y: float, x2: float, y2: float) -> Shape:
    """A straight line."""
    return Shape("line", style, _px(x), _px(y), x2=_px(x2), y2=_px(y2))


def circle(style: str, x: float, y: float, radius: float, text: str = "") -> Shape:
    """A dot."""
    return Shape("circle", style, _px(x), _px(y), radius, text=text)


def label(x: float, y: float, text: str, anchor: str = "start", style: str = "", turned: int = 0) -> Shape:
    """A text."""
    return Shape("text", style, _px(x), _px(y), text=text, anchor=anchor, turned=turned)


def clip_text(text: str, most: int = 22) -> str:
    """A label short enough for its place."""
    return text if len(text) <= most else text[: most - 1] + "…"


def nice_top(values: Iterable[float]) -> tuple[float, float]:
    """A round height that holds the values, and a step of 1, 2 or 5 times a power of ten."""
    highest = max([*values, 0.0]) or 1.0
    power = 10.0 ** math.floor(math.log10(highest / 4))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= highest / 5 * 0.999)
    return step * math.ceil(highest / step - 1e-9), step


def _px(value: float) -> float:
    return round(float(value), 1)
