"""Several things in one moment, on every page: changed and saved, pressed twice or slowly, typed while work ends.

`at_once` tells the page all of it before the server can answer; a slow click holds the button while it answers.
"""

from __future__ import annotations

import itertools
import re
import shutil
import string
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from celosia.model.paths import ProjectPaths
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intruder.claims import write_claims_form
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.edits import read_request
from celosia.pipeline.project.files import read_toml
from celosia.stats.run import run_stats
from tests.projects import every_page
from tests.projects.steps import NOW
from tests.projects.survey import make_project
from tests.stats import small_stats
from tests.web.actions import wait_until_connected
from tests.web.browser import HELD, at_once, open_page, tab
from tests.web.pages.test_new_page import people

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]
LONG = 240_000  # ms that a piece of work may take on a busy machine
LIMIT, K = "Límite de supresión, porcentaje exacto", "k, valor exacto"


def expect_message(page: Page, words: str) -> None:
    """A word to the reader came, and nothing bad was said meanwhile."""
    page.locator(".q-notification", has_text=words).first.wait_for()
    assert page.locator(".q-notification.bg-negative").all_inner_texts() == []


@pytest.fixture
def project(running: RunningServer, tmp_path: Path) -> Path:
    return Path(shutil.copytree(make_project(tmp_path / "p"), running.root / f"momento-{tmp_path.name}"))


@pytest.fixture
def atenea(running: RunningServer, tmp_path: Path) -> Path:
    return Path(shutil.copytree(make_project(tmp_path / "p", ("atenea",)), running.root / f"momento-{tmp_path.name}"))


@pytest.fixture
def search(page: Page, running: RunningServer, project: Path) -> Page:
    """The page of the search."""
    open_page(page, running, f"/p/{project.name}/search")
    return page


def policy(folder: Path) -> dict[str, Any]:
    return dict(read_toml(folder / "celosia.toml").get("policy", {}))


def type_into(field: Locator, text: str) -> None:
    field.fill(text)
    field.blur()


# --- the search -----------------------------------------------------------------------------------


def test_a_policy_changed_again_while_it_is_saved_keeps_both_changes(search: Page, project: Path) -> None:
    at_once(search, (LIMIT, "7"), "Guardar", (K, "9"))
    expect_message(search, "Guardado en celosia.toml")
    at_once(search, "Guardar", "Guardar")
    expect_message(search, "No hay cambios que guardar")
    assert policy(project)["limit"] == 0.07
    assert {"criterion": "k", "k": 9} in policy(project)["criteria"]


def test_saving_twice_is_no_conflict_with_oneself_and_searching_does_not_wait_for_an_answer(
    search: Page, project: Path
) -> None:
    at_once(search, (LIMIT, "7"), "Guardar", "Guardar", "Buscar")
    expect_message(search, "No hay cambios que guardar")
    search.get_by_role("button", name="Generar candidato").wait_for(timeout=LONG)
    assert policy(project)["limit"] == 0.07


def test_a_slow_click_saves_though_the_form_grows_above_the_button(search: Page, project: Path) -> None:
    search.get_by_label(K).first.fill("1")
    search.get_by_role("button", name="Guardar", exact=True).click(delay=HELD)
    search.locator(".q-notification", has_text="Súbalo, o escriba el motivo").wait_for()


def test_a_reason_is_written_while_another_figure_is_taken(search: Page) -> None:
    type_into(search.get_by_label(K).first, "1")
    why = search.get_by_label("Motivo de pedir menos que la norma")
    why.wait_for()
    search.get_by_label("criterio", exact=True).select_option("t")
    search.get_by_role("button", name="+ Agregar").click()
    search.get_by_role("group", name="t-cercanía: DIAG").get_by_role("spinbutton").first.fill("0.4")
    why.click()
    search.keyboard.type("piloto interno de la casa", delay=20)
    assert why.input_value() == "piloto interno de la casa"


def test_work_that_ends_leaves_the_form_alone(search: Page) -> None:
    search.get_by_role("button", name="Calcular la frontera").click()
    field = search.get_by_label(LIMIT).first
    field.clear()
    field.press_sequentially("12")  # and not left: the page has not heard of it
    search.get_by_text("Los mismos puntos en una tabla").first.wait_for(timeout=LONG)
    assert field.input_value() == "12"


# --- treatments -----------------------------------------------------------------------------------


