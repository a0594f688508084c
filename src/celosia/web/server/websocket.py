"""The page's websocket, bound to its session: a message counts only for pages of the session that opened the socket."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core
from socketio.exceptions import ConnectionRefusedError

from celosia.web.server.sessions import Session

_MESSAGES = ("event", "javascript_response", "ack", "log", "handshake")


def bind_websocket() -> None:
    """Check whose page it is before every handler of the websocket."""
    handlers = core.sio.handlers["/"]
    for name in _MESSAGES:
        if name in handlers:
            handlers[name] = _guard_message(handlers[name])
    handlers["connect"] = _guard_connection(handlers["connect"])


def _guard_message(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def handle(sid: str, message: Any) -> Any:
        fields = message if isinstance(message, Mapping) else {}
        if not _is_own_page(str(fields.get("client_id", "")), core.sio.get_environ(sid) or {}):
            return False
        answer = handler(sid, message)
        return await answer if inspect.isawaitable(answer) else answer

    return handle


def _guard_connection(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def handle(sid: str, environ: dict[str, Any], auth: Any = None) -> Any:
        query = parse_qs(environ.get("QUERY_STRING", ""))
        if not _is_own_page(query.get("client_id", [""])[0], environ):
            raise ConnectionRefusedError("session")
        answer = handler(sid, environ, auth)
        return await answer if inspect.isawaitable(answer) else answer

    return handle


def _is_own_page(client_id: str, environ: Mapping[str, Any]) -> bool:
    """Whether a page belongs to the session with which the socket was opened; the page itself says that it ended."""
    client = Client.instances.get(client_id)
    if client is None:
        return True  # nobody's page: no handler will find it
    session = environ.get("asgi.scope", {}).get("state", {}).get("session")
    return isinstance(session, Session) and getattr(client.request.state, "session", None) is session
