"""A shared server with accounts, and a tab for each person who enters with a password."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.web.browser import WIDE, Heard
from tests.web.server import Served, stop

from celosia.pipeline import account_of, add_account, change_password, reset_password

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PASSWORD = "una contraseña bien larga"
_START = 120  # seconds


@dataclass(frozen=True)
class Office:
    """A shared server over a folder of projects."""

    served: Served

    @property
    def root(self) -> Path:
        return self.served.root

    @property
    def base(self) -> str:
        return self.served.base

    def said(self) -> str:
        """Everything that the server wrote to its terminal."""
        return self.served.errors.read_text("utf-8") + "".join(self.served.spoken)


def employ(root: Path, login: str, name: str, *roles: str) -> None:
    """An account whose password is known and need not be changed."""
    add_account(root, login, name, roles)
    assert change_password(root, login, reset_password(root, login), PASSWORD)
    assert not account_of(root, login).fresh


@contextmanager
def office_at(root: Path, port: int) -> Iterator[Office]:
    """Start `celosia serve --shared`, wait until it says where it is, and stop it."""
    errors = root.parent / f"{root.name}-stderr.txt"
    program = Path(sys.executable).with_name("celosia")
    command = [str(program), "serve", str(root), "--shared", "--no-browser", "--port", str(port)]
    environment = {**os.environ, "CELOSIA_LANG": "es", "PYTHONUNBUFFERED": "1"}
    with errors.open("w", encoding="utf-8") as sink:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sink, text=True, env=environment)
    served, there = Served(process, root, port, "", errors), threading.Event()

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            served.spoken.append(line)
            if "http" in line:
                there.set()
        there.set()

    threading.Thread(target=listen, daemon=True).start()
    try:
        assert there.wait(_START)
        assert process.poll() is None, errors.read_text("utf-8")
        yield Office(served)
    finally:
        stop(process)


@contextmanager
def entered(
    browser: Browser, office: Office, login: str, size: tuple[int, int] = WIDE, dark: bool = False
) -> Iterator[tuple[Page, Heard]]:
    """A tab of somebody who came in with their password."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme="dark" if dark else "light", locale="es-CL",
        reduced_motion="reduce", accept_downloads=True,
    )  # fmt: skip
    context.set_default_timeout(60_000)
    page = context.new_page()
    heard = Heard(office.served)
    heard.listen(page)
    try:
        page.goto(f"{office.base}/login")
        page.fill("input[name=login]", login)
        page.fill("input[name=password]", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_selector("main h1")
        yield page, heard
    finally:
        context.close()
