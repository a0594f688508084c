"""What was read, how, and what is in it: reading choices, veiled rows, and the profile of each variable."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.reports.profile import NumberSummary, ProfileReport, VariableProfile
from celosia.model.sources import ReadingChoices
from celosia.web.pages.project.rows import role_text, rows_table, show_notices
from celosia.web.ui import html
from celosia.web.ui.context import PageContext
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.workbench.operations.projects import preview_project, profile_report, profile_view, source_view
from celosia.workbench.views.projects import SourceView

_PAGE = 20
_FIGURES = ("total", "mean", "minimum", "maximum")  # ATENEA 4.2.2 asks for totals, means and quantiles
_CSV_CHOICES = ("encoding", "delimiter", "quote", "decimal")


@project_page("data")
async def data_page(page: PageContext) -> None:
    """The data of a project."""
    _source_card(await page.ask(source_view, page.folder))
    with html.card(text("web_data.rows")):
        html.paragraph(text("web_data.rows_meaning"))
        await _show_rows(page, html.tag("div"), 0)
    await _profile_card(page)


def _source_card(view: SourceView) -> None:
    source = view.source
    with html.card(text("web_data.source")):
        html.figures(
            (text("web_data.file"), source.name),
            (text("web_projects.rows"), messages.integer(source.rows)),
            (text("web_projects.columns"), messages.integer(source.columns)),
            (text("web_data.person"), view.person or "–"),
        )
        show_notices(source.choices.notes)
        if not view.private:
            html.note(text("reading.not_private"), "warning")
        with html.details(text("web_data.reading")):
            titles = [text("web_data.choice"), text("web_data.value"), text("web_data.decided")]
            html.table(titles, _reading_rows(source.choices), text("web_data.reading"))
            html.tag("p", text("web_data.digest"))
            html.tag("code", source.digest)


def _reading_rows(choices: ReadingChoices) -> list[list[str]]:
    """The choices that mattered for this format, each with who made it."""
    names = ["format", *(_CSV_CHOICES if choices.format == "csv" else ()), "header"]
    names += [name for name in ("sheet", "dropped", "rename_duplicates") if getattr(choices, name)]
    rows = []
    for name in names:
        decided = text("web_data.guessed" if name in choices.guessed else "web_data.given")
        rows.append([text(f"reading.choices.{name}").capitalize(), _choice_text(getattr(choices, name)), decided])
    return rows


def _choice_text(value: Any) -> str:
    if isinstance(value, bool):
        return text(f"dictionary.answer.{'yes' if value else 'no'}")
    if isinstance(value, tuple):
        return ", ".join(value)
    return {"\t": text("web_new.sign.tab"), "": text("web_new.sign.none")}.get(str(value), str(value))


# --- rows -------------------------------------------------------------------------------------------


async def _show_rows(page: PageContext, box: ui.element, offset: int) -> None:
    preview = await page.ask(preview_project, page.folder, _PAGE, offset)
    total = preview.total or 0
    last = max(total - 1, 0) // _PAGE * _PAGE

    def page_button(key: str, offset: int, disabled: bool) -> None:
        show = partial(_show_rows, page, box, offset)
        html.button(text(f"web_data.turn.{key}"), show, "small", disabled=disabled)

    box.clear()
    with box:
        rows_table(preview, text("web_data.rows_table"))
        with html.tag("nav", classes="c-line", aria_label=text("web_data.paging")):
            page_button("first", 0, offset == 0)
            page_button("before", max(offset - _PAGE, 0), offset == 0)
            first, until = messages.integer(offset + 1), messages.integer(min(offset + _PAGE, total))
            html.tag("span", text("web_data.page", first=first, until=until, total=messages.integer(total)))
            page_button("after", offset + _PAGE, offset >= last)
            page_button("last", last, offset >= last)


# --- profile ----------------------------------------------------------------------------------------


async def _profile_card(page: PageContext) -> None:
    saved = await page.ask(profile_view, page.folder)
    with html.card(text("web_data.profile")):
        html.paragraph(text("web_data.profile_meaning"))
        if saved is not None and saved.stale:
            html.note(text("web_data.stale"), "warning")
        with html.line():
            label = text("web_data.profile_make" if saved is None else "web_data.profile_again")
            html.button(label, lambda: page.start(profile_report, page.folder), "plain" if saved else "primary")
        if saved is not None:
            _profile_table(saved.report)


def _profile_table(profile: ProfileReport) -> None:
    keys = ("variable", "role", "scale", "kind", "distinct", "missing", "masked", "unknown", "rare")
    titles = [text(f"web_data.column.{key}") for key in keys]
    rows = [_profile_row(variable) for variable in profile.variables]
    html.table(titles, rows, text("web_data.profile_table"), numbers=(4, 5, 6, 7, 8))
    for variable in profile.variables:
        if variable.categories or variable.numbers:
            with html.details(text("web_data.more", name=variable.name)):
                _number_figures(variable.numbers)
                _categories_table(variable)


def _profile_row(variable: VariableProfile) -> list[Cell]:
    def role_cell() -> None:
        html.tag("span", role_text(variable.role), f"c-role c-role-{variable.role or 'none'} c-padded")

    counts = (variable.distinct, variable.missing, variable.masked, variable.unknown, variable.rare.values)
    scale = text(f"dictionary.scale.{variable.scale}") if variable.scale else "–"
    kind = text(f"dictionary.kind.{variable.kind}") if variable.kind else "–"
    return [variable.name, role_cell, scale, kind, *map(messages.integer, counts)]


def _number_figures(numbers: NumberSummary | None) -> None:
    if numbers is None:
        return
    pairs = [(text(f"web_data.number.{key}"), messages.decimal(getattr(numbers, key), 2)) for key in _FIGURES]
    for p, value in numbers.quantiles.items():
        label = text("web_data.number.quantile", p=messages.decimal(float(p), 2))
        pairs.append((label, messages.decimal(value, 2)))
    html.figures(*pairs)


def _categories_table(variable: VariableProfile) -> None:
    if not variable.categories:
        return
    rows = [
        [category.value, messages.integer(category.rows), messages.part(category.share)]
        for category in variable.categories
    ]
    if variable.other_rows:
        rows.append([text("web_data.others"), messages.integer(variable.other_rows), ""])
    titles = [text(f"web_data.category.{key}") for key in ("value", "rows", "share")]
    html.table(titles, rows, text("web_data.more", name=variable.name), numbers=(1, 2))
