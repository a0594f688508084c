"""`celosia people`: who is in a project, in which roles and with which key, signed by whoever heads it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from celosia import messages
from celosia.cli.release.release import passphrase, passphrase_options
from celosia.cli.shell import PATH, argument, build_command, build_group, option, project_argument
from celosia.cli.show import labels, print_json, print_table, role_names, say

if TYPE_CHECKING:
    from celosia.model.people import Person
    from celosia.model.roster import RosterEntry


def command() -> click.Command:
    """The group `people`."""
    from celosia.model.people import ROLES

    why = [option("people_add", "--why", default="")]
    card = option("people_add", "--card", type=PATH, required=True, multiple=True)
    role = option("people_add", "--role", "roles", required=True, multiple=True, metavar="|".join(ROLES))
    person = [project_argument(), argument("name")]
    yes = option("people_sign", "--yes", is_flag=True)
    commands = [
        build_command("add", add, [project_argument(), card, role, *why, *passphrase_options("approve")], "people_add"),
        build_command("sign", sign, [project_argument(), yes, *why, *passphrase_options("approve")], "people_sign"),
        build_command(
            "rotate",
            rotate,
            [
                *person,
                option("people_rotate", "--card", type=PATH, required=True),
                *why,
                *passphrase_options("approve"),
            ],
            "people_rotate",
        ),
        build_command("revoke", revoke, [*person, *why, *passphrase_options("approve")], "people_revoke"),
        build_command("list", list_people, [project_argument()], "people_list"),
    ]
    return build_group("people", commands)


def add(
    project: Path,
    card: tuple[Path, ...],
    roles: tuple[str, ...],
    why: str,
    as_json: bool,
    identity: Path | None,
    passphrase_file: Path | None,
) -> None:
    """Add the people of the cards; whoever heads the project and has their key at hand signs them at once."""
    from celosia.pipeline.project.edits import add_person
    from celosia.pipeline.project.folder import open_project
    from celosia.pipeline.project.identity import load_identity, read_card
    from celosia.pipeline.project.roster_edits import sign_roster

    added = list(zip([read_card(path) for path in card], _roles_of(card, roles), strict=True))
    current = open_project(project)
    signer = _signer(current.roster, [(key, own) for (_, key), own in added], current.people, identity)
    opened = None
    if signer is not None and (identity is not None or _passphrase_at_hand(passphrase_file)):
        opened = load_identity(passphrase(passphrase_file), signer)
    people = [add_person(project, name, own, key, why=why) for (name, key), own in added]
    entries = sign_roster(project, opened, only=[p.key for p in people], why=why) if opened is not None else ()
    if as_json:
        print_json({"format": "celosia/people/1", "people": [person.as_dict() for person in people]})
        return
    for person in people:
        say("people.added", name=person.name, roles=role_names(person.roles))
    _show_entries(entries)
    if not entries:
        say("people.waits", project=project)


def _roles_of(cards: Sequence[Path], roles: Sequence[str]) -> list[list[str]]:
    """The roles of each card, in the order in which both were given."""
    from celosia.model.people import ROLES
    from celosia.model.value_errors import ValueOutOfRange

    lists = [[role.strip() for role in part.split(",") if role.strip()] for part in roles]
    wrong = [role for part in lists for role in part if role not in ROLES]
    if wrong or len(lists) != len(cards):
        raise ValueOutOfRange(parameter="role", given=", ".join(wrong) or str(len(lists)), allowed=", ".join(ROLES))
    return lists


def _signer(
    roster: object, added: Sequence[tuple[str, Sequence[str]]], people: Sequence[Person], identity: Path | None
) -> Path | None:
    """The key of whoever is at the machine, where it may sign the roster."""
    from celosia.model.roster import AUTHORITY, Roster
    from celosia.pipeline.project.author import card_path, identity_path
    from celosia.pipeline.project.errors import IdentityMissing
    from celosia.pipeline.project.identity import read_card
    from celosia.pipeline.project.roster import authorities

    assert isinstance(roster, Roster)
    path = identity if identity is not None else identity_path()
    try:
        _, own = read_card(card_path(path))
    except IdentityMissing:
        return identity
    if identity is not None:
        return identity
    founders = [*added, *((person.key, person.roles) for person in people)]
    able = {member.key for member in authorities(roster)}
    if not roster.entries:
        able = {key for key, roles in founders if set(roles) & set(AUTHORITY)}
    return path if own in able else None


def _passphrase_at_hand(file: Path | None) -> bool:
    return file is not None or "CELOSIA_PASSPHRASE" in os.environ or sys.stdin.isatty()


def sign(project: Path, yes: bool, why: str, as_json: bool, identity: Path | None, passphrase_file: Path | None) -> int:
    """Show everybody who waits, ask, and sign them into the roster; 1 when the person says no."""
    from celosia.pipeline.project.folder import open_project
    from celosia.pipeline.project.identity import load_identity
    from celosia.pipeline.project.roster import people_not_in_roster
    from celosia.pipeline.project.roster_edits import seal_of_people, sign_roster

    current = open_project(project)
    people = people_not_in_roster(current.roster, current.people)
    if not people:
        say("people.nobody_waits")
        return 0
    _show_people("people.to_enter", people, err=as_json)
    if not yes and sys.stdin.isatty() and not click.confirm(messages.text("people.confirm_roster"), err=True):
        click.echo(messages.text("people.not_signed"), err=True)
        return 1
    opened = load_identity(passphrase(passphrase_file), identity)
    entries = sign_roster(project, opened, expected=seal_of_people(people), why=why)
    if as_json:
        print_json({"format": "celosia/people/1", "people": [person.as_dict() for person in people]})
    else:
        _show_entries(entries)
    return 0


def rotate(
    project: Path, name: str, card: Path, why: str, as_json: bool, identity: Path | None, passphrase_file: Path | None
) -> None:
    """Give a person another key."""
    from celosia.pipeline.project.identity import load_identity, read_card
    from celosia.pipeline.project.roster_edits import rotate_key

    _, key = read_card(card)
    entry = rotate_key(project, name, key, load_identity(passphrase(passphrase_file), identity), why=why)
    _show_act(entry, "people.rotated", name, as_json)


def revoke(
    project: Path, name: str, why: str, as_json: bool, identity: Path | None, passphrase_file: Path | None
) -> None:
    """Take a person out of the roster."""
    from celosia.pipeline.project.identity import load_identity
    from celosia.pipeline.project.roster_edits import revoke_person

    entry = revoke_person(project, name, load_identity(passphrase(passphrase_file), identity), why=why)
    _show_act(entry, "people.revoked", name, as_json)


def _show_act(entry: RosterEntry, sentence: str, name: str, as_json: bool) -> None:
    if as_json:
        print_json(entry.as_dict())
    else:
        say(sentence, name=name)


def _show_entries(entries: Sequence[RosterEntry]) -> None:
    for entry in entries:
        if entry.act == "found":
            say("people.founded", name=entry.name)
        elif set(entry.roles) != {"outsider"}:
            say("people.entered", name=entry.name, by=entry.by, roles=role_names(entry.roles))


def _show_people(title: str, people: Sequence[Person], err: bool) -> None:
    from celosia.pipeline.project.fingerprints import fingerprint

    rows = [[person.name, role_names(person.roles), fingerprint(person.key)] for person in people]
    if err:
        for row in rows:
            click.echo(": ".join(row), err=True)
    else:
        print_table(messages.text(title), labels("people.head", "name", "roles", "fingerprint"), rows)


def list_people(project: Path, as_json: bool) -> None:
    """Everybody of a project, and whether the roster names them."""
    from celosia.pipeline.project.fingerprints import fingerprint
    from celosia.pipeline.project.folder import open_project

    current = open_project(project)
    people, roster = current.people, current.roster
    if as_json:
        print_json({"format": "celosia/people/1", "people": [person.as_dict() for person in people]})
    elif not people:
        say("people.nobody", project=project)
    else:
        members = {member.key: member for member in roster.current}
        rows = []
        for person in people:
            since = members[person.key].since if person.key in members else None
            state = messages.text("people.in_roster", date=since.date().isoformat()) if since else ""
            state = state or messages.text("people.not_signed_yet")
            rows.append([person.name, role_names(person.roles), state, fingerprint(person.key)])
        print_table(messages.text("people.title"), labels("people.head", "name", "roles", "state", "fingerprint"), rows)
        say("people.compare")
