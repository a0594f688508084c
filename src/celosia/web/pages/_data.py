"""What was read, how, and what is in it: reading choices, veiled rows, and the profile of each variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.web._frame import Desk, page
from celosia.web._widgets import button, card, details, figures, line, note, paragraph, table, tag, word
from celosia.web.pages._rows import notices, role_word, shown_rows

_PAGE = 20
_FIGURES = ("total", "mean", "minimum", "maximum")  # ATENEA 4.2.2 asks for totals, means and quantiles
_TEXT = ("encoding", "delimiter", "quote", "decimal")


@page("data")
async def data_page(desk: Desk) -> None:
    """The data of a project."""
    project = await desk.ask("open_project", desk.folder)
    _source(project.config)
    with card(word("web_data.rows")):
        paragraph(word("web_data.rows_meaning"))
        box = tag("div")
        await _rows(desk, box, 0)
    await _profile(desk)


def _source(config: Any) -> None:
    source = config.source
    with card(word("web_data.source")):
        figures([
            (word("web_data.file"), source.name),
            (word("web_projects.rows"), messages.integer(source.rows)),
            (word("web_projects.columns"), messages.integer(source.columns)),
            (word("web_data.person"), config.person or "–"),
        ])  # fmt: skip
        notices(source.choices.notes)
        with details(word("web_data.reading")):
            titles = [word("web_data.choice"), word("web_data.value"), word("web_data.decided")]
            table(titles, _reading(source.choices), word("web_data.reading"))
            tag("p", word("web_data.digest"))
            tag("code", source.digest)


def _reading(choices: Any) -> list[list[str]]:
    """The choices that mattered for this format, each with who made it."""
    names = ["format", *(_TEXT if choices.format == "csv" else ()), "header"]
    names += [name for name in ("sheet", "dropped", "rename_duplicates") if getattr(choices, name)]
    return [[word(f"reading.choices.{name}").capitalize(), _value(getattr(choices, name)), _decided(choices, name)]
            for name in names]  # fmt: skip


def _decided(choices: Any, name: str) -> str:
    return word("web_data.guessed" if name in choices.guessed else "web_data.given")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return word(f"dictionary.answer.{'yes' if value else 'no'}")
    if isinstance(value, tuple):
        return ", ".join(value)
    return {"\t": word("web_new.sign.tab"), "": word("web_new.sign.none")}.get(str(value), str(value))


# --- rows -------------------------------------------------------------------------------------------


async def _rows(desk: Desk, box: ui.element, offset: int) -> None:
    found = await desk.ask("preview_project", desk.folder, _PAGE, offset)
    last = max(found.total - 1, 0) // _PAGE * _PAGE
    box.clear()
    with box:
        shown_rows(found, word("web_data.rows_table"))
        with tag("nav", classes="c-line", aria_label=word("web_data.paging")):
            _turn(desk, box, "first", 0, offset == 0)
            _turn(desk, box, "before", max(offset - _PAGE, 0), offset == 0)
            first, until = messages.integer(offset + 1), messages.integer(min(offset + _PAGE, found.total))
            tag("span", word("web_data.page", first=first, until=until, total=messages.integer(found.total)))
            _turn(desk, box, "after", offset + _PAGE, offset >= last)
            _turn(desk, box, "last", last, offset >= last)


def _turn(desk: Desk, box: ui.element, key: str, offset: int, end: bool) -> None:
    button(word(f"web_data.turn.{key}"), lambda: _rows(desk, box, offset), "small", disabled=end)


# --- profile ----------------------------------------------------------------------------------------


async def _profile(desk: Desk) -> None:
    kept = await desk.ask("kept_report", desk.folder, "profile")
    with card(word("web_data.profile")):
        paragraph(word("web_data.profile_meaning"))
        if kept is not None and kept.stale:
            note(word("web_data.stale"), "warning")
        with line():
            again = "web_data.profile_make" if kept is None else "web_data.profile_again"
            button(word(again), lambda: desk.start("profile_report", desk.folder), "plain" if kept else "primary")
        if kept is not None:
            _report(kept.document)


def _report(document: Mapping[str, Any]) -> None:
    keys = ("variable", "role", "scale", "kind", "distinct", "missing", "masked", "unknown", "rare")
    rows = [_line(one) for one in document["variables"]]
    titles = [word(f"web_data.column.{key}") for key in keys]
    table(titles, rows, word("web_data.profile_table"), numbers=(4, 5, 6, 7, 8))
    for one in document["variables"]:
        if one["categories"] or one["numbers"]:
            with details(word("web_data.more", name=one["name"])):
                _numbers(one["numbers"])
                _categories(one)


def _line(one: Mapping[str, Any]) -> list[Any]:
    counts = [messages.integer(one[key]) for key in ("distinct", "missing", "masked", "unknown")]

    def role() -> None:
        tag("span", role_word(one["role"]), f"c-role c-role-{one['role'] or 'none'} c-padded")

    told = [_said(key, one[key]) for key in ("scale", "kind")]
    return [one["name"], role, *told, *counts, messages.integer(one["rare"]["values"])]


def _said(key: str, value: str | None) -> str:
    return word(f"dictionary.{key}.{value}") if value else "–"


def _numbers(numbers: Mapping[str, Any] | None) -> None:
    if numbers is None:
        return
    shown = [(word(f"web_data.number.{key}"), messages.decimal(numbers[key], 2)) for key in _FIGURES]
    quantiles = [(word("web_data.number.quantile", p=messages.decimal(float(p), 2)), messages.decimal(value, 2))
                 for p, value in numbers["quantiles"].items()]  # fmt: skip
    figures([*shown, *quantiles])


def _categories(one: Mapping[str, Any]) -> None:
    if not one["categories"]:
        return
    rows = [[held["value"], messages.integer(held["rows"]), messages.part(held["share"])] for held in one["categories"]]
    if one["other_rows"]:
        rows.append([word("web_data.others"), messages.integer(one["other_rows"]), ""])
    titles = [word(f"web_data.category.{key}") for key in ("value", "rows", "share")]
    table(titles, rows, word("web_data.more", name=one["name"]), numbers=(1, 2))
