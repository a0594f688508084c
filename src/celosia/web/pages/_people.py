"""The people of a project: who takes part in which roles, who may be added, and the reader's own key.

Only who heads or leads adds somebody; an account comes with its own card, anybody else with the card they sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from nicegui import ui

from celosia.model.desk import Candidate, KeyCard, PeopleView
from celosia.model.people import ROLES
from celosia.web._frame import Desk, page, tell
from celosia.web._widgets import card, details, heading, note, paragraph, state, table, tag, upload, word
from celosia.web.pages._keys import Given, form_check, form_field, key_part, own_key, secret_form
from celosia.web.pages._signing import capital, heads


@page("people")
async def people_page(desk: Desk) -> None:
    """Who takes part."""
    found: PeopleView = await desk.ask("people_view", desk.folder, desk.office.root)
    mine: KeyCard | None = await desk.ask("key_card", own_key(desk))
    if found.lacking:
        note(word("web_people.lacking", roles=_roles(found.lacking)), "warning")
    with card(word("people.title")):
        _people(found)
    with card(word("web_people.key")):
        key_part(desk, mine)
        if mine is not None and all(one.key != mine.key for one in found.people):
            _outside(desk, mine)
    if desk.may("join_person"):
        with card(word("web_people.add")):
            paragraph(word("web_people.add_hint"))
            _accounts(desk, found.accounts)
            _by_card(desk, opened=not found.accounts)


def _roles(roles: Sequence[str]) -> str:
    return ", ".join(word(f"protocols.role.{role}") for role in roles)


def _people(found: PeopleView) -> None:
    if not found.people:
        paragraph(word("web_people.nobody"))
        return
    rows: list[list[Any]] = [
        [one.name, _roles(one.roles), partial(tag, "code", one.key[:16] + "…")] for one in found.people
    ]
    table(heads("people.head", "name", "roles", "key"), rows, word("people.title"))
    paragraph(word("web_people.compare"), "c-soft")


def _outside(desk: Desk, mine: KeyCard) -> None:
    """The reader has a key and no place here yet."""
    if desk.session.login:
        note(word("web_people.ask"), "info")
        return
    heading(word("web_people.myself"), 3)
    _role_form(ROLES, word("web_people.join", name=mine.name), partial(_join, desk, ""))


def _accounts(desk: Desk, accounts: Sequence[Candidate]) -> None:
    waiting = [one for one in accounts if not one.joined]
    if accounts and not waiting:
        paragraph(word("web_people.all_in"))
    for one in waiting:
        with tag("section", classes="c-account", aria_label=one.name):
            heading(one.name, 3)
            paragraph(f"{one.login}: {_roles(one.roles)}", "c-soft")
            if not one.has_key:
                state(word("web_people.no_key"), "warning")
                paragraph(word("web_people.no_key_hint"), "c-soft")
            else:
                _role_form(one.roles, word("web_people.join", name=one.name), partial(_join, desk, one.login))


def _role_form(roles: Sequence[str], submit: str, join: Any) -> None:
    with secret_form(join, submit, "plain"):
        with tag("fieldset", classes="c-fieldset"):
            tag("legend", capital(word("people.head.roles")))
            for role in roles:
                form_check(word(f"protocols.role.{role}"), f"role_{role}", ticked=len(roles) == 1)
        form_field(word("web_people.why"), "why", maxlength=300)


def _chosen(given: Given) -> list[str]:
    return [role for role in ROLES if given.get(f"role_{role}")]


async def _join(desk: Desk, login: str, given: Given) -> None:
    why = given.get("why", "").strip()
    made = await desk.ask("join_person", desk.folder, desk.office.root, login, _chosen(given), why=why)
    _said(made)


def _said(made: Any) -> None:
    tell(word("people.added", name=made.name, roles=_roles(made.roles)), "good")
    ui.navigate.reload()


def _by_card(desk: Desk, opened: bool) -> None:
    """Somebody without an account sends the card of their key."""
    with details(word("web_people.card"), opened):
        box = tag("div")

        async def arrived(told: dict[str, Any]) -> None:
            path = desk.uploaded(str(told["ticket"]))
            box.clear()
            with box:
                _role_form(ROLES, word("web_people.join_card"), partial(_join_card, desk, path))

        upload(word("web_people.card_file"), desk.csrf, arrived, ".json", word("web_people.card_hint"))
        box.move(target_index=-1)


async def _join_card(desk: Desk, path: Any, given: Given) -> None:
    why = given.get("why", "").strip()
    _said(await desk.ask("join_card", desk.folder, path, _chosen(given), why=why))
