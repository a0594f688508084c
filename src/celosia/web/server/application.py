"""The application: our few routes, the pages, and the guard around them all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
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
from celosia.storage import remove_folder
from celosia.web import pages
from celosia.web.server import login
from celosia.web.server.guard import Access, Guard, bare_page
from celosia.web.server.server import Server
from celosia.web.server.sessions import LoginThrottle, Session, Sessions
from celosia.web.server.transfer import note_download, receive_upload, send_download
from celosia.web.server.websocket import bind_websocket
from celosia.web.ui.page import reader_language, report_fault, show_fault
from celosia.web.work.jobs import Jobs
from celosia.web.work.workers import FAILURES, Call, Pool
from celosia.workbench.operations.projects import list_projects, settle_projects

_STATIC = Path(__file__).parents[1] / "static"
_THEMES = ("auto", "light", "dark")


def build(root: Path, scratch: Path, sessions: Sessions, access: Access, upload_limit: int, only: str = "") -> ASGIApp:
    """The whole application, guard included."""
    pool = Pool()
    app.state.server = Server(root, scratch, sessions, pool, Jobs(pool), upload_limit, only, access.shared)
    app.state.access, app.state.throttle = access, LoginThrottle()
    messages.follow(reader_language)
    _silence_libraries()
    core.app.config.socket_io_js_transports = ["websocket"]  # one connection, whose origin is checked
    app.on_exception(report_fault)
    app.on_page_exception(show_fault)
    app.add_exception_handler(404, _not_found_response)
    pages.register()
    bind_websocket()
    routes = [*_ROUTES, *(_LOGIN_ROUTES if access.shared else ())]
    outer = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, lifespan=_lifespan, routes=routes)
    outer.mount("/assets", StaticFiles(directory=_STATIC))
    ui.run_with(
        outer,
        title="celosia",
        favicon=_STATIC / "celosia.svg",
        dark=None,
        tailwind=False,
        reconnect_timeout=10,
        gzip_middleware_factory=None,
        show_welcome_message=False,
    )
    return Guard(outer, sessions, access, app.state.server.note_refused_request)


def _silence_libraries() -> None:
    """Logs of libraries quote what they were given: none of them reaches the terminal."""
    for name in ("nicegui", "uvicorn", "uvicorn.error", "fastapi", "asyncio", "socketio", "engineio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [logging.NullHandler()], False


@contextlib.asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    server: Server = app.state.server
    warming = asyncio.create_task(_warm_up(server.pool, server.root))
    yield
    warming.cancel()
    server.pool.close()
    remove_folder(server.scratch)  # a signal may skip the process's last lines


async def _warm_up(pool: Pool, root: Path) -> None:
    """Start the workers; then note the signatures whose server was killed before it could."""
    await pool.prepare(Call.to(list_projects, root))
    with contextlib.suppress(*FAILURES):  # whoever opens the project sees the error
        await pool.ask(Call.to(settle_projects, root))


async def _upload(request: Request) -> Response:
    return await receive_upload(app.state.server, request)


async def _download(request: Request) -> Response:
    session, ticket = request.state.session, request.path_params["ticket"]
    response = send_download(session, ticket)
    if response.status_code == 200:
        background_tasks.create(note_download(app.state.server, session, ticket), name="download")
    return response


async def _not_found_response(request: Request, _: Exception) -> Response:
    """An address that leads nowhere, in the reader's language."""
    with messages.speaking(request.state.session.language):
        sentence = messages.text("web.refused.404")
    return HTMLResponse(bare_page(f'<p>{sentence}</p><p><a href="/">celosia</a></p>'), 404)


async def _preference(request: Request) -> Response:
    set_preferences(request.state.session, request.query_params)
    return RedirectResponse(local_path(request.query_params.get("back", "/")), 303)


def set_preferences(session: Session, asked: Mapping[str, str]) -> None:
    """Take a language or a theme that we know."""
    if asked.get("language") in messages.LANGUAGES:
        session.language = asked["language"]
    if asked.get("theme") in _THEMES:
        session.theme = asked["theme"]


def local_path(target: str) -> str:
    """A path of our own; `/` for whatever could lead elsewhere."""
    plain = target.startswith("/") and not target.startswith("//") and "\\" not in target and target.isprintable()
    return target if plain else "/"


async def _login(request: Request) -> Response:
    if request.method == "GET":
        return await login.show_login(app.state.server)
    return await login.login(app.state.server, app.state.throttle, request, app.state.access.cookie_text)


async def _password(request: Request) -> Response:
    session: Session = request.state.session
    if request.method == "GET":
        return await login.show_password(session)
    return await login.new_password(app.state.server, app.state.throttle, session, request)


async def _logout(request: Request) -> Response:
    return await login.logout(app.state.server, request.state.session, request)


_LOGIN_ROUTES: tuple[BaseRoute, ...] = (
    Route("/login", _login, methods=["GET", "POST"]),
    Route("/password", _password, methods=["GET", "POST"]),
    Route("/logout", _logout, methods=["POST"]),
)
_ROUTES: tuple[BaseRoute, ...] = (
    Route("/upload", _upload, methods=["PUT"]),
    Route("/download/{ticket}", _download),
    Route("/preference", _preference),
)
