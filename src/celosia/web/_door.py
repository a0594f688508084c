"""Coming in and going out where there are accounts: plain forms, no script, one sentence for every wrong guess."""

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
from celosia.pipeline import Account, change_password, office_note, password_fits, read_accounts
from celosia.web._office import Office
from celosia.web._sessions import LIFE, Guesses, Session


class _Hashing:
    """Passwords are looked at by two threads of their own and few may wait: guessing slows nobody else down."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(2, "password")
        self._waiting = 0

    @property
    def room(self) -> bool:
        """Whether one more may wait."""
        return self._waiting < _WAITING

    async def fits(self, account: Account | None, password: str) -> bool:
        """Whether a password is the account's."""
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, password_fits, account, password)
        finally:
            self._waiting -= 1


_WAITING = 8
_FREE = _Hashing()


def words(language: str, key: str, **fields: object) -> str:
    """A sentence of the catalogue in a language, safe inside a page."""
    return html.escape(messages.section(language, "web")[key].format(**fields))


async def show_login(office: Office, wrong: str = "", status: int = 200) -> Response:
    """The form to come in."""
    language = office.sessions.language
    told = f'<p role="alert" class="c-note c-bad">{words(language, wrong)}</p>' if wrong else ""
    fields = _field(language, "login", "text", "username") + _field(
        language, "password", "password", "current-password"
    )
    return _page(language, "door.title", "/login", told + fields, "door.enter", status)


async def login(office: Office, guesses: Guesses, request: Request, cookie: str) -> Response:
    """Take a login and a password."""
    given = await _form(request)
    name, address = given.get("login", "").strip().lower()[:64], request.client.host if request.client else ""
    account = next((one for one in read_accounts(office.root) if one.login == name), None)
    known, mark = account.login if account else "", f"login {name}"  # no name is that of another kind of guess
    if guesses.shut(mark, address) or not _FREE.room:
        if guesses.news(known, address):  # whoever goes on knocking does not fill the journal
            await _noted(office, "login-shut", known, address)
        return await show_login(office, "door.shut", 429)
    guesses.wrong(mark, address)  # counted before it is looked at: many at once are many
    if not await _FREE.fits(account, given.get("password", "")):
        await _noted(office, "login-refused", known, address)
        return await show_login(office, "door.wrong", 403)
    assert account is not None
    guesses.right(mark, address)
    session = office.sessions.open(account.login, account.name, account.roles, account.fresh)
    await _noted(office, "login", account.login, address)
    return _entered(session, cookie, "/password" if session.fresh else "/")


async def show_password(session: Session, wrong: str = "", status: int = 200) -> Response:
    """The form to change one's password."""
    language = session.language
    told = f'<p role="alert" class="c-note c-bad">{html.escape(wrong)}</p>' if wrong else ""
    first = f"<p>{words(language, 'door.first')}</p>" if session.fresh else ""
    fields = (
        f'<input class="c-hidden" type="text" autocomplete="username" value="{html.escape(session.login)}" readonly'
        f' tabindex="-1" aria-hidden="true">'
        + _field(language, "old", "password", "current-password")
        + _field(language, "new", "password", "new-password")
        + _field(language, "again", "password", "new-password")
        + f'<input type="hidden" name="csrf" value="{html.escape(session.csrf)}">'
    )
    return _page(language, "door.change", "/password", told + first + fields, "door.change", status)


async def new_password(office: Office, guesses: Guesses, session: Session, request: Request) -> Response:
    """Change one's password; every other session of the account ends, and this one after too many wrong guesses."""
    given = await _form(request)
    if not _own(session, given):
        office.note_breach(session.login, "csrf")
        return Response(status_code=403)
    if guesses.shut(f"password of {session.login}", "") or not _FREE.room:
        office.sessions.close(session)
        return RedirectResponse("/login", 303)
    if given.get("new", "") != given.get("again", ""):
        return await show_password(session, messages.section(session.language, "web")["door.differ"], 400)
    guesses.wrong(f"password of {session.login}", "")
    try:
        done = await asyncio.to_thread(
            change_password, office.root, session.login, given.get("old", ""), given.get("new", "")
        )
    except CelosiaError as error:
        guesses.right(f"password of {session.login}", "")  # the old one was it: the new one is not fit
        with messages.speaking(session.language):
            return await show_password(session, str(error), 400)
    if not done:
        return await show_password(session, messages.section(session.language, "web")["door.wrong"], 403)
    session.fresh = False
    guesses.right(f"password of {session.login}", "")
    session.standing = office.sessions.standing(session.login)
    office.sessions.close_all(session.login, but=session)
    return RedirectResponse("/", 303)


async def logout(office: Office, session: Session, request: Request) -> Response:
    """End the session."""
    if not _own(session, await _form(request)):
        office.note_breach(session.login, "csrf")
        return Response(status_code=403)
    office.sessions.close(session)
    await _noted(office, "logout", session.login, "")
    return RedirectResponse("/login", 303)


def _own(session: Session, given: Mapping[str, str]) -> bool:
    return hmac.compare_digest(given.get("csrf", "").encode(), session.csrf.encode())


def _entered(session: Session, cookie: str, target: str) -> Response:
    made = RedirectResponse(target, 303)
    made.headers["set-cookie"] = cookie.format(id=session.id, life=LIFE)
    return made


async def _form(request: Request) -> dict[str, str]:
    body = await request.body()  # bounded by the guard
    return {key: found[0] for key, found in parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True).items()}


async def _noted(office: Office, what: str, login: str, address: str) -> None:
    """A line in the office's journal; a login that is nobody's is not written down: it may be a password."""
    facts = {"account": login, **({"address": address} if address else {})}
    who = login if what in ("login", "logout") else "–"  # whoever failed to come in is nobody
    await asyncio.to_thread(office_note, office.root, what, who, facts)


def _field(language: str, name: str, kind: str, autocomplete: str) -> str:
    return (
        f'<div class="c-field"><label for="{name}">{words(language, f"door.{name}")}</label>'
        f'<input class="c-input" id="{name}" name="{name}" type="{kind}" autocomplete="{autocomplete}" required></div>'
    )


def _page(language: str, title: str, action: str, body: str, button: str, status: int) -> Response:
    page = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/assets/celosia.css"><link rel="icon" href="/assets/celosia.svg">'
        f'<title>{words(language, title)} · celosia</title></head><body><main class="c-main c-narrow">'
        f'<h1>{words(language, title)}</h1><form class="c-card" method="post" action="{action}">{body}'
        f'<button class="c-button c-primary" type="submit">{words(language, button)}</button></form>'
        "</main></body></html>"
    )
    return HTMLResponse(page, status)
