"""People, their public keys, and what they signed. `celosia/people/1`, `celosia/approval/2`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from celosia.model.plain import plain_fields

PEOPLE_FORMAT = "celosia/people/1"
APPROVAL_FORMAT = "celosia/approval/2"
_WITHOUT_JOURNAL = "celosia/approval/1"  # earlier approvals stay as they were signed
APPROVAL_FORMATS = (APPROVAL_FORMAT, _WITHOUT_JOURNAL)
ROLES = ("head", "executor", "verifier", "lead", "delegate", "outsider")
# What an approval may cover.
SUBJECTS = ("dictionary", "plan", "residual", "intruder", "findings", "candidate", "release")
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may sign, with the roles they hold in the project."""

    name: str
    roles: tuple[str, ...]
    key: str  # public key, Ed25519, hexadecimal
    cover: str = ""  # of an outsider: the secret without which the roster does not tell the name

    def as_dict(self) -> dict[str, Any]:
        """The person as data."""
        return plain_fields(self, "name roles key")


@dataclass(frozen=True, slots=True)
class Approval:
    """A signature over the digest of one thing, in one role."""

    what: str
    digest: str
    role: str
    name: str
    key: str
    when: str
    note: str = ""
    figures: Mapping[str, Any] = field(default_factory=lambda: _NONE)  # what the signer was shown
    journal: str | None = None  # digest of the journal's last line at that moment; None in earlier approvals
    signature: str = ""

    def signed_part(self) -> dict[str, Any]:
        """What the signature covers: everything but itself."""
        content = plain_fields(self, "what digest role name key when note figures")
        if self.journal is None:
            return {"format": _WITHOUT_JOURNAL, **content}
        return {"format": APPROVAL_FORMAT, **content, "journal": self.journal}

    def as_dict(self) -> dict[str, Any]:
        """The approval as its versioned JSON."""
        return {**self.signed_part(), "signature": self.signature}


def name_of_signer(approval: Approval, people: Sequence[Person]) -> str:
    """The name under which the people of a project know a signer; an outsider signs under the cover of the roster."""
    return next((person.name for person in people if person.key == approval.key), approval.name)


def approval_from(document: Mapping[str, Any]) -> Approval:
    """An approval from its JSON; another format is a KeyError, a part of another kind a TypeError."""
    if document["format"] not in APPROVAL_FORMATS:
        raise KeyError
    stated = {name: document[name] for name in Approval.__slots__ if name in document}
    if ("journal" in stated) != (document["format"] == APPROVAL_FORMAT):
        raise TypeError
    if not all(isinstance(value, Mapping if name == "figures" else str) for name, value in stated.items()):
        raise TypeError
    return Approval(**stated)


@dataclass(frozen=True, slots=True)
class ChangedPart:
    """A part of what an approval covered that is different now: variables, settings, files of hierarchies."""

    part: str  # source, dictionary, variables, overrides, settings, hierarchies, plan, candidate, claims, attacks
    names: tuple[str, ...] = ()
