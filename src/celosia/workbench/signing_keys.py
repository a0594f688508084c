"""Keys and people as a page works with them: the path of a key and its passphrase in, a signature out.

Knows accounts, cards and roles. A private key is opened here and used: it never leaves this process, and no
passphrase is written anywhere. `approve` and `sign_release` decide who may sign what.
Sources: MINSAL Roles 1, Verificación 4 (M31, M38); MEL IV.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

from celosia.model.people import Approval, Person
from celosia.model.reports.verification import Publication
from celosia.model.roster import AUTHORITY
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.candidate.approvals import approve
from celosia.pipeline.project.arguments import PathArg
from celosia.pipeline.project.author import author, card_path, identity_path
from celosia.pipeline.project.edits import add_person
from celosia.pipeline.project.errors import IdentityDamaged, IdentityMissing, WrongPassphrase
from celosia.pipeline.project.fallbacks import value_or_reason
from celosia.pipeline.project.folder import Project, ProjectArg, open_project
from celosia.pipeline.project.identity import Identity, load_identity, new_identity, read_card
from celosia.pipeline.project.people import role_words, same_name
from celosia.pipeline.project.roster import authorities, people_not_in_roster, signed_people
from celosia.pipeline.project.roster_edits import revoke_person, rotate_key, seal_of_people, sign_roster
from celosia.pipeline.release.archive import own_release
from celosia.pipeline.release.make_release import sign_release
from celosia.pipeline.release.publish import publish
from celosia.protocols.load import load
from celosia.workbench.accounts import Account, account_of, append_server_journal, key_path, read_accounts
from celosia.workbench.errors import KeyAbsent, RoleNotOfAccount
from celosia.workbench.views.dossier import JoinableAccount, KeyCard, PeopleView

# --- one's own key --------------------------------------------------------------------------------


def make_key(path: PathArg, name: str, passphrase: str, *, root: PathArg | None = None) -> KeyCard:
    """Make a person's key at a path; the journal of the server at `root` notes that it was made."""

    def note_made(identity: Identity) -> None:
        if root is not None:
            append_server_journal(root, "key-made", author(), {"person": identity.name, "key": identity.key})

    identity = new_identity(name, passphrase, path, noted=note_made)
    return KeyCard(identity.name, identity.key)


def key_card(path: PathArg) -> KeyCard | None:
    """The public half of the key at a path; None where there is no key."""
    try:
        return KeyCard(*read_card(card_path(Path(path)))) if Path(path).is_file() else None
    except IdentityMissing:
        return None


def _open_key(key: PathArg, passphrase: str) -> Identity:
    """A key, opened; errors do not show its path on the server."""
    try:
        return load_identity(passphrase, key)
    except IdentityMissing:
        raise KeyAbsent(name=author()) from None
    except (IdentityDamaged, WrongPassphrase) as refusal:
        raise type(refusal)(path=Path(key).name) from None


# --- signing --------------------------------------------------------------------------------------


def approve_with_key(
    source: ProjectArg,
    what: str,
    role: str,
    key: PathArg,
    passphrase: str,
    note: str = "",
    expected: str | None = None,
    *,
    now: datetime | None = None,
) -> Approval:
    """Approve with the key at a path what the person was shown, and nothing else."""
    identity = _open_key(key, passphrase)
    return _plain_approval(approve(source, what, identity, role, note.strip(), expected=expected, now=now))


def sign_with_key(
    source: ProjectArg,
    release: str,
    role: str,
    key: PathArg,
    passphrase: str,
    note: str = "",
    expected: str | None = None,
    *,
    now: datetime | None = None,
) -> Approval:
    """Sign with the key at a path the release that the person was shown, and nothing else."""
    project = open_project(source)
    path, identity = own_release(project, release), _open_key(key, passphrase)
    return _plain_approval(sign_release(path, project, identity, role, note.strip(), expected=expected, now=now))


def publish_with_key(
    source: ProjectArg,
    release: str,
    key: PathArg,
    passphrase: str,
    dates: Mapping[str, str],
    *,
    now: datetime | None = None,
) -> Publication:
    """Enter a release as published, signed with the key at a path; `dates` are written as 2026-11-20."""
    return publish_release(source, release, _open_key(key, passphrase), **dates, now=now)


