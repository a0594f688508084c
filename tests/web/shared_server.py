"""A shared server with accounts, and a tab for each person who enters with a password."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from celosia.workbench.accounts import account_of, add_account, change_password, reset_password
from tests.web.browser import WIDE, Heard
from tests.web.serving import RunningServer, stop

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PASSWORD = "una contraseña bien larga"
_START = 120  # seconds
_CSRF = re.compile(r'name="csrf" value="([\w-]{20,})"')
_SHORT = "import sys, celosia.web.server.sessions as s; s.IDLE = {idle}; from celosia.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class SharedServer:
    """A shared server over a folder of projects."""

    running: RunningServer

    @property
    def root(self) -> Path:
        return self.running.root

    @property
    def base(self) -> str:
        return self.running.base

    def terminal_output(self) -> str:
        """Everything that the server wrote to its terminal."""
        return self.running.errors.read_text("utf-8") + "".join(self.running.spoken)


def employ(root: Path, login: str, name: str, *roles: str) -> None:
    """An account whose password is known and need not be changed."""
    add_account(root, login, name, roles)
    assert change_password(root, login, reset_password(root, login), PASSWORD)
    assert not account_of(root, login).fresh


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def shared_server_at(root: Path, port: int = 0, idle: int = 0) -> Iterator[SharedServer]:
    """Start `celosia serve --shared`, wait until it says where it is, and stop it.

    With `idle`, a session ends after so many seconds without a sign of life.
    """
    errors, port = root.parent / f"{root.name}-stderr.txt", port or free_port()
    program = [str(Path(sys.executable).with_name("celosia"))]
    if idle:
        program = [sys.executable, "-c", _SHORT.format(idle=idle)]
    command = [*program, "serve", str(root), "--shared", "--no-browser", "--port", str(port)]
    environment = {**os.environ, "CELOSIA_LANG": "es", "PYTHONUNBUFFERED": "1"}
    with errors.open("w", encoding="utf-8") as sink:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sink, text=True, env=environment)
    running, there = RunningServer(process, root, port, "", errors), threading.Event()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            running.spoken.append(line)
            if "http" in line:
                there.set()
        there.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        assert there.wait(_START)
        assert process.poll() is None, errors.read_text("utf-8")
        yield SharedServer(running)
    finally:
        stop(process)


@contextmanager
def logged_in_tab(
    browser: Browser, shared: SharedServer, login: str, size: tuple[int, int] = WIDE, dark: bool = False
) -> Iterator[tuple[Page, Heard]]:
    """A tab of somebody who came in with their password."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        locale="es-CL",
        reduced_motion="reduce",
        accept_downloads=True,
    )
    context.set_default_timeout(60_000)
    page = context.new_page()
    heard = Heard(shared.running)
    heard.listen(page)
    try:
        page.goto(f"{shared.base}/login")
        page.fill("input[name=login]", login)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_selector("main h1")
        yield page, heard
    finally:
        context.close()


@dataclass(frozen=True)
class Inside:
    """Somebody who came in without a browser."""

    client: httpx.Client
    cookie: str  # as a request brings it
    csrf: str


def let_in(shared: SharedServer, login: str) -> Inside:
    """Come in by the real form; whoever calls closes the client."""
    given = {"login": login, "password": PASSWORD}
    with httpx.Client(base_url=shared.base, headers={"origin": shared.base}, timeout=120) as door:
        answer = door.post("/login", data=given)
    assert answer.status_code == 303, answer.text
    cookie = answer.headers["set-cookie"].split(";")[0]
    client = httpx.Client(base_url=shared.base, headers={"origin": shared.base, "cookie": cookie}, timeout=120)
    match = _CSRF.search(client.get("/password").text)
    assert match is not None
    return Inside(client, cookie, match.group(1))
