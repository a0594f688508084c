"""One server and one Chromium for all tests of the page; a tab that does what it should not fails its test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.servers import skip_loudly
from tests.web.browser import Heard, program, tab
from tests.web.serving import UPLOAD_MEGABYTES, RunningServer, running_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PLANTED = "Crescencia Huenchullán"  # somebody whose name no log may hold


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """The server over an empty folder of projects; what it wrote to its terminal is read at the end."""
    root = tmp_path_factory.mktemp("web") / "proyectos"
    root.mkdir()
    with running_server(root, "--max-upload", str(UPLOAD_MEGABYTES)) as made:
        made.enter()
        yield made
    said = made.errors.read_text("utf-8") + "".join(made.spoken)
    assert PLANTED not in said
    assert "Traceback" not in said


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    if not program():
        skip_loudly("needs Chromium (apt install chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program(), args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def watched_page(chromium: Browser, running: RunningServer) -> Iterator[tuple[Page, Heard]]:
    """A tab, and what was heard of it, for tests that expect a complaint."""
    running.prefer()
    with tab(chromium, running) as made:
        yield made


@pytest.fixture
def page(watched_page: tuple[Page, Heard]) -> Iterator[Page]:
    """A tab that may complain of nothing."""
    made, heard = watched_page
    yield made
    assert heard.complaints == []
    assert heard.dialogs == []


@pytest.fixture
def root(running: RunningServer) -> Path:
    """The folder of the projects."""
    return running.root
