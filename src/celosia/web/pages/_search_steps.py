"""The treatments before the search: those declared, in their order, and a form for one more.

The form is made from the declared parameters of the technique. It writes `[[steps]]` of celosia.toml, nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nicegui import ui

from celosia import messages
from celosia.web._frame import Desk, tell
from celosia.web._lines import LineUnclear, read_lines, written_lines
from celosia.web._widgets import (
    button,
    card,
    check,
    choice,
    details,
    line,
    note,
    number_field,
    paragraph,
    table,
    tag,
    text_area,
    text_field,
    word,
)

_COLUMNS = ("columns", "strata", "compare", "sensitive", "geography", "match", "risk", "order")  # hold several columns
_COLUMN = ("at_column", "household", "latitude", "longitude", "place", "dates")  # hold one
_FIRST = (
    "k",
    "reason",
    "confirmed",
    "l",
    "level",
    "share",
    "stay",
    "width",
    "end",
    "km",
    "keep",
    "at",
    "top_quantile",
    "mode",
)
Form = Mapping[str, Any]


@dataclass(slots=True)
class Treatments:
    """The card as it stands: what the file declares, and the step that is being written."""

    desk: Desk
    box: ui.element
    view: dict[str, Any]
    changed: Callable[[], Awaitable[None]]
    technique: str = "microaggregate"
    chosen: dict[str, Any] = field(default_factory=dict)
    proposed: list[dict[str, Any]] | None = None
    adding: bool = False
    proposals: ui.element = field(init=False)  # a box of their own: they may come while a step is being written

    def build(self) -> None:
        """The card, anew."""
        self.box.clear()
        with self.box, card(word("web_search.steps.title")):
            paragraph(word("web_search.steps.why"))
            _declared(self)
            with details(word("web_search.steps.add_title"), opened=self.adding) as opened:
                opened.on("toggle", lambda event: setattr(self, "adding", bool(event.args)),
                          js_handler="(e) => emit(e.target.open)")  # fmt: skip
                _adding(self)
            self.proposals = tag("div")
            _proposed(self)

    async def write(self, steps: Sequence[Mapping[str, Any]], filled_in: bool = False) -> None:
        """Write the steps; what a technique does not accept is said and nothing changes.

        A step that was filled in leaves its form; with any other, what is half filled in stays.
        """
        self.view = await self.desk.ask("edit_steps", self.desk.folder, list(steps), expected=self.view["digest"])
        if filled_in:
            self.chosen, self.adding = {}, False
        self.build()
        tell(word("web_search.steps.saved"), "good")
        await self.changed()

    async def begin(self) -> None:
        """Read the file first: it may have been written by the form above since the card was built."""
        self.view = await self.desk.ask("steps_view", self.desk.folder)

    async def add(self, step: Mapping[str, Any], filled_in: bool = False) -> None:
        """Add a step behind the others."""
        await self.begin()
        await self.write([*_steps(self.view), dict(step)], filled_in)

    async def move(self, place: int, by: int) -> None:
        """Change the place of a step with its neighbour."""
        steps = _steps(self.view)
        steps[place], steps[place + by] = steps[place + by], steps[place]
        await self._instead(steps)

    async def remove(self, place: int) -> None:
        """Take a step out."""
        await self._instead([step for i, step in enumerate(_steps(self.view)) if i != place])

    async def _instead(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Write these steps in place of those that were shown, unless others are there by now."""
        shown = _steps(self.view)
        await self.begin()
        if _steps(self.view) == shown:
            await self.write(steps)
            return
        self.build()
        tell(word("web_search.steps.moved"), "warning")


def _steps(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(one["step"]) for one in view["steps"]]


def _declared(held: Treatments) -> None:
    found = held.view["steps"]
    if not found:
        paragraph(word("web_search.steps.none"), "c-soft")
        return
    for one in found:
        if one["fault"]:
            note(one["fault"], "bad", one["title"])
    rows = [[str(i + 1), one["title"], _said(one["settings"]), partial(_moves, held, i, len(found), one["title"])]
            for i, one in enumerate(found)]  # fmt: skip
    heads = [word(f"web_search.steps.{key}") for key in ("place", "technique", "settings")]
    table([*heads, ""], rows, word("web_search.steps.title"))


