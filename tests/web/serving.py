"""A real `celosia serve` in a process of its own, and the one browser session its address opens."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import httpx

from tests.folder_listing import files_under

UPLOAD_MEGABYTES = 8  # small enough to reach, large enough for every file the tests send
_START = 120  # seconds: several servers may start on a busy machine
_TOKEN = re.compile(r"http://127\.0\.0\.1:(\d+)/enter\?token=(\S+)")
_CSRF = re.compile(r"data-csrf[^:]*:[^\w-]*(?:quot;)?([\w-]{20,})")


@dataclass
class RunningServer:
    """One server over a folder of projects."""

    process: subprocess.Popen[str]
    root: Path
    port: int
    token: str
    errors: Path  # what it wrote to its stderr
    cookie: str = ""
    spoken: list[str] = field(default_factory=list)  # what it wrote to its stdout

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def cookie_name(self) -> str:
        return f"celosia_{self.port}"

    def enter(self) -> str:
        """Use the token, once; the cookie that it gave."""
        if not self.cookie:
            try:
                answer = httpx.get(f"{self.base}/enter", params={"token": self.token}, timeout=120)
            except httpx.HTTPError:
                raise AssertionError(f"the server is gone: {self.errors.read_text('utf-8')}") from None
            assert answer.status_code == 303
            self.cookie = answer.cookies[self.cookie_name]
        return self.cookie

    def client(self, **headers: str) -> httpx.Client:
        """A client that is in."""
        headers = {"cookie": f"{self.cookie_name}={self.enter()}", **headers}
        return httpx.Client(base_url=self.base, headers=headers, timeout=120)

    def csrf(self) -> str:
        """What the page gives its own uploads."""
        with self.client() as client:
            match = _CSRF.search(client.get("/new").text)
        assert match is not None
        return match.group(1)

    def prefer(self, language: str = "es", theme: str = "light") -> None:
        """The language and the theme of the one session."""
        with self.client() as client:
            client.get("/preference", params={"language": language, "theme": theme, "back": "/"})

    def scratch_files(self) -> list[Path]:
        """Every file of the private scratch: uploads and what waits to be downloaded."""
        return [path for path in files_under(self.root) if _scratch(path.relative_to(self.root))]


def _scratch(path: Path) -> bool:
    return path.parts[0].startswith(".")


@contextmanager
def running_server(root: Path, *options: str, folder: Path | None = None) -> Iterator[RunningServer]:
    """Start it, wait for its address, and stop it as Ctrl+C does."""
    errors = root.parent / f"{root.name}-stderr.txt"
    command = [Path(sys.executable).with_name("celosia"), "serve", folder or root, "--no-browser", *options]
    environment = {**os.environ, "CELOSIA_LANG": "es", "PYTHONUNBUFFERED": "1"}
    with errors.open("w", encoding="utf-8") as sink:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=sink,
            text=True,
            env=environment,
            start_new_session=True,
        )
    running = RunningServer(process, root, 0, "", errors)
    try:
        _wait(running)
        yield running
    finally:
        stop(process)


def _wait(running: RunningServer) -> None:
    ready = threading.Event()
    assert running.process.stdout is not None
    threading.Thread(target=_listen, args=(running, running.process.stdout, ready), daemon=True).start()
    assert ready.wait(_START), f"no address: {running.errors.read_text('utf-8')}"


def _listen(running: RunningServer, lines: IO[str], ready: threading.Event) -> None:
    for line in lines:
        running.spoken.append(line)
        if match := _TOKEN.search(line):
            running.port, running.token = int(match.group(1)), match.group(2)
            ready.set()
    ready.set()


def stop(process: subprocess.Popen[str]) -> None:
    """Ctrl+C, and a kill for whatever does not listen."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout:
        process.stdout.close()
