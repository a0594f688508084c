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
from celosia.web.pages.dossier.keys import Fields, form_check, form_field, key_part, own_key, secret_form
from celosia.web.server.rights import role_names
from celosia.web.ui import html
from celosia.web.ui.context import PageContext, notify, upload_field
from celosia.web.ui.html import Cell
from celosia.web.ui.page import project_page
from celosia.web.ui.verdicts import capitalise, table_heads
from celosia.workbench.operations.people import join_card, join_person, key_card, people_view
from celosia.workbench.views.dossier import JoinableAccount, KeyCard, PeopleView


@project_page("people")
async def people_page(page: PageContext) -> None:
    """Who takes part."""
    view = await page.ask(people_view, page.folder, page.server.root)
    own = await page.ask(key_card, own_key(page))
    if view.lacking:
        html.note(text("web_people.lacking", roles=role_names(view.lacking)), "warning")
    with html.card(text("people.title")):
        _people_table(view)
    with html.card(text("web_people.key")):
        key_part(page, own)
        if own is not None and all(person.key != own.key for person in view.people):
            _join_myself(page, own)
    if page.may(join_person):
        with html.card(text("web_people.add")):
            html.paragraph(text("web_people.add_hint"))
            _join_accounts(page, view.accounts)
            _join_by_card(page, opened=not view.accounts)


def _people_table(view: PeopleView) -> None:
    if not view.people:
        html.paragraph(text("web_people.nobody"))
        return
    rows: list[list[Cell]] = [
        [person.name, role_names(person.roles), partial(html.tag, "code", person.key[:16] + "…")]
        for person in view.people
    ]
    html.table(table_heads("people.head", "name", "roles", "key"), rows, text("people.title"))
    html.paragraph(text("web_people.compare"), "c-soft")


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