def publish_release(
    source: ProjectArg,
    release: str,
    identity: Identity,
    consultation: str = "",
    publication_date: str = "",
    update_period: str = "",
    *,
    now: datetime | None = None,
) -> Publication:
    """Enter a release as published, with its dates written as 2026-11-20, and sign the entry."""
    project = open_project(source)
    asked, published = _read_day("consultation", consultation), _read_day("date", publication_date)
    path = own_release(project, release)
    dates = {"consultation": asked, "publication_date": published}
    return publish(project, path, identity, **dates, update_period=update_period, now=now)


def _read_day(parameter: str, given: str) -> date | None:
    try:
        return date.fromisoformat(given.strip()) if given.strip() else None
    except ValueError:
        raise ValueOutOfRange(parameter=parameter, given=given[:20], allowed="AAAA-MM-DD") from None


def _plain_approval(approval: Approval) -> Approval:
    """The approval as another process can take it."""
    return Approval(
        **{name: getattr(approval, name) for name in Approval.__slots__} | {"figures": dict(approval.figures)}
    )


# --- the people of a project ----------------------------------------------------------------------


def people_view(source: ProjectArg, root: PathArg) -> PeopleView:
    """Who is in a project, which accounts may be added, and which roles its norms ask for and nobody holds."""
    project = open_project(source)
    people, roster = project.people, project.roster
    asked = dict.fromkeys(role for name in project.config.protocols for role in load(name).roles)
    known_roles = {role for person in people for role in person.roles}
    signers = [account for account in read_accounts(root) if account.active and account.roles != ("outsider",)]
    accounts = tuple(_joinable_account(root, account, people) for account in signers)
    known_roles.add("outsider")  # whoever attacks the candidate does not sign and needs no key
    people_waiting = people_not_in_roster(roster, people)
    founders = tuple(person.key for person in people if set(person.roles) & set(AUTHORITY))
    return PeopleView(
        people=signed_people(roster, people),
        waiting=people_waiting,
        seal=seal_of_people(people_waiting),
        signers=tuple(member.key for member in authorities(roster)) if roster.entries else founders,
        problem=_disagreement(project) if roster.entries else "",
        accounts=accounts,
        lacking=tuple(role for role in asked if role not in known_roles),
    )


def _disagreement(project: Project) -> str:
    """Why nobody can sign in a project: people.toml, the roster and the journal do not say the same."""
    return value_or_reason(None, lambda: project.members)[1]


def sign_people(
    source: ProjectArg, key: PathArg, passphrase: str, expected: str, *, now: datetime | None = None
) -> tuple[str, ...]:
    """Sign into the roster whoever waits and was shown; gives their names."""
    identity = _open_key(key, passphrase)
    return tuple(entry.name for entry in sign_roster(source, identity, expected=expected, now=now))


def change_key(
    source: ProjectArg,
    name: str,
    card: PathArg,
    key: PathArg,
    passphrase: str,
    *,
    why: str = "",
    now: datetime | None = None,
) -> str:
    """Give a person of the roster the key of another card."""
    _, new_key = read_card(card)
    rotate_key(source, name, new_key, _open_key(key, passphrase), why=why, now=now)
    return name


def remove_person(
    source: ProjectArg, name: str, key: PathArg, passphrase: str, *, why: str = "", now: datetime | None = None
) -> str:
    """Take a person out of the roster."""
    revoke_person(source, name, _open_key(key, passphrase), why=why, now=now)
    return name


def _joinable_account(root: PathArg, account: Account, people: Sequence[Person]) -> JoinableAccount:
    card = key_card(key_path(root, account.login))
    joined = any(same_name(person.name, account.name) or (card and person.key == card.key) for person in people)
    return JoinableAccount(account.login, account.name, account.roles, card is not None, joined)


def join_person(
    source: ProjectArg, root: PathArg, login: str, roles: Sequence[str], *, why: str = "", now: datetime | None = None
) -> Person:
    """Add an account to a project with its own card, in roles that the account has; no login: whoever is here."""
    if not login:
        card = key_card(identity_path())
        if card is None:
            raise KeyAbsent(name=author())
        return add_person(source, card.name, roles, card.key, why=why, now=now)
    account = account_of(root, login)
    for role in roles:
        if role not in account.roles or not account.active:
            raise RoleNotOfAccount(name=account.name, words=role_words(role), role=role)
    card = key_card(key_path(root, login))
    if card is None:
        raise KeyAbsent(name=account.name)
    return add_person(source, card.name, roles, card.key, why=why, now=now)


def join_card(
    source: ProjectArg, card: PathArg, roles: Sequence[str], *, why: str = "", now: datetime | None = None
) -> Person:
    """Add somebody by the card they sent."""
    name, key = read_card(card)
    return add_person(source, name, roles, key, why=why, now=now)
