"""The import wizard: a file or a table becomes a project, in four steps that can be gone back.

Nothing is computed here: each step asks a verb what it would mean, and the last one begins the work. An address with a
password is refused before it is used; what was typed is neither kept nor shown again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

from celosia.errors import CelosiaError
from celosia.web._frame import Desk, plain_page, tell
from celosia.web._transfer import size_text
from celosia.web._widgets import button, card, choice, note, paragraph, tag, text_field, upload, word
from celosia.web._workers import Failed
from celosia.web.pages._new_columns import columns_step
from celosia.web.pages._new_finish import finish_step
from celosia.web.pages._new_reading import reading_step

STEPS = ("source", "reading", "columns", "finish")
_ACCEPTED = ".csv,.tsv,.txt,.parquet,.xlsx,.xlsm,.xls,.ods,.sav,.zsav,.dta,.sqlite,.sqlite3,.duckdb,.db"


@dataclass(slots=True)
class Wizard:
    """What was chosen so far in one tab."""

    desk: Desk
    box: ui.element
    files: tuple[str, ...] = ()  # that lie in the folder of the projects
    step: str = "source"
    source: str | Path = ""
    shown: str = ""  # the source as the page names it
    reading: dict[str, Any] = field(default_factory=dict)
    tables: tuple[str, ...] = ()
    choices: Any = None  # ReadingChoices, where the source could be looked at
    found: Any = None  # SourcePreview, where its rows can be shown
    fault: str = ""  # why they cannot
    dropped: set[str] = field(default_factory=set)
    name: str = ""
    protocols: list[str] = field(default_factory=list)
    person: str = ""
    dictionary: Path | None = None
    dictionary_name: str = ""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # a source is looked at for one change at a time

    async def go(self, step: str) -> None:
        """Go to a step once nothing is being looked at; without rows to show there is no way on."""
        async with self.turn:
            if self.found is not None or STEPS.index(step) < STEPS.index(self.step):
                self.show(step)

    def show(self, step: str) -> None:
        """Go to a step."""
        self.step = step
        self.box.clear()
        with self.box:
            _progress(self)
            _BUILDERS[step](self)

    async def take(self, source: str | Path, shown: str) -> None:
        """Begin with a source; whatever was chosen for another one is forgotten."""
        async with self.turn:
            await self._taken(source, shown)

    async def _taken(self, source: str | Path, shown: str) -> None:
        with self.waiting():
            try:
                tables = await self.desk.answer("source_tables", source)
            except (Failed, CelosiaError) as error:
                tell(str(error).replace(str(source), shown), "bad")
                return
            self.source, self.shown, self.tables = source, shown, tuple(tables)
            self.reading, self.dropped, self.choices, self.found = {}, set(), None, None
            if self.tables and isinstance(source, str):
                self.reading["table"] = self.tables[0]
            await self.look()
        if self.choices is None:
            return
        named = self.reading.get("table") or shown
        self.name = await self.desk.ask("proposed_name", self.desk.office.root, named)
        self.show("reading")

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Say that the source is being looked at, for as long as it takes."""
        with self.box:
            said = note(word("web_new.looking"))
        try:
            yield
        finally:
            said.delete()

    async def look(self) -> None:
        """Look at the source with the choices made; what is wrong is kept to be said in its place."""
        self.found, self.fault = None, ""
        try:
            self.found = await self.desk.answer("preview_source", self.source, **self.reading)
            self.choices, self.tables = self.found.choices, self.found.tables
        except Failed as failed:
            self.fault = str(failed).replace(str(self.source), self.shown)  # the private folder tells nothing
            await self._choices_alone()

    async def _choices_alone(self) -> None:
        try:
            self.choices = await self.desk.answer("source_choices", self.source, **self.reading)
        except Failed:
            if self.choices is None:  # nothing can be said of it: the reader hears why and stays where he was
                tell(self.fault, "bad")


def _progress(wizard: Wizard) -> None:
    """Where in the wizard one is; a step already passed can be gone back to."""
    reached = STEPS.index(wizard.step)
    with tag("nav", classes="c-wizard", aria_label=word("web_new.steps")), tag("ol"):
        for place, step in enumerate(STEPS):
            with tag("li", classes="c-passed" if place < reached else ""):
                current = "step" if place == reached else None
                if place < reached:
                    button(word(f"web_new.step.{step}"), partial(wizard.go, step), "quiet")
                else:
                    tag("span", word(f"web_new.step.{step}"), aria_current=current)


def _source_step(wizard: Wizard) -> None:
    paragraph(word("web_new.source.opening"))
    with tag("div", classes="c-columns"):
        _uploading(wizard)
        if wizard.files:
            _lying(wizard)
        _database(wizard)


def _uploading(wizard: Wizard) -> None:
    async def arrived(told: Mapping[str, Any]) -> None:
        path = wizard.desk.uploaded(str(told["ticket"]))
        if path is not None:
            await wizard.take(path, path.name)

    with card(word("web_new.source.upload.title")):
        hint = word("web_new.source.upload.hint", limit=size_text(wizard.desk.office.upload_limit))
        upload(word("web_new.source.upload.file"), wizard.desk.csrf, arrived, _ACCEPTED, hint)


def _lying(wizard: Wizard) -> None:
    chosen = {"name": wizard.files[0]}

    async def go() -> None:
        await wizard.take(wizard.desk.office.root / chosen["name"], chosen["name"])

    def pick(name: Any) -> None:
        if name in wizard.files:  # only what was listed: a name is never a path
            chosen["name"] = name

    with card(word("web_new.source.folder.title")):
        names = {name: name for name in wizard.files}
        choice(word("web_new.source.folder.file"), names, wizard.files[0], pick, word("web_new.source.folder.hint"))
        button(word("web_new.source.use"), go)


def _database(wizard: Wizard) -> None:
    typed = {"address": ""}

    async def go() -> None:
        address = typed["address"].strip()
        if address.startswith(("env:", "postgresql://", "postgres://")):
            await wizard.take(address, address if address.startswith("env:") else word("web_new.source.base.shown"))
        else:
            tell(word("web_new.source.base.unclear"), "bad")

    with card(word("web_new.source.base.title")):
        hint = word("web_new.source.base.hint")
        text_field(
            word("web_new.source.base.address"), "", lambda text: typed.update(address=str(text)), hint,
            autocomplete="off", spellcheck="false", placeholder="env:NOMBRE",
        )  # fmt: skip
        button(word("web_new.source.base.connect"), go)


@plain_page("/new", "web_new.title")
async def new_page(desk: Desk) -> None:
    """A new project, step by step."""
    if desk.office.only:
        note(word("web_new.only"), "warning")
        return
    listed = await desk.ask("list_sources", desk.office.root)
    Wizard(desk, tag("div"), files=tuple(file.name for file in listed)).show("source")


_BUILDERS = {"source": _source_step, "reading": reading_step, "columns": columns_step, "finish": finish_step}
