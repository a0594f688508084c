"""The dictionary: one row a variable, what each is, what it is for, and what follows from it.

What is changed here waits in the page until it is saved; saving is refused, and nothing is lost, where somebody else
saved first. Everything shown comes from `dictionary_view` and `tried_lines`: this page decides nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from nicegui import context

from celosia import messages
from celosia.errors import CelosiaError
from celosia.web._frame import Desk, page
from celosia.web._widgets import (
    bare_choice,
    button,
    card,
    check,
    choice,
    details,
    explained,
    figures,
    line,
    note,
    paragraph,
    said,
    state,
    tag,
    text_field,
    upload,
    word,
)
from celosia.web._workers import Failed
from celosia.web.pages._dictionary_detail import show_detail
from celosia.web.pages._dictionary_sheet import (
    Row,
    Sheet,
    areas_words,
    distinct_words,
    options,
    published_words,
    short_list,
)

_ROLES = ("identifier", "quasi", "sensitive", "plain")
_FIRST = 30  # rows that come with the page; the others follow at once
_FILTERS = ("all", *_ROLES, "none", "unpublished", "changed")


@page("dictionary")
async def dictionary_page(desk: Desk) -> None:
    """The dictionary of a project."""
    sheet = Sheet(desk, await desk.ask("dictionary_view", desk.folder))
    paragraph(word("web_dictionary.opening"))
    sheet.boxes["top"] = tag("div", aria_live="polite")
    with card(classes="d-tools"):
        _filters(sheet)
        with tag("div", classes="d-more"):
            _bulk(sheet)
            _units(sheet)
            _import(sheet)
    _table(sheet)
    sheet.boxes["save"] = tag("section", aria_label=word("web_dictionary.save.title"))
    sheet.boxes["detail"] = tag("dialog", classes="d-detail", id="d-detail", aria_labelledby="d-detail-title")
    sheet.boxes["detail"].on("close", lambda: sheet.boxes.pop("told", None))
    sheet.refresh = lambda: _refreshed(sheet)
    sheet.row_changed = lambda name: _row_refreshed(sheet, name)
    _rows(sheet, _FIRST)
    _refreshed(sheet)
    desk.when_done(lambda job: _reload(sheet))
    context.client.on_connect(lambda: _completed(sheet))


# --- what stands above the table ------------------------------------------------------------------


def _top(sheet: Sheet) -> None:
    view, lines = sheet.view, [sheet.line_of(one.variable.name) for one in sheet.view.lines]
    roles = [str(one.variable.role or "") for one in lines]
    shown = {"variables": len(lines), "published": sum(one.published for one in lines)}
    shown |= {role: roles.count(role) for role in ("quasi", "sensitive")}
    figures([(word(f"web_dictionary.{key}"), messages.integer(value)) for key, value in shown.items()])
    unnamed = [one.variable.name for one in lines if one.variable.role is None]
    if unnamed:
        note(word("web_dictionary.without_role", names=short_list(unnamed)), "bad")
    purposeless = [one.variable.name for one in lines if _lacks_only_purpose(one)]
    if purposeless:
        told = word("web_dictionary.without_purpose", count=len(purposeless), names=short_list(purposeless))
        note(told, "warning")
    if not unnamed and not purposeless:
        note(word("web_dictionary.complete", count=shown["published"]), "good")
    faulty = [sentence for one in lines for sentence in one.faults]
    if faulty:
        told = word("web_dictionary.faults", count=sum(bool(one.faults) for one in lines))
        with details(told), tag("ul", classes="d-faults"):
            for sentence in faulty:
                tag("li", sentence)
    if view.covering:
        note(word("web_dictionary.approved", what=_covering(view.covering)), "warning")
    if not view.counted:
        note(word("web_dictionary.counting"))


def _lacks_only_purpose(one: Any) -> bool:
    return tuple(one.excluded) == ("no_purpose",)


def _covering(what: tuple[str, ...]) -> str:
    return ", ".join(word(f"web_dictionary.covering.{one}") for one in what)


def _downloads(sheet: Sheet) -> None:
    desk = sheet.desk

    async def download(suffix: str) -> None:
        path = desk.scratch(f"{word('web_dictionary.file.name')}-{desk.name}{suffix}")
        await desk.ask("export_dictionary", desk.folder, path)
        desk.offer(path)

    button(word("web_dictionary.file.xlsx"), lambda: download(".xlsx"))
    button(word("web_dictionary.file.csv"), lambda: download(".csv"))


def _import(sheet: Sheet) -> None:
    desk = sheet.desk

    async def arrived(told: Mapping[str, Any]) -> None:
        path = desk.uploaded(str(told["ticket"]))
        if path is None:
            return
        if sheet.pending:
            sheet.notify(word("web_dictionary.file.pending"), "warning")
            return
        try:
            count = await desk.answer("import_dictionary", desk.folder, path, expected=sheet.view.digest)
        except (Failed, CelosiaError) as error:
            sheet.notify(str(error).replace(str(path), path.name), "bad")  # where uploads lie is nobody's matter
            return
        await _reload(sheet)
        sheet.notify(word("web_dictionary.file.imported", count=count), "good")

    with details(word("web_dictionary.file.upload")):
        hint = word("web_dictionary.file.upload_hint")
        upload(word("web_dictionary.file.upload"), desk.csrf, arrived, ".csv,.xlsx", hint)


def _units(sheet: Sheet) -> None:
    names = {one.variable.name: one.variable.name for one in sheet.view.lines}

    async def chosen(**unit: str) -> None:
        digest = sheet.view.settings_digest
        await sheet.desk.ask("choose_unit", sheet.desk.folder, **unit, expected=digest)
        await _reload(sheet)
        sheet.notify(word("web_dictionary.unit.saved"), "good")

    with details(word("web_dictionary.unit.title")), line("d-top"):
        choice(word("web_dictionary.unit.person"), {"": word("web_dictionary.unit.none")} | names,
               sheet.view.person or "", lambda value: chosen(person=value),
               word("web_dictionary.unit.person_hint"))  # fmt: skip
        choice(word("web_dictionary.unit.household"), {"": word("web_dictionary.unit.no_household")} | names,
               sheet.view.household or "", lambda value: chosen(household=value),
               word("web_dictionary.unit.household_hint"))  # fmt: skip


def _filters(sheet: Sheet) -> None:
    def searched(text: str) -> None:
        sheet.query = text
        _filtered(sheet)

    def limited(value: str) -> None:
        sheet.only = value
        _filtered(sheet)

    words = {key: word(f"web_dictionary.filter.{key}") for key in _FILTERS if key not in _ROLES}
    words |= {role: word(f"dictionary.role.{role}") for role in _ROLES}
    with line():
        made = text_field(word("web_dictionary.filter.words"), "", searched, kind="search")
        made.on("input", lambda event: searched(event.args), throttle=0.2, leading_events=False,
                js_handler="(e) => emit(e.target.value)")  # fmt: skip
        choice(word("web_dictionary.filter.role"), {key: words[key] for key in _FILTERS}, "all", limited)
        _downloads(sheet)
    sheet.boxes["shown"] = tag("p", classes="d-soft", aria_live="polite")


def _bulk(sheet: Sheet) -> None:
    wanted: dict[str, str] = {}

    async def apply() -> None:
        changes = {field: value for field, value in wanted.items() if value}
        if not changes or not sheet.selected:
            sheet.notify(word("web_dictionary.bulk.nothing"), "warning")
            return
        await sheet.change({name: dict(changes) for name in sorted(sheet.selected)})
        _refreshed(sheet)

    def select(all_shown: bool) -> None:
        sheet.selected = {name for name in sheet.rows if sheet.shows(name)} if all_shown else set()
        for name, row in sheet.rows.items():
            _row_built(sheet, name, row)
        _selected(sheet)

    same = {"": word("web_dictionary.bulk.same")}
    with details(word("web_dictionary.bulk.title")):
        sheet.boxes["selected"] = tag("p", aria_live="polite")
        with line():
            button(word("web_dictionary.bulk.all"), lambda: select(True), "small")
            button(word("web_dictionary.bulk.none"), lambda: select(False), "small")
        with line("c-top"):
            choice(word("web_dictionary.column.role"), same | options("role", empty=False), "",
                   lambda value: wanted.update(role=value))  # fmt: skip
            choice(word("web_dictionary.column.treatment"), same | options("treatment", empty=False), "",
                   lambda value: wanted.update(treatment=value))  # fmt: skip
            text_field(word("web_dictionary.column.purpose"), "", lambda text: wanted.update(purpose=text.strip()),
                       word("web_dictionary.bulk.purpose_hint"))  # fmt: skip
        with line():
            button(word("web_dictionary.bulk.apply"), apply, "primary")


# --- the table ------------------------------------------------------------------------------------


def _table(sheet: Sheet) -> None:
    caption = word("web_dictionary.table")
    scroll = {"tabindex": "0", "role": "region", "aria_label": caption}
    with tag("div", "", "c-scroll c-tall d-scroll", **scroll), tag("table", classes="c-table d-table"):
        tag("caption", caption, "c-hidden")
        with tag("thead"), tag("tr"):
            for key in sheet.columns:
                tag("th", word(f"web_dictionary.column.{key}"), scope="col")
        sheet.boxes["rows"] = tag("tbody")


def _rows(sheet: Sheet, most: int) -> None:
    """Build up to so many of the rows that are not there yet."""
    names = [one.variable.name for one in sheet.view.lines]
    with sheet.boxes["rows"]:
        for place in range(len(sheet.rows), min(len(names), len(sheet.rows) + most)):
            sheet.rows[names[place]] = row = Row(tag("tr"))
            _row_built(sheet, names[place], row)


async def _completed(sheet: Sheet) -> None:
    """What the page shows a moment after it opened: the rest of the rows, and what had to be counted."""
    while len(sheet.rows) < len(sheet.view.lines):
        _rows(sheet, _FIRST)
        await asyncio.sleep(0.01)  # whoever types meanwhile is heard
    _filtered(sheet)
    await _count(sheet)


def _row_built(sheet: Sheet, name: str, row: Row) -> None:
    """A row with its fields as they are to be shown."""
    one = sheet.line_of(name)
    row.element.clear()
    row.shown = one.variable
    with row.element:
        with tag("td"):
            check(word("web_dictionary.cell.select", name=name), name in sheet.selected,
                  lambda value: _tick(sheet, name, value), hidden_label=True)  # fmt: skip
        with tag("th", scope="row", classes="d-name") as row.cells["name"]:
            tag("span", name)
            if one.variable.label:
                tag("small", one.variable.label)
            with tag("div", classes="d-row-tools"):
                _evidence(name, one.variable.evidence)
                button(word("web_dictionary.cell.open"), lambda: show_detail(sheet, name), "small",
                       word("web_dictionary.cell.open_label", name=name))  # fmt: skip
        with tag("td") as row.cells["role"]:
            _choice_cell(sheet, name, "role")
        with tag("td"):
            made = tag("input", classes="c-input", type="text", defaultValue=one.variable.purpose,
                       aria_label=word("web_dictionary.cell.purpose", name=name))  # fmt: skip
            made.on("change", lambda event: sheet.set(name, purpose=event.args),
                    js_handler="(e) => emit(e.target.value)")  # fmt: skip
        with tag("td"):
            _choice_cell(sheet, name, "treatment")
        row.cells["distinct"] = tag("td", classes="c-number")
        if "class" in sheet.columns:
            row.cells["class"] = tag("td")
        if "mel" in sheet.columns:
            with tag("td"):
                _choice_cell(sheet, name, "mel_label")
                row.cells["mel"] = tag("small")
        row.cells["published"] = tag("td")
    _row_filled(sheet, name, row)


def _choice_cell(sheet: Sheet, name: str, key: str) -> None:
    held = getattr(sheet.line_of(name).variable, key)
    spoken = word(f"web_dictionary.cell.{key}", name=name)
    bare_choice(spoken, options(key), held or "", lambda value: sheet.set(name, **{key: value}))


def _evidence(name: str, evidence: str) -> None:
    """The evidence shows on hover and on focus, and is what a screen reader says of the button."""
    with explained(evidence or word("web_dictionary.cell.no_evidence")) as place:
        tag("button", word("web_dictionary.cell.why"), "c-button c-small", type="button", aria_describedby=place,
            aria_label=word("web_dictionary.cell.why_label", name=name))  # fmt: skip


def _row_filled(sheet: Sheet, name: str, row: Row) -> None:
    """What follows from a row's answers; the fields themselves are left alone, somebody may be typing in them."""
    one = sheet.line_of(name)
    row.shown = one.variable
    row.cells["role"].classes(replace=f"c-role c-role-{one.variable.role or 'none'}")
    changed = name in sheet.pending
    row.cells["name"].classes(add="d-changed" if changed else "", remove="" if changed else "d-changed")
    row.cells["name"].props["title"] = word("web_dictionary.cell.changed") if changed else None
    said(row.cells["distinct"], distinct_words(one))
    if "class" in row.cells:
        said(row.cells["class"], word(f"web_dictionary.class.{one.identifier_class or 'unanswered'}"))
    if "mel" in row.cells:
        said(row.cells["mel"], areas_words(one))
    row.cells["published"].clear()
    with row.cells["published"]:
        state(word("web_dictionary.excluded.yes" if one.published else "web_dictionary.excluded.no"),
              "good" if one.published else "info")  # fmt: skip
        if one.excluded:
            tag("small", published_words(one))


