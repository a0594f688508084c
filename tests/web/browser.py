"""One real Chromium, tabs that are let in, and an ear for everything a tab does that it should not."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Page, Request

    from tests.web.serving import RunningServer

WIDE, NARROW = (1280, 800), (390, 844)
_AT_HOME = ("data", "blob", "about", "chrome-extension")
_SERVERS: dict[str, RunningServer] = {}  # by address, of the pages that were opened
_PATIENCE = 120_000  # ms: other work may share the machine
HELD = 700  # ms between the press and the release of a slow click
_AT_ONCE = """(deeds) => {
  const labelled = (text) => {
    const label = [...document.querySelectorAll("label")].find((one) => one.textContent.trim().startsWith(text));
    if (!label) return document.querySelector(`[aria-label^="${text}"]`);
    return label.htmlFor ? document.getElementById(label.htmlFor) : label.querySelector("input");
  };
  for (const [name, value] of deeds) {
    if (value === null) {
      const named = (one) => (one.getAttribute("aria-label") || one.textContent).trim() === name;
      [...document.querySelectorAll("button")].find(named).click();
    } else if (value === true) {
      labelled(name).click();
    } else {
      labelled(name).value = value;
      for (const kind of ["input", "change"]) labelled(name).dispatchEvent(new Event(kind, {bubbles: true}));
    }
  }
}"""


def program() -> str:
    """Debian's Chromium, or the one that CHROMIUM names; empty where there is none."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""


@dataclass
class Heard:
    """What a tab did that no page of ours may do."""

    running: RunningServer
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda fault: self.complaints.append(f"script fault: {fault}"))
        page.on("request", self._request)
        page.on("requestfailed", self._on_request_failed)
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.type), dialog.dismiss()))
        page.on("response", lambda answer: self._status(answer.status, answer.url))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text[:300]}")

    def _request(self, request: Request) -> None:
        where = urlsplit(request.url)
        if where.scheme not in _AT_HOME and where.netloc != self.running.host:
            self.complaints.append(f"left the machine: {request.url[:200]}")

    def _on_request_failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # a page left in the middle, or a file that is downloaded
            self.complaints.append(f"failed: {request.url[:200]} {request.failure}")

    def _status(self, status: int, url: str) -> None:
        if status >= 400:
            self.complaints.append(f"{status}: {url[:200]}")


@contextmanager
def tab(
    browser: Browser, running: RunningServer, size: tuple[int, int] = WIDE, dark: bool = False
) -> Iterator[tuple[Page, Heard]]:
    """A tab of a browser that is let in, and what it did."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        locale="es-CL",
        reduced_motion="reduce",
        accept_downloads=True,
    )
    context.add_cookies([{"name": running.cookie_name, "value": running.enter(), "url": running.base}])
    context.set_default_timeout(_PATIENCE)
    page = context.new_page()
    heard = Heard(running)
    heard.listen(page)
    try:
        yield page, heard
    finally:
        context.close()


def open_page(page: Page, running: RunningServer, path: str) -> None:
    """Go to a page and wait until it is whole and its channel is open; whichever it is, it has one main and one h1."""
    _SERVERS[running.host] = running
    page.goto(running.base + path)
    page.wait_for_selector("main h1")
    assert (page.locator("main").count(), page.locator("h1").count()) == (1, 1)
    page.wait_for_function("window.socket && window.socket.connected")


def at_once(page: Page, *deeds: str | tuple[str, str | bool]) -> None:
    """Tell the page all of it before the server can answer: buttons by name, fields with a text, boxes with True."""
    running = _SERVERS[urlsplit(page.url).netloc]
    with _workers_held(running.process.pid):
        page.evaluate(_AT_ONCE, [[deed, None] if isinstance(deed, str) else list(deed) for deed in deeds])
        for _ in range(3):  # what was told before is heard before this is answered
            page.request.get(f"{running.base}/assets/celosia.css")


@contextmanager
def _workers_held(server: int) -> Iterator[None]:
    """The server's own process listens, those that work for it stand still: no answer can come in between."""
    processes = _descendants(server)
    assert processes
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)


def _descendants(process: int) -> list[int]:
    children: list[int] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):  # a child belongs to the thread that started it
        with suppress(OSError):  # which may just have ended
            children += map(int, thread.read_text("utf-8").split())
    return [process_id for child in children for process_id in (child, *_descendants(child))]
