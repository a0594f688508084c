"""What a page shows of a project's dossier and people: documents, approvals, releases, keys, the journal in lines.

Knows names of people, roles, files, columns and digests. Never a cell, never a private key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.model.people import ChangedPart, Person
from celosia.model.reports.status import GateState, GateStatus
from celosia.model.reports.verification import Publication
from celosia.model.verdict import Suppression


@dataclass(frozen=True, slots=True)
class GivenApproval:
    """An approval, whether it counts, and what changed since where it no longer does."""

    role: str
    name: str
    when: str
    state: str  # valid, voided, forged, stranger, role
    note: str = ""
    changes: tuple[ChangedPart, ...] | None = ()  # None: nobody kept what it covered


@dataclass(frozen=True, slots=True)
class Subject:
    """Something that the norms ask people to approve."""

    what: str  # dictionary, plan, residual, candidate
    roles: tuple[str, ...]  # whose approval counts
    ready: bool  # whether it is there to be approved
    approvals: tuple[GivenApproval, ...] = ()

    @property
    def met(self) -> bool:
        """Whether somebody in an asked role approved it as it is."""
        return any(approval.state == "valid" and approval.role in self.roles for approval in self.approvals)


@dataclass(frozen=True, slots=True)
class DossierDocument:
    """A document that can be read and downloaded now."""

    id: str
    protocols: tuple[str, ...]
    section: str
    audience: str
    formats: tuple[str, ...]
    ready: bool = True


@dataclass(frozen=True, slots=True)
class GivenSignature:
    """A signature over a release."""

    role: str
    name: str
    key: str
    when: str
    valid: bool


@dataclass(frozen=True, slots=True)
class DossierRelease:
    """A release of the project as it is now."""

    name: str
    created: str
    rows: int
    suppression: Suppression
    manifest: str
    files: tuple[str, ...]
    wrong: tuple[str, ...]  # files that are not as they were made
    made: bool  # whether the project's journal names it
    current: bool  # whether it holds the present candidate
    signatures: tuple[GivenSignature, ...]
    missing: tuple[str, ...]  # roles whose signature the norms still ask for
    publication: Publication | None = None

    @property
    def sound(self) -> bool:
        """Whether it may be signed and handed out."""
        return self.made and not self.wrong


@dataclass(frozen=True, slots=True)
class DossierView:
    """The dossier of a project at this moment."""

    project: str
    protocols: tuple[str, ...]
    gates: tuple[GateStatus, ...] = ()
    subjects: tuple[Subject, ...] = ()
    documents: tuple[DossierDocument, ...] = ()
    releases: tuple[DossierRelease, ...] = ()  # newest first
    people: tuple[Person, ...] = ()
    candidate: bool = False
    seeded: bool = False  # whether a seed could undo a perturbation
    delivery: str = ""  # "", asked, done: the four files of MEL
    problems: tuple[str, ...] = ()

    @property
    def blocked(self) -> tuple[GateStatus, ...]:
        """The gates at which the norms stop the project now."""
        return tuple(gate for gate in self.gates if gate.state is GateState.BLOCKED)


@dataclass(frozen=True, slots=True)
class SigningView:
    """What a person is shown before signing: the thing by its digest, its figures, and the seal of both."""

    what: str
    digest: str
    seal: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    documents: tuple[Any, ...] = ()  # Documents of the dossier to be read before signing, the approval sheet first
    details: tuple[tuple[str, str], ...] = ()  # label and words, covered by the digest and never published
    note_roles: tuple[str, ...] = ()  # roles that sign this with a note or not at all


@dataclass(frozen=True, slots=True)
class KeyCard:
    """The public half of a key."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class JoinableAccount:
    """An account that may be added to a project."""

    login: str
    name: str
    roles: tuple[str, ...]
    has_key: bool
    joined: bool


@dataclass(frozen=True, slots=True)
class PeopleView:
    """Who is in a project, who waits for the roster, who could be, and which roles the norms ask and nobody holds."""

    people: tuple[Person, ...]  # whom the signed roster names
    waiting: tuple[Person, ...] = ()
    seal: str = ""  # of those who wait: the authority signs whom it was shown
    signers: tuple[str, ...] = ()  # keys that may sign the roster
    problem: str = ""  # why people.toml, roster and journal do not agree
    accounts: tuple[JoinableAccount, ...] = ()
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One line of the journal."""

    number: int
    when: str
    who: str
    what: str
    why: str
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class JournalView:
    """The last lines of a journal, newest first, and how many there are."""

    total: int
    entries: tuple[JournalEntry, ...]
