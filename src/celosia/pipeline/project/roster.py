"""The signed roster: its chain, checked entry by entry, and whether people.toml and the journal agree with it.

Knows names, roles, keys and dates. Ignores what people approve or sign with their keys. Whoever may write the project
may write people.toml; nobody but its authority (`head` or `lead`) can write an entry of the roster.
Sources: MINSAL Roles 1, Verificación 4; DESIGN §7; docs/decisions/0012.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from celosia import messages
from celosia.errors import CelosiaError
from celosia.model.people import Person
from celosia.model.roster import (
    ACTS,
    AUTHORITY,
    BEGINNING,
    Membership,
    Roster,
    RosterEntry,
    roster_entry_from,
    roster_name,
)
from celosia.pipeline.project.acts import Act
from celosia.pipeline.project.errors import RosterBroken, RosterDisagrees, RosterMissing
from celosia.pipeline.project.journal import Journal
from celosia.pipeline.project.people import is_key, is_name, refuse_wrong_person, same_name

ADDED, ENTERED = "person-added", "roster"  # how the journal calls what happens to people.toml and to the roster
_MALFORMED = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


def read_roster(path: Path, project: str) -> Roster:
    """The roster of a project, every entry checked; an empty one where there is no file."""
    return check_roster(path.read_bytes(), project, str(path)) if path.is_file() else Roster()


def check_roster(content: bytes, project: str, path: str) -> Roster:
    """The roster in the bytes of its file; an entry that does not follow from those before it is an error."""
    roster = Roster()
    lines = content.split(b"\n")
    if lines[-1] != b"":
        raise RosterBroken(path=path, line=len(lines), reason=messages.text("people.roster.spelling"))
    for number, line in enumerate(lines[:-1], start=1):
        try:
            roster = follow(roster, _parse_entry(line), project)
        except WrongEntry as wrong:
            raise RosterBroken(path=path, line=number, reason=messages.text(f"people.roster.{wrong}")) from None
    return roster


class WrongEntry(Exception):
    """An entry that may not stand where it stands; its text is the end of `people.roster.…`."""


def _parse_entry(line: bytes) -> RosterEntry:
    try:
        entry = roster_entry_from(json.loads(line.decode("utf-8")))
    except _MALFORMED:
        raise WrongEntry("spelling") from None
    if entry.line.encode("utf-8") != line:  # nothing may hide in it unsigned
        raise WrongEntry("spelling")
    return entry


def follow(roster: Roster, entry: RosterEntry, project: str) -> Roster:
    """The roster with one more entry, if it may stand there."""
    previous = roster.entries[-1].digest if roster.entries else BEGINNING
    if (entry.number, entry.previous) != (len(roster.entries) + 1, previous):
        raise WrongEntry("chain")
    if entry.project != project:
        raise WrongEntry("project")
    when = _moment(entry.when)
    if roster.entries and when < _moment(roster.entries[-1].when):
        raise WrongEntry("date")
    _refuse_wrong_act(roster, entry)
    # It loads the library of cryptography, which most readers of a project do not need.
    from celosia.pipeline.project.identity import is_signed

    if not is_signed(entry.signed_part(), entry.signature, entry.by_key):
        raise WrongEntry("signature")
    return Roster((*roster.entries, entry), _memberships(roster, entry, when))


def moment_of(text: str) -> datetime | None:
    """A moment with its zone; None where a text states none."""
    try:
        when = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return when if when.tzinfo is not None else None


def _moment(text: str) -> datetime:
    when = moment_of(text)
    if when is None:
        raise WrongEntry("date")
    return when


def _refuse_wrong_act(roster: Roster, entry: RosterEntry) -> None:
    if entry.act not in ACTS or (entry.act == "found") != (not roster.entries):
        raise WrongEntry("act")
    if not _is_authority(roster, entry):
        raise WrongEntry("authority")
    if entry.act in ("found", "add"):
        _refuse_wrong_addition(roster, entry)
        return
    holder = next((member for member in roster.current if member.name == entry.name), None)
    if holder is None or holder.roles != entry.roles:
        raise WrongEntry("person")
    if entry.act == "rotate":
        _refuse_wrong_rotation(roster, entry, holder)
    elif holder.key != entry.key:
        raise WrongEntry("person")
    elif [authority.key for authority in authorities(roster)] == [holder.key]:
        raise WrongEntry("last")


def _refuse_wrong_rotation(roster: Roster, entry: RosterEntry, holder: Membership) -> None:
    if set(holder.roles) & set(AUTHORITY) and holder.key != entry.by_key:
        raise WrongEntry("own_key")  # another authority revokes; it does not take somebody's name
    if roster.of_key(entry.key) is not None or not is_key(entry.key):
        raise WrongEntry("key")


def _refuse_wrong_addition(roster: Roster, entry: RosterEntry) -> None:
    if roster.of_key(entry.key) is not None:  # a key that was given up never comes back
        raise WrongEntry("key")
    people = [Person(member.name, member.roles, member.key) for member in roster.current]
    try:
        refuse_wrong_person(Person(entry.name, entry.roles, entry.key), people)
    except CelosiaError:
        raise WrongEntry("person") from None
    if not is_name(entry.name):
        raise WrongEntry("person")


def _memberships(roster: Roster, entry: RosterEntry, when: datetime) -> tuple[Membership, ...]:
    members = list(roster.memberships)
    if entry.act in ("rotate", "revoke"):
        members = [
            replace(member, until=when) if member.until is None and same_name(member.name, entry.name) else member
            for member in members
        ]
    if entry.act != "revoke":
        members.append(Membership(entry.name, entry.roles, entry.key, when))
    return tuple(members)


def _is_authority(roster: Roster, entry: RosterEntry) -> bool:
    """Whether an entry is signed by somebody who heads the project; the first is that person's own."""
    signer = (entry.by, entry.by_key)
    if entry.act == "found":
        return signer == (entry.name, entry.key) and bool(set(entry.roles) & set(AUTHORITY))
    return signer in [(member.name, member.key) for member in authorities(roster)]


