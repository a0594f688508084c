"""The accounts of a shared page: who may come in, in which roles, with which password and signing key.

Knows names, roles, argon2 hashes and where keys lie. Ignores sessions and pages. Everything stands in `.celosia` beside
the projects, readable by the server's owner only; no password is ever written down. Source: MINSAL, Roles 1 (M38).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.data.files import alone, private_folder, replacing
from celosia.errors import (
    AccountExists,
    AccountNameTaken,
    BadProjectFile,
    MissingExtra,
    NameNeeded,
    PasswordShort,
    RolesClash,
    UnknownAccount,
    UnknownFormat,
    ValueOutOfRange,
)
from celosia.model.people import ROLES
from celosia.pipeline import _journal
from celosia.pipeline._call import Place, moment

ACCOUNTS_FORMAT = "celosia/accounts/1"
SHORTEST = 12
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._-]{1,31}")


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who may come in."""

    login: str
    name: str
    roles: tuple[str, ...]
    hash: str
    fresh: bool = True  # the password was given by somebody else and must be changed first
    active: bool = True

    def shown(self) -> dict[str, Any]:
        """All that may be told of it: never the digest of its password."""
        return {"login": self.login, "name": self.name, "roles": list(self.roles), "active": self.active}


class Standing:
    """What an account is worth now, as one word that changes with its roles, its password and whether it is open."""

    def __init__(self, root: Place) -> None:
        self._root = Path(root)
        self._seen: tuple[int, int] = (0, 0)
        self._words: dict[str, str] = {}

    def __call__(self, login: str) -> str:
        """The word of a login; nothing where it may not come in. The file is read again only when it changed."""
        try:
            found = (self._root / ".celosia" / "accounts.json").stat()
        except OSError:
            return "gone"
        if (found.st_mtime_ns, found.st_ino) != self._seen:
            accounts = read_accounts(self._root)
            self._words = {one.login: f"{one.roles} {one.hash}" for one in accounts if one.active}
            self._seen = (found.st_mtime_ns, found.st_ino)
        return self._words.get(login, "closed")


def office_folder(root: Place) -> Path:
    """The private folder of the server beside its projects."""
    return private_folder(Path(root) / ".celosia")


def office_journal(root: Place) -> Path:
    """The journal of who came in and what was refused outside any project."""
    return office_folder(root) / "journal.jsonl"


def key_path(root: Place, login: str) -> Path:
    """Where the signing key of an account lies, encrypted with a passphrase that only its owner knows."""
    return private_folder(office_folder(root) / "keys") / f"{_checked_login(login)}.key"


def read_accounts(root: Place) -> tuple[Account, ...]:
    """Every account; none where nobody was added."""
    path = Path(root) / ".celosia" / "accounts.json"
    if not path.is_file():
        return ()
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["format"] != ACCOUNTS_FORMAT:
            raise UnknownFormat(path=path.name, found=str(document["format"])[:40], expected=ACCOUNTS_FORMAT)
        return tuple(Account(**{**one, "roles": tuple(one["roles"])}) for one in document["accounts"])
    except (OSError, ValueError, KeyError, TypeError):
        raise BadProjectFile(path=path.name, line="?") from None


def add_account(
    root: Place, login: str, name: str, roles: Sequence[str], *, now: datetime | None = None
) -> tuple[Account, str]:  # fmt: skip
    """Add somebody; gives the password to hand over, which must be changed at the first entry."""
    from celosia.pipeline._people import same_name

    password = secrets.token_urlsafe(12)
    made = Account(_checked_login(login), _checked_name(name), _checked_roles(name, roles), _hashed(password))
    with _editing(root):
        known = read_accounts(root)
        if any(one.login == made.login for one in known):
            raise AccountExists(login=made.login)
        if any(same_name(one.name, made.name) for one in known):
            raise AccountNameTaken(name=made.name)
        _write(root, (*known, made))
    _note(root, "account-added", made, now)
    return made, password


def change_account(
    root: Place, login: str, *, roles: Sequence[str] | None = None, active: bool | None = None,
    now: datetime | None = None,
) -> Account:  # fmt: skip
    """Give other roles, or shut an account and open it again."""
    with _editing(root):
        before = account_of(root, login)
        after = replace(
            before,
            roles=before.roles if roles is None else _checked_roles(before.name, roles),
            active=before.active if active is None else active,
        )
        _write(root, [after if one.login == login else one for one in read_accounts(root)])
    _note(root, "account-changed", after, now)
    return after


