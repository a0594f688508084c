"""The dictionary: one row a variable, what each is, what it is for, and what follows from it.

What is changed here waits in the page until it is saved; saving is refused, and nothing is lost, where somebody else
saved first. Everything shown comes from `dictionary_view` and `tried_lines`: this page decides nothing.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from nicegui import context

from celosia import messages
from celosia.messages import text
from celosia.web.pages.dictionary.detail import show_detail
from celosia.web.pages.dictionary.editor import (
    DictionaryEditor,
    Row,
    areas_text,
    distinct_text,
    exclusion_text,
    options,
    short_list,
)
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, upload_field
from celosia.web.ui.page import project_page
from celosia.web.work.workers import FAILURES, OperationFailed
from celosia.workbench.operations.dictionary import (
    choose_unit,
    count_columns,
    dictionary_view,
    export_dictionary,
    import_dictionary,
)

_ROLES = ("identifier", "quasi", "sensitive", "plain")
_FIRST = 30  # rows that come with the page; the others follow at once
_FILTERS = ("all", *_ROLES, "none", "unpublished", "changed")


@project_page("dictionary")
async def dictionary_page(page: PageContext) -> None:
    """The dictionary of a project."""
    editor = DictionaryEditor(page, await page.ask(dictionary_view, page.folder))
    html.paragraph(text("web_dictionary.opening"))
    editor.boxes["top"] = html.tag("div", aria_live="polite")
    with html.card(classes="d-tools"):
        _filter_fields(editor)
        with html.tag("div", classes="d-more"):
            _show_bulk_edit(editor)
            _unit_part(editor)
            _import_part(editor)
    _build_table(editor)
    editor.boxes["save"] = html.tag("section", aria_label=text("web_dictionary.save.title"))
    editor.boxes["detail"] = html.tag("dialog", classes="d-detail", id="d-detail", aria_labelledby="d-detail-title")
    editor.boxes["detail"].on("close", lambda: editor.boxes.pop("messages", None))
    editor.refresh = lambda: _refresh(editor)
    editor.show_row = lambda name: _refresh_row(editor, name)
    _build_rows(editor, _FIRST)
    _refresh(editor)
    page.when_done(lambda job: _reload(editor))
    context.client.on_connect(lambda: _complete_page(editor))


# --- above the table -------------------------------------------------------------------------------


def _build_top(editor: DictionaryEditor) -> None:
    view, lines = editor.view, [editor.entry(entry.variable.name) for entry in editor.view.lines]
    roles = [str(entry.variable.role or "") for entry in lines]
    shown = {"variables": len(lines), "published": sum(entry.published for entry in lines)}
    shown |= {role: roles.count(role) for role in ("quasi", "sensitive")}
    html.figures(*[(text(f"web_dictionary.{key}"), messages.integer(value)) for key, value in shown.items()])
    unnamed = [entry.variable.name for entry in lines if entry.variable.role is None]
    if unnamed:
        html.note(text("web_dictionary.without_role", names=short_list(unnamed)), "bad")
    purposeless = [entry.variable.name for entry in lines if tuple(entry.excluded) == ("no_purpose",)]
    if purposeless:
        sentence = text("web_dictionary.without_purpose", count=len(purposeless), names=short_list(purposeless))
        html.note(sentence, "warning")
    if not unnamed and not purposeless:
        html.note(text("web_dictionary.complete", count=shown["published"]), "good")
    faults = [sentence for entry in lines for sentence in entry.faults]
    if faults:
        sentence = text("web_dictionary.faults", count=sum(bool(entry.faults) for entry in lines))
        with html.details(sentence), html.tag("ul", classes="d-faults"):
            for sentence in faults:
                html.tag("li", sentence)
    if view.covering:
        html.note(text("web_dictionary.approved", what=_covering_text(view.covering)), "warning")
    if not view.counted:
        html.note(text("web_dictionary.counting"))


def _covering_text(what: tuple[str, ...]) -> str:
    return ", ".join(text(f"web_dictionary.covering.{subject}") for subject in what)


def _download_buttons(editor: DictionaryEditor) -> None:
    page = editor.page

    async def download(suffix: str) -> None:
        path = page.scratch_path(f"{text('web_dictionary.file.name')}-{page.name}{suffix}")
        await page.ask(export_dictionary, page.folder, path)
        page.offer(path)

    html.button(text("web_dictionary.file.xlsx"), lambda: download(".xlsx"))
    html.button(text("web_dictionary.file.csv"), lambda: download(".csv"))


def _import_part(editor: DictionaryEditor) -> None:
    page = editor.page

    async def take(path: Path) -> None:
        if editor.pending:
            editor.notify(text("web_dictionary.file.pending"), "warning")
            return
        try:
            count = await page.answer(import_dictionary, page.folder, path, expected=editor.view.digest)
        except FAILURES as error:
            editor.notify(str(error).replace(str(path), path.name), "bad")  # without the private folder
            return
        await _reload(editor)
        editor.notify(text("web_dictionary.file.imported", count=count), "good")

    with html.details(text("web_dictionary.file.upload")):
        hint = text("web_dictionary.file.upload_hint")
        upload_field(page, text("web_dictionary.file.upload"), take, ".csv,.xlsx", hint)


def _unit_part(editor: DictionaryEditor) -> None:
    names = {entry.variable.name: entry.variable.name for entry in editor.view.lines}

    async def choose(**unit: str) -> None:
        digest = editor.view.settings_digest
        await editor.page.ask(choose_unit, editor.page.folder, **unit, expected=digest)
        await _reload(editor)
        editor.notify(text("web_dictionary.unit.saved"), "good")

    with html.details(text("web_dictionary.unit.title")), html.line("d-top"):
        persons = {"": text("web_dictionary.unit.none")} | names
        label, hint = text("web_dictionary.unit.person"), text("web_dictionary.unit.person_hint")
        html.choice(label, persons, editor.view.person or "", lambda value: choose(person=value), hint)
        households = {"": text("web_dictionary.unit.no_household")} | names
        label, hint = text("web_dictionary.unit.household"), text("web_dictionary.unit.household_hint")
        html.choice(label, households, editor.view.household or "", lambda value: choose(household=value), hint)


def _filter_fields(editor: DictionaryEditor) -> None:
    def search(labels: str) -> None:
        editor.query = labels
        _apply_filters(editor)

    def limit(value: str) -> None:
        editor.only = value
        _apply_filters(editor)

    labels = {key: text(f"web_dictionary.filter.{key}") for key in _FILTERS if key not in _ROLES}
    labels |= {role: text(f"dictionary.role.{role}") for role in _ROLES}
    with html.line():
        search_field = html.text_field(text("web_dictionary.filter.words"), "", search, kind="search")
        emit = "(e) => emit(e.target.value)"
        search_field.on("input", lambda event: search(event.args), throttle=0.2, leading_events=False, js_handler=emit)
        html.choice(text("web_dictionary.filter.role"), {key: labels[key] for key in _FILTERS}, "all", limit)
        _download_buttons(editor)
    editor.boxes["shown"] = html.tag("p", classes="d-soft", aria_live="polite")


def _show_bulk_edit(editor: DictionaryEditor) -> None:
    wanted: dict[str, str] = {}

    async def apply() -> None:
        changes = {field: value for field, value in wanted.items() if value}
        if not changes or not editor.selected:
            editor.notify(text("web_dictionary.bulk.nothing"), "warning")
            return
        await editor.change({name: dict(changes) for name in sorted(editor.selected)})
        _refresh(editor)

    def select(all_shown: bool) -> None:
        editor.selected = {name for name in editor.rows if editor.shows(name)} if all_shown else set()
        for name, row in editor.rows.items():
            _build_row(editor, name, row)
        _show_selected(editor)

    same = {"": text("web_dictionary.bulk.same")}
    with html.details(text("web_dictionary.bulk.title")):
        editor.boxes["selected"] = html.tag("p", aria_live="polite")
        with html.line():
            html.button(text("web_dictionary.bulk.all"), lambda: select(True), "small")
            html.button(text("web_dictionary.bulk.none"), lambda: select(False), "small")
        with html.line("c-top"):
            for key in ("role", "treatment"):
                put = partial(wanted.__setitem__, key)
                html.choice(text(f"web_dictionary.column.{key}"), same | options(key, empty=False), "", put)
            label, hint = text("web_dictionary.column.purpose"), text("web_dictionary.bulk.purpose_hint")
            html.text_field(label, "", lambda purpose: wanted.update(purpose=purpose.strip()), hint)
        with html.line():
            html.button(text("web_dictionary.bulk.apply"), apply, "primary")


# --- the table ------------------------------------------------------------------------------------


def _build_table(editor: DictionaryEditor) -> None:
    caption = text("web_dictionary.table")
    scroll = {"tabindex": "0", "role": "region", "aria_label": caption}
    with html.tag("div", "", "c-scroll c-tall d-scroll", **scroll), html.tag("table", classes="c-table d-table"):
        html.tag("caption", caption, "c-hidden")
        with html.tag("thead"), html.tag("tr"):
            for key in editor.columns:
                html.tag("th", text(f"web_dictionary.column.{key}"), scope="col")
        editor.boxes["rows"] = html.tag("tbody")


def _build_rows(editor: DictionaryEditor, most: int) -> None:
    """Build up to so many of the rows that are not there yet."""
    names = [entry.variable.name for entry in editor.view.lines]
    with editor.boxes["rows"]:
        for place in range(len(editor.rows), min(len(names), len(editor.rows) + most)):
            editor.rows[names[place]] = row = Row(html.tag("tr"))
            _build_row(editor, names[place], row)


async def _complete_page(editor: DictionaryEditor) -> None:
    """What the page shows a moment after it opened: the rest of the rows, and what had to be counted."""
    while len(editor.rows) < len(editor.view.lines):
        _build_rows(editor, _FIRST)
        await asyncio.sleep(0.01)  # what is typed meanwhile is taken
    _apply_filters(editor)
    await _count_missing(editor)


def _build_row(editor: DictionaryEditor, name: str, row: Row) -> None:
    """A row with its fields as they are to be shown."""
    entry = editor.entry(name)
    row.element.clear()
    row.shown = entry.variable
    with row.element:
        with html.tag("td"):
            label = text("web_dictionary.cell.select", name=name)
            html.check(label, name in editor.selected, partial(_tick_variable, editor, name), hidden_label=True)
        with html.tag("th", scope="row", classes="d-name") as row.cells["name"]:
            html.tag("span", name)
            if entry.variable.label:
                html.tag("small", entry.variable.label)
            with html.tag("div", classes="d-row-tools"):
                _evidence_button(name, entry.variable.evidence)
                label = text("web_dictionary.cell.open_label", name=name)
                html.button(text("web_dictionary.cell.open"), partial(show_detail, editor, name), "small", label)
        with html.tag("td") as row.cells["role"]:
            _choice_cell(editor, name, "role")
        with html.tag("td"):
            label, value = text("web_dictionary.cell.purpose", name=name), entry.variable.purpose
            purpose = html.tag("input", classes="c-input", type="text", defaultValue=value, aria_label=label)
            emit = "(e) => emit(e.target.value)"
            purpose.on("change", lambda event: editor.set(name, purpose=event.args), js_handler=emit)
        with html.tag("td"):
            _choice_cell(editor, name, "treatment")
        row.cells["distinct"] = html.tag("td", classes="c-number")
        if "class" in editor.columns:
            row.cells["class"] = html.tag("td")
        if "mel" in editor.columns:
            with html.tag("td"):
                _choice_cell(editor, name, "mel_label")
                row.cells["mel"] = html.tag("small")
        row.cells["published"] = html.tag("td")
    _fill_row(editor, name, row)


def _choice_cell(editor: DictionaryEditor, name: str, key: str) -> None:
    value = getattr(editor.entry(name).variable, key)
    label = text(f"web_dictionary.cell.{key}", name=name)
    html.bare_choice(label, options(key), value or "", lambda value: editor.set(name, **{key: value}))


def _evidence_button(name: str, evidence: str) -> None:
    """The evidence shows on hover and on focus, and is what a screen reader says of the button."""
    with html.tooltip(evidence or text("web_dictionary.cell.no_evidence")) as place:
        why, label = text("web_dictionary.cell.why"), text("web_dictionary.cell.why_label", name=name)
        html.tag("button", why, "c-button c-small", type="button", aria_describedby=place, aria_label=label)


def _fill_row(editor: DictionaryEditor, name: str, row: Row) -> None:
    """What follows from a row's answers; the fields themselves are left alone, somebody may be typing in them."""
    entry = editor.entry(name)
    row.shown = entry.variable
    row.cells["role"].classes(replace=f"c-role c-role-{entry.variable.role or 'none'}")
    changed = name in editor.pending
    row.cells["name"].classes(add="d-changed" if changed else "", remove="" if changed else "d-changed")
    row.cells["name"].props["title"] = text("web_dictionary.cell.changed") if changed else None
    html.set_text(row.cells["distinct"], distinct_text(entry))
    if "class" in row.cells:
        html.set_text(row.cells["class"], text(f"web_dictionary.class.{entry.identifier_class or 'unanswered'}"))
    if "mel" in row.cells:
        html.set_text(row.cells["mel"], areas_text(entry))
    row.cells["published"].clear()
    with row.cells["published"]:
        key = "yes" if entry.published else "no"
        html.state(text(f"web_dictionary.excluded.{key}"), "good" if entry.published else "info")
        if entry.excluded:
            html.tag("small", exclusion_text(entry))