def authorities(roster: Roster) -> tuple[Membership, ...]:
    """Whoever may sign the next entry."""
    return tuple(member for member in roster.current if set(member.roles) & set(AUTHORITY))


# --- does everything else agree with it -----------------------------------------------------------


def entry_acts(roster: Roster) -> list[Act]:
    """The entries as the journal should tell them."""
    return [
        Act(ENTERED, {"entry": entry.digest, "act": entry.act, "key": entry.key}, entry.by, "", entry.when)
        for entry in roster.entries
    ]


def refuse_disagreement(roster: Roster, people: Sequence[Person], journal: Journal, path: Path) -> None:
    """Stop where people.toml gives anybody another key or role than the roster does, or the journal tells otherwise."""
    if not roster.entries:
        raise RosterMissing(path=str(path))
    refuse_other_journal(roster, journal, path)
    listed = {person.key: person for person in people}
    for member in roster.current:
        person = listed.get(member.key)
        if person is None or (roster_name(person), person.roles) != (member.name, member.roles):
            name = next((p.name for p in people if same_name(p.name, member.name)), member.name)
            raise RosterDisagrees(name=name, reason=messages.text("people.roster.differs"), path=str(path))
    noted = [(fact.get("person"), tuple(fact.get("roles", ())), fact.get("key")) for fact in journal.facts(ADDED)]
    for person in people_not_in_roster(roster, people):
        if roster.of_key(person.key) is not None:
            raise RosterDisagrees(name=person.name, reason=messages.text("people.roster.revoked"), path=str(path))
        if (person.name, person.roles, person.key) not in noted:
            raise RosterDisagrees(name=person.name, reason=messages.text("people.roster.unnoted"), path=str(path))


def refuse_other_journal(roster: Roster, journal: Journal, path: Path) -> None:
    """The journal names the entries of the roster, one by one; an entry that it names cannot be cut off."""
    noted = [fact.get("entry") for fact in journal.facts(ENTERED)]
    entries = [entry.digest for entry in roster.entries]
    # Entries that the journal does not name yet were signed by a process that was killed: they are noted later.
    if noted != entries[: len(noted)]:
        raise RosterBroken(path=str(path), line=len(entries), reason=messages.text("people.roster.cut"))
    if any(entry.journal not in journal.digests for entry in roster.entries):
        raise RosterBroken(path=str(path), line=len(entries), reason=messages.text("people.roster.journal"))


def people_not_in_roster(roster: Roster, people: Sequence[Person]) -> tuple[Person, ...]:
    """Whoever is in people.toml and not, with this key, in the roster: nothing they sign counts."""
    keys = {member.key for member in roster.current}
    return tuple(person for person in people if person.key not in keys)


def signed_people(roster: Roster, people: Sequence[Person]) -> tuple[Person, ...]:
    """The people of people.toml whom the roster names now, with the roles that the roster gives them."""
    members = {member.key: member for member in roster.current}
    return tuple(replace(person, roles=members[person.key].roles) for person in people if person.key in members)


def acted_after_end(roster: Roster, journal: Journal, key: str, act: Act) -> bool:
    """Whether a key had been given up when the journal first tells of an act of its holder.

    The moment that an act states is its signer's word: a revoked person may write an old one.
    """
    end = _end_of(roster, key)
    if end is None:
        return False
    for line, digest in zip(journal.entries, journal.digests, strict=True):
        if (line.get("what"), line.get("who"), line.get("facts")) == (act.what, act.who, act.facts):
            return False
        if digest == end.journal:  # the journal's last line when the key was given up, which that entry signs
            return True
    return True


def _end_of(roster: Roster, key: str) -> RosterEntry | None:
    """The entry that took a key out of the roster; None while it is in it."""
    member = roster.of_key(key)
    if member is None or member.until is None:
        return None
    endings = [entry for entry in roster.entries if entry.act in ("rotate", "revoke") and entry.name == member.name]
    return next((entry for entry in endings if moment_of(entry.when) == member.until), None)


def held_role(roster: Roster, key: str, name: str, role: str, when: str) -> bool:
    """Whether a key was, at a moment, that of this person in this role."""
    member, moment = roster.of_key(key), moment_of(when)
    if member is None or moment is None or role not in member.roles:
        return False
    return member.covers(moment) and same_name(member.name, name)
