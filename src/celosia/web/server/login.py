"""Logging in and out where there are accounts: plain forms, no script, one sentence for every wrong password."""

from __future__ import annotations

import asyncio
import hmac
import html
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from celosia import messages
from celosia.errors import CelosiaError
from celosia.web.server.server import Server
from celosia.web.server.sessions import LIFE, LoginThrottle, Session
from celosia.workbench.accounts import Account, append_server_journal, change_password, password_fits, read_accounts

_MOST_WAITING = 8


class _PasswordThreads:
    """Passwords are compared by two threads of their own and few may wait: guessing slows nobody else down."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(2, "password")
        self._waiting = 0

    @property
    def is_full(self) -> bool:
        """Whether no further password may wait."""
        return self._waiting >= _MOST_WAITING

    async def fits(self, account: Account | None, password: str) -> bool:
        """Whether a password is the account's."""
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, password_fits, account, password)
        finally:
            self._waiting -= 1


_PASSWORDS = _PasswordThreads()


async def show_login(server: Server, wrong: str = "", status: int = 200) -> Response:
    """The form to log in."""
    language = server.sessions.language
    alert = f'<p role="alert" class="c-note c-bad">{_text(language, wrong)}</p>' if wrong else ""
    login = _field_html(language, "login", "text", "username")
    password = _field_html(language, "password", "password", "current-password")
    return _page(language, "door.title", "/login", alert + login + password, "door.enter", status)


async def login(server: Server, throttle: LoginThrottle, request: Request, cookie: str) -> Response:
    """Take a login and a password."""
    form = await _read_form(request)
    name, address = form.get("login", "").strip().lower()[:64], request.client.host if request.client else ""
    account = next((account for account in read_accounts(server.root) if account.login == name), None)
    known, mark = account.login if account else "", f"login {name}"  # other kinds of password have other marks
    if throttle.is_blocked(mark, address) or _PASSWORDS.is_full:
        if throttle.is_to_be_noted(known, address):
            await _append_journal(server, "login-shut", known, address)
        return await show_login(server, "door.shut", 429)
    throttle.count_wrong(mark, address)  # before it is compared: many at once are many
    if not await _PASSWORDS.fits(account, form.get("password", "")):
        await _append_journal(server, "login-refused", known, address)
        return await show_login(server, "door.wrong", 403)
    assert account is not None
    throttle.forget_wrong(mark, address)
    session = server.sessions.open(account.login, account.name, account.roles, account.fresh)
    await _append_journal(server, "login", account.login, address)
    response = RedirectResponse("/password" if session.fresh else "/", 303)
    response.headers["set-cookie"] = cookie.format(id=session.id, life=LIFE)
    return response


async def show_password(session: Session, wrong: str = "", status: int = 200) -> Response:
    """The form to change one's password."""
    language = session.language
    alert = f'<p role="alert" class="c-note c-bad">{html.escape(wrong)}</p>' if wrong else ""
    first = f"<p>{_text(language, 'door.first')}</p>" if session.fresh else ""
    fields = (
        f'<input class="c-hidden" type="text" autocomplete="username" value="{html.escape(session.login)}" readonly'
        f' tabindex="-1" aria-hidden="true">'
        + _field_html(language, "old", "password", "current-password")
        + _field_html(language, "new", "password", "new-password")
        + _field_html(language, "again", "password", "new-password")
        + f'<input type="hidden" name="csrf" value="{html.escape(session.csrf)}">'
    )
    return _page(language, "door.change", "/password", alert + first + fields, "door.change", status)


async def new_password(server: Server, throttle: LoginThrottle, session: Session, request: Request) -> Response:
    """Change one's password; every other session of the account ends, and this one after too many wrong passwords."""
    form, mark = await _read_form(request), f"password of {session.login}"
    if not _has_own_csrf(session, form):
        server.note_refused_request(session.login, "csrf")
        return Response(status_code=403)
    if throttle.is_blocked(mark, "") or _PASSWORDS.is_full:
        server.sessions.close(session)
        return RedirectResponse("/login", 303)
    if form.get("new", "") != form.get("again", ""):
        return await show_password(session, messages.section(session.language, "web")["door.differ"], 400)
    throttle.count_wrong(mark, "")
    try:
        changed = await asyncio.to_thread(
            change_password, server.root, session.login, form.get("old", ""), form.get("new", "")
        )
    except CelosiaError as error:
        throttle.forget_wrong(mark, "")  # the old password was right: the new one is not accepted
        with messages.speaking(session.language):
            return await show_password(session, str(error), 400)
    if not changed:
        return await show_password(session, messages.section(session.language, "web")["door.wrong"], 403)
    session.fresh = False
    throttle.forget_wrong(mark, "")
    session.account_state = server.sessions.account_state(session.login)
    server.sessions.close_all(session.login, but=session)
    return RedirectResponse("/", 303)


async def logout(server: Server, session: Session, request: Request) -> Response:
    """End the session."""
    if not _has_own_csrf(session, await _read_form(request)):
        server.note_refused_request(session.login, "csrf")
        return Response(status_code=403)
    server.sessions.close(session)
    await _append_journal(server, "logout", session.login, "")
    return RedirectResponse("/login", 303)


def _has_own_csrf(session: Session, form: Mapping[str, str]) -> bool:
    return hmac.compare_digest(form.get("csrf", "").encode(), session.csrf.encode())


async def _read_form(request: Request) -> dict[str, str]:
    body = await request.body()  # the guard limits its length
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}


async def _append_journal(server: Server, what: str, login: str, address: str) -> None:
    """A line in the server's journal; a login that is nobody's is not written: it may be a password."""
    facts = {"account": login, **({"address": address} if address else {})}
    who = login if what in ("login", "logout") else "–"  # whoever failed to log in is nobody
    await asyncio.to_thread(append_server_journal, server.root, what, who, facts)


def _text(language: str, key: str) -> str:
    return html.escape(messages.section(language, "web")[key])


def _field_html(language: str, name: str, kind: str, autocomplete: str) -> str:
    return (
        f'<div class="c-field"><label for="{name}">{_text(language, f"door.{name}")}</label>'
        f'<input class="c-input" id="{name}" name="{name}" type="{kind}" autocomplete="{autocomplete}" required></div>'
    )


def _page(language: str, title: str, action: str, body: str, button: str, status: int) -> Response:
    html_page = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/assets/celosia.css"><link rel="icon" href="/assets/celosia.svg">'
        f'<title>{_text(language, title)} · celosia</title></head><body><main class="c-main c-narrow">'
        f'<h1>{_text(language, title)}</h1><form class="c-card" method="post" action="{action}">{body}'
        f'<button class="c-button c-primary" type="submit">{_text(language, button)}</button></form>'
        "</main></body></html>"
    )
    return HTMLResponse(html_page, status)