def _tick_variable(editor: DictionaryEditor, name: str, value: bool) -> None:
    (editor.selected.add if value else editor.selected.discard)(name)
    _show_selected(editor)


def _show_selected(editor: DictionaryEditor) -> None:
    html.set_text(editor.boxes["selected"], text("web_dictionary.bulk.selected", count=len(editor.selected)))


def _apply_filters(editor: DictionaryEditor) -> None:
    shown = {entry.variable.name for entry in editor.view.lines if editor.shows(entry.variable.name)}
    for name, row in editor.rows.items():
        if row.hidden != (name not in shown):
            row.hidden = name not in shown
            row.element.classes(add="d-away" if row.hidden else "", remove="" if row.hidden else "d-away")
    html.set_text(
        editor.boxes["shown"], text("web_dictionary.filter.shown", shown=len(shown), total=len(editor.view.lines))
    )


# --- saving ---------------------------------------------------------------------------------------


def _build_save_box(editor: DictionaryEditor) -> None:
    """What waits to be saved; its buttons are left alone while they are the same: somebody may be pressing one."""
    box, waiting = editor.boxes["save"], text("web_dictionary.save.count", count=len(editor.pending))
    shape = (editor.conflict, bool(editor.pending), bool(editor.view.covering))
    if shape == editor.save_shape:
        html.set_text(editor.boxes["count"], waiting if editor.pending else "")
        return
    editor.save_shape = shape
    box.clear()
    box.props["data-celosia-unsaved"] = "1" if editor.pending else None
    box.classes(replace="d-save" if editor.pending or editor.conflict else "")
    with box:
        if editor.conflict:
            with html.note(text("web_dictionary.save.conflict"), "bad"):
                html.button(text("web_dictionary.save.reload"), lambda: _reload_over(editor), "primary")
        editor.boxes["count"] = html.tag("strong", waiting if editor.pending else "")
        if not editor.pending:
            return
        html.text_field(text("web_dictionary.save.why"), editor.why, lambda words: setattr(editor, "why", words))
        voids = "web_dictionary.save.save_void" if editor.view.covering else "web_dictionary.save.save"
        kind = "danger" if editor.view.covering else "primary"
        html.button(text(voids), lambda: _save(editor), kind, every=True)
        html.button(text("web_dictionary.save.discard"), lambda: _discard(editor))


