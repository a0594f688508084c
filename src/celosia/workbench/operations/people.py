"""Operations of the people page and of one's own key; notes that the server writes about accounts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.workbench.operation import INVITE, SERVER, SIGN, operation

if TYPE_CHECKING:
    from celosia.model.people import Person
    from celosia.workbench.views.dossier import KeyCard, PeopleView


@operation(SIGN)
def people_view(folder: Path, root: Path) -> PeopleView:
    """Who is in a project, which accounts may be added, and which roles its norms ask for and nobody holds."""
    from celosia.workbench import signing_keys

    return signing_keys.people_view(folder, root)


@operation(SIGN)
def key_card(path: Path) -> KeyCard | None:
    """The public half of the key at a path; None where there is no key."""
    from celosia.workbench import signing_keys

    return signing_keys.key_card(path)


@operation(SIGN)
def make_key(path: Path, name: str, passphrase: str, *, root: Path | None = None) -> KeyCard:
    """Make a person's key at a path; `root` is the folder of the projects whose journal notes that it was made."""
    from celosia.workbench import signing_keys

    return signing_keys.make_key(path, name, passphrase, root=root)


@operation(INVITE)
def join_person(folder: Path, root: Path, login: str, roles: Sequence[str], *, why: str = "") -> Person:
    """Add the person of an account to a project, in roles that the account has."""
    from celosia.workbench import signing_keys

    return signing_keys.join_person(folder, root, login, roles, why=why)


@operation(INVITE)
def join_card(folder: Path, card: Path, roles: Sequence[str], *, why: str = "") -> Person:
    """Add the person of a card to a project."""
    from celosia.workbench import signing_keys

    return signing_keys.join_card(folder, card, roles, why=why)


@operation(INVITE)
def sign_people(folder: Path, key: Path, passphrase: str, expected: str) -> tuple[str, ...]:
    """Sign into the roster whoever waits and was shown."""
    from celosia.workbench import signing_keys

    return signing_keys.sign_people(folder, key, passphrase, expected)


@operation(INVITE)
def change_key(folder: Path, name: str, card: Path, key: Path, passphrase: str, *, why: str = "") -> str:
    """Give a person of the roster the key of another card."""
    from celosia.workbench import signing_keys

    return signing_keys.change_key(folder, name, card, key, passphrase, why=why)


@operation(INVITE)
def remove_person(folder: Path, name: str, key: Path, passphrase: str, *, why: str = "") -> str:
    """Take a person out of the roster."""
    from celosia.workbench import signing_keys

    return signing_keys.remove_person(folder, name, key, passphrase, why=why)


@operation(SERVER)
def note_refusal(root: Path, project: str, what: str) -> None:
    """Note that somebody tried what their role does not include: in the project's journal, or in the server's."""
    from celosia.workbench import accounts

    accounts.note_refusal(root, project, what)


@operation(SERVER)
def note_download(folder: Path, release: str) -> None:
    """Note in a project's journal that somebody downloaded a release."""
    from celosia.workbench import accounts

    accounts.note_download(folder, release)
