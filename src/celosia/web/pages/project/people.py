"""The people of a project: who takes part in which roles, who may be added, and the reader's own key.

Only who heads or leads adds somebody; an account comes with its own card, anybody else with the card they sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from nicegui import ui

from celosia.messages import text
from celosia.model.people import ROLES, Person
from celosia.pipeline.project.fingerprints import fingerprint
from celosia.web.pages.dossier.keys import (
    Fields,
    call_with_key,
    form_check,
    form_choice,
    form_field,
    key_part,
    own_key,
    secret_form,
)
from celosia.web.server.rights import role_names
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify, upload_field
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.web.ui.verdicts import capitalise, table_heads
from celosia.workbench.operations.people import (
    change_key,
    join_card,
    join_person,
    key_card,
    people_view,
    remove_person,
    sign_people,
)
from celosia.workbench.views.dossier import JoinableAccount, KeyCard, PeopleView


@project_page("people")
async def people_page(page: PageContext) -> None:
    """Who takes part."""
    view = await page.ask(people_view, page.folder, page.server.root)
    own = await page.ask(key_card, own_key(page))
    if view.lacking:
        html.note(text("web_people.lacking", roles=role_names(view.lacking)), "warning")
    if view.problem:
        html.note(view.problem, "bad")
    with html.card(text("people.title")):
        _people_table(view)
    if view.waiting:
        with html.card(text("web_people.waiting")):
            _waiting_part(page, view, own)
    with html.card(text("web_people.key")):
        key_part(page, own)
        if own is not None and all(person.key != own.key for person in (*view.people, *view.waiting)):
            _join_myself(page, own)
    if page.may(join_person):
        with html.card(text("web_people.add")):
            html.paragraph(text("web_people.add_hint"))
            _join_accounts(page, view.accounts)
            _join_by_card(page, opened=not view.accounts)
        if view.people and own is not None and own.key in view.signers:
            with html.card(text("web_people.change")):
                _revoke_form(page, view.people)
                _rotate_form(page, view.people)


def _people_table(view: PeopleView) -> None:
    if not view.people:
        html.paragraph(text("web_people.nobody" if not view.waiting else "web_people.unsigned"))
        return
    _fingerprint_table(view.people, text("people.title"))
    html.paragraph(text("web_people.compare"), "c-soft")


def _fingerprint_table(people: Sequence[Person], caption: str) -> None:
    rows: list[list[Cell]] = [
        [person.name, role_names(person.roles), partial(html.tag, "code", fingerprint(person.key))] for person in people
    ]
    html.table(table_heads("people.head", "name", "roles", "fingerprint"), rows, caption)


# --- the roster -----------------------------------------------------------------------------------


def _waiting_part(page: PageContext, view: PeopleView, own: KeyCard | None) -> None:
    """Whoever waits, and the form with which whoever heads the project signs exactly them."""
    html.paragraph(text("web_people.waiting_hint"))
    _fingerprint_table(view.waiting, text("web_people.waiting"))

    async def sign(fields: Fields) -> None:
        key, phrase = own_key(page), fields.get("passphrase", "")
        names = await call_with_key(page, sign_people, page.folder, key, phrase, view.seal)
        notify(text("web_people.signed", names=", ".join(names)), "good")
        ui.navigate.reload()

    if own is not None and own.key in view.signers and page.may(sign_people):
        with secret_form(sign, text("web_people.sign")):
            _passphrase_field()


def _passphrase_field() -> None:
    form_field(text("release.passphrase"), "passphrase", "password", text("web_dossier.passphrase_hint"), required=True)


def _revoke_form(page: PageContext, people: Sequence[Person]) -> None:
    async def send(fields: Fields) -> None:
        key, phrase, why = own_key(page), fields.get("passphrase", ""), fields.get("why", "").strip()
        name = await call_with_key(page, remove_person, page.folder, fields.get("person", ""), key, phrase, why=why)
        notify(text("people.revoked", name=name), "good")
        ui.navigate.reload()

    with html.details(text("web_people.revoke")), secret_form(send, text("web_people.revoke"), "plain"):
        form_choice(capitalise(text("people.head.name")), "person", {person.name: person.name for person in people})
        form_field(text("web_people.reason"), "why", maxlength=300)
        _passphrase_field()


def _rotate_form(page: PageContext, people: Sequence[Person]) -> None:
    async def send(path: Path, fields: Fields) -> None:
        key, phrase, why = own_key(page), fields.get("passphrase", ""), fields.get("why", "").strip()
        person = fields.get("person", "")
        name = await call_with_key(page, change_key, page.folder, person, path, key, phrase, why=why)
        notify(text("people.rotated", name=name), "good")
        ui.navigate.reload()

    with html.details(text("web_people.rotate")):
        box = html.tag("div")

        def show_form(path: Path) -> None:
            box.clear()
            with box, secret_form(partial(send, path), text("web_people.rotate"), "plain"):
                form_choice(capitalise(text("people.head.name")), "person", {p.name: p.name for p in people})
                form_field(text("web_people.reason"), "why", maxlength=300)
                _passphrase_field()

        upload_field(page, text("web_people.card_file"), show_form, ".json", text("web_people.card_hint"))
        box.move(target_index=-1)


# --- adding people --------------------------------------------------------------------------------


def _join_myself(page: PageContext, own: KeyCard) -> None:
    """The reader has a key and is not in the project yet."""
    if page.session.login:
        html.note(text("web_people.ask"), "info")
        return
    html.heading(text("web_people.myself"), 3)
    _role_form(ROLES, text("web_people.join", name=own.name), partial(_join, page, ""))


def _join_accounts(page: PageContext, accounts: Sequence[JoinableAccount]) -> None:
    waiting = [account for account in accounts if not account.joined]
    if accounts and not waiting:
        html.paragraph(text("web_people.all_in"))
    for account in waiting:
        with html.tag("section", classes="c-account", aria_label=account.name):
            html.heading(account.name, 3)
            html.paragraph(f"{account.login}: {role_names(account.roles)}", "c-soft")
            if account.has_key:
                join = partial(_join, page, account.login)
                _role_form(account.roles, text("web_people.join", name=account.name), join)
            else:
                html.state(text("web_people.no_key"), "warning")
                html.paragraph(text("web_people.no_key_hint"), "c-soft")


def _role_form(roles: Sequence[str], submit: str, join: Callable[[Fields], Awaitable[None]]) -> None:
    with secret_form(join, submit, "plain"):
        with html.tag("fieldset", classes="c-fieldset"):
            html.tag("legend", capitalise(text("people.head.roles")))
            for role in roles:
                form_check(text(f"protocols.role.{role}"), f"role_{role}", ticked=len(roles) == 1)
        form_field(text("web_people.why"), "why", maxlength=300)


def _chosen_roles(fields: Fields) -> list[str]:
    return [role for role in ROLES if fields.get(f"role_{role}")]


async def _join(page: PageContext, login: str, fields: Fields) -> None:
    roles, why = _chosen_roles(fields), fields.get("why", "").strip()
    _show_added(await page.ask(join_person, page.folder, page.server.root, login, roles, why=why))


async def _join_card(page: PageContext, path: Path, fields: Fields) -> None:
    why = fields.get("why", "").strip()
    _show_added(await page.ask(join_card, page.folder, path, _chosen_roles(fields), why=why))


def _show_added(person: Person) -> None:
    notify(text("people.added", name=person.name, roles=role_names(person.roles)), "good")
    ui.navigate.reload()


def _join_by_card(page: PageContext, opened: bool) -> None:
    """Somebody without an account sends the card of their key."""
    with html.details(text("web_people.card"), opened):
        box = html.tag("div")

        def show_form(path: Path) -> None:
            box.clear()
            with box:
                _role_form(ROLES, text("web_people.join_card"), partial(_join_card, page, path))

        upload_field(page, text("web_people.card_file"), show_form, ".json", text("web_people.card_hint"))
        box.move(target_index=-1)
