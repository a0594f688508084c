"""What the sections of the risk page share: when a report was made, whether it still holds, what its figures mean."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from celosia import messages
from celosia.web._widgets import Click, button, card, chart, details, note, paragraph, table, tag, word

GRID = "#8a979d"


@dataclass(frozen=True, slots=True)
class Risk:
    """What `risk_state` answered."""

    state: Mapping[str, Any]

    def found(self, name: str) -> Mapping[str, Any] | None:
        """The figures of a kept report; None where it was never made."""
        held = self.state["reports"][name]
        return None if held is None else held["found"]

    def asked(self, name: str) -> Mapping[str, Any]:
        """What was asked for when it was made."""
        held = self.state["reports"][name]
        return {} if held is None else held["asked"]

    @property
    def names(self) -> list[str]:
        """Every variable of the dictionary."""
        return [one["name"] for one in self.state["variables"]]


@contextlib.contextmanager
def section(risk: Risk, name: str, part: str, **fields: object) -> Iterator[Mapping[str, Any] | None]:
    """A card that says what it is about and when it was computed; gives what was found."""
    with card(word(f"web_risk.{part}.title"), classes="c-form"):
        paragraph(word(f"web_risk.{part}.words", **fields))
        held = risk.state["reports"][name]
        if held is None:
            paragraph(word("web_risk.never"), "c-why")
        else:
            paragraph(word("web_risk.when", when=moment_text(held["when"])), "c-why")
            if held["stale"]:
                note(word("web_risk.stale"), "warning")
        yield None if held is None else held["found"]


def compute_button(found: object, part: str, start: Click) -> None:
    """The button that starts the work of a section; its spoken name says which."""
    words = word("web_risk.again" if found is not None else "web_risk.compute")
    kind = "plain" if found is not None else "primary"
    button(words, start, kind, f"{words}: {word(f'web_risk.{part}.title')}")


def moment_text(when: str) -> str:
    """A moment in the clock of this machine, to the minute."""
    return datetime.fromisoformat(when).astimezone().strftime("%Y-%m-%d %H:%M")


def share_text(share: float | None) -> str:
    """A share as a percentage; a small one never reads as none."""
    return "–" if share is None else messages.part(share)


def number_text(value: float | int | None, digits: int = 2) -> str:
    """A figure as the language writes it."""
    if value is None:
        return "–"
    return messages.integer(int(value)) if value == int(value) else messages.decimal(value, digits)


def meanings(keys: Sequence[str]) -> None:
    """The definition and source of some figures, one sentence each."""
    with details(word("web_risk.meaning")), tag("ul"):
        for key in keys:
            parts = {part: word(f"{key}.{part}").rstrip(".") + ("." if part == "definition" else "")
                     for part in ("name", "definition", "source")}  # fmt: skip
            tag("li", word("web_risk.explained", **parts))


def pairs_table(lines: Sequence[tuple[str, str]], caption: str) -> None:
    """Figures under their names."""
    table([word("web_risk.figure"), word("web_risk.value")], [list(line) for line in lines], caption, numbers=(1,))


def bars(names: Sequence[str], values: Sequence[float], label: str, upright: bool = True, whole: bool = True) -> None:
    """A bar chart; names along the foot, or down the side."""
    axis = {"axisLine": {"lineStyle": {"color": GRID}}, "axisTick": {"show": False}}
    category = {"type": "category", "data": list(names), "axisLabel": {"interval": 0}} | axis
    scale: dict[str, Any] = {"type": "value", "splitLine": {"lineStyle": {"color": GRID, "opacity": 0.35}}}
    scale |= {"minInterval": 1} if whole else {"max": 100, "axisLabel": {"formatter": "{value} %"}}
    feet, side = (category, scale) if upright else (scale, category | {"inverse": True})
    if upright:
        category["axisLabel"] = {"interval": 0, "rotate": 40}
    options = {
        "animation": False,
        "aria": {"enabled": False},
        "grid": {"left": 8, "right": 24, "top": 16, "bottom": 8, "containLabel": True},
        "xAxis": feet,
        "yAxis": side,
        "tooltip": {},
        "series": [{"type": "bar", "data": list(values), "itemStyle": {"color": "#2f7f97"}, "barMaxWidth": 48}],
    }
    chart(options, label, height=300 if upright else max(160, 34 * len(names) + 50))
