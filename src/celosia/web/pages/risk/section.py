"""What the sections of the risk page share: when a report was made, whether it still holds, what its figures mean."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from celosia import messages
from celosia.messages import text
from celosia.web.ui import html
from celosia.web.ui.html import Click
from celosia.workbench.views.saved import Saved

GRID = "#8a979d"
T = TypeVar("T")


@contextlib.contextmanager
def section(saved: Saved[T] | None, part: str, **fields: object) -> Iterator[T | None]:
    """A card that says what it is about and when its report was made; gives the report."""
    with html.card(text(f"web_risk.{part}.title"), classes="c-form"):
        html.paragraph(text(f"web_risk.{part}.words", **fields))
        if saved is None:
            html.paragraph(text("web_risk.never"), "c-why")
        else:
            when = datetime.fromisoformat(saved.when).astimezone().strftime("%Y-%m-%d %H:%M")
            html.paragraph(text("web_risk.when", when=when), "c-why")
            if saved.stale:
                html.note(text("web_risk.stale"), "warning")
        yield None if saved is None else saved.report


def compute_button(report: object, part: str, start: Click) -> None:
    """The button that starts the work of a section; its spoken name says which."""
    label = text("web_risk.again" if report is not None else "web_risk.compute")
    kind = "plain" if report is not None else "primary"
    html.button(label, start, kind, f"{label}: {text(f'web_risk.{part}.title')}")


def share_text(share: float | None) -> str:
    """A share as a percentage; a small one never reads as none."""
    return "–" if share is None else messages.part(share)


def number_text(value: float | None, digits: int = 2) -> str:
    """A figure as the language writes it."""
    if value is None:
        return "–"
    return messages.integer(int(value)) if value == int(value) else messages.decimal(value, digits)


def show_meanings(keys: Sequence[str]) -> None:
    """The definition and source of some figures, one sentence each."""
    with html.details(text("web_risk.meaning")), html.tag("ul"):
        for key in keys:
            name, definition, source = (text(f"{key}.{part}").rstrip(".") for part in ("name", "definition", "source"))
            html.tag("li", text("web_risk.explained", name=name, definition=f"{definition}.", source=source))


def pairs_table(lines: Sequence[tuple[str, str]], caption: str) -> None:
    """Figures under their names."""
    html.table([text("web_risk.figure"), text("web_risk.value")], [list(line) for line in lines], caption, numbers=(1,))


def bar_chart(
    names: Sequence[str], values: Sequence[float], label: str, upright: bool = True, whole: bool = True
) -> None:
    """A bar chart; names along the bottom, or down the side."""
    axis = {"axisLine": {"lineStyle": {"color": GRID}}, "axisTick": {"show": False}}
    labels = {"interval": 0, **({"rotate": 40} if upright else {})}
    category = {"type": "category", "data": list(names), "axisLabel": labels} | axis
    scale: dict[str, Any] = {"type": "value", "splitLine": {"lineStyle": {"color": GRID, "opacity": 0.35}}}
    scale |= {"minInterval": 1} if whole else {"max": 100, "axisLabel": {"formatter": "{value} %"}}
    options = {
        "animation": False,
        "aria": {"enabled": False},
        "grid": {"left": 8, "right": 24, "top": 16, "bottom": 8, "containLabel": True},
        "xAxis": category if upright else scale,
        "yAxis": scale if upright else category | {"inverse": True},
        "tooltip": {},
        "series": [{"type": "bar", "data": list(values), "itemStyle": {"color": "#2f7f97"}, "barMaxWidth": 48}],
    }
    html.chart(options, label, height=300 if upright else max(160, 34 * len(names) + 50))
