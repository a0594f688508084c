"""What is said of STATS: the catalogue of its tables, where each column comes from, and its runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from celosia import messages
from celosia.web._frame import Desk, part_path, stats_page
from celosia.web._widgets import Cell, card, details, link, note, paragraph, state, table, tag, word
from celosia.web._workers import Failed
from celosia.web.pages._stats import audience_words, day, failure
from celosia.web.pages._stats_lineage import lineage_picture

_MOST_SHOWN = 200  # runs on the page; the journal has all of them
_NOTHING_YET = ("never_ran", "file_missing")


# --- catalogue -------------------------------------------------------------------------------------


@stats_page("catalogue")
async def stats_catalogue_page(desk: Desk) -> None:
    """An entry for every table: sources, rule of every column, frequency, k."""
    try:
        found = await desk.answer("stats.stats_catalogue", desk.folder)
    except Failed as failed:
        if failed.told.code in _NOTHING_YET:
            paragraph(word("web_stats.nothing_yet"))
        else:
            note(str(failed), "bad")
        return
    paragraph(word("stats.catalogue.opening", tables=len(found.entries)))
    paragraph(word("stats.catalogue.note"), "c-soft")
    for entry in found.entries:
        _entry(desk, entry)


def _entry(desk: Desk, entry: Any) -> None:
    with card(f"{entry.title or entry.base} · {audience_words(entry.audience)}"):
        with tag("dl", classes="s-entry"):
            for name, value in _facts(entry):
                tag("dt", name)
                tag("dd", value)
        columns = [[one.column, ", ".join(one.columns) or "–", rule_words(one)] for one in entry.columns]
        heads = [word(f"stats.header.{key}") for key in ("column", "from", "rule")]
        with details(word("web_stats.columns")):
            table(heads, columns, word("web_stats.columns_of", table=entry.table), classes="s-columns")
        link(word("web_stats.open_table"), part_path(desk.name, "table", entry.table))


def _facts(entry: Any) -> list[tuple[str, str]]:
    rounding = entry.method == "round"
    action = word("stats.action.round", base=entry.base_unit) if rounding else word(f"stats.action.{entry.action}")
    margins = [" × ".join(kept) or word("stats.catalogue.total") for kept in entry.margins]
    values = {
        "table": entry.table, "k": messages.integer(entry.k), "sources": ", ".join(entry.sources), "action": action,
        "margins": "; ".join(margins) or "–", "frequency": word(f"stats.frequency.{entry.frequency}"),
        "last_run": day(entry.last_run),
    }  # fmt: skip
    return [(word(f"stats.catalogue.{key}"), value) for key, value in values.items()]


def rule_words(one: Any) -> str:
    """A rule in words, with what it was told: borders, periods, the list it follows."""
    told = "; ".join(f"{name}: {_setting(value)}" for name, value in one.detail.items())
    rule = word(f"stats.rule.{one.rule}")
    return f"{rule} ({told})" if told else rule


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} → {one}" for key, one in value.items())
    return ", ".join(str(one) for one in value) if isinstance(value, list | tuple) else str(value)


# --- lineage ---------------------------------------------------------------------------------------


@stats_page("lineage")
async def stats_lineage_page(desk: Desk) -> None:
    """Which PERSONAL columns feed each STATS column, and by which rule: a picture and a table of the same."""
    found = await desk.ask("stats.stats_lineage", desk.folder)
    paragraph(word("web_stats.lineage.opening"))
    if found.declared:
        note(word("web_stats.lineage.declared"))
    for one in found.tables:
        with card(one.title or one.base):
            paragraph(word("web_stats.lineage.feeds", sources=", ".join(one.sources), tables=", ".join(one.tables)))
            lineage_picture(one)
            with details(word("web_stats.lineage.as_table")):
                _lineage_table(one)


def _lineage_table(one: Any) -> None:
    rows = [
        [", ".join(f"{one.block}.{name}" for name in column.columns) or "–", rule_words(column), column.column]
        for column in one.columns
    ]
    heads = [word(f"web_stats.lineage.{key}") for key in ("personal", "rule", "stats")]
    table(heads, rows, word("web_stats.lineage.of", table=one.title or one.base))


# --- history ---------------------------------------------------------------------------------------


@stats_page("history")
async def stats_history_page(desk: Desk) -> None:
    """The runs, as the journal tells them."""
    found = await desk.ask("stats.stats_history", desk.folder)
    paragraph(word("web_stats.history.opening"))
    if not found:
        paragraph(word("web_stats.nothing_yet"))
        return
    keys = ("when", "who", "kind", "read", "written", "shown", "hidden", "kept", "state")
    heads = [word(f"web_stats.history.{key}") for key in keys]
    shown = found[:_MOST_SHOWN]
    table(heads, [_run(one) for one in shown], word("web_stats.part.history"), numbers=range(3, 8), classes="s-runs")
    if len(found) > len(shown):
        paragraph(word("web_stats.history.last", shown=len(shown), runs=len(found)))
    for one in (run for run in shown if run.failed):
        note(failure(one), "bad" if one is found[0] else "warning")


def _run(one: Any) -> list[Cell]:
    kind = word(f"web_stats.run_kind.{one.kind}") if messages.has(f"web_stats.run_kind.{one.kind}") else "–"
    how = ("bad", "failed") if one.failed else ("good", "done")
    ended = partial(state, word(f"web_stats.history.{how[1]}"), how[0])
    if one.failed:
        return [day(one.when), one.who, kind, *["–"] * 5, ended]
    figures = (sum(one.rows_read.values()), one.rows_written, one.published, one.hidden, one.kept)
    return [day(one.when), one.who, kind, *map(messages.integer, figures), ended]
