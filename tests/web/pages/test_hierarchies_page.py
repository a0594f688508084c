"""The page of hierarchies: MINSAL's sections 6 and 7 step by step, trees by hand, files with gaps, hostile names."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from celosia.model import dictionary
from celosia.model.variables import Role, Scale
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.files import read_toml
from celosia.pipeline.project.folder import open_project
from tests.projects import every_page
from tests.web.browser import HELD, NARROW, at_once, open_page, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]

BELONGS, AGE, HOSTILE = "PERTENENCIA", "EDAD_AÑOS", "<script>alert(1)</script>"
PLANTED, SAVE = "Zutanita", "Guardar la jerarquía"


@pytest.fixture
def project(running: RunningServer, tmp_path: Path) -> Path:
    """Ages from 0 to 118, two kinds of hospital, comunas (one of them hostile) and names that no page shows."""
    lines = [f"NOMBRE,{BELONGS},{AGE},COMUNA"]
    places = ("05302", "05301", "13101", HOSTILE)
    lines += [f"{PLANTED}{i},{'SNSS' if i % 3 else 'No SNSS'},{i},{places[i % 4]}" for i in range(119)]
    (tmp_path / "egresos.csv").write_text("\n".join(lines) + "\n", "utf-8")
    folder = init(tmp_path / "egresos.csv", tmp_path / "p").project.folder
    variables = [
        replace(
            v,
            role=Role.IDENTIFIER if v.name == "NOMBRE" else Role.QUASI,
            missing=(),
            unknown=(),
            kind=None,
            purpose="" if v.name == "NOMBRE" else "estudio",
            mel_label=None,
            scale=Scale.DISCRETE if v.name == AGE else Scale.CATEGORICAL,
        )
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(variables), "utf-8")
    return Path(shutil.copytree(folder, running.root / f"jerarquias-{tmp_path.name}"))


def open_variable(page: Page, running: RunningServer, project: Path, variable: str) -> None:
    open_page(page, running, f"/p/{project.name}/hierarchies")
    page.get_by_role("heading", name="Jerarquía de ").first.wait_for()
    shown = page.get_by_role("heading", name=f"Jerarquía de {variable}")
    if not shown.is_visible():  # the one already open would be opened anew under what is chosen next
        page.get_by_role("button", name=variable, exact=True).click()
    shown.wait_for()


def begin(page: Page, kind: str, shows: str) -> None:
    page.get_by_label("Clase de jerarquía").select_option(kind)
    page.get_by_text(shows).first.wait_for()


def options(page: Page, label: str) -> list[str]:
    return page.get_by_label(label).locator("option").all_inner_texts()


def save_and_read(page: Page, project: Path, variable: str) -> dict[str, Any]:
    page.get_by_role("button", name="Guardar la jerarquía").click()
    page.get_by_text(f"Guardada la jerarquía de «{variable}»").wait_for()
    spec: dict[str, Any] = read_toml(project / "celosia.toml")["hierarchies"][variable]
    return spec


@pytest.mark.requirement("M24")
def test_an_order_of_two_values_offers_levels_0_to_2_and_level_0_is_fixed(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running) as (page, heard):
        open_variable(page, running, project, BELONGS)
        begin(page, "order", "{No SNSS, SNSS}")
        assert options(page, "Nivel mínimo") == ["Todos", "0", "1", "2"]
        assert options(page, "Nivel máximo") == ["Todos", "0", "1", "2"]
        page.get_by_role("button", name="Ordenar a mano").click()
        page.get_by_role("button", name="Bajar «No SNSS»").click()
        page.get_by_text("{SNSS, No SNSS}").first.wait_for()
        page.get_by_label("Nivel mínimo").select_option("0")
        page.get_by_label("Nivel máximo").select_option("0")
        spec = save_and_read(page, project, BELONGS)
        assert (spec["order"], spec["minimum"], spec["maximum"]) == (["SNSS", "No SNSS"], 0, 0)
        assert heard.complaints == []


@pytest.mark.requirement("M25")
def test_intervals_of_ten_double_up_to_160_and_level_1_is_fixed(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running, NARROW, dark=True) as (page, heard):
        open_variable(page, running, project, AGE)
        begin(page, "intervals", "Cuántos se unen por nivel")
        assert page.get_by_label("Hasta (mayor valor)").input_value() == "118"
        levels = page.get_by_role("region", name=f"Niveles de la jerarquía de {AGE}")
        assert levels.locator("tr td:nth-child(3)").all_inner_texts() == ["–", "10", "20", "40", "80", "160", "–"]
        for width, last in (("25", "0 a 24"), ("10", "0 a 9")):
            page.get_by_label("Ancho", exact=True).fill(width)
            page.get_by_label("Ancho", exact=True).press("Tab")
            page.get_by_text(last, exact=True).first.wait_for()
        page.get_by_label("Nivel mínimo").select_option("1")
        page.get_by_label("Nivel máximo").select_option("1")
        spec = save_and_read(page, project, AGE)
        assert {key: spec[key] for key in ("width", "end", "minimum", "maximum")} == {
            "width": 10,
            "end": 118,
            "minimum": 1,
            "maximum": 1,
        }
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert heard.complaints == []


def test_a_file_with_gaps_lists_them_and_is_completed_by_hand_before_anything_is_saved(
    chromium: Browser, running: RunningServer, project: Path, tmp_path: Path
) -> None:
    brought = tmp_path / "regiones.csv"
    brought.write_text("05302;V;*\n05301;V;*\n13101;RM;*\n", "utf-8")
    before = (project / "celosia.toml").read_bytes()
    with tab(chromium, running) as (page, heard):
        open_variable(page, running, project, "COMUNA")
        page.get_by_label("Clase de jerarquía").select_option("file")
        page.get_by_label("Archivo CSV de la jerarquía").set_input_files(brought)
        page.get_by_text("Valores sin grupo:").wait_for()
        assert page.locator(".c-values code").all_inner_texts() == [HOSTILE]
        assert page.get_by_role("button", name="Guardar la jerarquía").is_disabled()
        assert (project / "celosia.toml").read_bytes() == before
        page.get_by_label(f"Marcar «{HOSTILE}»").check()
        page.get_by_label("Nombre del grupo").fill("RM")
        page.get_by_role("button", name="Unir los marcados en el grupo").click()
        page.get_by_text("Atención: Valores sin grupo").wait_for(state="detached")
        spec = save_and_read(page, project, "COMUNA")
        assert spec == {"file": "hierarchies/comuna.csv"}
        assert f"{HOSTILE};RM;*" in (project / "hierarchies" / "comuna.csv").read_text("utf-8")
        assert PLANTED not in page.content()
        assert (heard.complaints, heard.dialogs) == ([], [])


def test_a_tree_made_by_hand_survives_a_closed_tab_and_can_be_thrown_away(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running) as (page, _):
        open_variable(page, running, project, "COMUNA")
        begin(page, "tree", "Nivel que se edita")
        page.get_by_label("Marcar «05302»").check()
        page.get_by_label("Marcar «05301»").check()
        page.get_by_label("Nombre del grupo").fill("Valparaíso")
        page.get_by_role("button", name="Unir los marcados en el grupo").click()
        page.get_by_role("cell", name="Valparaíso").first.wait_for()
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{project.name}/hierarchies?variable=COMUNA")
        page.get_by_text("árbol en edición").wait_for()
        page.get_by_role("cell", name="Valparaíso").first.wait_for()
        page.get_by_role("button", name="Descartar la edición").click()
        page.get_by_text("Ajustar esta propuesta").wait_for()
        assert "hierarchies" not in read_toml(project / "celosia.toml")
        assert heard.complaints == []


def test_what_is_on_the_page_is_exported_in_arx_layout(
    chromium: Browser, running: RunningServer, project: Path
) -> None:
    with tab(chromium, running) as (page, heard):
        open_variable(page, running, project, BELONGS)
        begin(page, "order", "{No SNSS, SNSS}")
        with page.expect_download() as sent:
            page.get_by_role("button", name="Exportar CSV (ARX)").click()
        assert sent.value.suggested_filename == f"{BELONGS}.csv"
        text = Path(sent.value.path()).read_text("utf-8")
        assert text == "No SNSS;{No SNSS, SNSS};*\nSNSS;{No SNSS, SNSS};*\n"
        assert heard.complaints == []


# --- in the same moment -------------------------------------------------------------------------------


# The word that it was saved comes first; then the page asks what stands in the project now.
WIDER_ONCE_SAVED = """() => {
  if (!document.querySelector(".q-notification")) return false;
  const label = [...document.querySelectorAll("label")].find((one) => one.textContent.trim() === "Ancho");
  document.getElementById(label.htmlFor).value = "25";
  document.getElementById(label.htmlFor).dispatchEvent(new Event("change", {bubbles: true}));
  return true;
}"""


def stored_spec(project: Path, variable: str) -> dict[str, Any]:
    return dict(read_toml(project / "celosia.toml")["hierarchies"][variable])


def test_a_kind_chosen_and_saved_in_one_breath_is_what_is_saved(
    page: Page, running: RunningServer, project: Path
) -> None:
    open_variable(page, running, project, AGE)
    at_once(page, ("Clase de jerarquía", "intervals"), SAVE)
    page.get_by_text(f"Guardada la jerarquía de «{AGE}»").wait_for()
    assert stored_spec(project, AGE)["width"] == 10


def test_what_is_changed_while_a_hierarchy_is_saved_stays_on_the_page(
    page: Page, running: RunningServer, project: Path
) -> None:
    open_variable(page, running, project, AGE)
    begin(page, "intervals", "Cuántos se unen por nivel")
    at_once(page, SAVE)
    page.wait_for_function(WIDER_ONCE_SAVED)
    page.get_by_text("0 a 24", exact=True).first.wait_for()
    page.get_by_label("Nivel máximo").select_option("1")
    at_once(page, SAVE, BELONGS)
    page.get_by_role("heading", name=f"Jerarquía de {BELONGS}").wait_for()
    assert (stored_spec(project, AGE)["width"], stored_spec(project, AGE)["maximum"]) == (25, 1)


def test_a_slow_click_saves_though_the_levels_above_the_button_change(
    page: Page, running: RunningServer, project: Path
) -> None:
    open_variable(page, running, project, AGE)
    begin(page, "intervals", "Cuántos se unen por nivel")
    page.get_by_label("Ancho", exact=True).fill("1")
    page.get_by_role("button", name=SAVE).click(delay=HELD)
    page.get_by_text(f"Guardada la jerarquía de «{AGE}»").wait_for()
    assert stored_spec(project, AGE)["width"] == 1


def test_a_double_click_moves_a_category_and_not_back(page: Page, running: RunningServer, project: Path) -> None:
    open_variable(page, running, project, BELONGS)
    begin(page, "order", "{No SNSS, SNSS}")
    page.get_by_role("button", name="Ordenar a mano").click()
    page.get_by_role("button", name="Bajar «No SNSS»").wait_for()
    at_once(page, "Bajar «No SNSS»", "Bajar «No SNSS»")
    assert save_and_read(page, project, BELONGS)["order"] == ["SNSS", "No SNSS"]


def test_marking_right_after_looking_for_something_marks_what_was_looked_for(
    page: Page, running: RunningServer, project: Path
) -> None:
    open_variable(page, running, project, "COMUNA")
    begin(page, "tree", "Nivel que se edita")
    page.get_by_label("Buscar valor o grupo").fill("053")
    page.get_by_role("button", name="Marcar los mostrados").click(delay=HELD)
    page.locator("[aria-label='Marcar «05302»']:checked").wait_for()
    typed = page.get_by_label("Buscar valor o grupo")
    typed.fill("")
    typed.blur()
    page.get_by_label("Marcar «13101»").wait_for()
    assert page.locator(".c-editor td input:checked").count() == 2


def test_a_file_belongs_to_the_variable_it_was_chosen_for(
    page: Page, running: RunningServer, project: Path, tmp_path: Path
) -> None:
    brought = tmp_path / "regiones.csv"
    collected: list[Route] = []
    brought.write_text("05302;V;*\n05301;V;*\n13101;RM;*\n", "utf-8")
    open_variable(page, running, project, "COMUNA")
    page.get_by_label("Clase de jerarquía").select_option("file")
    page.route("**/upload", lambda route: collected.append(route))  # on its way until it is let go
    with page.expect_request("**/upload"):
        page.get_by_label("Archivo CSV de la jerarquía").set_input_files(brought)
    page.get_by_role("button", name=AGE, exact=True).click()
    page.get_by_role("heading", name=f"Jerarquía de {AGE}").wait_for()
    collected[0].continue_()
    page.get_by_text("árbol en edición").wait_for()
    assert page.get_by_label("Clase de jerarquía").input_value() == "default"
    page.get_by_role("button", name="COMUNA", exact=True).click()
    page.get_by_role("heading", name="Jerarquía de COMUNA").wait_for()
    assert page.get_by_label("Clase de jerarquía").input_value() == "tree"


def test_what_is_saved_while_the_levels_are_counted_is_no_conflict_later(page: Page, running: RunningServer) -> None:
    folder = every_page.minsal(running.root, "jerarquias-contadas", rows=60_000, run=False)
    open_page(page, running, f"/p/{folder.name}/hierarchies?variable=SEXO")
    at_once(page, ("Nivel máximo", "0"), SAVE)  # the levels of all variables are being counted
    page.get_by_text("Guardada la jerarquía de «SEXO»").wait_for()
    page.locator(".c-vars li", has_text="COMUNA").get_by_text("niveles").first.wait_for()
    at_once(page, ("Nivel máximo", "1"), SAVE, "COMUNA")
    page.get_by_role("heading", name="Jerarquía de COMUNA").wait_for()
    assert page.locator(".q-notification.bg-negative").all_inner_texts() == []
    assert stored_spec(folder, "SEXO")["maximum"] == 1