async def _save(editor: DictionaryEditor) -> None:
    try:
        edit = await editor.save()
    except FAILURES as error:
        editor.conflict = isinstance(error, OperationFailed) and error.failure.code == "edited_meanwhile"
        if not editor.conflict:
            editor.notify(str(error), "bad")
        _build_save_box(editor)
        return
    if edit is None:
        return
    _refresh(editor)
    editor.notify(text("web_dictionary.save.saved", count=edit.variables), "good")
    if edit.cancelled:
        editor.notify(text("web_dictionary.save.cancelled", what=_covering_text(edit.cancelled)), "warning")
    await _count_missing(editor)


async def _reload_over(editor: DictionaryEditor) -> None:
    """Show the project as it is now with what was typed on top of it, and say where the two meet."""
    before = {entry.variable.name: entry.variable for entry in editor.view.lines}
    await _reload(editor)
    clashes = editor.clashes(before)
    editor.notify(text("web_dictionary.save.reloaded"), "info")
    if clashes:
        editor.notify(text("web_dictionary.save.clash", names=short_list(clashes)), "warning")


async def _discard(editor: DictionaryEditor) -> None:
    await editor.discard()
    _refresh(editor)


# --- showing again --------------------------------------------------------------------------------


async def _reload(editor: DictionaryEditor) -> None:
    await editor.reload()
    _refresh(editor)


async def _count_missing(editor: DictionaryEditor) -> None:
    """Count the columns whose figures are not saved; the page is complete without them."""
    if editor.view.counted or editor.counting or not editor.page.may(count_columns):
        return
    editor.counting = True
    try:
        await editor.page.answer(count_columns, editor.page.folder)
    except FAILURES:
        return  # the figures stay «not counted»; the risk page says why
    finally:
        editor.counting = False
    await _reload(editor)


def _refresh(editor: DictionaryEditor) -> None:
    """Show every row again; fields that already show what they should are not touched."""
    for name, row in editor.rows.items():
        same = row.shown == editor.entry(name).variable
        (_fill_row if same else _build_row)(editor, name, row)
    _apply_filters(editor)
    _refresh_boxes(editor)
    _show_selected(editor)


def _refresh_boxes(editor: DictionaryEditor) -> None:
    editor.boxes["top"].clear()
    with editor.boxes["top"]:
        _build_top(editor)
    _build_save_box(editor)


def _refresh_row(editor: DictionaryEditor, name: str) -> None:
    _fill_row(editor, name, editor.rows[name])
    _refresh_boxes(editor)