def _said(settings: Mapping[str, Any]) -> str:
    return "; ".join(f"{key}: {_value(value)}" for key, value in settings.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return word(f"dictionary.answer.{'yes' if value else 'no'}")
    if isinstance(value, list | tuple):
        return ", ".join(map(_value, value))
    if isinstance(value, Mapping):
        return word("web_search.steps.entries", count=len(value))
    return messages.integer(value) if isinstance(value, int) else str(value)


def _moves(held: Treatments, place: int, many: int, title: str) -> None:
    with line("c-tight"):
        for key, by, last in (("up", -1, place == 0), ("down", 1, place == many - 1)):
            label = word(f"web_search.steps.{key}_label", technique=title)
            button(word(f"web_search.settings.{key}"), partial(held.move, place, by), "small", label, disabled=last)
        label = word("web_search.policy.remove_label", criterion=title)
        button(word("web_search.policy.remove"), partial(held.remove, place), "small", label)


# --- one more -------------------------------------------------------------------------------------


def _adding(held: Treatments) -> None:
    forms = {form["technique"]: form for form in held.view["forms"]}
    form = forms[held.technique]

    def choose(name: Any) -> None:
        # Whoever chooses has it open, though the browser may tell that it was opened only after the choice.
        held.technique, held.chosen, held.adding = str(name), {}, True
        held.build()

    titles = {name: one["title"] for name, one in forms.items()}
    choice(word("web_search.steps.technique"), titles, held.technique, choose)
    paragraph(form["summary"], "c-soft")
    first = [one for one in form["parameters"] if one["required"] or one["name"] in _FIRST]
    _fields(held, first)
    spare = [one for one in form["parameters"] if one not in first]
    if spare:
        with details(word("web_search.policy.more")):
            _fields(held, spare)
    with line():
        button(word("web_search.steps.add"), lambda: _add(held), "primary")
    paragraph(word("web_search.steps.by_file"), "c-soft")


async def _add(held: Treatments) -> None:
    filled = {key: value for key, value in held.chosen.items() if value not in ("", [], {})}
    try:
        tables = {key: read_lines(value.kind, value.text) for key, value in filled.items() if isinstance(value, _Typed)}
    except LineUnclear as fault:
        tell(word("web_search.steps.line_unclear", line=fault.line), "bad")
        return
    await held.add({"technique": held.technique, **filled, **tables}, filled_in=True)


@dataclass(frozen=True, slots=True)
class _Typed:
    """Lines as they were typed: they are read when the step is added, so that a half of them is no fault yet."""

    kind: str
    text: str


def _fields(held: Treatments, several: Sequence[Form]) -> None:
    with tag("div", classes="c-narrow"):
        for one in several:
            _field(held, one)


def _field(held: Treatments, one: Form) -> None:
    """The field of one declared parameter; its label says what it means, the hint how the file calls it."""
    name, label, hint = one["name"], one["meaning"], f"celosia.toml: {one['name']}"

    def put(value: Any) -> None:
        if value is None or value == one["default"]:
            held.chosen.pop(name, None)
        else:
            held.chosen[name] = value

    value = held.chosen.get(name, one["default"])
    if name in _COLUMNS or (one["kind"] == "texts" and one["choices"]):
        _several(label, one["choices"] or held.view["columns"], list(value or ()), put)
    elif name in _COLUMN:
        columns = {"": word("web_search.steps.nothing"), **{column: column for column in held.view["columns"]}}
        choice(label, columns, str(value or ""), put, hint)
    elif one["choices"]:
        empty = {} if one["default"] is not None else {"": word("web_search.steps.nothing")}
        choice(label, {**empty, **{option: option for option in one["choices"]}}, str(value or ""), put, hint)
    elif one["kind"] == "flag":
        check(label, bool(value), put)
    elif one["kind"] in ("pairs", "conditions"):
        shown = value.text if isinstance(value, _Typed) else written_lines(value or {})
        lines = word(f"web_search.steps.{one['kind']}")
        text_area(
            label, shown, lambda text: put(_Typed(one["kind"], str(text)) if str(text).strip() else None), lines, 5
        )
    elif one["kind"] == "whole":
        number_field(label, value, lambda given: put(None if given is None else int(given)), one["minimum"], hint=hint)
    else:
        text_field(label, _written(value), lambda text: put(_read(one["kind"], str(text))), hint)


def _several(label: str, options: Sequence[str], value: list[str], put: Callable[[Any], None]) -> None:
    held = list(value)

    def take(option: str, on: bool) -> None:
        held[:] = [one for one in options if (one in held and one != option) or (on and one == option)]
        put(list(held))

    with tag("fieldset", classes="c-fieldset"):
        tag("legend", label)
        for option in options:
            check(option, option in held, partial(take, option))


def _written(value: Any) -> str:
    return " | ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)


def _read(kind: str, text: str) -> Any:
    """What was typed, as the file holds it: a number with a point, several things between bars."""
    if kind in ("texts", "numbers", "wholes"):
        parts = [part.strip() for part in text.split("|") if part.strip()]
        return [_number(part) for part in parts] if kind != "texts" else parts
    return _number(text) if kind == "number" else text.strip()


def _number(text: str) -> Any:
    """A number as people write it; what is none is left for the technique to refuse."""
    plain = text.strip().replace(",", ".")
    return int(plain) if plain.lstrip("+-").isdigit() else plain


# --- proposals ------------------------------------------------------------------------------------


def _proposed(held: Treatments) -> None:
    held.proposals.clear()
    with held.proposals:
        _proposals(held)


def _proposals(held: Treatments) -> None:
    if held.proposed is None:
        button(word("web_search.steps.propose"), lambda: _propose(held))
        return
    if not held.proposed:
        paragraph(word("web_search.steps.no_proposal"), "c-soft")
        return
    rows = [[one["variable"], one["title"], one["sentence"], partial(_take, held, one)] for one in held.proposed]
    heads = [word(f"web_search.steps.{key}") for key in ("variable", "technique", "reason")]
    table([*heads, ""], rows, word("web_search.steps.proposals"), show_caption=True)


async def _propose(held: Treatments) -> None:
    held.proposed = await held.desk.ask("proposed_steps_view", held.desk.folder)
    _proposed(held)


def _take(held: Treatments, one: Mapping[str, Any]) -> None:
    """Take a proposal as it is; one that a person has to complete goes to the form."""
    label = word("web_search.steps.take_label", technique=one["title"], variable=one["variable"])
    if not one["needs"]:
        button(word("web_search.steps.take"), lambda: held.add(one["step"]), "small", label)
    else:
        button(word("web_search.steps.complete"), lambda: _complete(held, one), "small", label)


def _complete(held: Treatments, one: Mapping[str, Any]) -> None:
    step = dict(one["step"])
    held.technique, held.chosen, held.adding = str(step.pop("technique")), step, True
    held.build()
