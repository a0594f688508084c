"""The application: our few routes, the pages, and the guard around them all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from fastapi import FastAPI
from nicegui import app, background_tasks, core, ui
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from celosia import messages
from celosia.errors import CelosiaError
from celosia.web import _door, pages
from celosia.web._channel import bind_channel
from celosia.web._frame import broken, language_here, unexpected
from celosia.web._guard import Gate, Guard, bare_page
from celosia.web._jobs import Jobs
from celosia.web._office import Office
from celosia.web._sessions import Guesses, Session, Sessions
from celosia.web._transfer import note_download, receive_upload, send_download
from celosia.web._workers import Call, Failed, Pool

_STATIC = Path(__file__).parent / "static"
_THEMES = ("auto", "light", "dark")


def build(root: Path, corner: Path, sessions: Sessions, gate: Gate, upload_limit: int, only: str = "") -> ASGIApp:
    """The whole application, guard included."""
    pool = Pool()
    app.state.office = Office(root, corner, sessions, pool, Jobs(pool), upload_limit, only, gate.shared)
    app.state.gate, app.state.guesses = gate, Guesses()
    messages.follow(language_here)
    _silence()
    core.app.config.socket_io_js_transports = ["websocket"]  # the channel is one connection with one origin
    app.on_exception(unexpected)
    app.on_page_exception(broken)
    app.add_exception_handler(404, _missing)
    pages.register()
    bind_channel()
    outer = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=_life,
        routes=[*_ROUTES, *(_DOOR if gate.shared else ())],
    )
    outer.mount("/assets", StaticFiles(directory=_STATIC))
    ui.run_with(
        outer, title="celosia", favicon=_STATIC / "celosia.svg", dark=None, tailwind=False, reconnect_timeout=10,
        gzip_middleware_factory=None, show_welcome_message=False,
    )  # fmt: skip
    return Guard(outer, sessions, gate, app.state.office.note_breach)


def _silence() -> None:
    """Libraries' logs quote what they were given: nothing of theirs reaches the terminal."""
    for name in ("nicegui", "uvicorn", "uvicorn.error", "fastapi", "asyncio", "socketio", "engineio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False


@contextlib.asynccontextmanager
async def _life(_: FastAPI) -> AsyncIterator[None]:
    pool, root = app.state.office.pool, app.state.office.root
    warming = asyncio.create_task(_warm(pool, root))
    yield
    warming.cancel()
    pool.close()
    shutil.rmtree(app.state.office.corner, ignore_errors=True)  # a signal may skip the process's last lines


async def _warm(pool: Pool, root: Path) -> None:
    """Start the readers; then note the signatures whose server was killed before it could."""
    await pool.prepare(Call("list_projects", (root,)))
    with contextlib.suppress(Failed, CelosiaError):  # whoever opens the project is told
        await pool.ask(Call("settle_projects", (root,)))


async def _upload(request: Request) -> Response:
    return await receive_upload(app.state.office, request)


async def _download(request: Request) -> Response:
    session, ticket = request.state.session, request.path_params["ticket"]
    answer = send_download(session, ticket)
    if answer.status_code == 200:
        background_tasks.create(note_download(app.state.office, session, ticket), name="download")
    return answer


async def _missing(request: Request, _: Exception) -> Response:
    """An address where nothing is: said in the reader's language, without the words of a program."""
    with messages.speaking(request.state.session.language):
        words = messages.text("web.refused.404")
    return HTMLResponse(bare_page(f'<p>{words}</p><p><a href="/">celosia</a></p>'), 404)


async def _preference(request: Request) -> Response:
    prefer(request.state.session, request.query_params)
    return RedirectResponse(local(request.query_params.get("back", "/")), 303)


def prefer(session: Session, asked: Mapping[str, str]) -> None:
    """Take a language or a theme that we know."""
    if asked.get("language") in messages.LANGUAGES:
        session.language = asked["language"]
    if asked.get("theme") in _THEMES:
        session.theme = asked["theme"]


def local(target: str) -> str:
    """A path of our own; whatever could lead elsewhere leads home."""
    plain = target.startswith("/") and not target.startswith("//") and "\\" not in target and target.isprintable()
    return target if plain else "/"


async def _login(request: Request) -> Response:
    if request.method == "GET":
        return await _door.show_login(app.state.office)
    return await _door.login(app.state.office, app.state.guesses, request, app.state.gate.cookie_text)


async def _password(request: Request) -> Response:
    session: Session = request.state.session
    if request.method == "GET":
        return await _door.show_password(session)
    return await _door.new_password(app.state.office, app.state.guesses, session, request)


async def _logout(request: Request) -> Response:
    return await _door.logout(app.state.office, request.state.session, request)


_DOOR: tuple[BaseRoute, ...] = (
    Route("/login", _login, methods=["GET", "POST"]),
    Route("/password", _password, methods=["GET", "POST"]),
    Route("/logout", _logout, methods=["POST"]),
)
_ROUTES: tuple[BaseRoute, ...] = (
    Route("/upload", _upload, methods=["PUT"]),
    Route("/download/{ticket}", _download),
    Route("/preference", _preference),
)
