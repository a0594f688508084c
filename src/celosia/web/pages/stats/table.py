"""One table of STATS: its rows, its hidden cells with the reason, and for those allowed the interval of each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.stats.declaration.views import HiddenCell, StatsHidden, StatsRow, StatsRows
from celosia.web.pages.stats.page import audience_text
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, part_path
from celosia.web.ui.html import Cell
from celosia.web.ui.page import stats_page
from celosia.web.ui.verdicts import minute_text
from celosia.workbench.operations.stats import find_intervals, stats_intervals, stats_table

_ROWS = 40
_OWN_REASONS = ("threshold", "dominance", "p_percent", "zero", "full", "over_time")  # the others protect another cell


@stats_page("table")
async def stats_table_page(page: PageContext) -> None:
    """The rows of a table, some at a time."""
    rows = await page.ask(stats_table, page.folder, page.item, 0, _ROWS)
    with html.tag("p"):
        html.link(text("web_stats.back"), part_path(page.name, "tables"))
    html.heading(rows.title, id="table-title")
    html.figures(
        (text("web_stats.figure.audience"), audience_text(rows.audience)),
        (text("web_stats.figure.k"), messages.integer(rows.k)),
        (text("web_stats.figure.shown"), messages.integer(rows.shown)),
        (text("web_stats.figure.hidden"), messages.integer(rows.hidden)),
        (text("web_stats.figure.last"), rows.last[:10]),
    )
    _method_text(rows)
    hidden = await _read_hidden(page, 0, False)
    _intervals_card(page, rows, hidden)
    browser = _RowBrowser(page)
    if rows.hidden:
        html.check(text("web_stats.only_hidden"), False, lambda only: browser.show(0, only))
    browser.box = html.tag("div")
    browser.build(rows, hidden)


async def _read_hidden(page: PageContext, offset: int, only: bool) -> StatsHidden | None:
    """Reasons and intervals of the same rows, for who may know them."""
    if not page.may(stats_intervals):
        return None
    return await page.ask(stats_intervals, page.folder, page.item, offset, _ROWS, only_hidden=only)


def _method_text(rows: StatsRows) -> None:
    if rows.method == "round":
        html.paragraph(text("web_stats.rounded", base=rows.base))
        return
    html.paragraph(text("web_stats.small_cells", action=text(f"stats.action.{rows.action}")))
    html.paragraph(text("web_stats.absent"), "c-soft")


def _intervals_card(page: PageContext, rows: StatsRows, hidden: StatsHidden | None) -> None:
    """The button that computes intervals, and when they were computed."""
    if hidden is None or not rows.hidden:
        return
    with html.card(text("web_stats.interval.title")):
        html.paragraph(text("web_stats.interval.meaning"))
        if not hidden.measurable:
            html.paragraph(text("web_stats.interval.unmeasurable"))
            return
        if hidden.stale:
            html.note(text("web_stats.interval.stale"), "warning")
        elif hidden.when:
            html.paragraph(text("web_stats.interval.made", when=minute_text(hidden.when)), "c-soft")
        key = "again" if hidden.when else "find"
        html.button(text(f"web_stats.interval.{key}"), lambda: page.start(find_intervals, page.folder, page.item))


@dataclass(slots=True)
class _RowBrowser:
    """Which rows the page shows."""

    page: PageContext
    box: ui.element = field(init=False)
    only_hidden: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # what was asked last is shown last

    async def show(self, offset: int, only: bool) -> None:
        """Show other rows."""
        page, self.only_hidden = self.page, only
        async with self.turn:
            rows = await page.ask(stats_table, page.folder, page.item, offset, _ROWS, only_hidden=only)
            hidden = await _read_hidden(page, offset, only)
            self.box.clear()
            self.build(rows, hidden)

    def build(self, rows: StatsRows, hidden: StatsHidden | None) -> None:
        """Build these rows and the buttons to others."""
        cells = {} if hidden is None else {cell.labels: cell for cell in hidden.cells}
        with self.box:
            _rows_table(rows, cells)
            self._page_buttons(rows)

    def _page_buttons(self, rows: StatsRows) -> None:
        last, only = min(rows.offset + _ROWS, rows.total), self.only_hidden

        async def turn(offset: int) -> None:
            if self.only_hidden == only:  # else other rows were asked for meanwhile
                await self.show(offset, only)

        with html.line():
            first = min(rows.offset + 1, rows.total)
            html.tag("span", text("web_stats.rows", first=first, last=last, total=rows.total), role="status")
            if rows.offset:
                html.button(text("web_stats.previous"), partial(turn, max(0, rows.offset - _ROWS)))
            if last < rows.total:
                html.button(text("web_stats.following"), partial(turn, rows.offset + _ROWS))


# --- rows ------------------------------------------------------------------------------------------


def _rows_table(rows: StatsRows, cells: Mapping[Any, HiddenCell]) -> None:
    width, intervals = len(rows.dimensions), any(cell.interval for cell in cells.values())
    heads = [*rows.dimensions, *(f"{name} (%)" if kind == "percent" else name for name, kind in rows.measures)]
    heads += [text("web_stats.interval.head")] if intervals else []
    heads.append(text("web_stats.head.state"))
    numbers = range(width, width + len(rows.measures) + intervals)
    shown = [_row_cells(rows, row, cells.get(row.labels), intervals) for row in rows.rows]
    html.table(heads, shown, rows.title, numbers=numbers, classes="s-rows")


def _row_cells(rows: StatsRows, row: StatsRow, cell: HiddenCell | None, intervals: bool) -> list[Cell]:
    labels = [text("web_stats.all") if label is None else str(label) for label in row.labels]
    values: list[Cell]
    if row.hidden:
        reason = _reason_text(rows, cell)
        others: list[Cell] = [partial(_hidden_mark, reason)] * (len(row.values) - 1)
        values = [partial(_hidden_button, reason, ", ".join(labels)), *others]
    else:
        values = [_value_text(value, kind) for value, (_, kind) in zip(row.values, rows.measures, strict=True)]
    interval = [_interval_text(cell) if row.hidden else ""] if intervals else []
    return [
        *labels,
        *values,
        *interval,
        partial(html.state, _state_text(row, cell), "warning" if row.hidden else "good"),
    ]


def _value_text(value: int | float | None, kind: str) -> str:
    if value is None:
        return "–"
    return messages.integer(int(value)) if kind in ("persons", "rows") else messages.decimal(float(value), 2)


def _hidden_button(reason: str, labels: str) -> None:
    """A sign and a word; why it is hidden shows on hover and on focus, and a screen reader reads it."""
    with html.tooltip(reason) as place:
        words, label = f"▒ {text('stats.hidden')}", text("web_stats.hidden_label", labels=labels)
        html.tag("button", words, "c-button c-small s-hidden", type="button", aria_describedby=place, aria_label=label)


def _hidden_mark(reason: str) -> None:
    html.tag("span", f"▒ {text('stats.hidden')}", "s-blank", title=reason)


def _reason_text(rows: StatsRows, cell: HiddenCell | None) -> str:
    """Why a row is hidden; readers of STATS learn only that it is small or that it protects another."""
    if cell is None or not cell.reason:
        return text("web_stats.reason.public", k=rows.k)
    reason = text(f"tables.reason.{cell.reason}", k=rows.k, unit=text("tables.unit.persons"))
    return text(f"web_stats.reason.{'own' if cell.reason in _OWN_REASONS else 'other'}", reason=reason)


def _state_text(row: StatsRow, cell: HiddenCell | None) -> str:
    if not row.hidden:
        return text("web_stats.cell.shown")
    return text(f"web_stats.cell.{cell.reason if cell and cell.reason else 'hidden'}")


def _interval_text(cell: HiddenCell | None) -> str:
    if cell is None or not cell.interval:
        return ""
    if cell.interval != "found":
        return text(f"web_stats.interval.{cell.interval}")
    low = messages.integer(cell.low or 0)
    if cell.high is None:
        return text("web_stats.interval.from", low=low)
    return text("web_stats.interval.between", low=low, high=messages.integer(cell.high))
