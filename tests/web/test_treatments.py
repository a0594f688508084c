"""The treatments on the page of the search: proposed, filled in, ordered, taken out, and refused with a reason."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.pipeline.small_project import make_project
from tests.web.browser import NARROW, open_page, tab

from celosia.pipeline import read_plan

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page
    from tests.web.server import Served

pytestmark = [pytest.mark.web, pytest.mark.slow]
LONG = 120_000  # ms on a busy machine
SAVED = "Los tratamientos quedaron guardados"


@pytest.fixture
def project(served: Served, tmp_path: Path) -> Path:
    place = served.root / f"tratamientos-{tmp_path.name}"
    shutil.copytree(make_project(tmp_path, ("atenea",)), place)
    return place


def steps(folder: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads((folder / "celosia.toml").read_text("utf-8")).get("steps", []))


def treatments(page: Page) -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name="Tratamientos antes de la búsqueda"))


def typed(field: Locator, text: str) -> Locator:
    """Fill a field in and leave it, as a person does."""
    field.fill(text)
    field.blur()
    return field


def refused(page: Page, project: Path, words: str) -> None:
    """Add the treatment: it is refused with these words, and nothing is written."""
    treatments(page).get_by_role("button", name="Agregar el tratamiento").click()
    page.locator(".q-notification", has_text=words).wait_for(timeout=LONG)
    assert steps(project) == []
    page.locator(".q-notification").get_by_role("button").click()


def saved(page: Page, button: Locator) -> None:
    button.click()
    page.locator(".q-notification", has_text=SAVED).last.wait_for(timeout=LONG)
    page.locator(".q-notification", has_text=SAVED).last.get_by_role("button").click()
    page.locator(".q-notification", has_text=SAVED).wait_for(state="detached")


@pytest.mark.requirement("A19", "A20")
@pytest.mark.parametrize("size", [None, NARROW])
def test_a_treatment_is_filled_in_ordered_and_applied(
    chromium: Browser, served: Served, project: Path, size: tuple[int, int] | None
) -> None:
    with tab(chromium, served, *([size] if size else [])) as (page, heard):
        open_page(page, served, f"/p/{project.name}/search")
        typed(page.get_by_label("k, valor exacto").first, "6")
        page.get_by_text("Agregar un tratamiento").click()
        treatments(page).get_by_label("INGRESO", exact=True).first.check()
        group = typed(treatments(page).get_by_label(re.compile("^Filas que debe tener")), "2")
        refused(page, project, "un k de 3 o más")
        typed(group, "4")
        saved(page, treatments(page).get_by_role("button", name="Agregar el tratamiento"))
        assert steps(project) == [{"technique": "microaggregate", "columns": ["INGRESO"], "k": 4}]
        assert page.get_by_label("k, valor exacto").first.input_value() == "6"  # what waits in the form stays
        page.get_by_role("button", name="Proponer tratamientos").click()
        saved(page, page.get_by_role("button", name="Adición de ruido para INGRESO"))
        saved(page, page.get_by_role("button", name=re.compile("Subir.*Adición de ruido")))
        assert [step["technique"] for step in steps(project)] == ["noise", "microaggregate"]
        saved(page, page.get_by_role("button", name=re.compile("Quitar.*Adición de ruido")))
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_role("button", name="Generar candidato").wait_for(timeout=LONG)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("window.innerWidth")
        assert heard.complaints == []
    assert [step["technique"] for step in read_plan(project).steps] == ["microaggregate"]
    assert {"criterion": "k", "k": 6} in read_plan(project).policy["criteria"]


@pytest.mark.requirement("A24", "A25")
def test_values_are_recoded_and_records_removed_line_by_line(chromium: Browser, served: Served, project: Path) -> None:
    with tab(chromium, served) as (page, heard):
        open_page(page, served, f"/p/{project.name}/search")
        page.get_by_text("Agregar un tratamiento").click()
        treatments(page).get_by_label("tratamiento", exact=True).select_option("recode")
        treatments(page).get_by_label("ZONA", exact=True).first.check()
        lines = typed(treatments(page).get_by_label(re.compile("^Equivalencias")), "norte = litoral\nsur")
        refused(page, project, "La línea 2 no se entiende")
        typed(lines, "norte = litoral\nsur = valle")
        saved(page, treatments(page).get_by_role("button", name="Agregar el tratamiento"))
        page.get_by_text("Agregar un tratamiento").click()
        treatments(page).get_by_label("tratamiento", exact=True).select_option("remove_records")
        typed(treatments(page).get_by_label(re.compile("^Condición")), "DIAG = D4\nSEXO = H | M")
        typed(treatments(page).get_by_label(re.compile("^Motivo")), "fuera del estudio")
        treatments(page).get_by_label(re.compile("^Confirm")).check()
        saved(page, treatments(page).get_by_role("button", name="Agregar el tratamiento"))
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_role("button", name="Generar candidato").wait_for(timeout=LONG)
        assert heard.complaints == []
    assert steps(project) == [
        {"technique": "recode", "columns": ["ZONA"], "map": {"norte": "litoral", "sur": "valle"}},
        {"technique": "remove_records", "where": {"DIAG": ["D4"], "SEXO": ["H", "M"]}, "reason": "fuera del estudio",
         "confirmed": True},
    ]  # fmt: skip
    assert [step["technique"] for step in read_plan(project).steps] == ["recode", "remove_records"]
