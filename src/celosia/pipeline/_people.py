"""The people of a project and their public keys: `people.toml`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import tomlkit

from celosia.data.files import replacing
from celosia.errors import BadPeople, PeopleMissing, PersonRepeats, RolesClash, UnknownFormat, ValueOutOfRange
from celosia.model.people import PEOPLE_FORMAT, ROLES, Person
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment
from celosia.pipeline._identity import is_key
from celosia.pipeline._project import open_project, read_toml


def people_path(folder: Place) -> Path:
    """Where a project keeps its people."""
    return Path(folder) / "people.toml"


def read_people(folder: Place) -> tuple[Person, ...]:
    """Everybody of a project; none is an empty list."""
    path = people_path(folder)
    if not path.is_file():
        return ()
    document = read_toml(path)
    if document.get("format") != PEOPLE_FORMAT:
        raise UnknownFormat(path=str(path), found=str(document.get("format")), expected=PEOPLE_FORMAT)
    found: list[Person] = []
    for one in document.get("people", ()):
        try:
            person = Person(str(one["name"]), tuple(one["roles"]), str(one["key"]))
        except (KeyError, TypeError):
            raise BadPeople(path=str(path)) from None
        _refuse_wrong(person, found)
        found.append(person)
    return tuple(found)


def person_with(folder: Place, key: str) -> Person:
    """The person of a project who holds a key."""
    for person in read_people(folder):
        if person.key == key:
            return person
    raise PeopleMissing(path=str(people_path(folder)))


def add_person(folder: Place, name: str, roles: Sequence[str], key: str, *, now: datetime | None = None) -> Person:
    """Add somebody with their roles and public key."""
    project = open_project(folder)
    known = read_people(project.folder)
    person = Person(name.strip(), tuple(dict.fromkeys(roles)), key.strip().lower())
    _refuse_wrong(person, known)
    document = tomlkit.document()
    document["format"] = PEOPLE_FORMAT
    listed = tomlkit.aot()
    for one in (*known, person):
        line = tomlkit.table()
        line.update(one.as_dict())
        listed.append(line)
    document["people"] = listed
    with replacing(people_path(project.folder), 0o644) as draft:
        draft.write_text(tomlkit.dumps(document), "utf-8")
    facts = {"roles": list(person.roles), "key": person.key}
    _journal.append(project.journal_path, "person-added", moment(now), facts, who=person.name)
    return person


def _refuse_wrong(person: Person, known: Sequence[Person]) -> None:
    for role in person.roles:
        if role not in ROLES:
            raise ValueOutOfRange(parameter="role", given=role, allowed=", ".join(ROLES))
    if not person.name or not person.roles or not is_key(person.key):
        raise ValueOutOfRange(parameter="key", given="", allowed="Ed25519, 64 × 0–9 a–f")
    if {"executor", "verifier"} <= set(person.roles):
        raise RolesClash(name=person.name)  # who did it does not check it (MINSAL Verificación 4)
    for other in known:
        if other.name.casefold() == person.name.casefold() or other.key == person.key:
            raise PersonRepeats(name=person.name)
