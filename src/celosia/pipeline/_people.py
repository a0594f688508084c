"""The people of a project and their public keys: `people.toml`.

Knows names, roles and keys. Ignores what anybody signed. Two spellings of one name, or of one key, are one person.
Source: MINSAL, Roles y Responsabilidades 1, Verificación 4; MEL IV.2.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import tomlkit

from celosia import messages
from celosia.data.files import replacing
from celosia.errors import (
    BadPeople,
    NameNeeded,
    PeopleMissing,
    PersonRepeats,
    RolesClash,
    UnknownFormat,
    ValueOutOfRange,
)
from celosia.model.people import PEOPLE_FORMAT, ROLES, Person
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._identity import is_key
from celosia.pipeline._project import Project, open_project, read_toml
from celosia.pipeline._signing import signing


def people_path(folder: Place) -> Path:
    """Where a project keeps its people."""
    return Path(folder) / "people.toml"


def role_words(role: str) -> str:
    """What a role is called in the language that is spoken; files and options hold its English name."""
    return messages.text(f"protocols.role.{role}") if role in ROLES else role


def read_people(folder: Place) -> tuple[Person, ...]:
    """Everybody of a project; none is an empty list."""
    path = people_path(folder)
    if not path.is_file():
        return ()
    document = read_toml(path)
    if document.get("format") != PEOPLE_FORMAT:
        raise UnknownFormat(path=str(path), found=str(document.get("format")), expected=PEOPLE_FORMAT)
    listed = document.get("people", [])
    if not isinstance(listed, list):
        raise BadPeople(path=str(path))
    found: list[Person] = []
    for one in listed:
        person = _person(one, str(path))
        _refuse_wrong(person, found)
        found.append(person)
    return tuple(found)


def person_with(folder: Place, key: str) -> Person:
    """The person of a project who holds a key."""
    for person in read_people(folder):
        if person.key == key:
            return person
    raise PeopleMissing(path=str(people_path(folder)))


def same_name(one: str, other: str) -> bool:
    """Whether two spellings are one name: capitals, blanks and ways of writing an accent do not make two people."""
    return _plain_name(one) == _plain_name(other)


def add_person(
    folder: Place, name: str, roles: Sequence[str], key: str, *, why: str = "", now: datetime | None = None
) -> Person:
    """Add somebody with their roles and public key; what people wrote beside the others stays."""
    project, when = open_project(folder), moment(now)
    with signing(project.folder):  # two who add somebody at once lose nobody
        return _added(project, name, roles, key, why, when)


def _added(project: Project, name: str, roles: Sequence[str], key: str, why: str, when: datetime) -> Person:
    known = read_people(project.folder)
    person = Person(" ".join(name.split()), tuple(dict.fromkeys(roles)), key.strip().lower())
    _refuse_wrong(person, known)
    path = people_path(project.folder)
    document = tomlkit.parse(path.read_text("utf-8-sig")) if path.is_file() else tomlkit.document()
    document["format"] = PEOPLE_FORMAT
    line = tomlkit.table()
    line.update(person.as_dict() | {"since": when.date().isoformat()})
    listed = document.get("people")
    if listed is None:
        listed = tomlkit.aot()
        document["people"] = listed
    listed.append(line)
    facts = {"person": person.name, "roles": list(person.roles), "key": person.key}
    _journal.refuse_unwritable(project.journal_path)
    with replacing(path, 0o644) as draft:
        draft.write_text(tomlkit.dumps(document), "utf-8")
        _journal.append(project.journal_path, "person-added", when, facts, why=why)  # nobody is there unnoted
    return person


def _person(one: Any, path: str) -> Person:
    if not isinstance(one, Mapping) or not isinstance(one.get("roles"), list):
        raise BadPeople(path=path)
    name, key = one.get("name"), one.get("key")
    if not isinstance(name, str) or not isinstance(key, str) or not is_key(key.strip().lower()):
        raise BadPeople(path=path)
    return Person(" ".join(name.split()), tuple(str(role) for role in one["roles"]), key.strip().lower())


def _refuse_wrong(person: Person, known: Sequence[Person]) -> None:
    if not person.name:
        raise NameNeeded()
    if not person.roles or not set(person.roles) <= set(ROLES):
        given = ", ".join(role for role in person.roles if role not in ROLES)
        raise ValueOutOfRange(parameter="role", given=given, allowed=", ".join(ROLES))
    if not is_key(person.key):
        raise ValueOutOfRange(parameter="key", given="", allowed="Ed25519, 64 × 0–9 a–f")
    if {"executor", "verifier"} <= set(person.roles):
        raise RolesClash(name=person.name)  # who did it does not check it (MINSAL Verificación 4)
    for other in known:
        if same_name(other.name, person.name) or other.key == person.key:
            raise PersonRepeats(name=person.name)


def _plain_name(name: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(name.split()).casefold())
