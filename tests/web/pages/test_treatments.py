"""The treatments on the page of the search: proposed, filled in, ordered, taken out, and refused with a reason."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from celosia.pipeline.project.folder import open_project
from tests.projects.survey import make_project
from tests.web.browser import NARROW, open_page, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]
LONG = 120_000  # ms on a busy machine
SAVED = "Los tratamientos quedaron guardados"


@pytest.fixture
def project(running: RunningServer, tmp_path: Path) -> Path:
    place = running.root / f"tratamientos-{tmp_path.name}"
    shutil.copytree(make_project(tmp_path / "p", ("atenea",)), place)
    return place


def steps(folder: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads((folder / "celosia.toml").read_text("utf-8")).get("steps", []))


def treatments(page: Page) -> Locator:
    return page.locator("section", has=page.get_by_role("heading", name="Tratamientos antes de la búsqueda"))


def type_into(field: Locator, text: str) -> Locator:
    """Fill a field in and leave it, as a person does."""
    field.fill(text)
    field.blur()
    return field


def add_refused(page: Page, project: Path, words: str) -> None:
    """Add the treatment: it is refused with these words, and nothing is written."""
    treatments(page).get_by_role("button", name="Agregar el tratamiento").click()
    page.locator(".q-notification", has_text=words).wait_for(timeout=LONG)
    assert steps(project) == []
    page.locator(".q-notification").get_by_role("button").click()


def save_with(page: Page, button: Locator) -> None:
    button.click()
    page.locator(".q-notification", has_text=SAVED).last.wait_for(timeout=LONG)
    page.locator(".q-notification", has_text=SAVED).last.get_by_role("button").click()
    page.locator(".q-notification", has_text=SAVED).wait_for(state="detached")


@pytest.mark.requirement("A19", "A20")
@pytest.mark.parametrize("size", [None, NARROW])
def test_a_treatment_is_filled_in_ordered_and_applied(
    chromium: Browser, running: RunningServer, project: Path, size: tuple[int, int] | None
) -> None:
    with tab(chromium, running, *([size] if size else [])) as (page, heard):
        open_page(page, running, f"/p/{project.name}/search")
        type_into(page.get_by_label("k, valor exacto").first, "6")
        page.get_by_text("Agregar un tratamiento").click()
        treatments(page).get_by_label("INGRESO", exact=True).first.check()
        group = type_into(treatments(page).get_by_label(re.compile("^Filas que debe tener")), "2")
        add_refused(page, project, "un k de 3 o más")
        type_into(group, "4")
        save_with(page, treatments(page).get_by_role("button", name="Agregar el tratamiento"))
        assert steps(project) == [{"technique": "microaggregate", "columns": ["INGRESO"], "k": 4}]
        assert page.get_by_label("k, valor exacto").first.input_value() == "6"  # what waits in the form stays
        page.get_by_role("button", name="Proponer tratamientos").click()
        save_with(page, page.get_by_role("button", name="Adición de ruido para INGRESO"))
        save_with(page, page.get_by_role("button", name=re.compile("Subir.*Adición de ruido")))
        assert [step["technique"] for step in steps(project)] == ["noise", "microaggregate"]
        save_with(page, page.get_by_role("button", name=re.compile("Quitar.*Adición de ruido")))
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_role("button", name="Generar candidato").wait_for(timeout=LONG)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("window.innerWidth")
        assert heard.complaints == []
    assert [step["technique"] for step in open_project(project).plan.steps] == ["microaggregate"]
    assert {"criterion": "k", "k": 6} in open_project(project).plan.policy["criteria"]


@pytest.mark.requirement("A24", "A25")
def test_values_are_recoded_and_records_removed_line_by_line(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{project.name}/search")
        page.get_by_text("Agregar un tratamiento").click()
        treatments(page).get_by_label("tratamiento", exact=True).select_option("recode")
        treatments(page).get_by_label("ZONA", exact=True).first.check()
        lines = type_into(treatments(page).get_by_label(re.compile("^Equivalencias")), "norte = litoral\nsur")
        add_refused(page, project, "La línea 2 no se entiende")
        type_into(lines, "norte = litoral\nsur = valle")
        save_with(page, treatments(page).get_by_role("button", name="Agregar el tratamiento"))
        page.get_by_text("Agregar un tratamiento").click()
        treatments(page).get_by_label("tratamiento", exact=True).select_option("remove_records")
        type_into(treatments(page).get_by_label(re.compile("^Condición")), "DIAG = D4\nSEXO = H | M")
        type_into(treatments(page).get_by_label(re.compile("^Motivo")), "fuera del estudio")
        treatments(page).get_by_label(re.compile("^Confirm")).check()
        save_with(page, treatments(page).get_by_role("button", name="Agregar el tratamiento"))
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_role("button", name="Generar candidato").wait_for(timeout=LONG)
        assert heard.complaints == []
    assert steps(project) == [
        {"technique": "recode", "columns": ["ZONA"], "map": {"norte": "litoral", "sur": "valle"}},
        {
            "technique": "remove_records",
            "where": {"DIAG": ["D4"], "SEXO": ["H", "M"]},
            "reason": "fuera del estudio",
            "confirmed": True,
        },
    ]
    assert [step["technique"] for step in open_project(project).plan.steps] == ["recode", "remove_records"]
