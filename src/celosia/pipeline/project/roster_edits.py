"""`people sign`, `people rotate`, `people revoke`: the acts of whoever answers for the people of a project.

Knows the roster, people.toml and the journal. Each act is signed, appended and noted under the project's lock; one that
was cut off is completed by doing it again. Reasons go to the journal, which stays in the institution: the roster is
published with every release. Source: docs/decisions/0012.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import tomlkit

from celosia import messages
from celosia.model.people import Person
from celosia.model.plan import digest_of
from celosia.model.roster import AUTHORITY, BEGINNING, Membership, Roster, RosterEntry, roster_name
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.acts import note_missing, refuse_other
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.errors import NotAuthority, PersonRepeats, PersonUnknown, RosterRefuses
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_signing
from celosia.pipeline.project.identity import Identity
from celosia.pipeline.project.people import is_key, same_name
from celosia.pipeline.project.roster import (
    WrongEntry,
    authorities,
    entry_acts,
    follow,
    people_not_in_roster,
    refuse_disagreement,
    refuse_other_journal,
)
from celosia.storage import atomic_write


def seal_of_people(people: Sequence[Person]) -> str:
    """Those who wait, in one digest: the authority signs whom it was shown and nobody else."""
    return digest_of({"people": [person.as_dict() for person in people]})


def sign_roster(
    folder: ProjectArg,
    identity: Identity,
    *,
    only: Collection[str] | None = None,
    expected: str | None = None,
    why: str = "",
    now: datetime | None = None,
) -> tuple[RosterEntry, ...]:
    """Sign everybody who waits in people.toml, or those with the keys in `only`; the first of all founds the roster."""
    when = utc_now(now)
    with open_for_signing(folder) as project:
        roster = project.roster
        people = [
            p for p in people_not_in_roster(roster, project.people) if only is None or p.key in (*only, identity.key)
        ]
        refuse_other(messages.text("people.what.roster"), expected, seal_of_people(people))
        if roster.entries:
            _note_entries(project, roster)
            refuse_disagreement(roster, project.people, project.reread().journal, project.paths.roster)
        else:
            founder = _founder(people, identity)
            people = [founder, *(person for person in people if person is not founder)]
        entries = []
        for person in people:
            act = "add" if roster.entries else "found"
            member = Membership(roster_name(person), person.roles, person.key, when)
            roster = _enter(project, roster, act, member, identity, why)
            entries.append(roster.entries[-1])
    return tuple(entries)


def rotate_key(
    folder: ProjectArg, name: str, key: str, identity: Identity, *, why: str = "", now: datetime | None = None
) -> RosterEntry:
    """Give a person of the roster another key, in the same roles; whoever signs the roster changes only their own."""
    key = key.strip().lower()
    with open_for_signing(folder) as project:
        roster = project.roster
        _note_entries(project, roster)
        person, member = _person_in_roster(project, roster, name)
        if not is_key(key) or any(other.key == key for other in project.people if other is not person):
            raise PersonRepeats(name=person.name)
        if member.key != key:  # else the roster was written and people.toml not yet
            changed = Membership(member.name, member.roles, key, utc_now(now))
            roster = _enter(project, roster, "rotate", changed, identity, why)
        _rewrite_people(project, person, key)
    return roster.entries[-1]


def revoke_person(
    folder: ProjectArg, name: str, identity: Identity, *, why: str = "", now: datetime | None = None
) -> RosterEntry:
    """Take a person out of the roster from now on; what they signed until now stays signed."""
    with open_for_signing(folder) as project:
        roster = project.roster
        _note_entries(project, roster)
        person = next((person for person in project.people if same_name(person.name, name)), None)
        if person is not None and _was_revoked(roster, person):  # the roster was written and people.toml not yet
            _rewrite_people(project, person, "")
            return roster.entries[-1]
        person, member = _person_in_roster(project, roster, name)
        removed = Membership(member.name, member.roles, member.key, utc_now(now))
        roster = _enter(project, roster, "revoke", removed, identity, why)
        _rewrite_people(project, person, "")
    return roster.entries[-1]


def _founder(people: Sequence[Person], identity: Identity) -> Person:
    """The first entry of a roster is that of its authority, over its own key."""
    founder = next((person for person in people if person.key == identity.key), None)
    if founder is None or not set(founder.roles) & set(AUTHORITY):
        raise NotAuthority(name=identity.name, roles=", ".join(AUTHORITY))
    return founder


def _was_revoked(roster: Roster, person: Person) -> bool:
    member = roster.of_key(person.key)
    return member is not None and member.until is not None and roster.entries[-1].act == "revoke"


def _person_in_roster(project: Project, roster: Roster, name: str) -> tuple[Person, Membership]:
    """A person of people.toml and their place in the roster."""
    person = next((person for person in project.people if same_name(person.name, name)), None)
    if person is None:
        raise PersonUnknown(name=name)
    for member in roster.current:
        if member.name == roster_name(person):
            return person, member
    raise PersonUnknown(name=name)


def _enter(project: Project, roster: Roster, act: str, member: Membership, identity: Identity, why: str) -> Roster:
    """Sign one entry, append it in one step and note it."""
    paths = project.paths
    by = member.name if act == "found" else _authority_name(roster, identity)
    head = _journal.read_journal(paths.journal).head
    previous = roster.entries[-1].digest if roster.entries else BEGINNING
    when = member.since.isoformat(timespec="seconds") if member.since else ""
    place = (len(roster.entries) + 1, previous, project.config.name, act)
    draft = RosterEntry(*place, member.name, member.roles, member.key, when, head, by, identity.key)
    entry = replace(draft, signature=identity.sign(draft.signed_part()))
    try:
        longer = follow(roster, entry, project.config.name)
    except WrongEntry as wrong:
        raise RosterRefuses(name=member.name, reason=messages.text(f"people.roster.{wrong}")) from None
    _journal.refuse_unwritable(paths.journal)
    with atomic_write(paths.roster, 0o644) as file:
        file.write_text("".join(f"{entry.line}\n" for entry in longer.entries), "utf-8", newline="\n")
    [*_, noted] = entry_acts(longer)
    _journal.append_entry(paths.journal, noted.what, utc_now(member.since), noted.facts, who=noted.who, why=why)
    return longer


def _authority_name(roster: Roster, identity: Identity) -> str:
    for member in authorities(roster):
        if member.key == identity.key:
            return member.name
    raise NotAuthority(name=identity.name, roles=", ".join(AUTHORITY))


def _note_entries(project: Project, roster: Roster) -> None:
    refuse_other_journal(roster, project.journal, project.paths.roster)
    note_missing(project.paths.journal, entry_acts(roster))


def _rewrite_people(project: Project, person: Person, key: str) -> None:
    """Give a person another key in people.toml, or take them out; what people wrote beside the others stays."""
    path = project.paths.people
    document = tomlkit.parse(path.read_text("utf-8-sig"))
    lines: Any = document["people"]
    position = [other.key for other in project.people].index(person.key)
    if key:
        lines[position]["key"] = key
    else:
        del lines[position]
    with atomic_write(path, 0o644) as draft:
        draft.write_text(tomlkit.dumps(document), "utf-8", newline="\n")
