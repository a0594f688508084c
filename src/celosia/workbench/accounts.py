"""The accounts of a shared page: who may log in, in which roles, with which password and signing key.

Knows names, roles, argon2 hashes and paths of keys. Ignores sessions and pages. Everything is in `.celosia` beside
the projects, readable by the server's owner only; no password is ever written. Source: MINSAL, Roles 1 (M38).
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from celosia import messages
from celosia.model.errors import MissingExtra, UnknownFormat
from celosia.model.paths import SETTINGS, STATS_SETTINGS, ProjectPaths
from celosia.model.people import ROLES
from celosia.model.value_errors import ValueOutOfRange
from celosia.pipeline.project import journal as _journal
from celosia.pipeline.project.arguments import PathArg, utc_now
from celosia.pipeline.project.errors import BadProjectFile, NameNeeded, RolesClash
from celosia.storage import atomic_write, exclusive_lock, make_private_folder
from celosia.workbench.errors import AccountExists, AccountNameTaken, PasswordShort, UnknownAccount

ACCOUNTS_FORMAT = "celosia/accounts/1"
SHORTEST = 12
_LOGIN = re.compile(r"[a-z0-9][a-z0-9._-]{1,31}")


@dataclass(frozen=True, slots=True)
class Account:
    """A person who may log in."""

    login: str
    name: str
    roles: tuple[str, ...]
    hash: str
    fresh: bool = True  # the password was given by somebody else and must be changed first
    active: bool = True

    def public_fields(self) -> dict[str, Any]:
        """All that may be shown of it: never the digest of its password."""
        return {"login": self.login, "name": self.name, "roles": list(self.roles), "active": self.active}


class AccountState:
    """The state of an account as a text that changes with its roles, its password and whether it is active."""

    def __init__(self, root: PathArg) -> None:
        self._root = Path(root)
        self._seen: tuple[int, int] = (0, 0)
        self._states: dict[str, str] = {}

    def __call__(self, login: str) -> str:
        """The state of a login; the file is read again only when it changed."""
        try:
            stat = (self._root / ".celosia" / "accounts.json").stat()
        except OSError:
            return "gone"
        if (stat.st_mtime_ns, stat.st_ino) != self._seen:
            accounts = read_accounts(self._root)
            self._states = {account.login: f"{account.roles} {account.hash}" for account in accounts if account.active}
            self._seen = (stat.st_mtime_ns, stat.st_ino)
        return self._states.get(login, "closed")


def server_folder(root: PathArg) -> Path:
    """The private folder of the server beside its projects."""
    return make_private_folder(Path(root) / ".celosia")


def server_journal(root: PathArg) -> Path:
    """The journal of who logged in and what was refused outside any project."""
    return ProjectPaths(server_folder(root)).journal


def key_path(root: PathArg, login: str) -> Path:
    """The path of an account's signing key, encrypted with a passphrase that only its owner knows."""
    return make_private_folder(server_folder(root) / "keys") / f"{_check_login(login)}.key"


def read_accounts(root: PathArg) -> tuple[Account, ...]:
    """Every account; none where nobody was added."""
    path = Path(root) / ".celosia" / "accounts.json"
    if not path.is_file():
        return ()
    try:
        document = json.loads(path.read_text("utf-8"))
        if document["format"] != ACCOUNTS_FORMAT:
            raise UnknownFormat(path=path.name, found=str(document["format"])[:40], expected=ACCOUNTS_FORMAT)
        return tuple(Account(**{**entry, "roles": tuple(entry["roles"])}) for entry in document["accounts"])
    except (OSError, ValueError, KeyError, TypeError):
        raise BadProjectFile(path=path.name, line="?") from None


def add_account(
    root: PathArg, login: str, name: str, roles: Sequence[str], *, now: datetime | None = None
) -> tuple[Account, str]:
    """Add a person; gives the password to hand over, which must be changed at the first log-in."""
    from celosia.pipeline.project.people import looks_alike

    password = secrets.token_urlsafe(12)
    added = Account(_check_login(login), _check_name(name), _check_roles(name, roles), _hash_password(password))
    with _accounts_lock(root):
        known = read_accounts(root)
        if any(account.login == added.login for account in known):
            raise AccountExists(login=added.login)
        if any(looks_alike(account.name, added.name) for account in known):
            raise AccountNameTaken(name=added.name)
        _write_accounts(root, (*known, added))
    _note_account(root, "account-added", added, now)
    return added, password


def change_account(
    root: PathArg,
    login: str,
    *,
    roles: Sequence[str] | None = None,
    active: bool | None = None,
    now: datetime | None = None,
) -> Account:
    """Give other roles, or close an account and open it again."""
    with _accounts_lock(root):
        before = account_of(root, login)
        after = replace(
            before,
            roles=before.roles if roles is None else _check_roles(before.name, roles),
            active=before.active if active is None else active,
        )
        _write_accounts(root, [after if account.login == login else account for account in read_accounts(root)])
    _note_account(root, "account-changed", after, now)
    return after


