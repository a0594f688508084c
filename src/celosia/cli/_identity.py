"""`celosia identity` and `celosia people`: a person's own key, and who is who in a project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from celosia import messages
from celosia.cli._release import passphrase
from celosia.cli._shell import argument, group, json_option, names_option, option, verb
from celosia.cli._show import print_done, print_json, print_table, say


def command() -> click.Command:
    """The group `identity`."""
    file = click.Path(path_type=Path)
    return group("identity", [
        verb("new", new, [
            option("identity_new", "--name", required=True), option("identity_new", "--file", type=file, default=None),
            option("identity_new", "--passphrase-file", type=file, default=None), json_option(),
        ], "identity_new"),
        verb("show", show, [option("identity_show", "--file", type=file, default=None), json_option()],
             "identity_show"),
    ])  # fmt: skip


def people_command() -> click.Command:
    """The group `people`."""
    from celosia.model.people import ROLES

    file = click.Path(path_type=Path)
    return group("people", [
        verb("add", add, [
            argument("project", type=file), option("people_add", "--card", type=file, required=True),
            names_option("people_add", "--role", "roles", choices=ROLES, required=True),
            option("people_add", "--why", default=""), json_option(),
        ], "people_add"),
        verb("list", listed, [argument("project", type=file), json_option()], "people_list"),
    ])  # fmt: skip


def new(name: str, file: Path | None, passphrase_file: Path | None, as_json: bool) -> None:
    """Make a key pair; at a terminal the passphrase is asked twice."""
    from celosia.errors import PassphrasesDiffer
    from celosia.pipeline import default_identity, new_identity, public_card

    words = passphrase(passphrase_file)
    typed = passphrase_file is None and "CELOSIA_PASSPHRASE" not in os.environ and sys.stdin.isatty()
    if typed and click.prompt(messages.text("people.again"), hide_input=True, err=True) != words:
        raise PassphrasesDiffer()
    made = new_identity(name, words, file)
    path = file if file is not None else default_identity()
    if as_json:
        print_done("identity-new", name=made.name, key=made.key, path=str(path), card=str(public_card(path)))
    else:
        say("people.made", name=made.name, path=path, card=public_card(path))


def show(file: Path | None, as_json: bool) -> None:
    """Name and public key; no passphrase is needed."""
    from celosia.pipeline import default_identity, public_card, read_card

    path = file if file is not None else default_identity()
    card = path if path.name.endswith(".pub.json") else public_card(path)
    name, key = read_card(card)
    if as_json:
        print_json({"format": "celosia/identity/1", "name": name, "key": key})
    else:
        say("people.identity", name=name, public=key, card=card)


def add(project: Path, card: Path, roles: tuple[str, ...], why: str, as_json: bool) -> None:
    """Add the person of a card."""
    from celosia.pipeline import add_person, read_card

    name, key = read_card(card)
    person = add_person(project, name, roles, key, why=why)
    if as_json:
        print_json({"format": "celosia/people/1", "people": [person.as_dict()]})
    else:
        say("people.added", name=person.name, roles=", ".join(_role(role) for role in person.roles))


def listed(project: Path, as_json: bool) -> None:
    """Everybody of a project."""
    from celosia.pipeline import open_project, read_people

    people = read_people(open_project(project).folder)
    if as_json:
        print_json({"format": "celosia/people/1", "people": [person.as_dict() for person in people]})
    elif not people:
        say("people.nobody", project=project)
    else:
        header = [messages.text(f"people.head.{key}") for key in ("name", "roles", "key")]
        rows = [[one.name, ", ".join(_role(role) for role in one.roles), one.key] for one in people]
        print_table(messages.text("people.title"), header, rows)


def _role(role: str) -> str:
    return messages.text(f"protocols.role.{role}")
