"""The page of the search: criteria and limits, a reason below the norm, the frontier's points, methods, no solution."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from celosia.pipeline.planning.method_comparison import compare_methods
from celosia.pipeline.project.folder import open_project
from celosia.workbench.dictionary_edit import edit_dictionary
from celosia.workbench.search import explain_report, frontier_report, search_plan
from tests.projects.steps import NOW
from tests.projects.survey import make_project
from tests.web.browser import NARROW, open_page, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]
LONG = 120_000  # ms that a search may take on a busy machine


@pytest.fixture
def project(running: RunningServer, tmp_path: Path) -> Path:
    place = running.root / f"busqueda-{tmp_path.name}"
    shutil.copytree(make_project(tmp_path / "p"), place)
    return place


def policy(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "celosia.toml").read_text("utf-8")).get("policy", {})


def put(page: Page, label: str, value: str) -> None:
    field = page.get_by_label(label).first
    field.fill(value)
    field.blur()


@pytest.mark.requirement("M20", "M23", "M26")
def test_criteria_and_limit_are_chosen_and_the_plan_is_found(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{project.name}/search")
        put(page, "k, valor exacto", "5")
        put(page, "Límite de supresión, porcentaje exacto", "7.5")
        assert page.locator(".c-pair input[type=range]").first.input_value() == "5"  # the slider followed
        page.get_by_label("criterio", exact=True).select_option("t")
        page.get_by_role("button", name="+ Agregar").click()
        page.get_by_role("group", name="t-cercanía: DIAG").wait_for()
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_role("button", name="Generar candidato").wait_for(timeout=LONG)
        assert re.search(r"\d+ \(\d+,\d\d %\)", page.inner_text("main"))
        assert heard.complaints == []
    written = policy(project)
    assert written["limit"] == 0.075
    assert {"criterion": "k", "k": 5} in written["criteria"]
    assert {"criterion": "t", "variable": "DIAG", "t": 0.2} in written["criteria"]
    assert open_project(project).plan.policy["limit"] == "3/40"


def test_less_than_the_norm_is_written_only_with_its_reason(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running) as (page, _):
        open_page(page, running, f"/p/{project.name}/search")
        put(page, "k, valor exacto", "1")
        page.get_by_text("por debajo de lo que pide MINSAL").wait_for()
        page.get_by_role("button", name="Guardar", exact=True).click()
        page.get_by_text("Súbalo, o escriba el motivo").wait_for()
        assert policy(project) == {}
        put(page, "Motivo de pedir menos que la norma", "piloto interno")
        page.get_by_role("button", name="Guardar", exact=True).click()
        page.get_by_text("Motivo: piloto interno").wait_for()
    assert policy(project)["criteria"][0] == {"criterion": "k", "k": 1}


@pytest.mark.requirement("M23")
def test_a_point_of_the_frontier_is_adopted_from_the_table_and_from_the_picture(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    search_plan(project, now=NOW)
    frontier_report(project, (2, 40), (0, 1), now=NOW)
    with tab(chromium, running, NARROW, dark=True) as (page, heard):
        open_page(page, running, f"/p/{project.name}/search")
        page.locator("summary", has_text="Los mismos puntos").press("Enter")
        page.get_by_role("button", name=re.compile("Adoptar k = 40")).first.press("Enter")
        page.get_by_text("en el proyecto", exact=True).wait_for(timeout=LONG)
        assert policy(project)["criteria"][0]["k"] == 40
        page.locator(".c-chart svg path[stroke='#0072b2'], .c-chart svg path[fill='#0072b2']").nth(1).click(force=True)
        page.wait_for_function("document.querySelector('.c-pair input[type=number]').value === '2'", timeout=LONG)
        assert policy(project)["criteria"][0]["k"] == 2
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW[0]
        assert heard.complaints == []


def test_the_explanation_and_the_methods_are_shown_and_a_method_is_taken(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    explain_report(project, now=NOW)
    compare_methods(project, now=NOW)
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{project.name}/search")
        assert "La variable que más cuesta" in page.inner_text("main") or "Ninguna variable" in page.inner_text("main")
        page.get_by_role("button", name="Usar este método: recodificación local").click()
        page.get_by_text("Este método decide el nivel").wait_for(timeout=LONG)
        assert heard.complaints == []
    assert policy(project)["method"] == open_project(project).plan.method == "local"


@pytest.mark.requirement("M18")
def test_the_recipe_takes_the_order_that_is_shown_and_outlives_a_change_of_role(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{project.name}/search")
        page.get_by_text("Método, medida y prioridades").click()
        page.get_by_label("Método", exact=True).select_option("recipe")
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_text("Este método decide el nivel").wait_for(timeout=LONG)
        assert policy(project)["order"] == ["SEXO", "ZONA"]
        edit_dictionary(project, {"ZONA": {"role": "sensitive"}}, now=NOW)
        open_page(page, running, f"/p/{project.name}/search")
        assert page.get_by_text("Todavía no se puede buscar").count() == 0
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_text("El plan se hizo con otros datos").wait_for(state="detached", timeout=LONG)
        assert heard.complaints == []
    assert open_project(project).plan.policy["order"] == ["SEXO"]


@pytest.mark.requirement("M23")
def test_no_solution_says_how_far_and_what_would_help(chromium: Browser, running: RunningServer, project: Path) -> None:
    with (project / "celosia.toml").open("a", encoding="utf-8") as file:
        file.write("\n[hierarchies.SEXO]\nmaximum = 0\n[hierarchies.ZONA]\nmaximum = 0\n")
    with tab(chromium, running) as (page, _):
        open_page(page, running, f"/p/{project.name}/search")
        put(page, "k, valor exacto", "50")
        put(page, "Límite de supresión, porcentaje exacto", "1")
        page.get_by_role("button", name="Buscar", exact=True).click()
        page.get_by_text("No hay solución con estos criterios").wait_for(timeout=LONG)
        page.get_by_role("button", name="Explicar qué ayudaría").click()
        page.get_by_text("Bastaría permitir").wait_for(timeout=LONG)
    assert not (project / "plan.json").exists()
