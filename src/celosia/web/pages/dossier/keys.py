"""One's own key in a page: made with a passphrase that only its owner knows, shown by its public half, used to sign.

A passphrase goes from its field to the operation that needs it and nowhere else: the form sends it when it is
submitted and empties the field; it is in no state, no property of an element, no log and no journal. Too many wrong
ones block the key for a while.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from nicegui import app, ui

from celosia.dossier.signed import signed_lines
from celosia.messages import text
from celosia.model.people import Approval, Person
from celosia.pipeline.project.author import card_path, identity_path
from celosia.pipeline.project.fingerprints import fingerprint
from celosia.web.errors import PassphrasesDiffer
from celosia.web.pages.dossier.reading import show_document
from celosia.web.server import rights
from celosia.web.server.sessions import LoginThrottle
from celosia.web.ui import html
from celosia.web.ui.context import AlreadyShown, PageContext, notify
from celosia.web.ui.verdicts import capitalise, role_options, table_heads
from celosia.web.work.workers import FAILURES, OperationFailed
from celosia.workbench.accounts import key_path
from celosia.workbench.operations.people import key_card, make_key
from celosia.workbench.views.dossier import KeyCard, SigningView

# Reads the form once, empties its secrets and hands over its fields.
_SEND = """(event) => {
  event.preventDefault();
  const given = Object.fromEntries(new FormData(event.target));
  event.target.querySelectorAll('input[type="password"]').forEach((one) => { one.value = ""; });
  emit(given);
}"""
Fields = Mapping[str, str]  # of a form that was sent, by their name
Sign = Callable[[str, Path, str, str, str], Awaitable[Approval]]  # role, key, passphrase, note, seal
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Signer:
    """Whoever reads, as somebody who may sign in this project."""

    card: KeyCard | None
    person: Person | None
    roles: tuple[str, ...]  # held in the project and, where there are accounts, by the account


def own_key(page: PageContext) -> Path:
    """The path of the reader's key."""
    return key_path(page.server.root, page.session.login) if page.session.login else identity_path()


async def find_signer(page: PageContext, people: tuple[Person, ...]) -> Signer:
    """Who the reader is among the people of a project: whoever holds the reader's key."""
    card = await page.ask(key_card, own_key(page))
    person = next((person for person in people if card is not None and person.key == card.key), None)
    roles = person.roles if person else ()
    return Signer(card, person, tuple(role for role in roles if rights.may_sign(page.session.roles, role)))


# --- forms ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def secret_form(on_send: Callable[[Fields], Awaitable[None]], submit: str, kind: str = "primary") -> Iterator[None]:
    """A form whose fields are sent once, when it is submitted; they are named by their `name`."""
    with html.tag("form", classes="c-form", autocomplete="off") as form:
        yield
        html.tag("button", submit, f"c-button c-{kind}", type="submit")
    send = html.ignore_while_running(on_send)
    form.on("submit", lambda event: html.keep_client(send(_text_fields(event.args))), js_handler=_SEND)


def _text_fields(given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping):
        return {}
    return {str(name): value for name, value in given.items() if isinstance(value, str)}


def form_field(label: str, name: str, kind: str = "text", hint: str = "", required: bool = False, **more: Any) -> None:
    """A field of such a form."""
    with html.label_field(label, hint) as own:
        more |= {"required": required or None, "aria_describedby": f"{own}-hint" if hint else None}
        html.tag("input", classes="c-input", id=own, name=name, type=kind, autocomplete="off", **more)


def form_choice(label: str, name: str, options: Mapping[str, str]) -> None:
    """A choice of such a form."""
    with html.label_field(label) as own, html.tag("select", classes="c-select", id=own, name=name):
        for value, option in options.items():
            html.tag("option", option, value=value)


def form_check(label: str, name: str, ticked: bool = False) -> None:
    """A box of such a form; it is sent as "on" where it is ticked."""
    with html.tag("label", classes="c-check"):
        html.tag("input", type="checkbox", name=name, checked=True if ticked else None)
        html.tag("span", label)


