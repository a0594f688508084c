"""The request: who asks for what, why and within which limits, as a form over request.toml.

Knows how each kind of item is answered. The operations decide what is written and what is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from nicegui import ui

from celosia.messages import text
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.workbench.operations.request import checked_property, edit_request, extract_requested, request_form
from celosia.workbench.views.request import RequestForm, RequestItem

_OWN_LABELS = ("kind",)  # items whose question in the file speaks of the file
_LISTS = {"asked": "variables", "limited": "legal.limited", "contrast": "mel.contrast"}
_LONG = ("aggregation", "authorisation", "use", "minsal.purpose", "mel.consent")
_SECTIONS = ("legal", "source", "minsal", "mel", "publication")
Put = Callable[[Any], None]


@dataclass(slots=True)
class RequestDraft:
    """The form as it was read, and what the reader has changed since."""

    page: PageContext
    box: ui.element
    form: RequestForm
    changed: dict[str, Any] = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # adding and saving at once: one after the other
    status: ui.element = field(init=False)  # says that there are changes, and …
    chosen: ui.element = field(init=False)  # … the chosen properties; both made again with the form

    @property
    def items(self) -> dict[str, RequestItem]:
        """The items by their key."""
        return {item.key: item for item in self.form.items}

    def answer(self, key: str) -> Any:
        """What a field holds now."""
        return self.changed.get(key, self.items[key].answer if key in self.items else None)

    def put(self, key: str, value: Any) -> None:
        """Remember a change and show that it is not saved; one that gives back what was there is none."""
        before = self.items[key].answer if key in self.items else None
        if value == before or (value in ("", []) and before in (None, "", [])):  # `no` is an answer
            self.changed.pop(key, None)
        else:
            self.changed[key] = value
        self.show_status()

    def show_status(self) -> None:
        """Say whether something is not saved."""
        self.status.clear()
        if self.changed:
            with self.status:
                html.tag("span", text("web_request.unsaved"), "c-state c-warning")

    async def save(self) -> None:
        """Write what was changed; what is changed while it is being saved stays changed."""
        async with self.turn:
            if not self.changed:
                notify(text("web_request.nothing_changed"))
                return
            sent = deepcopy(self.changed)
            self.form = await self.page.ask(edit_request, self.page.folder, sent, expected=self.form.digest)
            self.changed = {key: value for key, value in self.changed.items() if key not in sent or sent[key] != value}
            self.build()
            notify(text("web_request.saved"), "good")

    def build(self) -> None:
        """Build the form again."""
        self.box.clear()
        with self.box:
            _missing_note(self.form)
            self.status = html.tag("div", role="status")
            with html.card(text("web_request.section.request"), classes="c-form"):
                for key in self.items:
                    if "." not in key and key not in ("variables", "properties"):
                        _item_field(self, key)
            _variables_card(self)
            if "properties" in self.items:
                _properties_card(self)
            for section in _SECTIONS:
                keys = [key for key in self.items if key.startswith(f"{section}.") and key not in _LISTS.values()]
                if keys:
                    with html.card(text(f"web_request.section.{section}"), classes="c-form"):
                        for key in keys:
                            _item_field(self, key)
            with html.tag("div", classes="c-savebar") as bar:
                html.button(text("web_request.save"), self.save, "primary", every=True)
            self.status.move(bar)
            self.show_status()
            _extract_card(self.page)


@project_page("request")
async def request_page(page: PageContext) -> None:
    """The form, and what it still lacks."""
    form = await page.ask(request_form, page.folder)
    page.when_done(lambda _: None)  # loading the page again would lose what was typed
    html.paragraph(text("web_request.opening"))
    RequestDraft(page, html.tag("div"), form).build()


def _missing_note(form: RequestForm) -> None:
    if form.missing:
        names = ", ".join(text(f"protocols.item.{key}") for key in form.missing)
        html.note(text("web_request.lacking", count=len(form.missing), names=names), "warning")
    elif form.written:
        html.note(text("web_request.complete"), "good")


# --- one field ------------------------------------------------------------------------------------


def _item_field(draft: RequestDraft, key: str) -> None:
    item = draft.items[key]
    label = text(f"web_request.item.{key}") if key in _OWN_LABELS else text(f"request.item.{key}")
    hint = text("web_request.demanded") if item.demanded and not item.missing else ""
    element = _FIELDS["long" if key in _LONG else item.kind](label, draft.answer(key), hint, partial(draft.put, key))
    if item.demanded:
        element.props["aria-required"] = "true"
    if item.missing:
        element.props["aria-describedby"] = _missing_id(item)
    _missing_mark(item)


def _missing_id(item: RequestItem) -> str:
    return f"missing-{item.key.replace('.', '-')}"


def _missing_mark(item: RequestItem) -> None:
    if item.missing:
        html.tag("p", "⚠ " + text("web_request.missing"), "c-missing", id=_missing_id(item))


def _text_field(label: str, value: Any, hint: str, put: Put) -> ui.element:
    return html.text_field(label, value or "", lambda given: put(str(given).strip()), hint)


def _long_field(label: str, value: Any, hint: str, put: Put) -> ui.element:
    return html.text_area(label, value or "", lambda given: put(str(given).strip()), hint, rows=2)


def _lines_field(label: str, value: Any, hint: str, put: Put) -> ui.element:
    def put_lines(given: Any) -> None:
        put([entry.strip() for entry in str(given).splitlines() if entry.strip()])

    hint = f"{hint} {text('web_request.one_a_line')}".strip()
    return html.text_area(label, "\n".join(value or ()), put_lines, hint, rows=2)


def _flag_field(label: str, value: Any, hint: str, put: Put) -> ui.element:
    options = {} if isinstance(value, bool) else {"": text("web_request.flag.unanswered")}
    options |= {"yes": text("web_request.flag.yes"), "no": text("web_request.flag.no")}
    answer = ("yes" if value else "no") if isinstance(value, bool) else ""
    return html.choice(label, options, answer, lambda given: put(given == "yes") if given else None, hint)


def _kind_field(label: str, value: Any, hint: str, put: Put) -> ui.element:
    options = {"": text("web_request.kind.unanswered")}
    options |= {key: text(f"web_request.kind.{key}") for key in ("internal", "external")}
    return html.choice(label, options, value or "", put, hint)


_FIELDS: Mapping[str, Callable[[str, Any, str, Put], ui.element]] = {
    "text": _text_field,
    "long": _long_field,
    "day": _text_field,
    "texts": _lines_field,
    "flag": _flag_field,
    "choice": _kind_field,
}


# --- variables ------------------------------------------------------------------------------------


def _variables_card(draft: RequestDraft) -> None:
    """One line a variable: whether it is asked for, may not be released, is compared."""
    lists = {name: key for name, key in _LISTS.items() if key in draft.items}
    variables, limited = draft.form.variables, draft.form.limited
    with html.card(text("web_request.section.variables")):
        html.paragraph(text("request.item.legal.limited"))
        for key in lists.values():
            _missing_mark(draft.items[key])
        if limited and not draft.answer("legal.limited"):
            html.note(text("web_request.variables.all_limited"), "warning")
        elif limited:
            html.paragraph(text("web_request.variables.limits", names=", ".join(limited)))
        head = [text(f"web_request.variables.{key}") for key in ("name", "role", *lists)]
        rows: list[list[Cell]] = []
        for variable in variables:
            role = f"dictionary.role.{variable.role}" if variable.role else "web_request.variables.no_role"
            ticks = (partial(_variable_tick, draft, name, key, variable.name) for name, key in lists.items())
            rows.append([variable.name, text(role), *ticks])
        html.table(head, rows, text("web_request.variables.caption"))


def _variable_tick(draft: RequestDraft, name: str, key: str, variable: str) -> None:
    def put(ticked: bool) -> None:
        chosen = set(draft.answer(key) or ()) - {variable} | ({variable} if ticked else set())
        draft.put(key, [known.name for known in draft.form.variables if known.name in chosen])

    label = text(f"web_request.variables.{name}_label", name=variable)
    html.check(label, variable in (draft.answer(key) or ()), put, hidden_label=True)


# --- properties -----------------------------------------------------------------------------------


def _properties_card(draft: RequestDraft) -> None:
    with html.card(text("web_request.section.properties"), classes="c-form"):
        html.paragraph(text("web_request.properties.words"))
        draft.chosen = html.tag("div")
        _show_chosen(draft)
        html.heading(text("web_request.properties.add"), 3)
        _new_property(draft)


def _show_chosen(draft: RequestDraft) -> None:
    """The chosen properties, each with the button that removes it."""
    chosen: list[Mapping[str, Any]] = list(draft.answer("properties") or ())

    def remove_button(number: int) -> None:
        def remove() -> None:
            draft.put("properties", [wanted for place, wanted in enumerate(chosen) if place != number])
            _show_chosen(draft)

        label = text("web_request.properties.remove_label", property=_property_name(chosen[number]))
        html.button(text("web_request.properties.remove"), remove, "small", label)

    draft.chosen.clear()
    with draft.chosen:
        if not chosen:
            html.paragraph(text("web_request.properties.none"))
            _missing_mark(draft.items["properties"])
            return
        keys = ("property", "variables", "tolerance", "period", "remove")
        rows: list[list[Cell]] = [
            [
                _property_name(wanted),
                ", ".join(wanted.get("variables", ())) or text("web_request.properties.all"),
                str(wanted.get("tolerance") or text("web_request.properties.default")),
                str(wanted.get("period") or "–"),
                partial(remove_button, number),
            ]
            for number, wanted in enumerate(chosen)
        ]
        html.table(
            [text(f"web_request.properties.{key}") for key in keys], rows, text("web_request.properties.caption")
        )


def _property_name(wanted: Mapping[str, Any]) -> str:
    return text(f"atenea.property.{wanted['property']}")


def _new_property(draft: RequestDraft) -> None:
    """What may be preserved, of which variables, how exactly."""
    wanted: dict[str, Any] = {"property": draft.form.properties[0], "variables": []}
    names = [variable.name for variable in draft.form.variables if not variable.direct]

    def tick(name: str, ticked: bool) -> None:
        chosen = {*wanted["variables"], name} if ticked else {*wanted["variables"]} - {name}
        wanted["variables"] = [known for known in names if known in chosen]

    async def add() -> None:
        async with draft.turn:
            added = await draft.page.ask(checked_property, dict(wanted))
            draft.put("properties", [*(draft.answer("properties") or []), added])
            _show_chosen(draft)

    def put(key: str) -> Put:
        return partial(wanted.__setitem__, key)

    with html.line("c-top"):
        options = {name: text(f"atenea.property.{name}") for name in draft.form.properties}
        html.choice(text("web_request.properties.property"), options, wanted["property"], put("property"))
        hint = text("web_request.properties.tolerance_hint")
        html.text_field(text("web_request.properties.tolerance"), "", put("tolerance"), hint)
        periods = {"": text("web_request.properties.no_period"), **{name: name for name in names}}
        html.choice(text("web_request.properties.period"), periods, "", put("period"))
    with html.tag("fieldset", classes="c-fieldset"):
        html.tag("legend", text("web_request.properties.choose"))
        for name in names:
            html.check(name, False, partial(tick, name))
    html.button(text("web_request.properties.add_button"), add)


# --- extraction -----------------------------------------------------------------------------------


def _extract_card(page: PageContext) -> None:
    """What was asked for becomes what is published, on request only: it rewrites purposes in the dictionary."""

    async def extract() -> None:
        names = await page.ask(extract_requested, page.folder)
        notify(text("web_request.extracted", names=", ".join(names)), "good")

    with html.card(text("web_request.extract")):
        html.paragraph(text("web_request.extract_words"))
        html.button(text("web_request.extract"), extract)