@pytest.fixture
def half_filled_form(search: Page) -> Locator:
    """The card of the treatments, with its form half filled in."""
    card = search.locator("section", has=search.get_by_role("heading", name="Tratamientos antes de la búsqueda"))
    card.get_by_text("Agregar un tratamiento").click()
    card.get_by_label("INGRESO", exact=True).first.check()
    type_into(card.get_by_label(re.compile("^Filas que debe tener")), "4")
    return card


def steps(project: Path) -> list[str]:
    return [step["technique"] for step in read_toml(project / "celosia.toml")["steps"]]


def test_a_double_click_adds_a_treatment_once(search: Page, half_filled_form: Locator, project: Path) -> None:
    at_once(search, "Agregar el tratamiento", "Agregar el tratamiento")
    expect_message(search, "Los tratamientos quedaron guardados")
    search.get_by_role("button", name="Proponer tratamientos").click()
    search.get_by_role("button", name="Adición de ruido para INGRESO").wait_for()
    assert steps(project) == ["microaggregate"]


def test_a_treatment_half_filled_in_outlives_proposals_and_those_that_are_taken(
    search: Page, half_filled_form: Locator, project: Path
) -> None:
    field = half_filled_form.get_by_label(re.compile("^Filas que debe tener"))
    field.focus()
    at_once(search, "Proponer tratamientos")
    search.keyboard.type("7")  # and not left
    taking = search.get_by_role("button", name="Adición de ruido para INGRESO")
    taking.wait_for()
    assert field.input_value().replace("4", "") == "7"
    taking.click()
    expect_message(search, "Los tratamientos quedaron guardados")
    assert steps(project) == ["noise"]
    assert half_filled_form.get_by_label("INGRESO", exact=True).first.is_checked()
    assert field.input_value().replace("4", "") == "7"


# --- the request ----------------------------------------------------------------------------------

ASKS, USE, SAVE = "¿Quién los solicita?", "¿Para qué se usarán?", "Guardar la solicitud"


def test_an_answer_given_while_the_request_is_saved_waits_for_the_next_saving(
    page: Page, running: RunningServer, atenea: Path
) -> None:
    open_page(page, running, f"/p/{atenea.name}/request")
    at_once(page, (ASKS, "Universidad"), SAVE, (USE, "estudio"))
    expect_message(page, "La solicitud quedó guardada")
    page.get_by_text("Hay cambios sin guardar").wait_for()
    assert page.get_by_label(USE).input_value() == "estudio"
    page.get_by_role("button", name=SAVE).click()
    page.get_by_text("Hay cambios sin guardar").wait_for(state="detached")
    assert (read_request(atenea).requester, read_request(atenea).use) == ("Universidad", "estudio")


def test_a_property_added_and_saved_in_one_breath_is_in_the_request(
    page: Page, running: RunningServer, atenea: Path
) -> None:
    open_page(page, running, f"/p/{atenea.name}/request")
    at_once(page, (ASKS, "Universidad"), ("Propiedad", "frequencies"), "Agregar", "Agregar", SAVE, SAVE)
    expect_message(page, "La solicitud quedó guardada")
    expect_message(page, "No hay cambios")
    assert read_request(atenea).properties == ({"property": "frequencies"},)


# --- the wizard -----------------------------------------------------------------------------------


@pytest.fixture
def reading(page: Page, running: RunningServer, tmp_path: Path) -> Page:
    """The second step of the wizard."""
    open_page(page, running, "/new")
    page.get_by_label("Archivo", exact=True).set_input_files(people(tmp_path / "momento.csv"))
    page.get_by_role("heading", name="Primeras filas").wait_for()
    return page


def test_a_reading_is_changed_and_left_in_one_breath(reading: Page) -> None:
    at_once(reading, ("Comillas", "'"), ("Codificación", "windows-1252"), "Continuar")
    reading.get_by_label("Dejar fuera RUN").wait_for()
    assert reading.locator(".q-notification").count() == 0
    reading.get_by_role("button", name="Lectura").click()
    reading.get_by_role("heading", name="Primeras filas").wait_for()
    assert reading.get_by_label("Comillas").input_value() == "'"
    assert reading.get_by_label("Codificación").input_value() == "windows-1252"


# --- work that runs -------------------------------------------------------------------------------


