"""The import wizard: a file or a table becomes a project, in four steps that can be gone back.

Nothing is computed here: each step asks an operation what it would mean, and the last one starts the work. An address
with a password is refused before it is used; what was typed is neither kept nor shown again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.preview import PreviewColumn, SourcePreview
from celosia.model.sources import ReadingChoices
from celosia.web.pages.project.rows import role_text, rows_table, show_notices
from celosia.web.server.transfer import size_text
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify, upload_field
from celosia.web.ui.html import Cell
from celosia.web.ui.page import plain_page, start_and_open
from celosia.web.work.workers import FAILURES, OperationFailed
from celosia.workbench.operations.new_project import (
    create_project,
    list_sources,
    preview_source,
    proposed_name,
    source_choices,
    source_tables,
)

STEPS = ("source", "reading", "columns", "finish")
_NORMS = ("minsal", "minsal-sensible", "atenea", "mel", "ley21719")
_ACCEPTED = ".csv,.tsv,.txt,.parquet,.xlsx,.xlsm,.xls,.ods,.sav,.zsav,.dta,.sqlite,.sqlite3,.duckdb,.db"
_WORKBOOKS = ("xlsx", "xls", "ods")
_ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1", "windows-1252", "cp850", "mac-roman")
_SIGNS = {"delimiter": (",", ";", "\t", "|"), "decimal": (".", ","), "quote": ('"', "'", "")}
_SIGN_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", '"': "double", "'": "single", "": "none"}
_SIGN_NAMES["."] = "point"
_HEADER = {"yes": True, "no": False}


@dataclass(slots=True)
class Wizard:
    """What was chosen so far in one tab."""

    page: PageContext
    box: ui.element
    files: tuple[str, ...] = ()  # files in the folder of the projects
    step: str = "source"
    source: str | Path = ""
    label: str = ""  # the source as the page names it
    reading: dict[str, Any] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    choices: ReadingChoices | None = None  # where the source could be looked at
    preview: SourcePreview | None = None  # where its rows can be shown
    fault: str = ""  # why they cannot
    dropped: set[str] = field(default_factory=set)
    name: str = ""
    protocols: list[str] = field(default_factory=list)
    person: str = ""
    dictionary: Path | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # a source is looked at for one change at a time

    @property
    def columns(self) -> tuple[PreviewColumn, ...]:
        """The columns of the source."""
        return self.preview.preview.columns if self.preview is not None else ()

    async def go(self, step: str) -> None:
        """Go to a step once nothing is being looked at; without rows to show there is no way on."""
        async with self.turn:
            if self.preview is not None or STEPS.index(step) < STEPS.index(self.step):
                self.show(step)

    def show(self, step: str) -> None:
        """Show a step."""
        self.step = step
        self.box.clear()
        with self.box:
            _show_progress(self)
            _BUILDERS[step](self)

    async def take(self, source: str | Path, label: str) -> None:
        """Begin with a source; whatever was chosen for another one is forgotten."""
        async with self.turn:
            with self.show_waiting():
                try:
                    tables = await self.page.answer(source_tables, source)
                except FAILURES as error:
                    notify(str(error).replace(str(source), label), "bad")
                    return
                self.source, self.label, self.tables = source, label, tables
                self.reading, self.dropped, self.choices, self.preview = {}, set(), None, None
                if self.tables and isinstance(source, str):
                    self.reading["table"] = self.tables[0]
                await self.look()
            if self.choices is None:
                return
            self.name = await self.page.ask(proposed_name, self.page.server.root, self.reading.get("table") or label)
            self.show("reading")

    @contextlib.contextmanager
    def show_waiting(self) -> Iterator[None]:
        """Show that the source is being looked at, for as long as it takes."""
        with self.box:
            looking = html.note(text("web_new.looking"))
        try:
            yield
        finally:
            looking.delete()

    async def look(self) -> None:
        """Look at the source with the choices made; what is wrong is shown in its place."""
        self.preview, self.fault = None, ""
        try:
            self.preview = await self.page.answer(preview_source, self.source, **self.reading)
            self.choices, self.tables = self.preview.choices, self.preview.tables
        except OperationFailed as error:
            self.fault = str(error).replace(str(self.source), self.label)  # without the private folder
            try:
                self.choices = await self.page.answer(source_choices, self.source, **self.reading)
            except OperationFailed:
                if self.choices is None:  # nothing is known of it: the reader sees why and stays where they were
                    notify(self.fault, "bad")

    async def change(self, name: str, given: Any) -> None:
        """Take a reading choice and look again."""
        value = _HEADER.get(given, True) if name == "header" else given
        async with self.turn:
            self.reading = {key: other for key, other in {**self.reading, name: value}.items() if other is not None}
            if name == "sheet":
                self.reading.pop("table", None)
            self.dropped = set()
            with self.show_waiting():
                await self.look()
            self.show("reading")


@plain_page("/new", "web_new.title")
async def new_page(page: PageContext) -> None:
    """A new project, step by step."""
    if page.server.only:
        html.note(text("web_new.only"), "warning")
        return
    sources = await page.ask(list_sources, page.server.root)
    Wizard(page, html.tag("div"), files=tuple(source.name for source in sources)).show("source")


def _show_progress(wizard: Wizard) -> None:
    """Where in the wizard one is; a step already passed can be gone back to."""
    reached = STEPS.index(wizard.step)
    with html.tag("nav", classes="c-wizard", aria_label=text("web_new.steps")), html.tag("ol"):
        for place, step in enumerate(STEPS):
            with html.tag("li", classes="c-passed" if place < reached else ""):
                if place < reached:
                    html.button(text(f"web_new.step.{step}"), partial(wizard.go, step), "quiet")
                else:
                    html.tag("span", text(f"web_new.step.{step}"), aria_current="step" if place == reached else None)


# --- first step: the source ------------------------------------------------------------------------


def _source_step(wizard: Wizard) -> None:
    html.paragraph(text("web_new.source.opening"))
    with html.tag("div", classes="c-columns"):
        with html.card(text("web_new.source.upload.title")):
            hint = text("web_new.source.upload.hint", limit=size_text(wizard.page.server.upload_limit))
            label = text("web_new.source.upload.file")
            upload_field(wizard.page, label, lambda path: wizard.take(path, path.name), _ACCEPTED, hint)
        if wizard.files:
            _folder_card(wizard)
        _database_card(wizard)


def _folder_card(wizard: Wizard) -> None:
    chosen = {"name": wizard.files[0]}

    async def take() -> None:
        await wizard.take(wizard.page.server.root / chosen["name"], chosen["name"])

    def pick(name: Any) -> None:
        if name in wizard.files:  # only what was listed: a name is never a path
            chosen["name"] = name

    with html.card(text("web_new.source.folder.title")):
        names = {name: name for name in wizard.files}
        html.choice(
            text("web_new.source.folder.file"), names, wizard.files[0], pick, text("web_new.source.folder.hint")
        )
        html.button(text("web_new.source.use"), take)


def _database_card(wizard: Wizard) -> None:
    typed = {"address": ""}

    async def connect() -> None:
        address = typed["address"].strip()
        if address.startswith(("env:", "postgresql://", "postgres://")):
            await wizard.take(address, address if address.startswith("env:") else text("web_new.source.base.shown"))
        else:
            notify(text("web_new.source.base.unclear"), "bad")

    with html.card(text("web_new.source.base.title")):
        html.text_field(
            text("web_new.source.base.address"),
            "",
            lambda address: typed.update(address=str(address)),
            text("web_new.source.base.hint"),
            autocomplete="off",
            spellcheck="false",
            placeholder="env:NOMBRE",
        )
        html.button(text("web_new.source.base.connect"), connect)


# --- second step: how it is read -------------------------------------------------------------------


def _reading_step(wizard: Wizard) -> None:
    """The choices, each with what was detected, and the rows."""
    with html.card(text("web_new.reading.title", source=wizard.label)):
        html.paragraph(text("web_new.reading.opening"))
        with html.line("c-top"):
            if wizard.choices is not None:
                _choice_fields(wizard, wizard.choices)
        rename = bool(wizard.reading.get("rename_duplicates"))
        html.check(text("web_new.reading.rename"), rename, lambda on: wizard.change("rename_duplicates", on or None))
    with html.tag("div", aria_live="polite"):
        if wizard.preview is None or wizard.choices is None:
            html.note(wizard.fault, "bad", text("web_new.reading.fault"))
            return
        show_notices(wizard.choices.notes)
        with html.card(text("web_new.reading.rows")):
            html.paragraph(text("web_new.reading.veiled", rows=messages.integer(wizard.preview.looked_at)))
            rows_table(wizard.preview.preview, text("web_new.reading.table"))
        html.button(text("web_new.next"), lambda: wizard.go("columns"), "primary")


def _choice_fields(wizard: Wizard, choices: ReadingChoices) -> None:
    def field_of(name: str, options: Mapping[str, str], value: str) -> None:
        hint = text("web_new.reading.guessed") if name in choices.guessed else ""
        label = text(f"reading.choices.{name}").capitalize()
        html.choice(label, options, value, partial(wizard.change, name), hint)

    def sign_field(name: str) -> None:
        value = str(getattr(choices, name))
        names = {
            sign: text(f"web_new.sign.{_SIGN_NAMES[sign]}") if sign in _SIGN_NAMES else sign
            for sign in _add_value(_SIGNS[name], value)
        }
        field_of(name, names, value)

    csv = choices.format == "csv"
    if len(wizard.tables) > 1:
        sheet = str(choices.sheet) or str(wizard.reading.get("table", ""))
        field_of("sheet", {name: name for name in wizard.tables}, sheet)
    if csv:
        sign_field("delimiter")
        encodings = _add_value(_ENCODINGS, str(choices.encoding))
        field_of("encoding", {name: name for name in encodings}, str(choices.encoding))
    if csv or choices.format in _WORKBOOKS:
        answers = {key: text(f"dictionary.answer.{key}") for key in _HEADER}
        field_of("header", answers, "yes" if choices.header else "no")
    if csv:
        sign_field("decimal")
        sign_field("quote")


def _add_value(known: tuple[str, ...], value: str) -> tuple[str, ...]:
    return known if value in known else (*known, value)


# --- third step: which columns stay out ------------------------------------------------------------


def _columns_step(wizard: Wizard) -> None:
    """One line a column, with what it seems to be and why."""
    impossible = [column.name for column in wizard.columns if column.refused]
    wizard.dropped |= set(impossible)

    def go_on() -> None:
        if len(wizard.dropped) < len(wizard.columns):
            wizard.show("finish")
            return
        warning.clear()
        with warning:
            html.note(text("web_new.columns.none"), "bad")

    with html.card(text("web_new.columns.title")):
        html.paragraph(text("web_new.columns.opening"))
        if impossible:
            html.note(text("web_new.columns.impossible", names=", ".join(impossible)), "warning")
        titles = [text(f"web_new.columns.{key}") for key in ("out", "name")]
        rows = [_column_row(wizard, column) for column in wizard.columns]
        html.table(titles, rows, text("web_new.columns.table"), row_heads=False)
    with html.line():
        html.button(text("web_new.next"), go_on, "primary")
    warning = html.tag("div", aria_live="assertive")


def _column_row(wizard: Wizard, column: PreviewColumn) -> list[Cell]:
    def put(out: bool) -> None:
        wizard.dropped = wizard.dropped | {column.name} if out else wizard.dropped - {column.name}

    def tick_cell() -> None:
        if column.refused:
            html.tag("span", text("web_new.columns.out"), "c-state c-warning")
        else:
            label = text("web_new.columns.leave", name=column.name)
            html.check(label, column.name in wizard.dropped, put, hidden_label=True)

    def description_cell() -> None:
        with html.tag("div", classes="c-described"):
            with html.tag("div", classes="c-name"):
                html.tag("strong", column.name)
                html.tag("span", role_text(column.role), f"c-role c-role-{column.role or 'none'} c-padded")
            html.tag("small", text("web_new.columns.holds", kind=column.refused) if column.refused else column.evidence)

    return [tick_cell, description_cell]


# --- last step: name, norms, person key and dictionary ----------------------------------------------


def _finish_step(wizard: Wizard) -> None:
    """What the project is called, which norms it answers to, and what identifies a person."""

    def put_name(name: Any) -> None:
        wizard.name = str(name).strip()

    def put_norm(norm: str, on: bool) -> None:
        chosen = {*wizard.protocols, norm} if on else {*wizard.protocols} - {norm}
        wizard.protocols = [known for known in _NORMS if known in chosen]

    with html.tag("div", classes="c-columns"):
        with html.card(text("web_new.finish.title")):
            label, hint = text("web_new.finish.name"), text("web_new.finish.plain")
            html.text_field(label, wizard.name, put_name, hint, maxlength=120)
            _person_field(wizard)
        with html.card(text("web_new.finish.norms")):
            html.paragraph(text("web_new.finish.norms_meaning"))
            for norm in _NORMS:
                with html.tag("div"):
                    title = messages.text(f"protocols.title.{norm}")
                    html.check(title, norm in wizard.protocols, partial(put_norm, norm))
        _dictionary_card(wizard)
    box = html.tag("div", aria_live="polite")
    html.button(text("web_new.finish.create"), lambda: _create(wizard, box), "primary")


def _person_field(wizard: Wizard) -> None:
    names = [column.name for column in wizard.columns if column.name not in wizard.dropped]
    if wizard.person not in names:
        wizard.person = ""
    proposed = wizard.preview.person if wizard.preview else None
    empty = text("web_new.finish.seems", name=proposed) if proposed in names else text("web_new.finish.find")
    options = {"": empty, **{name: name for name in names}}

    def put(name: Any) -> None:
        wizard.person = str(name) if name in options else ""

    html.choice(text("web_new.finish.person"), options, wizard.person, put, text("web_new.finish.person_meaning"))


def _dictionary_card(wizard: Wizard) -> None:
    def show_received() -> None:
        received.clear()
        with received:
            if wizard.dictionary is not None:
                html.note(text("web_new.finish.dictionary_held", name=wizard.dictionary.name), "good")

    def take(path: Path) -> None:
        wizard.dictionary = path
        show_received()

    with html.card(text("web_new.finish.dictionary")):
        html.paragraph(text("web_new.finish.dictionary_meaning"))
        received = html.tag("div", aria_live="polite")
        show_received()
        upload_field(wizard.page, text("web_new.finish.dictionary_file"), take, ".csv,.xlsx,.xls,.ods")


def _create(wizard: Wizard, box: ui.element) -> None:
    box.clear()
    with box:
        if not wizard.name:
            html.note(text("web_new.finish.name_missing"), "bad")
            return
        if "mel" in wizard.protocols and wizard.dictionary is None:
            html.note(text("web_new.finish.dictionary_needed"), "bad")
            return
        reading = dict(wizard.reading)
        if wizard.dropped:
            reading["drop"] = [column.name for column in wizard.columns if column.name in wizard.dropped]
        start_and_open(
            wizard.page,
            wizard.name,
            f"/p/{wizard.name}/data",
            create_project,
            wizard.page.server.root,
            wizard.name,
            wizard.source,
            tuple(wizard.protocols),
            wizard.dictionary,
            wizard.person or None,
            **reading,
        )


_BUILDERS: Mapping[str, Callable[[Wizard], None]] = {
    "source": _source_step,
    "reading": _reading_step,
    "columns": _columns_step,
    "finish": _finish_step,
}
