"""The signed roster of a project: who holds which roles with which key, and since when. `celosia/roster/1`.

Knows entries and the memberships they lead to. Ignores how an entry is signed and where it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from celosia.model.people import Person
from celosia.model.plain import plain_fields
from celosia.model.plan import digest_of

ROSTER_FORMAT = "celosia/roster/1"
ACTS = ("found", "add", "rotate", "revoke")
AUTHORITY = ("head", "lead")  # roles that sign the roster
ANSWERING = (*AUTHORITY, "delegate")  # roles of which one must sign every release; a delegate signs for the lead
BEGINNING = "sha256:" + "0" * 64  # what the first entry follows


@dataclass(frozen=True, slots=True)
class RosterEntry:
    """One signed act over a person of the project; each names the digest of the entry before it."""

    number: int
    previous: str
    project: str
    act: str
    name: str  # of an outsider its digest alone: whoever tries to break the data need not be named in public
    roles: tuple[str, ...]
    key: str
    when: str
    journal: str  # digest of the journal's last line when this was signed
    by: str
    by_key: str
    signature: str = ""

    def signed_part(self) -> dict[str, Any]:
        """What the signature covers: everything but itself."""
        names = "number previous project act name roles key when journal by by_key"
        return {"format": ROSTER_FORMAT, **plain_fields(self, names)}

    def as_dict(self) -> dict[str, Any]:
        """The entry as its versioned JSON."""
        return {**self.signed_part(), "signature": self.signature}

    @property
    def digest(self) -> str:
        """What the next entry follows."""
        return digest_of(self.as_dict())

    @property
    def line(self) -> str:
        """The entry's only spelling in roster.jsonl."""
        return json.dumps(self.as_dict(), ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Membership:
    """A person with their roles and one key, from one moment until another."""

    name: str
    roles: tuple[str, ...]
    key: str
    since: datetime | None  # None in releases that are older than the roster
    until: datetime | None = None

    def covers(self, when: datetime) -> bool:
        """Whether the key was valid at a moment."""
        return (self.since is None or self.since <= when) and (self.until is None or when < self.until)


@dataclass(frozen=True, slots=True)
class Roster:
    """The entries of a roster whose chain holds, and everybody they name."""

    entries: tuple[RosterEntry, ...] = ()
    memberships: tuple[Membership, ...] = ()

    @property
    def current(self) -> tuple[Membership, ...]:
        """Whoever is in the roster after its last entry."""
        return tuple(membership for membership in self.memberships if membership.until is None)

    def of_key(self, key: str) -> Membership | None:
        """The one membership of a key: no key is ever given twice."""
        return next((membership for membership in self.memberships if membership.key == key), None)


def roster_name(person: Person) -> str:
    """The name of a person as the roster holds it: that of an outsider under a cover that stays in people.toml."""
    if set(person.roles) != {"outsider"}:
        return person.name
    return digest_of({"name": person.name, "cover": person.cover})


def roster_entry_from(document: Mapping[str, Any]) -> RosterEntry:
    """An entry from its JSON; a part of another kind is a TypeError, an absent one a KeyError."""
    values = {name: document[name] for name in RosterEntry.__slots__}
    texts = [value for name, value in values.items() if name not in ("number", "roles")]
    if type(values["number"]) is not int or not isinstance(values["roles"], list):
        raise TypeError
    if not all(isinstance(text, str) for text in (*texts, *values["roles"])):
        raise TypeError
    return RosterEntry(**values | {"roles": tuple(values["roles"])})
