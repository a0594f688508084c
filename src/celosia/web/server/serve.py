"""The server: on loopback for the person at the machine, or with accounts and a certificate for several.

Alone, the terminal shows one address whose token lets one browser in. Shared, everybody logs in to their account.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from celosia import messages
from celosia.model.errors import MissingExtra
from celosia.model.paths import SETTINGS, STATS_SETTINGS
from celosia.model.value_errors import ValueOutOfRange
from celosia.storage import private_tempdir, remove_folder
from celosia.web.errors import AccountsNeeded, HostUnusable, NotAFolder, PortTaken
from celosia.web.server.certificate import fingerprint, own_certificate, plain_name, refuse_unusable
from celosia.web.server.sessions import Sessions
from celosia.workbench.accounts import AccountState, read_accounts

LOOPBACK = "127.0.0.1"
UPLOAD_LIMIT = 1_000_000_000  # bytes
_LOCAL = (LOOPBACK, "localhost")
_EVERYWHERE = ("0.0.0.0",)
_PORT_FAULTS = (errno.EADDRINUSE, errno.EACCES, errno.EPERM)
_MESSAGE_LIMIT = 1_000_000  # bytes of one message on the page's websocket


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

        from celosia.web.server.application import build
        from celosia.web.server.guard import Access
    except ImportError:
        raise MissingExtra(feature=messages.text("web.feature"), extra="web") from None
    root, only = projects_root(folder)
    _refuse_without_accounts(root, asked)
    names = _host_names(asked)
    tls = _certificate(root, asked, names)
    listener = _open_socket(asked)
    number = listener.getsockname()[1]
    language = messages.language()
    sessions = Sessions(language, account_state=AccountState(root)) if asked.shared else Sessions(language)
    scratch = private_tempdir(root)
    try:
        access = Access(names, number, asked.shared, tls is not None, _first_page(root, only))
        config = uvicorn.Config(
            build(root, scratch, sessions, access, upload_limit, only),
            log_config=None,
            access_log=False,
            server_header=False,
            ws_max_size=_MESSAGE_LIMIT,
            proxy_headers=False,  # the address of a request is that of its connection, whatever its headers say
            timeout_graceful_shutdown=2,
            ssl_certfile=tls and tls[0],
            ssl_keyfile=tls and str(tls[1]),
        )
        entry = "login" if asked.shared else f"enter?token={sessions.new_token()}"
        announce(f"{access.scheme}://{names[0]}:{number}/{entry}", fingerprint(tls[0]) if tls else "")
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()
        remove_folder(scratch)


def _refuse_without_accounts(root: Path, asked: Listening) -> None:
    """Nobody listens beyond this machine, and nobody shares, without accounts."""
    if (asked.shared or asked.host not in _LOCAL) and not (asked.shared and read_accounts(root)):
        raise AccountsNeeded(path=str(root))


def _host_names(asked: Listening) -> tuple[str, ...]:
    """The names of the page, the one to announce first; listening everywhere, by default this machine's."""
    names = list(map(plain_name, asked.names))
    if asked.host not in _EVERYWHERE:
        try:
            names.insert(0, plain_name(asked.host))
        except ValueOutOfRange:
            raise HostUnusable(host=asked.host[:80]) from None
    elif not names:
        with contextlib.suppress(ValueOutOfRange):
            names.append(plain_name(socket.gethostname()))
    return tuple(dict.fromkeys((*names, *_LOCAL)))


def _certificate(root: Path, asked: Listening, names: tuple[str, ...]) -> tuple[Path, Path] | None:
    """The certificate and its key: those given (one file may hold both), or our own where others can listen in."""
    given = asked.certificate or asked.key
    if given is not None:
        pair = asked.certificate or given, asked.key or given
        refuse_unusable(*pair)
        return pair
    return None if asked.host in _LOCAL else own_certificate(root, names)


def projects_root(folder: Path) -> tuple[Path, str]:
    """The folder of the projects and, where a project was named, its name."""
    path = folder.resolve()
    if not path.is_dir():
        raise NotAFolder(path=str(folder))
    is_project = any((path / file).is_file() for file in (SETTINGS, STATS_SETTINGS))
    return (path.parent, path.name) if is_project else (path, "")


def _first_page(root: Path, only: str) -> str:
    """The page to begin at: that of the project or STATS folder that was named, else the list."""
    kind = "p" if (root / only / SETTINGS).is_file() else "s"
    return f"/{kind}/{only}" if only else "/"


def _open_socket(asked: Listening) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # On Windows the word REUSE would let another program take the port as well, and its visitors with it.
    option = socket.SO_REUSEADDR if os.name == "posix" else socket.SO_EXCLUSIVEADDRUSE  # type: ignore[attr-defined]
    listener.setsockopt(socket.SOL_SOCKET, option, 1)
    try:
        listener.bind((asked.host, asked.port or 0))
        listener.listen()  # a browser that opens the address at once waits in line instead of being refused
    except OSError as fault:
        listener.close()
        if fault.errno in _PORT_FAULTS:
            raise PortTaken(port=str(asked.port or "")) from None
        raise HostUnusable(host=asked.host[:80]) from None
    return listener