@pytest.fixture
def long_work(chromium: Browser, running: RunningServer) -> Iterator[Page]:
    """A page whose work takes a while and tells how far it is."""
    if not (running.root / "momento-largo").exists():
        every_page.minsal(running.root, "momento-largo", rows=30_000, run=False)
    with tab(chromium, running) as (page, heard):
        open_page(page, running, "/p/momento-largo/search")
        page.get_by_role("button", name="Calcular la frontera").click()
        page.locator(".c-work progress").wait_for()
        yield page
        assert heard.complaints == []


def test_a_slow_click_stops_work_that_goes_on_meanwhile(long_work: Page) -> None:
    progress = long_work.locator(".c-work progress")
    long_work.locator(".c-work").get_by_role("button", name="Cancelar").hover()
    long_work.mouse.down()
    at = progress.get_attribute("value")
    moved = "(at) => document.querySelector('.c-work progress')?.getAttribute('value') !== at"
    long_work.wait_for_function(moved, arg=at)
    long_work.mouse.up()
    long_work.get_by_text("Cancelado. El proyecto quedó como estaba.").wait_for()


def test_ones_own_work_does_not_wipe_what_is_answered_while_it_goes_on(
    page: Page, running: RunningServer, project: Path
) -> None:
    make_plan(project, now=NOW)
    run_plan(project, now=NOW)
    with write_claims_form(project).open("a", encoding="utf-8") as file:
        file.write("registro 3,prensa,cree saber quién es,high,,15,\n")
    open_page(page, running, f"/p/{project.name}/intruder")
    at_once(page, "Atacar", ("¿Acertó? registro 3", "no"))
    page.get_by_role("button", name="Actualizar la página").wait_for(timeout=LONG)
    assert page.get_by_label("¿Acertó? registro 3").input_value() == "no"
    page.get_by_role("button", name="Guardar las respuestas").click()
    page.get_by_role("heading", name="Veredicto").wait_for()  # saving loads the page anew, with what was found
    assert (read_claims(ProjectPaths(project).claims).rows, read_claims(ProjectPaths(project).claims).correct) == (1, 0)
    wait_until_connected(page)


# --- tables and documents -------------------------------------------------------------------------


@pytest.fixture
def stats(page: Page, running: RunningServer, tmp_path: Path) -> Page:
    """A table of more rows than a page shows, some of them hidden."""
    parts = (("alto", "bajo"), ("casa", "campo", "calle"), string.ascii_lowercase[:9])
    names = [" ".join(part) for part in itertools.product(*parts)]
    counts = {(name, sex): 3 if i % 10 == 0 else 9 for i, name in enumerate(names) for sex in "xy"}
    columns = (small_stats.category("sector", names), small_stats.category("sex", ["x", "y"]), small_stats.PERSONS)
    rows = small_stats.people(counts, ["sector", "sex"])
    home = small_stats.project(tmp_path, rows, small_stats.table("t", *columns))
    text = (home / "stats.toml").read_text("utf-8")
    (home / "stats.toml").write_text(text.replace("../personal", str(tmp_path / "personal")), "utf-8")
    run_stats(home, now=small_stats.NOW)
    shutil.copytree(home, running.root / f"momento-{tmp_path.name}")
    open_page(page, running, f"/s/momento-{tmp_path.name}/table/t__internal")
    return page


def test_a_table_shows_what_its_box_says_also_when_its_rows_are_turned_in_the_same_moment(stats: Page) -> None:
    rows, box = stats.get_by_role("status").filter(has_text="Filas"), "Mostrar solo las filas ocultas"
    for _ in range(4):  # two questions go side by side: whichever is answered last must not win
        rows.filter(has_text="Filas 1 a 40 de 165").wait_for()
        at_once(stats, (box, True), "Filas siguientes")
        rows.filter(has_text="Filas 1 a 12 de 12").wait_for()
        at_once(stats, (box, True))


def test_of_two_documents_the_one_asked_for_last_is_read(page: Page, running: RunningServer, atenea: Path) -> None:
    open_page(page, running, f"/p/{atenea.name}/dossier")
    title = page.locator("article.c-document h3").first
    for _ in range(2):  # at first both take as long as their processes take to begin
        at_once(page, "Leer: Análisis exploratorio", "Leer: Registro de la solicitud")
        title.filter(has_text="Registro de la solicitud").wait_for()
        with page.expect_download():  # which takes longer than reading the same: by then its answer came too
            page.get_by_role("button", name="Análisis exploratorio, PDF").click()
        assert title.inner_text() == "Registro de la solicitud"
