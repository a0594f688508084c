"""Who may use the page: a one-time token or a password opens a session, and a session is a cookie.

Knows tokens, sessions and wrong passwords. Ignores requests. Secrets are compared in constant time and never written.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from celosia.storage import remove_folder
from celosia.workbench.operation import OWNER

LIFE = 12 * 60 * 60  # seconds that a session lasts at most
IDLE = 60 * 60  # seconds without a request after which an account must log in again
WRONG_MOST = 5  # wrong passwords for one account from one address …
FROM_MOST = 20  # … or from one address for any …
EVERYWHERE_MOST = 30  # … or for one account from anywhere …
WRONG_WITHIN = 15 * 60  # … within these seconds block the log-in for as long
NOTE_INTERVAL = 60.0  # seconds in which the same refusal is not noted a second time
STRANGER_INTERVAL = 600.0  # the same for whoever has no session
_MANY = 10_000  # log-ins remembered before those of long ago are dropped


@dataclass(slots=True)
class Session:
    """One browser that logged in."""

    id: str
    csrf: str
    until: float
    language: str
    login: str = ""
    name: str = ""
    roles: tuple[str, ...] = OWNER
    fresh: bool = False  # must change the password before anything else
    seen: float = 0.0
    theme: str = "auto"  # auto | light | dark
    tour_closed: bool = False  # whether the panel of a guided tour was closed
    uploads: dict[str, str] = field(default_factory=dict)  # ticket → path
    downloads: dict[str, tuple[str, str]] = field(default_factory=dict)  # ticket → (path, name)
    notes: dict[str, tuple[str, str]] = field(default_factory=dict)  # ticket → (project, release) to note when fetched
    scratch_folders: set[str] = field(default_factory=set)  # removed when the session ends
    noted: dict[str, float] = field(default_factory=dict)  # what was refused, and when it was last noted
    account_state: str = ""  # roles and password of the account when it logged in
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one question at a time: nobody occupies every worker


def remove_file(session: Session, path: str) -> None:
    """Remove a file that was made for a session; one that belongs to a project stays."""
    folder = str(Path(path).parent)
    if folder in session.scratch_folders:
        session.scratch_folders.discard(folder)
        remove_folder(Path(folder))


class Sessions:
    """The sessions of one server."""

    def __init__(
        self,
        language: str,
        clock: Callable[[], float] = time.monotonic,
        account_state: Callable[[str], str] = lambda login: "",
    ) -> None:
        self.language = language
        self.account_state = account_state
        self._clock = clock
        self._token: str | None = None
        self._sessions: dict[str, Session] = {}

    def new_token(self) -> str:
        """A token that lets one browser in, once; the one before it no longer counts."""
        self._token = secrets.token_urlsafe(32)
        return self._token

    def enter(self, token: str) -> Session | None:
        """The session that a token opens; the second use opens none."""
        if self._token is None or not hmac.compare_digest(self._token.encode(), token.encode()):
            return None  # a wrong token does not use up the right one
        self._token = None
        return self.open()

    def open(
        self, login: str = "", name: str = "", roles: Sequence[str] = OWNER, fresh: bool = False, language: str = ""
    ) -> Session:
        """A new session with a new id."""
        now = self._clock()
        for session in [session for session in self._sessions.values() if not self.lasts(session)]:
            self.close(session)
        session = Session(
            id=secrets.token_urlsafe(32),
            csrf=secrets.token_urlsafe(32),
            until=now + LIFE,
            language=language or self.language,
            login=login,
            name=name,
            roles=tuple(roles),
            fresh=fresh,
            seen=now,
            account_state=self.account_state(login) if login else "",
        )
        self._sessions[session.id] = session
        return session

    def of(self, id: str) -> Session | None:
        """The session of a cookie, while it lasts; asking for it restarts the idle time."""
        session = self._sessions.get(id)
        if session is None:
            return None
        if not self.lasts(session):
            self.close(session)
            return None
        session.seen = self._clock()
        return session

    def lasts(self, session: Session) -> bool:
        """Whether a session still counts; unlike `of`, this does not restart the idle time."""
        now = self._clock()
        idle = bool(session.login) and session.seen + IDLE <= now
        if self._sessions.get(session.id) is not session or session.until <= now or idle:
            return False
        return not session.login or self.account_state(session.login) == session.account_state

    def is_alive(self, session: Session) -> bool:
        """Whether the session of an open page still counts."""
        return self.of(session.id) is session

    def close(self, session: Session) -> None:
        """End a session and remove its uploads and downloads."""
        self._sessions.pop(session.id, None)
        for folder in session.scratch_folders:
            remove_folder(Path(folder))

    def close_all(self, login: str, but: Session | None = None) -> None:
        """End every session of an account."""
        for session in list(self._sessions.values()):
            if session.login == login and session is not but:
                self.close(session)


class LoginThrottle:
    """Wrong passwords, by account and by address: after too many the log-in is blocked for a while.

    Few block the address they came from, so that nobody else is kept out by a stranger's guesses; many more from
    several addresses block the account for everybody. Without an address there is one place to guess from.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[tuple[str, str], list[float]] = {}
        self._noted: dict[tuple[str, str], float] = {}

    def is_blocked(self, login: str, address: str) -> bool:
        """Whether no password is compared now."""
        return any(self._count_recent(key) >= most for key, most in _limits(login, address).items())

    def count_wrong(self, login: str, address: str) -> None:
        """Remember a wrong password."""
        if len(self._wrong) > _MANY:
            for key in tuple(self._wrong):
                self._count_recent(key)
        for key in _limits(login, address):
            self._wrong.setdefault(key, []).append(self._clock())

    def forget_wrong(self, login: str, address: str) -> None:
        """Forget the wrong passwords for an account, and the right one that was counted before it was compared."""
        for key in ((login, address), (login, "")):
            self._wrong.pop(key, None)
        if self._wrong.get(("", address)):
            self._wrong[("", address)].pop()

    def is_to_be_noted(self, login: str, address: str) -> bool:
        """Whether an attempt at a blocked log-in gets a line in the journal: not twice within a minute."""
        now = self._clock()
        self._noted = {key: when for key, when in self._noted.items() if when + NOTE_INTERVAL > now}
        if (login, address) in self._noted or len(self._noted) >= _MANY:
            return False
        self._noted[(login, address)] = now
        return True

    def _count_recent(self, key: tuple[str, str]) -> int:
        since = self._clock() - WRONG_WITHIN
        recent = [when for when in self._wrong.get(key, ()) if when > since]
        if recent:
            self._wrong[key] = recent
        else:
            self._wrong.pop(key, None)
        return len(recent)


def _limits(login: str, address: str) -> dict[tuple[str, str], int]:
    """What a wrong password counts for, and how many of each block the log-in."""
    if not address:
        return {(login, ""): WRONG_MOST}
    return {(login, address): WRONG_MOST, ("", address): FROM_MOST, (login, ""): EVERYWHERE_MOST}


class RefusedRequests:
    """Requests that the guard refused, by account and kind: a line in the journal now and then says how many.

    Strangers are one account without a name, so that nobody can fill the journal from many addresses.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}  # when it was last noted, and how many since

    def count_to_note(self, login: str, kind: str) -> int:
        """How many of a kind to note now; 0 shortly after the last line."""
        now = self._clock()
        noted, since = self._seen.get((login, kind), (-math.inf, 0))
        early = now - noted < (NOTE_INTERVAL if login else STRANGER_INTERVAL)
        self._seen[(login, kind)] = (noted, since + 1) if early else (now, 0)
        return 0 if early else since + 1