# --- signing --------------------------------------------------------------------------------------


async def call_with_key(page: PageContext, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call an operation that opens the reader's key; wrong passphrases are counted and noted."""
    throttle: LoginThrottle = app.state.throttle
    mark = f"key {page.session.login}"
    try:
        if throttle.is_blocked(mark, ""):
            raise AlreadyShown(text("web_keys.shut"))
        answer = await page.answer(operation, *args, **kwargs)
    except (*FAILURES, AlreadyShown) as error:
        if isinstance(error, OperationFailed) and error.failure.code == "wrong_passphrase":
            throttle.count_wrong(mark, "")
            page.note_refused(f"{operation.__name__} passphrase")
        notify(str(error), "bad")
        raise AlreadyShown(str(error)) from None
    throttle.forget_wrong(mark, "")
    return answer


def signing_form(page: PageContext, view: SigningView, roles: tuple[str, ...], submit: str, sign: Sign) -> None:
    """What is signed, in figures and by its digest, and the form that signs exactly that."""

    async def send(fields: Fields) -> None:
        role = fields.get("role", "")
        if role in roles:
            await sign(role, own_key(page), fields.get("passphrase", ""), fields.get("note", ""), view.seal)
            ui.navigate.reload()

    with html.tag("div", classes="c-signing"):
        _documents_to_read(view)
        columns = table_heads("people.head", "figure", "value")
        html.table(
            columns, [list(pair) for pair in signed_lines(view.figures)], text("people.shown"), show_caption=True
        )
        if view.details:
            rows = [list(pair) for pair in view.details]
            html.table(columns, rows, text("intruder.signed.published"), show_caption=True, classes="c-wrap")
        with html.tag("p", classes="c-soft"):
            html.tag("span", text("web_dossier.digest") + " ")
            html.tag("code", view.digest)
        with secret_form(send, submit), html.line("c-top"):
            form_choice(capitalise(text("release.role")), "role", role_options(roles))
            asked = [role for role in roles if role in view.note_roles]
            note = text("web_dossier.note_asked" if asked else "web_dossier.note")
            form_field(note, "note", required=bool(asked) and asked == list(roles), maxlength=500)
            hint = text("web_dossier.passphrase_hint")
            form_field(text("release.passphrase"), "passphrase", "password", hint, required=True)


def _documents_to_read(view: SigningView) -> None:
    """The approval sheet in full, and the other forms that a signature covers, to be opened."""
    for position, document in enumerate(view.documents):
        if position == 0:
            show_document(document)
            continue
        with html.details(document.title):
            show_document(document)


# --- the part of a page ---------------------------------------------------------------------------


def key_part(page: PageContext, card: KeyCard | None) -> None:
    """One's own key: its card, or the form that makes it."""
    if card is None:
        _new_key(page)
        return
    html.paragraph(text("web_keys.have"))
    html.figures((text("web_keys.name"), card.name))
    with html.tag("p"):
        html.tag("span", text("web_keys.public") + " ")
        html.tag("code", fingerprint(card.key))
    html.button(text("web_keys.card"), lambda: page.offer(card_path(own_key(page)), "celosia-card.json"))


def _new_key(page: PageContext) -> None:
    html.paragraph(text("web_keys.none"))
    named = bool(page.session.login)

    async def make(fields: Fields) -> None:
        if fields.get("passphrase") != fields.get("again"):
            notify(str(PassphrasesDiffer()), "bad")
            return
        name = page.session.name if named else fields.get("name", "")
        root = page.server.root if named else None
        await page.ask(make_key, own_key(page), name, fields.get("passphrase", ""), root=root)
        ui.navigate.reload()

    with secret_form(make, text("web_keys.make")), html.line("c-top"):
        if not named:
            form_field(text("web_keys.name"), "name", hint=text("web_keys.name_hint"), required=True)
        form_field(text("web_keys.passphrase"), "passphrase", "password", text("web_keys.hint"), required=True)
        form_field(text("web_keys.again"), "again", "password", required=True)
