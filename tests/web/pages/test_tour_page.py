"""The guided tour in the page: begun from the projects, it follows what its reader does and stays away elsewhere."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.demo.tour import tour_view
from celosia.pipeline.project.edits import write_request
from tests.projects.survey import make_project
from tests.web.actions import wait_until_connected
from tests.web.browser import NARROW, open_page, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]
REQUEST = {
    "title": "Encuesta",
    "source": {"name": "Encuesta"},
    "mel": {"consent": "Leído y aceptado", "contrast": ["MUNICIPIO", "SEXO", "EDAD", "AREA_PREDIO_HA"]},
    "publication": {"contact": "datos@evaluacion.example", "licence": "CC-BY-4.0"},
}


def begin_tour(page: Page, running: RunningServer, norm: str) -> Path:
    """A tour begun from the list of projects."""
    open_page(page, running, "/")
    page.get_by_label("Recorrido guiado de").select_option(norm)
    page.get_by_role("button", name="Comenzar el recorrido").click()
    page.wait_for_url(re.compile(f"recorrido-{norm}"))
    page.locator(".c-tour").wait_for()
    return running.root / page.url.rstrip("/").rpartition("/")[2]


def test_a_tour_follows_what_its_reader_does(page: Page, chromium: Browser, running: RunningServer) -> None:
    folder = begin_tour(page, running, "mel")
    panel = page.locator(".c-tour")
    panel.get_by_text("Paso 1 de 12: Registrar la solicitud").wait_for()
    write_request(folder, **REQUEST)  # as if somebody had saved it: the panel sees it by itself
    panel.get_by_text("✓ Hecho: Registrar la solicitud.").wait_for()
    panel.get_by_text("Paso 2 de 12: Mirar la base").wait_for()
    panel.get_by_role("link", name="Ir a Datos").click()
    page.wait_for_url(re.compile("/data$"))
    panel.get_by_text("Este paso se hace en esta página.").wait_for()
    wait_until_connected(page)
    page.get_by_role("button", name="Calcular el perfil").click()
    page.get_by_role("button", name="Calcular de nuevo").wait_for()  # the page is loaded anew, and the panel with it
    wait_until_connected(page)
    panel.get_by_text("Paso 3 de 12").wait_for()
    view = tour_view(folder)
    assert view is not None
    assert view.done == 2
    panel.get_by_text("Todos los pasos").click()
    assert panel.locator("li").count() == 12
    assert panel.locator("li[aria-current=step]").inner_text().startswith("Más de 50 unidades")

    panel.locator("summary").first.click()  # put away: it stays away on the other pages
    panel.get_by_text("Qué hacer.").wait_for(state="hidden")
    page.get_by_role("button", name="Últimas").click()
    page.get_by_role("button", name="Siguientes").and_(page.locator(":disabled")).wait_for()  # both were heard, in turn
    open_page(page, running, f"/p/{folder.name}/risk")
    assert not panel.get_by_text("Qué hacer.").is_visible()
    panel.locator("summary").first.click()
    panel.get_by_text("Qué hacer.").wait_for()
    with tab(chromium, running, NARROW, dark=True) as (narrow, heard):
        open_page(narrow, running, f"/p/{folder.name}/risk")
        narrow.locator(".c-tour").wait_for()
        assert narrow.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        assert heard.complaints == []


def test_another_project_shows_no_tour(page: Page, running: RunningServer, tmp_path: Path) -> None:
    make_project(tmp_path / "p")
    folder = (tmp_path / "p").rename(running.root / "sin-recorrido")
    open_page(page, running, f"/p/{folder.name}")
    assert page.locator(".c-tour").count() == 0
