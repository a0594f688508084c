"""The server: on loopback for the person at the machine, or with accounts and a certificate for several.

Alone, the terminal is told one address whose token lets one browser in. Shared, everybody enters by their account.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from celosia import messages
from celosia.errors import AccountsNeeded, HostUnusable, MissingExtra, NotAFolder, PortTaken, ValueOutOfRange
from celosia.pipeline import Standing, private_corner, read_accounts
from celosia.web._certificate import fingerprint, plain_name, self_made, usable
from celosia.web._sessions import Sessions

LOOPBACK = "127.0.0.1"
_HERE = (LOOPBACK, "localhost")
_EVERYWHERE = ("0.0.0.0",)
_PORT_FAULTS = (errno.EADDRINUSE, errno.EACCES, errno.EPERM)
UPLOAD_LIMIT = 1_000_000_000  # bytes
_CHANNEL_LIMIT = 1_000_000  # bytes of one message on the page's channel


@dataclass(frozen=True, slots=True)
class Listening:
    """Where and for whom the page listens."""

    host: str = LOOPBACK
    port: int | None = None
    shared: bool = False
    names: tuple[str, ...] = ()  # further names under which the page is reached
    certificate: Path | None = None
    key: Path | None = None


ALONE = Listening()


def serve(
    folder: Path,
    asked: Listening = ALONE,
    upload_limit: int = UPLOAD_LIMIT,
    announce: Callable[[str, str], None] = lambda address, fingerprint: None,
) -> None:
    """Serve the projects of a folder, or one project, until it is stopped.

    `announce` gets the address to open and, where there is a certificate, its fingerprint.
    """
    try:
        import uvicorn

        from celosia.web._application import build
        from celosia.web._guard import Gate
    except ImportError:
        raise MissingExtra(feature=messages.text("web.feature"), extra="web") from None
    root, only = projects_root(folder)
    _refuse_open_door(root, asked)
    names = _names(asked)
    tls = _tls(root, asked, names)
    listening = _listening(asked)
    number = listening.getsockname()[1]
    sessions = Sessions(messages.language(), standing=Standing(root)) if asked.shared else Sessions(messages.language())
    corner = private_corner(root)
    try:
        gate = Gate(names, number, asked.shared, tls is not None, _first(root, only))
        application = build(root, corner, sessions, gate, upload_limit, only)
        config = uvicorn.Config(
            application, log_config=None, access_log=False, server_header=False, ws_max_size=_CHANNEL_LIMIT,
            proxy_headers=False,  # who knocks is who knocks, whatever they say of themselves
            timeout_graceful_shutdown=2, ssl_certfile=tls and tls[0], ssl_keyfile=tls and str(tls[1]),
        )  # fmt: skip
        entry = "login" if asked.shared else f"enter?token={sessions.new_token()}"
        announce(f"{gate.scheme}://{names[0]}:{number}/{entry}", fingerprint(tls[0]) if tls else "")
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        listening.close()
        shutil.rmtree(corner, ignore_errors=True)


def _refuse_open_door(root: Path, asked: Listening) -> None:
    """Nobody listens beyond this machine, and nobody shares, without accounts."""
    if (asked.shared or asked.host not in _HERE) and not (asked.shared and read_accounts(root)):
        raise AccountsNeeded(path=str(root))


def _names(asked: Listening) -> tuple[str, ...]:
    """What the page is called, the name to announce first; listening everywhere, this machine's own where none is."""
    given = list(map(plain_name, asked.names))
    if asked.host not in _EVERYWHERE:
        given.insert(0, _own_name(asked.host))
    elif not given:
        with contextlib.suppress(ValueOutOfRange):
            given.append(plain_name(socket.gethostname()))
    return tuple(dict.fromkeys((*given, *_HERE)))


def _own_name(host: str) -> str:
    try:
        return plain_name(host)
    except ValueOutOfRange:
        raise HostUnusable(host=host[:80]) from None


def _tls(root: Path, asked: Listening, names: tuple[str, ...]) -> tuple[Path, Path] | None:
    """The certificate and its key: those given (one file may hold both), or our own where others can listen in."""
    given = asked.certificate or asked.key
    if given is not None:
        pair = asked.certificate or given, asked.key or given
        usable(*pair)
        return pair
    return None if asked.host in _HERE else self_made(root, names)


def projects_root(folder: Path) -> tuple[Path, str]:
    """The folder of the projects and, where a project was named, its name."""
    place = folder.resolve()
    if not place.is_dir():
        raise NotAFolder(path=str(folder))
    named = any((place / file).is_file() for file in ("celosia.toml", "stats.toml"))
    return (place.parent, place.name) if named else (place, "")


def _first(root: Path, only: str) -> str:
    """The page to begin at: that of the project or STATS folder that was named, else the list."""
    kind = "p" if (root / only / "celosia.toml").is_file() else "s"
    return f"/{kind}/{only}" if only else "/"


def _listening(asked: Listening) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((asked.host, asked.port or 0))
        made.listen()  # whoever opens the address at once waits in line instead of being turned away
    except OSError as fault:
        made.close()
        if fault.errno in _PORT_FAULTS:
            raise PortTaken(port=str(asked.port or "")) from None
        raise HostUnusable(host=asked.host[:80]) from None
    return made
