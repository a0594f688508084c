"""One table of STATS: its rows, its hidden cells with the reason, and for those allowed how far each could lie."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.web._frame import Desk, part_path, stats_page
from celosia.web._widgets import (
    Cell,
    button,
    card,
    check,
    explained,
    figures,
    heading,
    line,
    link,
    note,
    paragraph,
    state,
    table,
    tag,
    word,
)
from celosia.web.pages._stats import audience_words, day

_ROWS = 40


@dataclass(slots=True)
class _Shown:
    """Which rows the page shows."""

    desk: Desk
    box: ui.element = field(init=False)
    only_hidden: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # what was asked last is shown last


@stats_page("table")
async def stats_table_page(desk: Desk) -> None:
    """The rows of a table, some at a time."""
    found = await desk.ask("stats.stats_table", desk.folder, desk.item, 0, _ROWS)
    with tag("p"):
        link(word("web_stats.back"), part_path(desk.name, "tables"))
    heading(found.title, id="table-title")
    figures([
        (word("web_stats.figure.audience"), audience_words(found.audience)),
        (word("web_stats.figure.k"), messages.integer(found.k)),
        (word("web_stats.figure.shown"), messages.integer(found.shown)),
        (word("web_stats.figure.hidden"), messages.integer(found.hidden)),
        (word("web_stats.figure.last"), found.last[:10]),
    ])  # fmt: skip
    _method(found)
    hidden = await _hidden(desk, 0, False)
    _intervals(desk, found, hidden)
    shown = _Shown(desk)
    if found.hidden:
        check(word("web_stats.only_hidden"), False, partial(_chosen, shown))
    shown.box = tag("div")
    _built(shown, found, hidden)


async def _hidden(desk: Desk, offset: int, only: bool) -> Any:
    """Reasons and intervals of the same rows, for who may know them."""
    if not desk.may("stats.stats_intervals"):
        return None
    return await desk.ask("stats.stats_intervals", desk.folder, desk.item, offset, _ROWS, only_hidden=only)


def _method(found: Any) -> None:
    if found.method == "round":
        paragraph(word("web_stats.rounded", base=found.base))
        return
    paragraph(word("web_stats.small_cells", action=word(f"stats.action.{found.action}")))
    paragraph(word("web_stats.absent"), "c-soft")


def _intervals(desk: Desk, found: Any, hidden: Any) -> None:
    """The work that computes intervals, and of when they are."""
    if hidden is None or not found.hidden:
        return
    with card(word("web_stats.interval.title")):
        paragraph(word("web_stats.interval.meaning"))
        if not hidden.measurable:
            paragraph(word("web_stats.interval.unmeasurable"))
            return
        if hidden.stale:
            note(word("web_stats.interval.stale"), "warning")
        elif hidden.when:
            paragraph(word("web_stats.interval.made", when=day(hidden.when)), "c-soft")
        key = "again" if hidden.when else "find"
        button(word(f"web_stats.interval.{key}"), lambda: desk.start("stats.find_intervals", desk.folder, desk.item))


async def _chosen(shown: _Shown, only: bool) -> None:
    await _turned(shown, 0, only)


async def _turned(shown: _Shown, offset: int, only: bool) -> None:
    """Show other rows."""
    desk, shown.only_hidden = shown.desk, only
    async with shown.turn:
        found = await desk.ask("stats.stats_table", desk.folder, desk.item, offset, _ROWS, only_hidden=only)
        hidden = await _hidden(desk, offset, only)
        shown.box.clear()
        _built(shown, found, hidden)


def _built(shown: _Shown, found: Any, hidden: Any) -> None:
    told = {} if hidden is None else {one.labels: one for one in hidden.cells}
    with shown.box:
        _rows(found, told, hidden is not None and any(one.interval for one in hidden.cells))
        _pages(shown, found)


def _pages(shown: _Shown, found: Any) -> None:
    last, only = min(found.offset + _ROWS, found.total), shown.only_hidden

    async def turn(offset: int) -> None:
        if shown.only_hidden == only:  # else other rows were asked for meanwhile
            await _turned(shown, offset, only)

    with line():
        tag("span", word("web_stats.rows", first=min(found.offset + 1, found.total), last=last, total=found.total),
            role="status")  # fmt: skip
        if found.offset:
            button(word("web_stats.previous"), partial(turn, max(0, found.offset - _ROWS)))
        if last < found.total:
            button(word("web_stats.following"), partial(turn, found.offset + _ROWS))


# --- rows ------------------------------------------------------------------------------------------


def _rows(found: Any, told: dict[Any, Any], intervals: bool) -> None:
    width = len(found.dimensions)
    heads = [*found.dimensions, *(_measure(name, kind) for name, kind in found.measures)]
    heads += [word("web_stats.interval.head")] if intervals else []
    heads.append(word("web_stats.head.state"))
    numbers = range(width, width + len(found.measures) + intervals)
    rows = [_row(found, row, told.get(row.labels), intervals) for row in found.rows]
    table(heads, rows, found.title, numbers=numbers, classes="s-rows")


def _measure(name: str, kind: str) -> str:
    return f"{name} (%)" if kind == "percent" else name


def _row(found: Any, row: Any, told: Any, intervals: bool) -> list[Cell]:
    labels: list[Cell] = [word("web_stats.all") if label is None else label for label in row.labels]
    reason = _reason(found, told) if row.hidden else ""
    if row.hidden:
        first: list[Cell] = [partial(_hidden_cell, reason, ", ".join(str(label) for label in labels))]
        values = first + [partial(_blank, reason)] * (len(row.values) - 1)
    else:
        values = [_value(one, kind) for one, (_, kind) in zip(row.values, found.measures, strict=True)]
    more: list[Cell] = [_interval(told) if row.hidden else ""] if intervals else []
    word_of_state = partial(state, _state(row, told), "warning" if row.hidden else "good")
    return [*labels, *values, *more, word_of_state]


def _value(value: int | float | None, kind: str) -> str:
    if value is None:
        return "–"
    return messages.integer(int(value)) if kind in ("persons", "rows") else messages.decimal(float(value), 2)


def _hidden_cell(reason: str, labels: str) -> None:
    """A sign and a word; why it is hidden shows on hover and on focus, and is what a screen reader says of it."""
    with explained(reason) as place:
        tag("button", f"▒ {word('stats.hidden')}", "c-button c-small s-hidden", type="button", aria_describedby=place,
            aria_label=word("web_stats.hidden_label", labels=labels))  # fmt: skip


def _blank(reason: str) -> None:
    tag("span", f"▒ {word('stats.hidden')}", "s-blank", title=reason)


def _reason(found: Any, told: Any) -> str:
    """Why a row is hidden, in words; readers of STATS are told that it is small or that it protects another."""
    if told is None or not told.reason:
        return word("web_stats.reason.public", k=found.k)
    reason = word(f"tables.reason.{told.reason}", k=found.k, unit=word("tables.unit.persons"))
    kind = "own" if told.reason in _OWN else "other"
    return word(f"web_stats.reason.{kind}", reason=reason)


_OWN = ("threshold", "dominance", "p_percent", "zero", "full", "over_time")


def _state(row: Any, told: Any) -> str:
    if not row.hidden:
        return word("web_stats.cell.shown")
    if told is None or not told.reason:
        return word("web_stats.cell.hidden")
    return word(f"web_stats.cell.{told.reason}")


def _interval(told: Any) -> str:
    if told is None or not told.interval:
        return ""
    if told.interval != "found":
        return word(f"web_stats.interval.{told.interval}")
    low = messages.integer(told.low)
    if told.high is None:
        return word("web_stats.interval.from", low=low)
    return word("web_stats.interval.between", low=low, high=messages.integer(told.high))