def _tick(sheet: Sheet, name: str, value: bool) -> None:
    (sheet.selected.add if value else sheet.selected.discard)(name)
    _selected(sheet)


def _selected(sheet: Sheet) -> None:
    said(sheet.boxes["selected"], word("web_dictionary.bulk.selected", count=len(sheet.selected)))


def _filtered(sheet: Sheet) -> None:
    shown = {one.variable.name for one in sheet.view.lines if sheet.shows(one.variable.name)}
    for name, row in sheet.rows.items():
        if row.hidden != (name not in shown):
            row.hidden = name not in shown
            row.element.classes(add="d-away" if row.hidden else "", remove="" if row.hidden else "d-away")
    said(sheet.boxes["shown"], word("web_dictionary.filter.shown", shown=len(shown), total=len(sheet.view.lines)))


# --- saving ---------------------------------------------------------------------------------------


def _saving(sheet: Sheet) -> None:
    """What waits to be saved; its buttons are left alone while they say the same, somebody may be pressing one."""
    box, waiting = sheet.boxes["save"], word("web_dictionary.save.count", count=len(sheet.pending))
    shape = (sheet.conflict, bool(sheet.pending), bool(sheet.view.covering))
    if shape == sheet.offered:
        said(sheet.boxes["count"], waiting if sheet.pending else "")
        return
    sheet.offered = shape
    box.clear()
    box.props["data-celosia-unsaved"] = "1" if sheet.pending else None
    box.classes(replace="d-save" if sheet.pending or sheet.conflict else "")
    with box:
        if sheet.conflict:
            with note(word("web_dictionary.save.conflict"), "bad"):
                button(word("web_dictionary.save.reload"), lambda: _keep(sheet), "primary")
        sheet.boxes["count"] = tag("strong", waiting if sheet.pending else "")
        if not sheet.pending:
            return
        text_field(word("web_dictionary.save.why"), sheet.why, lambda text: setattr(sheet, "why", text))
        voids = "web_dictionary.save.save_void" if sheet.view.covering else "web_dictionary.save.save"
        button(word(voids), lambda: _save(sheet), "danger" if sheet.view.covering else "primary",
               every=True)  # fmt: skip
        button(word("web_dictionary.save.discard"), lambda: _discard(sheet))


