"""The state of the dictionary's page while somebody edits: what was read, what waits to be saved, what is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.messages import text
from celosia.model.variables import Kind, MelLabel, Role, Scale, Treatment, Variable
from celosia.web.ui import html
from celosia.web.ui.context import AlreadyShown, PageContext, notify
from celosia.web.work.workers import FAILURES
from celosia.workbench.operations.dictionary import dictionary_view, edit_dictionary, tried_lines
from celosia.workbench.views.dictionary import DictionaryEdit, DictionaryLine, DictionaryView

_ENUMS = {"role": Role, "scale": Scale, "kind": Kind, "mel_label": MelLabel, "treatment": Treatment}
_TRAITS = ("replicable", "distinguishable", "knowable")
_LISTED = 8
Changes = dict[str, dict[str, Any]]


@dataclass(slots=True)
class Row:
    """A row on the screen: the cells that follow from its fields, and the variable that the fields show."""

    element: ui.element
    cells: dict[str, ui.element] = field(default_factory=dict)
    shown: Variable | None = None
    hidden: bool = False


@dataclass(slots=True)
class DictionaryEditor:
    """One reader's dictionary.

    What changes it waits for its turn: whoever types in two fields, or types and saves at once, loses neither.
    """

    page: PageContext
    view: DictionaryView
    pending: Changes = field(default_factory=dict)
    tried: dict[str, DictionaryLine] = field(default_factory=dict)  # the lines that what is pending would give
    selected: set[str] = field(default_factory=set)
    rows: dict[str, Row] = field(default_factory=dict)
    boxes: dict[str, ui.element] = field(default_factory=dict)
    query: str = ""
    only: str = "all"
    why: str = ""
    conflict: bool = False
    save_shape: tuple[bool, ...] = ()  # what the box of saving shows
    counting: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # in the order in which the browser sent them
    refresh: Callable[[], None] = lambda: None
    show_row: Callable[[str], None] = lambda name: None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table: those of a norm only where the project follows it."""
        norms = {"class": "atenea", "mel": "mel"}
        every = ("select", "variable", "role", "purpose", "treatment", "distinct", "class", "mel", "published")
        return tuple(key for key in every if key not in norms or norms[key] in self.view.protocols)

    def entry(self, name: str) -> DictionaryLine:
        """A line as it would be once saved."""
        return self.tried.get(name) or self.saved_entry(name)

    def saved_entry(self, name: str) -> DictionaryLine:
        """A line as the project has it."""
        return next(entry for entry in self.view.lines if entry.variable.name == name)

    def shows(self, name: str) -> bool:
        """Whether the filters let a variable through."""
        entry = self.entry(name)
        if self.query.strip().casefold() not in f"{name}\n{entry.variable.label}".casefold():
            return False
        role = entry.variable.role or "none"
        special = {"all": True, "unpublished": not entry.published, "changed": name in self.pending}
        return special.get(self.only, role == self.only)

    def notify(self, sentence: str, kind: str) -> None:
        """A message to the reader: in the open window, or in the page, from an element that stays."""
        messages_box = self.boxes.get("messages")
        if messages_box is None:
            with self.boxes["top"]:  # the button that was pressed may be gone
                notify(sentence, kind)
            return
        messages_box.clear()
        with messages_box:
            html.note(sentence, kind)

    async def set(self, name: str, **changes: Any) -> None:
        """Change fields of one variable, for now only here."""
        await self.change({name: changes})
        self.show_row(name)

    async def change(self, changes: Changes) -> None:
        """Take changes if their values can be; what gives back the project's value is no change."""
        async with self.turn:
            await self._apply_changes(changes)

    async def save(self) -> DictionaryEdit | None:
        """Write what was changed, and read the project again; None where nothing waits, as after a second click."""
        async with self.turn:
            if not self.pending:
                return None
            expected, why = self.view.digest, self.why
            edit = await self.page.answer(edit_dictionary, self.page.folder, self.pending, expected=expected, why=why)
            self.pending, self.why = {}, ""
            await self._read()
        return edit

    async def discard(self) -> None:
        """Forget what was changed."""
        async with self.turn:
            self.pending, self.tried, self.conflict = {}, {}, False

    async def reload(self) -> None:
        """Read the project again; what was typed stays, on top of it."""
        async with self.turn:
            await self._read()

    async def _apply_changes(self, changes: Changes) -> None:
        wanted = {name: {**self.pending.get(name, {}), **new} for name, new in changes.items()}
        wanted = {name: self._differences(name, new) for name, new in wanted.items()}
        try:
            tried = await self.page.answer(tried_lines, self.page.folder, {n: c for n, c in wanted.items() if c})
        except FAILURES as error:
            self.notify(str(error), "bad")
            raise AlreadyShown(str(error)) from None
        for name, new in wanted.items():
            self.pending.pop(name, None)
            self.tried.pop(name, None)
            if new:
                self.pending[name], self.tried[name] = new, tried[name]

    async def _read(self) -> None:
        self.view = await self.page.ask(dictionary_view, self.page.folder)
        self.conflict = False
        pending = {name: dict(new) for name, new in self.pending.items() if self._is_known(name)}
        self.pending, self.tried = {}, {}
        if pending:
            await self._apply_changes(pending)

    def clashes(self, before: Mapping[str, Variable]) -> list[str]:
        """Variables of which somebody else changed a field that is also changed here."""
        return [
            name
            for name, new in self.pending.items()
            if any(value_of(before[name], key) != value_of(self.saved_entry(name).variable, key) for key in new)
        ]

    def _is_known(self, name: str) -> bool:
        return any(entry.variable.name == name for entry in self.view.lines)

    def _differences(self, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        saved = self.saved_entry(name).variable
        return {key: value for key, value in changes.items() if value_of(saved, key) != _json_value(value)}


def value_of(variable: Variable, field_name: str) -> Any:
    """What a field holds, as a change would say it."""
    return _json_value(getattr(variable.traits if field_name in _TRAITS else variable, field_name))


def _json_value(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(value)
    return value.strip() if isinstance(value, str) else value if value is not None else None


def options(field_name: str, empty: bool = True) -> dict[str, str]:
    """The words of a field, by their ids."""
    none = {"": text("web_dictionary.cell.none")} if empty else {}
    return none | {value.value: text(f"dictionary.{field_name}.{value.value}") for value in _ENUMS[field_name]}


def exclusion_text(entry: DictionaryLine) -> str:
    """The first reason for which a variable is not published: the others would not matter before it."""
    return text(f"web_dictionary.excluded.{entry.excluded[0]}")


def distinct_text(entry: DictionaryLine) -> str:
    """How many values a column has, and how many that is per row."""
    if entry.figures is None:
        return text("web_dictionary.uncounted")
    share = messages.part(entry.figures.share, 1)
    return text("web_dictionary.distinct", count=entry.figures.distinct, share=share)


def areas_text(entry: DictionaryLine) -> str:
    """How many categories a geographic variable has, and the units of the smallest."""
    if entry.mel is None or entry.mel.areas is None:
        return ""
    return text("web_dictionary.cell.areas", areas=entry.mel.areas.areas, smallest=entry.mel.areas.smallest or 0)


def short_list(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    shown = ", ".join(names[:_LISTED])
    more = len(names) - _LISTED
    return text("web_dictionary.more", names=shown, count=more) if more > 0 else shown
