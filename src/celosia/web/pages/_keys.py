"""One's own key in a page: made with a passphrase that only its owner knows, shown by its public half, used to sign.

A passphrase goes from its field to the verb that needs it and nowhere else: the form sends it when it is submitted and
empties the field; it is in no state, no property of an element, no log and no journal. Too many wrong ones shut it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nicegui import app, ui

from celosia.errors import CelosiaError, PassphrasesDiffer
from celosia.model.desk import KeyCard
from celosia.model.people import Person
from celosia.pipeline import default_identity, key_path, public_card
from celosia.web import _rights as rights
from celosia.web._frame import Desk, Shown, refused, tell
from celosia.web._sessions import Guesses
from celosia.web._widgets import button, figures, labelled, lasting, line, paragraph, single, tag, word
from celosia.web._workers import Failed

# Reads the form once, empties its secrets and hands over what it held.
_SEND = """(event) => {
  event.preventDefault();
  const given = Object.fromEntries(new FormData(event.target));
  event.target.querySelectorAll('input[type="password"]').forEach((one) => { one.value = ""; });
  emit(given);
}"""
Given = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Signer:
    """Whoever reads, as somebody who may sign in this project."""

    card: KeyCard | None
    person: Person | None
    roles: tuple[str, ...]  # held in the project and, where there are accounts, by the account


def own_key(desk: Desk) -> Path:
    """Where the reader's key lies."""
    return key_path(desk.office.root, desk.session.login) if desk.session.login else default_identity()


async def signer_here(desk: Desk, people: tuple[Person, ...]) -> Signer:
    """Who the reader is among the people of a project: whoever holds the reader's key."""
    card: KeyCard | None = await desk.ask("key_card", own_key(desk))
    person = next((one for one in people if card is not None and one.key == card.key), None)
    held = person.roles if person else ()
    return Signer(card, person, tuple(role for role in held if rights.may_sign(desk.session.roles, role)))


@contextlib.contextmanager
def secret_form(on_send: Callable[[Given], Awaitable[None]], submit: str, kind: str = "primary") -> Iterator[None]:
    """A form whose fields are sent once, when it is submitted; they are named by their `name`."""
    with tag("form", classes="c-form", autocomplete="off") as form:
        yield
        tag("button", submit, f"c-button c-{kind}", type="submit")
    send = single(on_send)
    form.on("submit", lambda event: lasting(send(_texts(event.args))), js_handler=_SEND)


def _texts(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping):
        return {}
    return {str(name): value for name, value in given.items() if isinstance(value, str)}


def form_field(text: str, name: str, kind: str = "text", hint: str = "", required: bool = False, **more: Any) -> None:
    """A field of such a form."""
    with labelled(text, hint) as own:
        tag("input", classes="c-input", id=own, name=name, type=kind, required=required or None, autocomplete="off",
            aria_describedby=f"{own}-hint" if hint else None, **more)  # fmt: skip


def form_choice(text: str, name: str, options: Mapping[str, str]) -> None:
    """A choice of such a form."""
    with labelled(text) as own, tag("select", classes="c-select", id=own, name=name):
        for value, words in options.items():
            tag("option", words, value=value)


def form_check(text: str, name: str, ticked: bool = False) -> None:
    """A box of such a form; it is sent as "on" where it is ticked."""
    with tag("label", classes="c-check"):
        tag("input", type="checkbox", name=name, checked=True if ticked else None)
        tag("span", text)


async def with_key(desk: Desk, verb: str, *args: Any) -> Any:
    """Call a verb that opens the reader's key; wrong passphrases are counted and noted."""
    guesses: Guesses = app.state.guesses
    mark = f"key {desk.session.login}"
    try:
        if guesses.shut(mark, ""):
            raise Shown(word("web_keys.shut"))
        made = await desk.answer(verb, *args)
    except (Failed, CelosiaError, Shown) as error:
        if isinstance(error, Failed) and error.told.code == "wrong_passphrase":
            guesses.wrong(mark, "")
            refused(desk, f"{verb} passphrase")
        tell(str(error), "bad")
        raise Shown(str(error)) from None
    guesses.right(mark, "")
    return made


# --- the part of a page ---------------------------------------------------------------------------


def key_part(desk: Desk, found: KeyCard | None) -> None:
    """One's own key: its card, or the form that makes it."""
    if found is None:
        _make(desk)
        return
    paragraph(word("web_keys.have"))
    figures([(word("web_keys.name"), found.name)])
    with tag("p"):
        tag("span", word("web_keys.public") + " ")
        tag("code", found.key)
    button(word("web_keys.card"), lambda: desk.offer(public_card(own_key(desk)), "celosia-card.json"))


def _make(desk: Desk) -> None:
    paragraph(word("web_keys.none"))
    named = bool(desk.session.login)

    async def made(given: Given) -> None:
        if given.get("passphrase") != given.get("again"):
            tell(str(PassphrasesDiffer()), "bad")
            return
        name = desk.session.name if named else given.get("name", "")
        root = {"root": desk.office.root} if named else {}
        await desk.ask("make_key", own_key(desk), name, given.get("passphrase", ""), **root)
        ui.navigate.reload()

    with secret_form(made, word("web_keys.make")), line("c-top"):
        if not named:
            form_field(word("web_keys.name"), "name", hint=word("web_keys.name_hint"), required=True)
        form_field(word("web_keys.passphrase"), "passphrase", "password", word("web_keys.hint"), required=True)
        form_field(word("web_keys.again"), "again", "password", required=True)
