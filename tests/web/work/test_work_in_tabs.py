"""Long work as its reader sees it: it outlives a closed tab, is seen in every tab, and is stopped by a button."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.projects import every_page
from tests.web.browser import open_page, tab
from tests.web.serving import RunningServer, running_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.web

NAME = "largo"
PATIENCE = 240_000  # ms for a piece of long work on a busy machine


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server over one project whose frontier takes a while."""
    root = tmp_path_factory.mktemp("taller") / "proyectos"
    root.mkdir()
    every_page.minsal(root, NAME, rows=30_000, run=False)
    with running_server(root) as running:
        running.prefer()
        yield running


@pytest.fixture
def first(chromium: Browser, workshop: RunningServer) -> Iterator[Page]:
    with tab(chromium, workshop) as (page, heard):
        yield page
    assert heard.complaints == []


def _begin_frontier(page: Page, running: RunningServer) -> None:
    """The frontier is asked for, and the page says that it is being computed."""
    open_page(page, running, f"/p/{NAME}/search")
    page.get_by_role("button", name="Calcular la frontera").click()
    page.locator(".c-work progress").wait_for()


def test_work_that_is_cancelled_leaves_the_project_as_it_was(first: Page, workshop: RunningServer) -> None:
    before = every_page.file_digests(workshop.root / NAME)
    _begin_frontier(first, workshop)
    first.locator(".c-work").get_by_role("button", name="Cancelar").click()
    first.get_by_text("Cancelado. El proyecto quedó como estaba.").wait_for()
    assert every_page.file_digests(workshop.root / NAME) == before


def test_a_second_piece_of_work_on_a_project_is_refused(
    chromium: Browser, first: Page, workshop: RunningServer
) -> None:
    _begin_frontier(first, workshop)
    with tab(chromium, workshop) as (second, heard):
        open_page(second, workshop, f"/p/{NAME}/data")
        second.locator(".c-work progress").wait_for()  # every tab sees what runs
        second.get_by_role("button", name="Calcular el perfil").click()
        second.locator(".q-notification", has_text=NAME).first.wait_for()
        assert heard.complaints == []
    first.locator(".c-work").get_by_role("button", name="Cancelar").click()
    first.get_by_text("Cancelado. El proyecto quedó como estaba.").wait_for()


def test_work_outlives_the_tab_that_began_it(chromium: Browser, workshop: RunningServer) -> None:
    with tab(chromium, workshop) as (page, _):
        _begin_frontier(page, workshop)
    report = workshop.root / NAME / "private" / "reports" / "frontier.json"
    with tab(chromium, workshop) as (page, heard):
        open_page(page, workshop, f"/p/{NAME}/search")
        page.locator(".c-work .c-note.c-good").wait_for(timeout=PATIENCE)
        page.get_by_text("Los mismos puntos en una tabla").first.wait_for()
        assert heard.complaints == []
    assert Path(report).is_file()
