"""The guard of the page: every request passes here before anything else sees it.

Our own host names only, a session for everything but the log-in, our own origin for whatever changes something or
opens a websocket, a secret header beside the cookie, limited bodies, and headers with which the page loads nothing
from elsewhere and nobody frames it. A script runs only with the nonce of its page.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote

from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from celosia import messages
from celosia.web.server.sessions import LIFE, Session, Sessions

ENTER = "/enter"
CSRF = "x-celosia-csrf"
BODY_LIMIT = 1_000_000  # bytes of a request that is not an upload
_UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
_UPLOADS = ("/upload",)  # they count their own bytes
_FORMS = ("/login", "/password", "/logout")  # plain forms cannot send a header: they carry the secret in a field
_PUBLIC = ("/login", "/assets/celosia.css", "/assets/celosia.svg")  # what somebody without a session may see
_WEBSOCKET = "/_nicegui_ws"
_ASSETS = ("/_nicegui/", "/assets/")
_STRICT_TRANSPORT = (b"strict-transport-security", b"max-age=31536000")
_LOCAL = "localhost"  # other programs of the reader's machine share this name: nothing is promised for it
_SCRIPT = re.compile(rb"<script(?=[\s>])")
_ALWAYS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # without any, a form would not send its origin
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@dataclass(frozen=True, slots=True)
class Access:
    """How the page is reached: under which names, by whom, with which cookie."""

    names: tuple[str, ...]
    port: int
    shared: bool = False  # accounts, instead of the token of the person at the machine
    tls: bool = False
    home: str = "/"

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts that a request may name; browsers leave out the default port."""
        usual = self.names if self.port == (443 if self.tls else 80) else ()
        return frozenset((*(f"{name}:{self.port}" for name in self.names), *usual))

    @property
    def scheme(self) -> str:
        """http or https."""
        return "https" if self.tls else "http"

    @property
    def cookie(self) -> str:
        """The cookie's name: cookies do not tell ports apart."""
        return f"__Host-celosia_{self.port}" if self.tls else f"celosia_{self.port}"

    @property
    def cookie_text(self) -> str:
        """The cookie, with fields for the session's id and life."""
        return (
            self.cookie + "={id}; Path=/; HttpOnly; SameSite=Strict; Max-Age={life}" + ("; Secure" if self.tls else "")
        )


def _add_strict_transport(send: Send) -> Send:
    """Ask a browser that came over TLS to use nothing else for a year."""

    async def send_strict(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], _STRICT_TRANSPORT]}
        await send(message)

    return send_strict