async def _save(sheet: Sheet) -> None:
    try:
        told = await sheet.save()
    except (Failed, CelosiaError) as error:
        sheet.conflict = isinstance(error, Failed) and error.told.code == "edited_meanwhile"
        if not sheet.conflict:
            sheet.notify(str(error), "bad")
        _saving(sheet)
        return
    if told is None:
        return
    _refreshed(sheet)
    sheet.notify(word("web_dictionary.save.saved", count=told.variables), "good")
    if told.cancelled:
        sheet.notify(word("web_dictionary.save.cancelled", what=_covering(told.cancelled)), "warning")
    await _count(sheet)


async def _keep(sheet: Sheet) -> None:
    """Show what stands now with what was typed on top of it, and say where the two meet."""
    before = {one.variable.name: one.variable for one in sheet.view.lines}
    await _reload(sheet)
    clashes = sheet.clashes(before)
    sheet.notify(word("web_dictionary.save.reloaded"), "info")
    if clashes:
        sheet.notify(word("web_dictionary.save.clash", names=short_list(clashes)), "warning")


async def _discard(sheet: Sheet) -> None:
    await sheet.discard()
    _refreshed(sheet)


# --- showing anew ---------------------------------------------------------------------------------


async def _reload(sheet: Sheet) -> None:
    await sheet.reload()
    _refreshed(sheet)


async def _count(sheet: Sheet) -> None:
    """Count, apart, what no kept figure tells; the page is complete without it."""
    if sheet.view.counted or sheet.counting or not sheet.desk.may("count_columns"):
        return
    sheet.counting = True
    try:
        await sheet.desk.answer("count_columns", sheet.desk.folder)
    except (Failed, CelosiaError):
        return  # the figures stay «not counted»; whoever measures is told why
    finally:
        sheet.counting = False
    await _reload(sheet)


def _refreshed(sheet: Sheet) -> None:
    """Show every row anew; fields that already show what they should are not touched."""
    for name, row in sheet.rows.items():
        same = row.shown == sheet.line_of(name).variable
        (_row_filled if same else _row_built)(sheet, name, row)
    _filtered(sheet)
    _beside(sheet)
    _selected(sheet)


def _beside(sheet: Sheet) -> None:
    sheet.boxes["top"].clear()
    with sheet.boxes["top"]:
        _top(sheet)
    _saving(sheet)


def _row_refreshed(sheet: Sheet, name: str) -> None:
    _row_filled(sheet, name, sheet.rows[name])
    _beside(sheet)
