"""Keys and people as a page works with them: the path of a key and its passphrase in, a signature out.

Knows accounts, cards and roles. A private key is opened here, used and let go: it never leaves this process, and no
passphrase is written anywhere. What may be signed by whom is asked of `approve` and `sign_release`, as ever.
Sources: MINSAL Roles 1, Verificación 4 (M31, M38); MEL IV.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from celosia.errors import IdentityMissing, KeyAbsent, RoleNotOfAccount, WrongPassphrase
from celosia.model.desk import Candidate, KeyCard, PeopleView
from celosia.model.people import Approval, Person
from celosia.pipeline._accounts import Account, account_of, key_path, office_note, read_accounts
from celosia.pipeline._approve import approve
from celosia.pipeline._archive import own_release
from celosia.pipeline._author import author
from celosia.pipeline._call import Place
from celosia.pipeline._identity import Identity, default_identity, load_identity, new_identity, public_card, read_card
from celosia.pipeline._people import add_person, read_people, role_words, same_name
from celosia.pipeline._project import open_project
from celosia.pipeline._release import sign_release
from celosia.protocols import load

# --- one's own key --------------------------------------------------------------------------------


def make_key(path: Place, name: str, passphrase: str, *, root: Place | None = None) -> KeyCard:
    """Make a person's key at a path; `root` is the office whose journal says that it was made."""

    def noted(made: Identity) -> None:
        if root is not None:
            office_note(root, "key-made", author(), {"person": made.name, "key": made.key})

    made = new_identity(name, passphrase, path, noted=noted)
    return KeyCard(made.name, made.key)


def key_card(path: Place) -> KeyCard | None:
    """The public half of the key at a path; None where there is no key."""
    try:
        return KeyCard(*read_card(public_card(Path(path)))) if Path(path).is_file() else None
    except IdentityMissing:
        return None


def _opened(key: Place, passphrase: str) -> Identity:
    """A key, opened; where it lies on the server is nobody's business."""
    try:
        return load_identity(passphrase, key)
    except IdentityMissing:
        raise KeyAbsent(name=author()) from None
    except WrongPassphrase:
        raise WrongPassphrase(path=Path(key).name) from None


# --- signing --------------------------------------------------------------------------------------


def approve_with_key(
    folder: Place, what: str, role: str, key: Place, passphrase: str, note: str = "", expected: str | None = None,
    *, now: datetime | None = None,
) -> Approval:  # fmt: skip
    """Approve with the key at a path what the person was shown, and nothing else."""
    return _plain(approve(folder, what, _opened(key, passphrase), role, note.strip(), expected=expected, now=now))


def sign_with_key(
    folder: Place, release: str, role: str, key: Place, passphrase: str, note: str = "", expected: str | None = None,
    *, now: datetime | None = None,
) -> Approval:  # fmt: skip
    """Sign with the key at a path the release that the person was shown, and nothing else."""
    place = own_release(open_project(folder).folder, release)
    identity = _opened(key, passphrase)
    return _plain(sign_release(place, folder, identity, role, note.strip(), expected=expected, now=now))


def _plain(made: Approval) -> Approval:
    """The approval as another process can take it."""
    return Approval(**{name: getattr(made, name) for name in Approval.__slots__} | {"figures": dict(made.figures)})


# --- the people of a project ----------------------------------------------------------------------


def people_view(folder: Place, root: Place) -> PeopleView:
    """Who is in a project, which accounts may be added, and which roles its norms ask for and nobody holds."""
    project = open_project(folder)
    people = read_people(project.folder)
    asked = dict.fromkeys(role for name in project.config.protocols for role in load(name).roles)
    held = {role for person in people for role in person.roles}
    signers = [one for one in read_accounts(root) if one.active and one.roles != ("outsider",)]
    accounts = tuple(_candidate(root, one, people) for one in signers)
    held.add("outsider")  # whoever tries to break the candidate needs no place among those who sign, and no key
    return PeopleView(people, accounts, tuple(role for role in asked if role not in held))


def _candidate(root: Place, account: Account, people: Sequence[Person]) -> Candidate:
    card = key_card(key_path(root, account.login))
    joined = any(same_name(one.name, account.name) or (card and one.key == card.key) for one in people)
    return Candidate(account.login, account.name, account.roles, card is not None, joined)


def join_person(
    folder: Place, root: Place, login: str, roles: Sequence[str], *, why: str = "", now: datetime | None = None
) -> Person:  # fmt: skip
    """Add an account to a project with its own card, in roles that the account has; no login: whoever is here."""
    if not login:
        card = key_card(default_identity())
        if card is None:
            raise KeyAbsent(name=author())
        return add_person(folder, card.name, roles, card.key, why=why, now=now)
    account = account_of(root, login)
    for role in roles:
        if role not in account.roles or not account.active:
            raise RoleNotOfAccount(name=account.name, words=role_words(role), role=role)
    card = key_card(key_path(root, login))
    if card is None:
        raise KeyAbsent(name=account.name)
    return add_person(folder, card.name, roles, card.key, why=why, now=now)


def join_card(
    folder: Place, card: Place, roles: Sequence[str], *, why: str = "", now: datetime | None = None
) -> Person:  # fmt: skip
    """Add somebody by the card they sent."""
    name, key = read_card(card)
    return add_person(folder, name, roles, key, why=why, now=now)
