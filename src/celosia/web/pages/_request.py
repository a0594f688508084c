"""The request: who asks for what, why and within which limits, as a form over request.toml.

Knows how each kind of item is answered. What is written and what is missing is decided by the verbs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nicegui import ui

from celosia.web._frame import Desk, page, tell
from celosia.web._widgets import (
    Cell,
    button,
    card,
    check,
    choice,
    heading,
    line,
    note,
    paragraph,
    table,
    tag,
    text_area,
    text_field,
    word,
)

_OWN_WORDS = ("kind",)  # items whose question in the file speaks of the file
_LISTS = {"asked": "variables", "limited": "legal.limited", "contrast": "mel.contrast"}
_LONG = ("aggregation", "authorisation", "use", "minsal.purpose", "mel.consent")
_SECTIONS = ("legal", "source", "minsal", "mel", "publication")


@dataclass(slots=True)
class Draft:
    """The form as it was read, and what the reader has changed since."""

    form: dict[str, Any]
    changed: dict[str, Any] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # adding and saving at once: one after the other
    status: ui.element = field(init=False)  # what is said of the changes, and …
    kept: ui.element = field(init=False)  # … the properties; both made anew with the form

    @property
    def items(self) -> dict[str, dict[str, Any]]:
        """The items by their key."""
        return {item["key"]: item for item in self.form["items"]}

    def answer(self, key: str) -> Any:
        """What stands in a field now."""
        return self.changed.get(key, self.items[key]["answer"] if key in self.items else None)

    def put(self, key: str, value: Any) -> None:
        """A change of the reader; one that gives back what was there is none."""
        before = self.items[key]["answer"] if key in self.items else None
        if value == before or (value in ("", []) and before in (None, "", [])):  # `no` is an answer
            self.changed.pop(key, None)
        else:
            self.changed[key] = value

    def saved(self, form: dict[str, Any], sent: Mapping[str, Any]) -> None:
        """Take the form as it stands after saving; what was changed while it was being saved stays changed."""
        self.form = form
        self.changed = {key: value for key, value in self.changed.items() if key not in sent or sent[key] != value}


@page("request")
async def request_page(desk: Desk) -> None:
    """The form, and what it still lacks."""
    draft = Draft(await desk.ask("request_form", desk.folder))
    desk.when_done(lambda _: None)  # loading the page anew would lose what was typed
    paragraph(word("web_request.opening"))
    box = tag("div")
    with box:
        _form(desk, draft, box)


def _form(desk: Desk, draft: Draft, box: ui.element) -> None:
    _lacking(draft)
    draft.status = tag("div", role="status")
    touched = partial(_touched, draft)
    with card(word("web_request.section.request"), classes="c-form"):
        for key in _top(draft):
            _field(draft, key, touched)
    _variables(draft, touched)
    if "properties" in draft.items:
        _properties(desk, draft, touched)
    for section in _SECTIONS:
        keys = [key for key in draft.items if key.startswith(f"{section}.") and key not in _LISTS.values()]
        if keys:
            with card(word(f"web_request.section.{section}"), classes="c-form"):
                for key in keys:
                    _field(draft, key, touched)
    with tag("div", classes="c-savebar") as bar:
        button(word("web_request.save"), partial(_save, desk, draft, box), "primary", every=True)
    draft.status.move(bar)
    _unsaved(draft)
    _extract(desk)


def _top(draft: Draft) -> list[str]:
    return [key for key in draft.items if "." not in key and key not in ("variables", "properties")]


def _lacking(draft: Draft) -> None:
    missing = draft.form["missing"]
    if missing:
        names = ", ".join(_short(key) for key in missing)
        note(word("web_request.lacking", count=len(missing), names=names), "warning")
    elif draft.form["written"]:
        note(word("web_request.complete"), "good")


def _short(key: str) -> str:
    return word(f"protocols.item.{key}")


def _touched(draft: Draft, key: str, value: Any) -> None:
    """Remember a change and say that it is not saved yet."""
    draft.put(key, value)
    _unsaved(draft)


def _unsaved(draft: Draft) -> None:
    draft.status.clear()
    if draft.changed:
        with draft.status:
            tag("span", word("web_request.unsaved"), "c-state c-warning")


# --- one field ------------------------------------------------------------------------------------

Touched = Callable[[str, Any], None]
Put = Callable[[Any], None]


def _field(draft: Draft, key: str, touched: Touched) -> None:
    item = draft.items[key]
    words = word(f"web_request.item.{key}") if key in _OWN_WORDS else word(f"request.item.{key}")
    hint = word("web_request.demanded") if item["demanded"] and not item["missing"] else ""
    kind = "long" if key in _LONG else item["kind"]
    made = _FIELDS[kind](words, draft.answer(key), hint, partial(touched, key))
    if item["demanded"]:
        made.props["aria-required"] = "true"
    if item["missing"]:
        made.props["aria-describedby"] = f"missing-{key.replace('.', '-')}"
    _missing(item)


def _missing(item: Mapping[str, Any]) -> None:
    if item["missing"]:
        name = f"missing-{item['key'].replace('.', '-')}"
        tag("p", "⚠ " + word("web_request.missing"), "c-missing", id=name)


def _text(words: str, value: Any, hint: str, put: Put) -> ui.element:
    return text_field(words, value or "", lambda given: put(str(given).strip()), hint)


def _long(words: str, value: Any, hint: str, put: Put) -> ui.element:
    return text_area(words, value or "", lambda given: put(str(given).strip()), hint, rows=2)


def _texts(words: str, value: Any, hint: str, put: Put) -> ui.element:
    def lines(given: Any) -> None:
        put([one.strip() for one in str(given).splitlines() if one.strip()])

    said = f"{hint} {word('web_request.one_a_line')}".strip()
    return text_area(words, "\n".join(value or ()), lines, said, rows=2)


def _flag(words: str, value: Any, hint: str, put: Put) -> ui.element:
    options = {} if isinstance(value, bool) else {"": word("web_request.flag.unanswered")}
    options |= {"yes": word("web_request.flag.yes"), "no": word("web_request.flag.no")}
    held = ("yes" if value else "no") if isinstance(value, bool) else ""
    return choice(words, options, held, lambda given: put(given == "yes") if given else None, hint)


def _kind(words: str, value: Any, hint: str, put: Put) -> ui.element:
    options = {"": word("web_request.kind.unanswered")}
    options |= {key: word(f"web_request.kind.{key}") for key in ("internal", "external")}
    return choice(words, options, value or "", put, hint)


_FIELDS: Mapping[str, Callable[..., ui.element]] = {
    "text": _text, "long": _long, "day": _text, "texts": _texts, "flag": _flag, "choice": _kind,
}  # fmt: skip


# --- variables ------------------------------------------------------------------------------------


def _variables(draft: Draft, touched: Touched) -> None:
    """One line a variable: whether it is asked for, may not be released, is compared."""
    lists = {name: key for name, key in _LISTS.items() if key in draft.items}
    with card(word("web_request.section.variables")):
        paragraph(word("request.item.legal.limited"))
        for key in lists.values():
            _missing(draft.items[key])
        limited = draft.form["limited"]
        if limited and not draft.answer("legal.limited"):
            note(word("web_request.variables.all_limited"), "warning")
        elif limited:
            paragraph(word("web_request.variables.limits", names=", ".join(limited)))
        head = [word(f"web_request.variables.{key}") for key in ("name", "role", *lists)]
        rows = [
            [
                one["name"],
                _role(one["role"]),
                *(partial(_tick, draft, lists, name, one["name"], touched) for name in lists),
            ]
            for one in draft.form["variables"]
        ]
        table(head, rows, word("web_request.variables.caption"))


def _role(role: str | None) -> str:
    return word(f"dictionary.role.{role}") if role else word("web_request.variables.no_role")


def _tick(draft: Draft, lists: Mapping[str, str], name: str, variable: str, touched: Touched) -> None:
    key = lists[name]

    def put(ticked: bool) -> None:
        chosen = set(draft.answer(key) or ()) - {variable} | ({variable} if ticked else set())
        touched(key, [one["name"] for one in draft.form["variables"] if one["name"] in chosen])

    label = word(f"web_request.variables.{name}_label", name=variable)
    check(label, variable in (draft.answer(key) or ()), put, hidden_label=True)


# --- properties -----------------------------------------------------------------------------------


def _properties(desk: Desk, draft: Draft, touched: Touched) -> None:
    with card(word("web_request.section.properties"), classes="c-form"):
        paragraph(word("web_request.properties.words"))
        draft.kept = tag("div")
        _show_chosen(draft, touched)
        heading(word("web_request.properties.add"), 3)
        _new_property(desk, draft, touched)


def _show_chosen(draft: Draft, touched: Touched) -> None:
    draft.kept.clear()
    with draft.kept:
        _chosen(draft, touched)


def _chosen(draft: Draft, touched: Touched) -> None:
    held = draft.answer("properties") or []
    if not held:
        paragraph(word("web_request.properties.none"))
        _missing(draft.items["properties"])
        return
    head = [word(f"web_request.properties.{key}") for key in ("property", "variables", "tolerance", "period", "remove")]
    rows: list[list[Cell]] = [
        [_named(one), ", ".join(one.get("variables", ())) or word("web_request.properties.all"),
         str(one.get("tolerance") or word("web_request.properties.default")), str(one.get("period") or "–"),
         partial(_removal, draft, touched, number)]
        for number, one in enumerate(held)
    ]  # fmt: skip
    table(head, rows, word("web_request.properties.caption"))


def _named(one: Mapping[str, Any]) -> str:
    return word(f"atenea.property.{one['property']}")


def _removal(draft: Draft, touched: Touched, number: int) -> None:
    held = list(draft.answer("properties"))
    label = word("web_request.properties.remove_label", property=_named(held[number]))

    def remove() -> None:
        touched("properties", [one for place, one in enumerate(held) if place != number])
        _show_chosen(draft, touched)

    button(word("web_request.properties.remove"), remove, "small", label)


def _new_property(desk: Desk, draft: Draft, touched: Touched) -> None:
    """What may be kept, of which variables, how exactly."""
    wanted: dict[str, Any] = {"property": draft.form["properties"][0], "variables": []}
    names = [one["name"] for one in draft.form["variables"] if not one["direct"]]

    def tick(name: str, ticked: bool) -> None:
        wanted["variables"] = [one for one in names if (ticked if one == name else one in wanted["variables"])]

    async def add() -> None:
        async with draft.turn:
            made = await desk.ask("checked_property", dict(wanted))
            touched("properties", [*(draft.answer("properties") or []), made])
            _show_chosen(draft, touched)

    with line("c-top"):
        options = {name: word(f"atenea.property.{name}") for name in draft.form["properties"]}
        choice(
            word("web_request.properties.property"),
            options,
            wanted["property"],
            partial(wanted.__setitem__, "property"),
        )
        text_field(word("web_request.properties.tolerance"), "", partial(wanted.__setitem__, "tolerance"),
                   word("web_request.properties.tolerance_hint"))  # fmt: skip
        periods = {"": word("web_request.properties.no_period"), **{name: name for name in names}}
        choice(word("web_request.properties.period"), periods, "", partial(wanted.__setitem__, "period"))
    with tag("fieldset", classes="c-fieldset"):
        tag("legend", word("web_request.properties.choose"))
        for name in names:
            check(name, False, partial(tick, name))
    button(word("web_request.properties.add_button"), add)


# --- saving ---------------------------------------------------------------------------------------


async def _save(desk: Desk, draft: Draft, box: ui.element) -> None:
    async with draft.turn:
        if not draft.changed:
            tell(word("web_request.nothing_changed"))
            return
        sent = deepcopy(draft.changed)
        draft.saved(await desk.ask("edit_request", desk.folder, sent, expected=draft.form["digest"]), sent)
        box.clear()
        with box:
            _form(desk, draft, box)
        tell(word("web_request.saved"), "good")


def _extract(desk: Desk) -> None:
    """What was asked for becomes what is published, on request only: it rewrites purposes in the dictionary."""

    async def extract() -> None:
        names = await desk.ask("extract_requested", desk.folder)
        tell(word("web_request.extracted", names=", ".join(names)), "good")

    with card(word("web_request.extract")):
        paragraph(word("web_request.extract_words"))
        button(word("web_request.extract"), extract)