def reset_password(root: PathArg, login: str, *, now: datetime | None = None) -> str:
    """A new password to hand over, which must be changed at the next log-in."""
    password = secrets.token_urlsafe(12)
    _set_password(root, login, password, fresh=True)
    _note_account(root, "password-reset", account_of(root, login), now)
    return password


def change_password(root: PathArg, login: str, old: str, new: str, *, now: datetime | None = None) -> bool:
    """Change one's own password; False where the old one is not it."""
    if not password_fits(account_of(root, login), old):
        return False
    if len(new) < SHORTEST or new == old:
        raise PasswordShort(minimum=SHORTEST)
    _set_password(root, login, new, fresh=False)
    append_server_journal(root, "password-changed", login, {"account": login}, now=now)
    return True


def account_of(root: PathArg, login: str) -> Account:
    """The account of a login."""
    for account in read_accounts(root):
        if account.login == login:
            return account
    raise UnknownAccount(login=login)


def password_fits(account: Account | None, password: str) -> bool:
    """Whether a password is the account's; an account that does not exist takes as long to refuse."""
    hasher, mismatch = _argon2()
    try:
        fits = bool(hasher.verify(account.hash if account else _dummy_hash(), password))
    except mismatch:
        return False
    return fits and account is not None and account.active


def append_server_journal(
    root: PathArg, what: str, who: str, facts: dict[str, Any], *, now: datetime | None = None
) -> None:
    """Append a line to the server's journal."""
    _journal.append_entry(server_journal(root), what, utc_now(now), facts, who=who)


def note_refusal(root: PathArg, project: str, what: str, *, now: datetime | None = None) -> None:
    """Note that somebody tried what their role does not include: in the project's journal, or in the server's."""
    folder = Path(root) / project
    is_project = bool(project) and any((folder / name).is_file() for name in (SETTINGS, STATS_SETTINGS))
    path = ProjectPaths(folder).journal if is_project else server_journal(root)
    _journal.append_entry(path, "refused", utc_now(now), {"what": what})


def note_download(folder: PathArg, release: str, *, now: datetime | None = None) -> None:
    """Note in a project's journal that somebody downloaded a release."""
    _journal.append_entry(ProjectPaths(Path(folder)).journal, "download", utc_now(now), {"release": release})


def _set_password(root: PathArg, login: str, password: str, fresh: bool) -> None:
    with _accounts_lock(root):
        changed = replace(account_of(root, login), hash=_hash_password(password), fresh=fresh)
        _write_accounts(root, [changed if account.login == login else account for account in read_accounts(root)])


def _accounts_lock(root: PathArg) -> Any:
    return exclusive_lock(server_folder(root) / ".accounts.lock")


def _write_accounts(root: PathArg, accounts: Iterable[Account]) -> None:
    document = {"format": ACCOUNTS_FORMAT, "accounts": [asdict(account) for account in accounts]}
    with atomic_write(server_folder(root) / "accounts.json") as draft:
        draft.write_text(json.dumps(document, ensure_ascii=False, indent=2) + "\n", "utf-8", newline="\n")


def _note_account(root: PathArg, what: str, account: Account, now: datetime | None) -> None:
    facts = {"account": account.login, "roles": list(account.roles), "active": account.active}
    _journal.append_entry(server_journal(root), what, utc_now(now), facts)


def _check_login(login: str) -> str:
    if not _LOGIN.fullmatch(login):
        raise ValueOutOfRange(parameter="login", given="", allowed="a–z 0–9 . _ - (2–32)")
    return login


def _check_name(name: str) -> str:
    """A name as keys and journals hold it: on one line, without characters that hide or reverse letters."""
    from celosia.pipeline.project.identity import is_name

    plain = " ".join(name.split())
    if not is_name(plain):
        raise NameNeeded()
    return plain


def _check_roles(name: str, roles: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(roles))
    if not chosen or not set(chosen) <= set(ROLES):
        raise ValueOutOfRange(parameter="role", given=", ".join(chosen), allowed=", ".join(ROLES))
    if {"executor", "verifier"} <= set(chosen) or ("outsider" in chosen and len(chosen) > 1):
        raise RolesClash(name=name)  # who did it does not check it, and who attacks it knows nothing of it
    return chosen


def _argon2() -> tuple[Any, Any]:
    try:
        from argon2 import PasswordHasher
        from argon2.exceptions import VerifyMismatchError
    except ImportError:
        raise MissingExtra(feature=messages.text("web.feature"), extra="web") from None
    return PasswordHasher(), VerifyMismatchError


def _hash_password(password: str) -> str:
    hasher, _ = _argon2()
    return str(hasher.hash(password))


@cache
def _dummy_hash() -> str:
    """A hash that no password fits, made once."""
    return _hash_password(secrets.token_urlsafe(32))