def reset_password(root: Place, login: str, *, now: datetime | None = None) -> str:
    """A new password to hand over, which must be changed at the next entry."""
    password = secrets.token_urlsafe(12)
    _set_password(root, login, password, fresh=True)
    _note(root, "password-reset", account_of(root, login), now)
    return password


def change_password(root: Place, login: str, old: str, new: str, *, now: datetime | None = None) -> bool:
    """Change one's own password; False where the old one is not it."""
    if not password_fits(account_of(root, login), old):
        return False
    if len(new) < SHORTEST or new == old:
        raise PasswordShort(minimum=SHORTEST)
    _set_password(root, login, new, fresh=False)
    office_note(root, "password-changed", login, {"account": login}, now=now)
    return True


def account_of(root: Place, login: str) -> Account:
    """The account of a login."""
    for one in read_accounts(root):
        if one.login == login:
            return one
    raise UnknownAccount(login=login)


def password_fits(account: Account | None, password: str) -> bool:
    """Whether a password is the account's; an account that does not exist takes as long to refuse."""
    hasher, mismatch = _argon()
    try:
        fits = bool(hasher.verify(account.hash if account else _nobody(), password))
    except mismatch:
        return False
    return fits and account is not None and account.active


def office_note(root: Place, what: str, who: str, facts: dict[str, Any], *, now: datetime | None = None) -> None:
    """A line in the office's journal."""
    _journal.append(office_journal(root), what, moment(now), facts, who=who)


def note_refusal(root: Place, project: str, what: str, *, now: datetime | None = None) -> None:
    """Somebody tried what their role does not include: in the project's journal, or in the office's."""
    folder = Path(root) / project if project else None
    inside = folder is not None and any((folder / name).is_file() for name in ("celosia.toml", "stats.toml"))
    path = folder / "journal.jsonl" if folder is not None and inside else office_journal(root)
    _journal.append(path, "refused", moment(now), {"what": what})


def note_download(folder: Place, release: str, *, now: datetime | None = None) -> None:
    """Somebody took a release with them: a line in its project's journal."""
    _journal.append(Path(folder) / "journal.jsonl", "download", moment(now), {"release": release})


def _set_password(root: Place, login: str, password: str, fresh: bool) -> None:
    with _editing(root):
        changed = replace(account_of(root, login), hash=_hashed(password), fresh=fresh)
        _write(root, [changed if one.login == login else one for one in read_accounts(root)])


def _editing(root: Place) -> Any:
    return alone(office_folder(root) / ".accounts.lock")


def _write(root: Place, accounts: Iterable[Account]) -> None:
    document = {"format": ACCOUNTS_FORMAT, "accounts": [asdict(one) for one in accounts]}
    with replacing(office_folder(root) / "accounts.json") as draft:
        draft.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", "utf-8")


def _note(root: Place, what: str, account: Account, now: datetime | None) -> None:
    facts = {"account": account.login, "roles": list(account.roles), "active": account.active}
    _journal.append(office_journal(root), what, moment(now), facts)


def _checked_login(login: str) -> str:
    if not _LOGIN.fullmatch(login):
        raise ValueOutOfRange(parameter="login", given="", allowed="a–z 0–9 . _ - (2–32)")
    return login


def _checked_name(name: str) -> str:
    """A name as keys and journals hold it: on one line, with nothing that hides or turns letters around."""
    from celosia.pipeline._identity import is_name

    plain = " ".join(name.split())
    if not is_name(plain):
        raise NameNeeded()
    return plain


def _checked_roles(name: str, roles: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(roles))
    if not chosen or not set(chosen) <= set(ROLES):
        raise ValueOutOfRange(parameter="role", given=", ".join(chosen), allowed=", ".join(ROLES))
    if {"executor", "verifier"} <= set(chosen) or ("outsider" in chosen and len(chosen) > 1):
        raise RolesClash(name=name)  # who did it does not check it, and who attacks it knows nothing of it
    return chosen


def _argon() -> tuple[Any, Any]:
    try:
        from argon2 import PasswordHasher
        from argon2.exceptions import VerifyMismatchError
    except ImportError:
        raise MissingExtra(feature=messages.text("web.feature"), extra="web") from None
    return PasswordHasher(), VerifyMismatchError


def _hashed(password: str) -> str:
    hasher, _ = _argon()
    return str(hasher.hash(password))


_NOBODY: list[str] = []


def _nobody() -> str:
    """A hash that no password fits, made once."""
    if not _NOBODY:
        _NOBODY.append(_hashed(secrets.token_urlsafe(32)))
    return _NOBODY[0]
