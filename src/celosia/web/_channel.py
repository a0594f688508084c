"""The page's channel, bound to its session: what comes over a socket counts only for pages of whoever opened it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core
from socketio.exceptions import ConnectionRefusedError as Refused

from celosia.web._sessions import Session, Sessions

_TOLD = ("event", "javascript_response", "ack", "log", "handshake")


def bind_channel(sessions: Sessions) -> None:
    """Put the question of whose page it is before every handler of the channel."""
    handlers = core.sio.handlers["/"]
    for name in _TOLD:
        if name in handlers:
            handlers[name] = _asked(handlers[name], sessions)
    handlers["connect"] = _connected(handlers["connect"], sessions)


def _asked(handler: Callable[..., Any], sessions: Sessions) -> Callable[..., Any]:
    async def bound(sid: str, message: Any) -> Any:
        told = message if isinstance(message, Mapping) else {}
        if not _own_page(str(told.get("client_id", "")), core.sio.get_environ(sid) or {}, sessions):
            return False
        answer = handler(sid, message)
        return await answer if inspect.isawaitable(answer) else answer

    return bound


def _connected(handler: Callable[..., Any], sessions: Sessions) -> Callable[..., Any]:
    async def bound(sid: str, environ: dict[str, Any], auth: Any = None) -> Any:
        asked = parse_qs(environ.get("QUERY_STRING", ""))
        if not _own_page(asked.get("client_id", [""])[0], environ, sessions):
            raise Refused("session")
        answer = handler(sid, environ, auth)
        return await answer if inspect.isawaitable(answer) else answer

    return bound


def _own_page(client_id: str, environ: Mapping[str, Any], sessions: Sessions) -> bool:
    """Whether a page belongs to the session with which the socket was opened, while that lasts."""
    client = Client.instances.get(client_id)
    if client is None:
        return True  # nobody's page: there is nothing to tell it
    opened = _session_of(environ.get("asgi.scope", {}).get("state", {}))
    if opened is None or not sessions.lasts(opened):
        return False
    return getattr(client.request.state, "session", None) is opened


def _session_of(state: Mapping[str, Any]) -> Session | None:
    found = state.get("session")
    return found if isinstance(found, Session) else None
