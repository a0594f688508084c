"""What is known of STATS: the catalogue of its tables, where each column comes from, and its runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from celosia import messages
from celosia.messages import text
from celosia.model.reports.stats import CatalogueEntry, ColumnLineage
from celosia.stats.declaration.views import LineageColumn, StatsRunLine, TableLineage
from celosia.web.pages.stats.page import audience_text, failure_text
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, part_path
from celosia.web.ui.html import Cell
from celosia.web.ui.page import stats_page
from celosia.web.ui.verdicts import minute_text
from celosia.web.work.workers import OperationFailed
from celosia.workbench.operations.stats import stats_catalogue, stats_history, stats_lineage

_MOST_SHOWN = 200  # runs on the page; the journal has all of them
_NOTHING_YET = ("never_ran", "file_missing")
# The picture of the lineage: sizes of a box, the step between two, and the left edges of its three columns.
_WIDE, _HIGH, _STEP, _TOP = 260, 34, 46, 34
_LEFT, _MIDDLE, _RIGHT = 2, 332, 662
_LONGEST = 31  # characters that a box holds


# --- catalogue -------------------------------------------------------------------------------------


@stats_page("catalogue")
async def stats_catalogue_page(page: PageContext) -> None:
    """An entry for every table: sources, rule of every column, frequency, k."""
    try:
        catalogue = await page.answer(stats_catalogue, page.folder)
    except OperationFailed as error:
        if error.failure.code in _NOTHING_YET:
            html.paragraph(text("web_stats.nothing_yet"))
        else:
            html.note(str(error), "bad")
        return
    html.paragraph(text("stats.catalogue.opening", tables=len(catalogue.entries)))
    html.paragraph(text("stats.catalogue.note"), "c-soft")
    for entry in catalogue.entries:
        _entry_card(page, entry)


def _entry_card(page: PageContext, entry: CatalogueEntry) -> None:
    with html.card(f"{entry.title or entry.base} · {audience_text(entry.audience)}"):
        with html.tag("dl", classes="s-entry"):
            for name, value in _entry_facts(entry):
                html.tag("dt", name)
                html.tag("dd", value)
        rows = [[column.column, ", ".join(column.columns) or "–", _rule_text(column)] for column in entry.columns]
        heads = [text(f"stats.header.{key}") for key in ("column", "from", "rule")]
        with html.details(text("web_stats.columns")):
            html.table(heads, rows, text("web_stats.columns_of", table=entry.table), classes="s-columns")
        html.link(text("web_stats.open_table"), part_path(page.name, "table", entry.table))


def _entry_facts(entry: CatalogueEntry) -> list[tuple[str, str]]:
    rounding = entry.method == "round"
    action = text("stats.action.round", base=entry.base_unit) if rounding else text(f"stats.action.{entry.action}")
    margins = [" × ".join(dimensions) or text("stats.catalogue.total") for dimensions in entry.margins]
    values = {
        "table": entry.table,
        "k": messages.integer(entry.k),
        "sources": ", ".join(entry.sources),
        "action": action,
        "margins": "; ".join(margins) or "–",
        "frequency": text(f"stats.frequency.{entry.frequency}"),
        "last_run": minute_text(entry.last_run) or "–",
    }
    return [(text(f"stats.catalogue.{key}"), value) for key, value in values.items()]


def _rule_text(column: ColumnLineage | LineageColumn) -> str:
    """A rule in words, with its settings: borders, periods, the list it follows."""
    settings = "; ".join(f"{name}: {_setting_text(value)}" for name, value in column.detail.items())
    rule = text(f"stats.rule.{column.rule}")
    return f"{rule} ({settings})" if settings else rule


def _setting_text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} → {item}" for key, item in value.items())
    return ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else str(value)


# --- lineage ---------------------------------------------------------------------------------------


@stats_page("lineage")
async def stats_lineage_page(page: PageContext) -> None:
    """Which PERSONAL columns feed each STATS column, and by which rule: a picture and a table of the same."""
    lineage = await page.ask(stats_lineage, page.folder)
    html.paragraph(text("web_stats.lineage.opening"))
    if lineage.declared:
        html.note(text("web_stats.lineage.declared"))
    for fed in lineage.tables:
        with html.card(fed.title or fed.base):
            html.paragraph(
                text("web_stats.lineage.feeds", sources=", ".join(fed.sources), tables=", ".join(fed.tables))
            )
            _lineage_picture(fed)
            with html.details(text("web_stats.lineage.as_table")):
                _lineage_table(fed)


def _lineage_table(fed: TableLineage) -> None:
    rows = [
        [", ".join(f"{fed.block}.{name}" for name in column.columns) or "–", _rule_text(column), column.column]
        for column in fed.columns
    ]
    heads = [text(f"web_stats.lineage.{key}") for key in ("personal", "rule", "stats")]
    html.table(heads, rows, text("web_stats.lineage.of", table=fed.title or fed.base))


def _lineage_picture(fed: TableLineage) -> None:
    """PERSONAL columns at the left, rules in the middle, STATS columns at the right.

    Built from elements: every name is text, never markup.
    """
    sources = list(dict.fromkeys(name for column in fed.columns for name in column.columns))
    rows = max(len(sources), len(fed.columns))
    height, label = _TOP + rows * _STEP, text("web_stats.lineage.of", table=fed.title or fed.base)
    tops = {name: _box_top(place, len(sources), rows) for place, name in enumerate(sources)}
    columns = [(column, _box_top(place, len(fed.columns), rows)) for place, column in enumerate(fed.columns)]
    box = html.tag("div", classes="c-scroll s-lineage", tabindex="0", role="region", aria_label=label)
    with box, html.tag("svg", viewBox=f"0 0 {_RIGHT + _WIDE + 2} {height}", role="img", aria_label=label):
        for left, key in ((_LEFT, "personal"), (_MIDDLE, "rule"), (_RIGHT, "stats")):
            html.tag("text", text(f"web_stats.lineage.{key}"), "s-head", x=left, y=18)
        for column, top in columns:
            _draw_edges(column, tops, top)
        for name, top in tops.items():
            _draw_box(_LEFT, top, f"{fed.block}.{name}", "s-personal")
        for column, top in columns:
            _draw_box(_MIDDLE, top, text(f"stats.rule.{column.rule}"), "s-rule")
            _draw_box(_RIGHT, top, column.column, "s-stats")


def _box_top(place: int, count: int, rows: int) -> float:
    """The top of a box: the shorter side is spread over the height of the longer one."""
    return round(_TOP + (place + 0.5) * rows * _STEP / count - _STEP / 2, 1)


def _draw_edges(column: LineageColumn, tops: dict[str, float], top: float) -> None:
    middle = top + _HIGH / 2
    for name in column.columns:
        start, bend = tops[name] + _HIGH / 2, (_LEFT + _WIDE + _MIDDLE) / 2
        path = f"M {_LEFT + _WIDE} {start} C {bend} {start}, {bend} {middle}, {_MIDDLE} {middle}"
        html.tag("path", classes="s-edge", d=path)
    html.tag("path", classes="s-edge", d=f"M {_MIDDLE + _WIDE} {middle} H {_RIGHT}")


def _draw_box(x: float, y: float, label: str, classes: str) -> None:
    with html.tag("g", classes=f"s-box {classes}"):
        html.tag("title", label)
        html.tag("rect", x=x, y=y, width=_WIDE, height=_HIGH, rx=6)
        html.tag("text", label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…", x=x + 10, y=y + 22)


# --- history ---------------------------------------------------------------------------------------


@stats_page("history")
async def stats_history_page(page: PageContext) -> None:
    """The runs, as the journal records them."""
    runs = await page.ask(stats_history, page.folder)
    html.paragraph(text("web_stats.history.opening"))
    if not runs:
        html.paragraph(text("web_stats.nothing_yet"))
        return
    keys = ("when", "who", "kind", "read", "written", "shown", "hidden", "kept", "state")
    heads = [text(f"web_stats.history.{key}") for key in keys]
    shown = runs[:_MOST_SHOWN]
    rows = [_run_row(run) for run in shown]
    html.table(heads, rows, text("web_stats.part.history"), numbers=range(3, 8), classes="s-runs")
    if len(runs) > len(shown):
        html.paragraph(text("web_stats.history.last", shown=len(shown), runs=len(runs)))
    for place, run in enumerate(shown):
        if run.failed:
            html.note(failure_text(run), "warning" if place else "bad")


def _run_row(run: StatsRunLine) -> list[Cell]:
    kind = text(f"web_stats.run_kind.{run.kind}") if messages.has(f"web_stats.run_kind.{run.kind}") else "–"
    colour, key = ("bad", "failed") if run.failed else ("good", "done")
    counts = (sum(run.rows_read.values()), run.rows_written, run.published, run.hidden, run.kept)
    figures = ["–"] * len(counts) if run.failed else [messages.integer(count) for count in counts]
    return [
        minute_text(run.when),
        run.who,
        kind,
        *figures,
        partial(html.state, text(f"web_stats.history.{key}"), colour),
    ]
