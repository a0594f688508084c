"""The lineage of a table as a picture: PERSONAL columns at the left, rules in the middle, STATS columns at the right.

Built from elements: every name is text, never markup. A table beside it says the same.
"""

from __future__ import annotations

from typing import Any

from celosia.web._widgets import tag, word

_WIDE, _HIGH, _STEP, _TOP = 260, 34, 46, 34
_LEFT, _MIDDLE, _RIGHT = 2, 332, 662
_LONGEST = 31  # characters that a box holds


def lineage_picture(one: Any) -> None:
    """The picture of one table."""
    sources = list(dict.fromkeys(name for column in one.columns for name in column.columns))
    rows = max(len(sources), len(one.columns))
    high, label = _TOP + rows * _STEP, word("web_stats.lineage.of", table=one.title or one.base)
    box = tag("div", classes="c-scroll s-lineage", tabindex="0", role="region", aria_label=label)
    with box, tag("svg", viewBox=f"0 0 {_RIGHT + _WIDE + 2} {high}", role="img", aria_label=label):
        for left, key in ((_LEFT, "personal"), (_MIDDLE, "rule"), (_RIGHT, "stats")):
            tag("text", word(f"web_stats.lineage.{key}"), "s-head", x=left, y=18)
        places = {name: _height(at, len(sources), rows) for at, name in enumerate(sources)}
        for at, column in enumerate(one.columns):
            _edges(column, places, _height(at, len(one.columns), rows))
        for name, y in places.items():
            _box(_LEFT, y, f"{one.block}.{name}", "s-personal")
        for at, column in enumerate(one.columns):
            y = _height(at, len(one.columns), rows)
            _box(_MIDDLE, y, word(f"stats.rule.{column.rule}"), "s-rule")
            _box(_RIGHT, y, column.column, "s-stats")


def _height(at: int, count: int, rows: int) -> float:
    """The top of a box: the shorter side is spread over the height of the longer one."""
    return round(_TOP + (at + 0.5) * rows * _STEP / count - _STEP / 2, 1)


def _edges(column: Any, places: dict[str, float], y: float) -> None:
    middle = y + _HIGH / 2
    for name in column.columns:
        start, bend = places[name] + _HIGH / 2, (_LEFT + _WIDE + _MIDDLE) / 2
        path = f"M {_LEFT + _WIDE} {start} C {bend} {start}, {bend} {middle}, {_MIDDLE} {middle}"
        tag("path", classes="s-edge", d=path)
    tag("path", classes="s-edge", d=f"M {_MIDDLE + _WIDE} {middle} H {_RIGHT}")


def _box(x: float, y: float, words: str, classes: str) -> None:
    with tag("g", classes=f"s-box {classes}"):
        tag("title", words)
        tag("rect", x=x, y=y, width=_WIDE, height=_HIGH, rx=6)
        tag("text", words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…", x=x + 10, y=y + 22)