class Guard:
    """The ASGI middleware around the whole page."""

    def __init__(
        self, app: ASGIApp, sessions: Sessions, access: Access, note_refused: Callable[[str, str], None] | None = None
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._access = access
        self._note_refused = note_refused  # called with the account and the kind of each breach

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        session = self._sessions.of(_read_cookie(headers, self._access.cookie))
        refused = self._refusal_status(scope, headers, session)
        breach = self._breach_kind(refused, scope, headers)
        if breach and self._note_refused is not None:
            self._note_refused(session.login if session is not None else "", breach)
        scope.setdefault("state", {})["session"] = session
        if scope["type"] == "websocket":
            await (send({"type": "websocket.close", "code": 1008}) if refused else self._app(scope, receive, send))
            return
        host = headers.get("host", "")
        if self._access.tls and host in self._access.hosts and host.partition(":")[0] != _LOCAL:
            send = _add_strict_transport(send)
        if refused == 401 and scope["method"] == "GET":
            await self._answer_stranger(scope, send, host)
        elif refused:
            await _send_refusal(send, refused, host)
        elif scope["path"] == ENTER and session is not None and not self._access.shared:
            await _redirect(send, self._access.home)  # the address was opened again in a browser with a session
        elif session is not None and session.fresh and not scope["path"].startswith((*_FORMS, *_PUBLIC)):
            await _redirect(send, "/password")
        else:
            await self._app(scope, _limit_body(scope, receive), _SecuredResponse(send, scope, host))

    def _refusal_status(self, scope: Scope, headers: Mapping[str, str], session: Session | None) -> int:
        """0, or the status with which a request is refused."""
        host = headers.get("host", "")
        if host not in self._access.hosts:
            return 421
        changes = scope["type"] == "websocket" or scope["method"] in _UNSAFE
        if not _is_from_own_page(headers, f"{self._access.scheme}://{host}", needed=changes):
            return 403
        if session is not None and session.fresh and scope["type"] == "websocket":
            return 403
        if session is None:
            return 0 if self._access.shared and scope["type"] == "http" and scope["path"] in _PUBLIC else 401
        if scope["type"] == "http" and scope["path"].startswith(_WEBSOCKET):
            return 403  # only as a websocket, whose origin is checked
        if scope["type"] == "http" and changes:
            return self._body_refusal(scope, headers, session)
        return 0

    def _breach_kind(self, refused: int, scope: Scope, headers: Mapping[str, str]) -> str:
        """The part of a refused request that no page of ours sends: a foreign host, origin or secret; or nothing."""
        if refused == 421:
            return "host"
        if refused != 403:
            return ""
        changes = scope["type"] == "websocket" or scope["method"] in _UNSAFE
        if not _is_from_own_page(headers, f"{self._access.scheme}://{headers.get('host', '')}", needed=changes):
            return "origin"
        return "csrf" if scope["type"] == "http" and changes else ""

    def _body_refusal(self, scope: Scope, headers: Mapping[str, str], session: Session) -> int:
        given = headers.get(CSRF, "").encode()
        if scope["path"] not in _FORMS and not hmac.compare_digest(given, session.csrf.encode()):
            return 403
        return 413 if not scope["path"].startswith(_UPLOADS) and _declared_length(headers) > BODY_LIMIT else 0

    async def _answer_stranger(self, scope: Scope, send: Send, host: str) -> None:
        """Answer a request without a session: the log-in where there are accounts, else the token is needed."""
        if self._access.shared:
            await _redirect(send, "/login")
            return
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        session = self._sessions.enter(token) if scope["path"] == ENTER else None
        if session is not None:
            await _redirect(send, self._access.home, self._access.cookie_text.format(id=session.id, life=LIFE))
        else:
            status = 403 if scope["path"] == ENTER else 401
            await _send_refusal(send, status, host)


async def _redirect(send: Send, target: str, cookie: str = "") -> None:
    headers = {
        **_ALWAYS,
        "location": quote(target),
        "cache-control": "no-store",
        "content-security-policy": content_policy("", "none"),
    }
    if cookie:
        headers["set-cookie"] = cookie
    await send({"type": "http.response.start", "status": 303, "headers": _raw_headers(headers.items())})
    await send({"type": "http.response.body", "body": b""})


def _is_from_own_page(headers: Mapping[str, str], ours: str, needed: bool) -> bool:
    """Whether a request comes from our own page; one that changes something must declare its origin."""
    origin = headers.get("origin")
    if origin is None:
        return not needed
    return origin == ours and headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")


def _limit_body(scope: Scope, receive: Receive) -> Receive:
    """The body of a request, cut off at the limit."""
    if scope["path"].startswith(_UPLOADS):
        return receive
    left = BODY_LIMIT

    async def receive_limited() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return {"type": "http.disconnect"} if left < 0 else message

    return receive_limited


class _SecuredResponse:
    """Adds the security headers to a response, and its nonce to every script of a page."""

    def __init__(self, send: Send, scope: Scope, host: str) -> None:
        self._send = send
        self._asset = scope["path"].startswith(_ASSETS)
        self._host = host
        self._nonce = secrets.token_urlsafe(16)
        self._start: MutableMapping[str, Any] | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        """Pass a part of the response on; a page is sent when it is whole."""
        if message["type"] == "http.response.start":
            headers = {key.lower(): value for key, value in message["headers"]}
            if headers.get(b"content-type", b"").startswith(b"text/html"):
                self._start = message
                return
            await self._send({**message, "headers": self._secured_headers(message["headers"])})
        elif self._start is not None and message["type"] == "http.response.body":
            self._body += message.get("body", b"")
            if not message.get("more_body"):
                await self._send_page()
        else:
            await self._send(message)

    async def _send_page(self) -> None:
        assert self._start is not None
        body = _SCRIPT.sub(f'<script nonce="{self._nonce}"'.encode(), bytes(self._body))
        headers = [pair for pair in self._start["headers"] if pair[0].lower() != b"content-length"]
        headers.append((b"content-length", str(len(body)).encode()))
        await self._send({**self._start, "headers": self._secured_headers(headers)})
        await self._send({"type": "http.response.body", "body": body})

    def _secured_headers(self, given: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        more = {**_ALWAYS, "content-security-policy": content_policy(self._host, self._nonce)}
        if not self._asset:
            more["cache-control"] = "no-store"
        return [pair for pair in given if pair[0].lower().decode() not in more] + _raw_headers(more.items())


def content_policy(host: str, nonce: str) -> str:
    """What a page may load: our own files, our own websocket, scripts that bear the nonce.

    The page's framework turns short expressions of ours into functions, hence `unsafe-eval`: it lets a script that
    runs already make code from text, it lets no script in.
    """
    parts = (
        "default-src 'none'",
        f"script-src 'self' 'nonce-{nonce}' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        f"connect-src 'self' ws://{host} wss://{host}",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
    return "; ".join(parts)


def bare_page(body: str) -> str:
    """A page that loads nothing; the body is markup of ours."""
    return (
        '<!doctype html><html lang="es"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>celosia</title>'
        '<body style="font-family:sans-serif;margin:3rem auto;max-width:40rem;padding:0 1rem"><main>'
        f"<h1>celosia</h1>{body}</main></body></html>"
    )


async def _send_refusal(send: Send, status: int, host: str) -> None:
    """A refusal in both languages: whoever has no session has not chosen one."""
    headers = {
        **_ALWAYS,
        "content-security-policy": content_policy(host, "none"),
        "content-type": "text/html; charset=utf-8",
        "cache-control": "no-store",
    }
    await send({"type": "http.response.start", "status": status, "headers": _raw_headers(headers.items())})
    body = "".join(f"<p>{messages.section(code, 'web')[f'refused.{status}']}</p>" for code in messages.LANGUAGES)
    await send({"type": "http.response.body", "body": bare_page(body).encode()})


def _headers(scope: Scope) -> dict[str, str]:
    headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
    return {**headers, "host": headers.get("host", "").lower()}


def _read_cookie(headers: Mapping[str, str], name: str) -> str:
    # Not the standard library's reader: one odd cookie of another program on this machine makes it drop all of them.
    return cookie_parser(headers.get("cookie", "")).get(name, "")


def _declared_length(headers: Mapping[str, str]) -> int:
    given = headers.get("content-length", "0")
    return int(given) if given.isdigit() else BODY_LIMIT + 1


def _raw_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(key.encode("latin-1"), value.encode("latin-1")) for key, value in headers]
