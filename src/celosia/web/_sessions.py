"""Who may use the page: a one-time token or a password opens a session, and a session is a cookie.

Knows tokens, sessions and wrong guesses. Ignores requests. Secrets are compared in constant
time and never written down.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LIFE = 12 * 60 * 60  # seconds that a session lasts at most
IDLE = 60 * 60  # seconds without a sign of life after which an account must enter again
OWNER = ("owner",)  # the person at the machine: there are no accounts, and everything is theirs
WRONG_MOST = 5  # guesses at one account from one address …
FROM_MOST = 20  # … or from one address at any …
EVERYWHERE_MOST = 30  # … or at one account from anywhere …
WRONG_WITHIN = 15 * 60  # … within these seconds shut the door for as long
AGAIN = 60.0  # seconds in which the same refusal is not written down a second time
STRANGERS = 600.0  # the same for whoever has no session


_MANY = 10_000  # names guessed at before those of long ago are put away


def _nothing(login: str) -> str:
    return ""


@dataclass(slots=True)
class Session:
    """One browser that came in."""

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
    tour_shut: bool = False  # whether the panel of a guided tour was put away
    uploads: dict[str, str] = field(default_factory=dict)  # ticket → path
    downloads: dict[str, tuple[str, str]] = field(default_factory=dict)  # ticket → (path, name)
    notes: dict[str, tuple[str, str]] = field(default_factory=dict)  # ticket → (project, release) to note when fetched
    scratch: set[str] = field(default_factory=set)  # folders of this session, gone when it ends
    noted: dict[str, float] = field(default_factory=dict)  # what was refused, and when it was last written down
    standing: str = ""  # what the account was when it came in: roles, password, open or closed
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # one question at a time: nobody holds every reader


def forget_file(session: Session, path: str) -> None:
    """Remove a file that was made for a session; one that belongs to a project stays."""
    folder = str(Path(path).parent)
    if folder in session.scratch:
        session.scratch.discard(folder)
        shutil.rmtree(folder, ignore_errors=True)


class Sessions:
    """The sessions of one server."""

    def __init__(
        self, language: str, clock: Callable[[], float] = time.monotonic, standing: Callable[[str], str] = _nothing
    ) -> None:
        self.language = language
        self.standing = standing
        self._clock = clock
        self._token: str | None = None
        self._sessions: dict[str, Session] = {}

    def new_token(self) -> str:
        """A token that lets one browser in, once; the one before it is worth nothing any more."""
        self._token = secrets.token_urlsafe(32)
        return self._token

    def enter(self, token: str) -> Session | None:
        """The session that a token opens; the second use opens nothing."""
        if self._token is None or not hmac.compare_digest(self._token.encode(), token.encode()):
            return None  # a wrong guess does not shut out whoever holds the right one
        self._token = None
        return self.open()

    def open(
        self, login: str = "", name: str = "", roles: Sequence[str] = OWNER, fresh: bool = False, language: str = ""
    ) -> Session:
        """A new session; its id was never anywhere before."""
        now = self._clock()
        for one in [one for one in self._sessions.values() if not self.lasts(one)]:
            self.close(one)
        made = Session(
            secrets.token_urlsafe(32), secrets.token_urlsafe(32), now + LIFE, language or self.language, login, name,
            tuple(roles), fresh, now,
        )  # fmt: skip
        made.standing = self.standing(login) if login else ""
        self._sessions[made.id] = made
        return made

    def of(self, id: str) -> Session | None:
        """The session of a cookie, while it lasts; asking is a sign of life."""
        session = self._sessions.get(id)
        if session is None:
            return None
        if not self.lasts(session):
            self.close(session)
            return None
        session.seen = self._clock()
        return session

    def lasts(self, session: Session) -> bool:
        """Whether a session still counts; unlike asking for it, a look of the page itself is no sign of life."""
        now = self._clock()
        idle = bool(session.login) and session.seen + IDLE <= now
        if self._sessions.get(session.id) is not session or session.until <= now or idle:
            return False
        return not session.login or self.standing(session.login) == session.standing

    def alive(self, session: Session) -> bool:
        """Whether a session that a page holds still counts."""
        return self.of(session.id) is session

    def close(self, session: Session) -> None:
        """End a session, and what it sent or was offered."""
        self._sessions.pop(session.id, None)
        for folder in session.scratch:
            shutil.rmtree(folder, ignore_errors=True)

    def close_all(self, login: str, but: Session | None = None) -> None:
        """End every session of an account."""
        for session in [one for one in self._sessions.values() if one.login == login and one is not but]:
            self.close(session)


class Guesses:
    """Wrong passwords, by account and by address: after too many the door stays shut for a while.

    Few shut it for the address they came from, so that nobody else is kept out by a stranger's guesses; many more from
    several addresses shut it for everybody. Without an address there is one place to guess from.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[tuple[str, str], list[float]] = {}
        self._told: dict[tuple[str, str], float] = {}

    def shut(self, login: str, address: str) -> bool:
        """Whether no password is looked at now."""
        return any(self._recent(key) >= most for key, most in _limits(login, address).items())

    def wrong(self, login: str, address: str) -> None:
        """Remember a wrong guess."""
        if len(self._wrong) > _MANY:
            for key in tuple(self._wrong):
                self._recent(key)
        for key in _limits(login, address):
            self._wrong.setdefault(key, []).append(self._clock())

    def right(self, login: str, address: str) -> None:
        """Forget the guesses at an account, and the one that was right."""
        for key in ((login, address), (login, "")):
            self._wrong.pop(key, None)
        if self._wrong.get(("", address)):
            self._wrong[("", address)].pop()

    def news(self, login: str, address: str) -> bool:
        """Whether a knock at the shut door is worth a line: the same again within a minute is not."""
        now = self._clock()
        self._told = {key: told for key, told in self._told.items() if told + AGAIN > now}
        if (login, address) in self._told or len(self._told) >= _MANY:
            return False
        self._told[(login, address)] = now
        return True

    def _recent(self, key: tuple[str, str]) -> int:
        since = self._clock() - WRONG_WITHIN
        kept = [moment for moment in self._wrong.get(key, ()) if moment > since]
        if kept:
            self._wrong[key] = kept
        else:
            self._wrong.pop(key, None)
        return len(kept)


class Breaches:
    """Requests that the guard refused, by account and kind: one line each now and then says how many there were.

    Strangers are one account without a name, so that nobody can fill the journal from many addresses.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}  # when it was last told, and how many since

    def news(self, login: str, kind: str) -> int:
        """How many of a kind to write down now; 0 while the last line is young."""
        now = self._clock()
        told, since = self._seen.get((login, kind), (-math.inf, 0))
        young = now - told < (AGAIN if login else STRANGERS)
        self._seen[(login, kind)] = (told, since + 1) if young else (now, 0)
        return 0 if young else since + 1


def _limits(login: str, address: str) -> dict[tuple[str, str], int]:
    """What a guess counts for, and how many of each shut the door."""
    if not address:
        return {(login, ""): WRONG_MOST}
    return {(login, address): WRONG_MOST, ("", address): FROM_MOST, (login, ""): EVERYWHERE_MOST}
