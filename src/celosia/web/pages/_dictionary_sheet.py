"""What the dictionary's page holds while somebody edits: what was read, what waits to be saved, what is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.dictionary_view import DictionaryLine, DictionaryView
from celosia.model.variables import Kind, MelLabel, Role, Scale, Treatment, Variable
from celosia.web._frame import Desk, Shown, tell
from celosia.web._widgets import note, word
from celosia.web._workers import Failed

_WORDS = {"role": Role, "scale": Scale, "kind": Kind, "mel_label": MelLabel, "treatment": Treatment}
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
class Sheet:
    """One reader's dictionary.

    What changes it waits for its turn: whoever types in two fields, or types and saves at once, loses neither.
    """

    desk: Desk
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
    offered: tuple[bool, ...] = ()  # what the box of saving shows
    counting: bool = False
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # taken in the order in which the browser told
    refresh: Callable[[], None] = lambda: None
    row_changed: Callable[[str], None] = lambda name: None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table: those of a norm only where the project follows it."""
        norms = {"class": "atenea", "mel": "mel"}
        every = ("select", "variable", "role", "purpose", "treatment", "distinct", "class", "mel", "published")
        return tuple(key for key in every if key not in norms or norms[key] in self.view.protocols)

    def line_of(self, name: str) -> DictionaryLine:
        """A line as it would be once saved."""
        return self.tried.get(name) or self.saved_line(name)

    def saved_line(self, name: str) -> DictionaryLine:
        """A line as it stands in the project."""
        return next(one for one in self.view.lines if one.variable.name == name)

    def shows(self, name: str) -> bool:
        """Whether the filters let a variable through."""
        one = self.line_of(name)
        if self.query.strip().casefold() not in f"{name}\n{one.variable.label}".casefold():
            return False
        role = one.variable.role or "none"
        special = {"all": True, "unpublished": not one.published, "changed": name in self.pending}
        return special.get(self.only, role == self.only)

    def notify(self, sentence: str, kind: str) -> None:
        """A word to the reader: in the window that lies over the page, or in the page, from a place that stays."""
        told = self.boxes.get("told")
        if told is None:
            with self.boxes["top"]:  # the button that was pressed may be gone
                tell(sentence, kind)
            return
        told.clear()
        with told:
            note(sentence, kind)

    async def set(self, name: str, **changes: Any) -> None:
        """Change fields of one variable, for now only here."""
        await self.change({name: changes})
        self.row_changed(name)

    async def change(self, changes: Changes) -> None:
        """Take changes if their values can be; what goes back to what stands in the project is no change."""
        async with self.turn:
            await self._taken(changes)

    async def save(self) -> Any:
        """Write what was changed, and read the project again; None where nothing waits, as after a second click."""
        async with self.turn:
            if not self.pending:
                return None
            told = await self.desk.answer("edit_dictionary", self.desk.folder, self.pending,
                                          expected=self.view.digest, why=self.why)  # fmt: skip
            self.pending, self.why = {}, ""
            await self._read()
        return told

    async def discard(self) -> None:
        """Forget what was changed."""
        async with self.turn:
            self.pending, self.tried, self.conflict = {}, {}, False

    async def reload(self) -> None:
        """Read the project again; what was typed stays, on top of it."""
        async with self.turn:
            await self._read()

    async def _taken(self, changes: Changes) -> None:
        wanted = {name: {**self.pending.get(name, {}), **new} for name, new in changes.items()}
        wanted = {name: self._differing(name, new) for name, new in wanted.items()}
        try:
            tried = await self.desk.answer("tried_lines", self.desk.folder, {n: c for n, c in wanted.items() if c})
        except (Failed, CelosiaError) as error:
            self.notify(str(error), "bad")
            raise Shown(str(error)) from None
        for name, new in wanted.items():
            self.pending.pop(name, None)
            self.tried.pop(name, None)
            if new:
                self.pending[name], self.tried[name] = new, tried[name]

    async def _read(self) -> None:
        self.view = await self.desk.ask("dictionary_view", self.desk.folder)
        self.conflict = False
        kept = {name: dict(new) for name, new in self.pending.items() if self._known(name)}
        self.pending, self.tried = {}, {}
        if kept:
            await self._taken(kept)

    def clashes(self, before: Mapping[str, Variable]) -> list[str]:
        """Variables of which somebody else changed a field that is also changed here."""
        return [
            name
            for name, new in self.pending.items()
            if any(value_of(before[name], key) != value_of(self.saved_line(name).variable, key) for key in new)
        ]

    def _known(self, name: str) -> bool:
        return any(one.variable.name == name for one in self.view.lines)

    def _differing(self, name: str, changes: Mapping[str, Any]) -> dict[str, Any]:
        saved = self.saved_line(name).variable
        return {key: value for key, value in changes.items() if value_of(saved, key) != _plain(value)}


def value_of(variable: Variable, field_name: str) -> Any:
    """What a field holds, as a change would say it."""
    return _plain(getattr(variable.traits if field_name in _TRAITS else variable, field_name))


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(value)
    return value.strip() if isinstance(value, str) else value if value is not None else None


def options(field_name: str, empty: bool = True) -> dict[str, str]:
    """The words of a field, by their ids."""
    none = {"": word("web_dictionary.cell.none")} if empty else {}
    return none | {one.value: word(f"dictionary.{field_name}.{one.value}") for one in _WORDS[field_name]}


def published_words(one: DictionaryLine) -> str:
    """The first reason for which a variable is not published: the others would not matter before it."""
    return word(f"web_dictionary.excluded.{one.excluded[0]}")


def distinct_words(one: DictionaryLine) -> str:
    """How many values a column has, and how many that is per row."""
    if one.figures is None:
        return word("web_dictionary.uncounted")
    share = messages.part(one.figures.share, 1)
    return word("web_dictionary.distinct", count=one.figures.distinct, share=share)


def areas_words(one: DictionaryLine) -> str:
    """How many categories a geographic variable has, and the units of the smallest."""
    if one.mel is None or one.mel.areas is None:
        return ""
    return word("web_dictionary.cell.areas", areas=one.mel.areas.areas, smallest=one.mel.areas.smallest or 0)


def short_list(names: Sequence[str]) -> str:
    """A few names, and how many more there are."""
    shown = ", ".join(names[:_LISTED])
    more = len(names) - _LISTED
    return word("web_dictionary.more", names=shown, count=more) if more > 0 else shown
