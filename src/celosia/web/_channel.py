"""The page's channel, bound to its session: what comes over a socket counts only for pages of whoever opened it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core
from socketio.exceptions import ConnectionRefusedError as Refused

from celosia.web._sessions import Session

_TOLD = ("event", "javascript_response", "ack", "log", "handshake")


def bind_channel() -> None:
    """Put the question of whose page it is before every handler of the channel."""
    handlers = core.sio.handlers["/"]
    for name in _TOLD:
        if name in handlers:
            handlers[name] = _asked(handlers[name])
    handlers["connect"] = _connected(handlers["connect"])


def _asked(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def bound(sid: str, message: Any) -> Any:
        told = message if isinstance(message, Mapping) else {}
        if not _own_page(str(told.get("client_id", "")), core.sio.get_environ(sid) or {}):
            return False
        answer = handler(sid, message)
        return await answer if inspect.isawaitable(answer) else answer

    return bound


def _connected(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def bound(sid: str, environ: dict[str, Any], auth: Any = None) -> Any:
        asked = parse_qs(environ.get("QUERY_STRING", ""))
        if not _own_page(asked.get("client_id", [""])[0], environ):
            raise Refused("session")
        answer = handler(sid, environ, auth)
        return await answer if inspect.isawaitable(answer) else answer

    return bound


def _own_page(client_id: str, environ: Mapping[str, Any]) -> bool:
    """Whether a page belongs to the session with which the socket was opened; that it ended, the page itself says."""
    client = Client.instances.get(client_id)
    if client is None:
        return True  # nobody's page: there is nothing to tell it
    opened = _session_of(environ.get("asgi.scope", {}).get("state", {}))
    return opened is not None and getattr(client.request.state, "session", None) is opened


def _session_of(state: Mapping[str, Any]) -> Session | None:
    found = state.get("session")
    return found if isinstance(found, Session) else None
