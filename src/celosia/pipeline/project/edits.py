"""Edits of a project's files that leave what people wrote beside them: settings, request, extraction, people.

Knows the files and their locks. Each edit is made on the project as it stands under the lock, in one step, and noted in
the journal. Ignores what the settings mean, except that the file must still be a project's when it is written.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import tomlkit
from tomlkit import TOMLDocument

from celosia.model import dictionary
from celosia.model.people import PEOPLE_FORMAT, Person
from celosia.model.plan import digest_of
from celosia.model.requests import Request
from celosia.model.variables import Role
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.errors import BadProjectFile, PersonRepeats, RequestIncomplete, RequestMissing
from celosia.pipeline.project.files import read_toml
from celosia.pipeline.project.folder import (
    Project,
    ProjectArg,
    open_for_editing,
    open_for_signing,
    open_project,
    refuse_edited,
)
from celosia.pipeline.project.people import refuse_wrong_person
from celosia.pipeline.project.request import demanded_items, named_answers, request_in, request_template, with_answers
from celosia.pipeline.project.settings_schema import refuse_wrong_settings
from celosia.storage import atomic_write

_UNIT = re.compile(r"^\[unit\][ \t]*(#[^\n]*)?\n", re.MULTILINE)


# --- celosia.toml ---------------------------------------------------------------------------------


@contextlib.contextmanager
def edit_settings(project: Project, expected: str | None = None) -> Iterator[TOMLDocument]:
    """The document of celosia.toml; what it holds when the block ends well is written in one step."""
    with open_for_editing(project, project.paths.settings, expected):
        document = read_settings(project)
        yield document
        write_settings(project, document, expected)


def read_settings(project: Project) -> TOMLDocument:
    """celosia.toml with its comments, as it stands now."""
    read_toml(project.paths.settings)  # a file that cannot be parsed is refused by its line
    return tomlkit.parse(project.paths.settings.read_text("utf-8-sig"))


def write_settings(project: Project, document: TOMLDocument, expected: str | None = None) -> None:
    """Write celosia.toml, unless nothing in it is new; the caller holds the project's edits."""
    path, text = project.paths.settings, tomlkit.dumps(document)
    if text == path.read_text("utf-8-sig"):
        return
    try:
        refuse_wrong_settings(tomllib.loads(text), str(path))
    except tomllib.TOMLDecodeError:
        raise BadProjectFile(path=str(path), line="?") from None
    refuse_edited(path, expected)
    with atomic_write(path, 0o644) as draft:
        draft.write_text(text, "utf-8", newline="\n")


def put_in_unit(document: TOMLDocument, key: str, value: str) -> TOMLDocument:
    """The document in which [unit] names a column; a new key stands below the header, not after later comments."""
    unit: Any = document.setdefault("unit", tomlkit.table())
    if key not in unit:
        line = tomlkit.dumps({key: value})
        placed = tomlkit.parse(_UNIT.sub(lambda header: header[0] + line, tomlkit.dumps(document), count=1))
        if placed.unwrap().get("unit", {}).get(key) == value:
            return placed
    unit[key] = value
    return document


def remove_from_unit(document: TOMLDocument, key: str) -> TOMLDocument:
    """The document in which [unit] no longer names a column."""
    unit: Any = document.get("unit", {})
    unit.pop(key, None)
    return document


# --- request.toml ---------------------------------------------------------------------------------


def read_request(folder: ProjectArg) -> Request:
    """The request of a project; an error where nobody wrote one yet."""
    project = open_project(folder)
    if project.request is None:
        raise RequestMissing(path=str(project.paths.request))
    return project.request


def write_request(
    folder: ProjectArg, *, why: str = "", now: datetime | None = None, expected: str | None = None, **answers: Any
) -> Request:
    """Write answers into request.toml, made with every item explained if it is not there; comments stay.

    An answer is named as in the file: `kind="internal"`, `source={"name": …}` or `**{"source.name": …}`.
    """
    project, named = open_project(folder), named_answers(answers)
    path = project.paths.request
    with open_for_editing(project, path, expected) as current:
        text = with_answers(_request_text(current), named)
        request = request_in(tomllib.loads(text), path, current.variables)
        with atomic_write(path, 0o644) as draft:
            draft.write_text(text, "utf-8", newline="\n")
        facts = {"items": sorted(named), "request": digest_of(request.as_dict())}
        _journal.append_entry(project.paths.journal, "request", utc_now(now), facts, why=why)
    return request


def _request_text(project: Project) -> str:
    """The text of the request; where there is none, that of one with every item explained."""
    path = project.paths.request
    if not path.is_file():
        return request_template(demanded_items(project.config.protocols))
    read_toml(path)  # a syntax error names its line
    return path.read_text("utf-8-sig")


def extract_requested(folder: ProjectArg, *, now: datetime | None = None) -> tuple[str, ...]:
    """Publish what was asked for and nothing else: the request's use becomes the purpose of its variables (A30).

    A purpose that somebody wrote for a requested variable stays; identifiers and limited variables get none.
    """
    project = open_project(folder)
    request = read_request(project)
    empty = [key for key in ("variables", "use") if not request.item(key)]
    if empty:
        raise RequestIncomplete(path=str(project.paths.request), items=", ".join(empty))
    requested = set(request.variables) - set(request.limited)
    lines = []
    with open_for_editing(project, project.paths.dictionary) as current:
        for line in current.variables:
            published = line.name in requested and line.role != Role.IDENTIFIER
            lines.append(replace(line, purpose=(line.purpose.strip() or request.use) if published else ""))
        with atomic_write(project.paths.dictionary, 0o644) as draft:
            draft.write_text(dictionary.dump(lines), "utf-8", newline="\n")
    names = tuple(line.name for line in lines if line.purpose)
    _journal.append_entry(project.paths.journal, "extract", utc_now(now), {"variables": list(names)}, why=request.use)
    return names


# --- people.toml ----------------------------------------------------------------------------------


def add_person(
    folder: ProjectArg, name: str, roles: Sequence[str], key: str, *, why: str = "", now: datetime | None = None
) -> Person:
    """Add somebody with their roles and public key; they wait there until the authority signs the roster.

    What people wrote beside the others stays.
    """
    when = utc_now(now)
    person = Person(" ".join(name.split()), tuple(dict.fromkeys(roles)), key.strip().lower())
    if set(person.roles) == {"outsider"}:
        person = replace(person, cover=secrets.token_hex(16))
    with open_for_signing(folder) as project:  # of two who add somebody at once, neither is lost
        refuse_wrong_person(person, project.people)
        if project.roster.of_key(person.key) is not None:
            raise PersonRepeats(name=person.name)  # a key that was given up never comes back
        path, journal = project.paths.people, project.paths.journal
        document = tomlkit.parse(path.read_text("utf-8-sig")) if path.is_file() else tomlkit.document()
        document["format"] = PEOPLE_FORMAT
        line = tomlkit.table()
        line.update(person.as_dict() | {"since": when.date().isoformat()})
        line.update({"cover": person.cover} if person.cover else {})
        lines = document.get("people")
        if lines is None:
            lines = tomlkit.aot()
            document["people"] = lines
        lines.append(line)
        facts = {"person": person.name, "roles": list(person.roles), "key": person.key}
        _journal.refuse_unwritable(journal)
        with atomic_write(path, 0o644) as draft:
            draft.write_text(tomlkit.dumps(document), "utf-8", newline="\n")
            # Nobody is in the file whom the journal does not name.
            _journal.append_entry(journal, "person-added", when, facts, why=why)
    return person
