"""The page of the dictionary: what waits to be saved, what somebody else saved first, exceptions, files in and out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.model.variables import Role, Treatment
from celosia.pipeline.candidate.approvals import approve, valid_approvals
from celosia.pipeline.candidate.mel import annotated_dictionary
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import open_project
from celosia.workbench.dictionary_edit import edit_dictionary
from tests.projects import survey
from tests.web.browser import HELD, open_page, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def project(running: RunningServer, tmp_path: Path) -> Path:
    """A small survey whose towns have 80 and 30 people."""
    lines = [f"DOCUMENTO,MUNICIPIO,SEXO,EDAD,{HOSTILE}"]
    lines += [
        f"{10_000_000 + 37 * i},{'Granada' if i < 80 else 'Mesetas'},{1 + i % 2},{18 + i % 50},{i % 4}"
        for i in range(110)
    ]
    base, described = tmp_path / "base.csv", tmp_path / "diccionario.csv"
    base.write_text("\n".join(lines) + "\n", "utf-8")
    described.write_text("\n".join(["variable,etiqueta", *(f"{n},{n}" for n in lines[0].split(","))]) + "\n", "utf-8")
    folder = init(base, tmp_path / "p", ("mel", "atenea"), described).project.folder
    return Path(shutil.copytree(folder, running.root / f"diccionario-{tmp_path.name}"))


def open_dictionary(page: Page, running: RunningServer, project: Path) -> None:
    open_page(page, running, f"/p/{project.name}/dictionary")
    page.get_by_text("categorías; la menor").first.wait_for()  # the areas are counted after the page opened


def variable_of(project: Path, name: str):
    return next(v for v in open_project(project).variables if v.name == name)


def fill(page: Page, label: str, text: str) -> None:
    page.get_by_label(label, exact=True).fill(text)
    page.get_by_label(label, exact=True).press("Tab")


def save(page: Page) -> None:
    page.get_by_role("button", name="Guardar los cambios").click()
    page.get_by_text("Variables guardadas:").wait_for()


@pytest.mark.requirement("M01", "M06")
def test_nothing_is_written_before_saving_and_all_of_it_after(
    page: Page, running: RunningServer, project: Path
) -> None:
    open_dictionary(page, running, project)
    before = digest_of_file(project / "dictionary.csv")
    page.get_by_label("Naturaleza de SEXO", exact=True).select_option("sensitive")
    fill(page, "Propósito de SEXO", "estudio")
    page.get_by_text("Variables con cambios sin guardar: 1.").wait_for()
    assert digest_of_file(project / "dictionary.csv") == before
    assert page.locator("td.c-role-sensitive").count() == 1
    save(page)
    assert (variable_of(project, "SEXO").role, variable_of(project, "SEXO").purpose) == (Role.SENSITIVE, "estudio")


IN_ONE_BREATH = """() => {
  const tell = (label, value) => {
    const field = document.querySelector(`[aria-label="${label}"]`);
    field.value = value;
    field.dispatchEvent(new Event("change", {bubbles: true}));
  };
  tell("Naturaleza de SEXO", "sensitive");
  tell("Propósito de SEXO", "estudio");
  tell("Tratamiento de SEXO", "generalise");
  [...document.querySelectorAll("button")].find((one) => one.textContent.includes("Guardar los cambios")).click();
}"""


def test_what_is_typed_and_saved_in_one_breath_is_all_kept(page: Page, running: RunningServer, project: Path) -> None:
    open_dictionary(page, running, project)
    fill(page, "Propósito de EDAD", "vigilancia")
    page.get_by_text("Variables con cambios sin guardar: 1.").wait_for()
    page.evaluate(IN_ONE_BREATH)
    page.get_by_text("Variables guardadas:").wait_for()
    sex = variable_of(project, "SEXO")
    assert (sex.role, sex.purpose, sex.treatment) == (Role.SENSITIVE, "estudio", Treatment.GENERALISE)
    assert variable_of(project, "EDAD").purpose == "vigilancia"


def test_a_slow_click_right_after_typing_saves(page: Page, running: RunningServer, project: Path) -> None:
    """Pressing the button leaves the field, which tells its change: the button must be the same on release."""
    open_dictionary(page, running, project)
    fill(page, "Propósito de EDAD", "vigilancia")
    page.get_by_text("Variables con cambios sin guardar: 1.").wait_for()
    page.get_by_label("Propósito de SEXO", exact=True).press_sequentially("estudio")
    page.get_by_role("button", name="Guardar los cambios").click(delay=HELD)
    page.get_by_text("Variables guardadas: 2").wait_for()
    assert variable_of(project, "SEXO").purpose == "estudio"


def test_what_is_put_back_is_no_change(page: Page, running: RunningServer, project: Path) -> None:
    open_dictionary(page, running, project)
    role = page.get_by_label("Naturaleza de SEXO", exact=True)
    old = role.input_value()
    role.select_option("sensitive")
    page.get_by_text("Variables con cambios sin guardar").wait_for()
    role.select_option(old)
    page.get_by_text("Variables con cambios sin guardar").wait_for(state="detached")


def test_whoever_saves_second_is_told_and_loses_nothing(page: Page, running: RunningServer, project: Path) -> None:
    open_dictionary(page, running, project)
    page.get_by_label("Naturaleza de SEXO", exact=True).select_option("sensitive")
    fill(page, "Propósito de EDAD", "mi propósito")
    page.get_by_text("Variables con cambios sin guardar: 2.").wait_for()
    edit_dictionary(project, {"SEXO": {"role": "plain"}, "MUNICIPIO": {"purpose": "de otra persona"}})
    page.get_by_role("button", name="Guardar los cambios").click()
    page.get_by_role("button", name="Recargar y conservar mis cambios").click()
    page.get_by_text("Usted y la otra persona cambiaron lo mismo en: SEXO").wait_for()
    assert page.get_by_label("Naturaleza de SEXO", exact=True).input_value() == "sensitive"
    assert page.get_by_label("Propósito de EDAD", exact=True).input_value() == "mi propósito"
    assert page.get_by_label("Propósito de MUNICIPIO", exact=True).input_value() == "de otra persona"
    assert variable_of(project, "SEXO").role == Role.PLAIN
    save(page)
    assert variable_of(project, "SEXO").role == Role.SENSITIVE
    assert variable_of(project, "MUNICIPIO").purpose == "de otra persona"


@pytest.mark.requirement("M06")
def test_a_filter_and_a_bulk_edit_touch_the_chosen_rows_only(page: Page, running: RunningServer, project: Path) -> None:
    open_dictionary(page, running, project)
    page.get_by_label("Buscar por nombre o etiqueta").fill("ed")
    page.get_by_text("Se muestran 1 de 5").wait_for()
    page.get_by_text("Editar varias a la vez").click()
    page.get_by_role("button", name="Elegir todas las que se muestran").click()
    page.get_by_text("Variables elegidas: 1.").wait_for()
    bulk = page.locator("details[open]")
    bulk.get_by_label("Tratamiento").select_option("generalise")
    bulk.get_by_label("Propósito").fill("vigilancia")
    page.get_by_role("button", name="Aplicar a las elegidas").click()
    save(page)
    assert [v.name for v in open_project(project).variables if v.purpose == "vigilancia"] == ["EDAD"]
    assert variable_of(project, "EDAD").treatment == Treatment.GENERALISE


@pytest.mark.requirement("A10", "A11")
def test_the_three_answers_give_the_class_beside_what_was_measured(
    page: Page, running: RunningServer, project: Path
) -> None:
    open_dictionary(page, running, project)
    page.get_by_role("button", name="Detalle de DOCUMENTO").click()
    window = page.get_by_role("dialog", name="DOCUMENTO")
    window.get_by_text("110 valores distintos (100,00 % de las filas)").wait_for()
    for question in ("¿Es replicable?", "¿Es distinguible?", "¿Es conocible?"):
        window.get_by_label(question).select_option("yes")
    window.get_by_text("Resultado: identificador directo.").wait_for()
    window.get_by_label("¿Es conocible?").select_option("no")
    window.get_by_text("Resultado: no confidencial.").wait_for()
    window.get_by_text("No cumple: conocible.").wait_for()
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Detalle de DOCUMENTO"
    save(page)
    assert variable_of(project, "DOCUMENTO").traits.knowable is False


@pytest.mark.requirement("P07", "P09")
def test_an_exception_without_reason_is_refused_in_its_window_and_with_one_is_written(
    page: Page, running: RunningServer, project: Path
) -> None:
    edit_dictionary(project, {"MUNICIPIO": {"treatment": "keep", "purpose": "evaluación"}})
    open_dictionary(page, running, project)
    page.get_by_role("button", name="Detalle de MUNICIPIO").click()
    window = page.get_by_role("dialog", name="MUNICIPIO")
    window.get_by_text("la menor tiene 30 unidades").wait_for()
    window.get_by_role("button", name="Exceptuar").click()
    window.get_by_text("escriba el motivo").first.wait_for()
    assert annotated_dictionary(open_project(project)).exceptions == {}
    window.get_by_label("Motivo de la excepción").fill("Lo pide el contrato")
    window.get_by_role("button", name="Exceptuar").click()
    window.get_by_text("Lo pide el contrato").wait_for()
    assert annotated_dictionary(open_project(project)).exceptions == {"MUNICIPIO": "Lo pide el contrato"}


@pytest.mark.requirement("M02")
def test_the_evidence_is_heard_and_seen_without_a_mouse(page: Page, running: RunningServer, project: Path) -> None:
    open_dictionary(page, running, project)
    asked = page.get_by_role("button", name="Por qué se propone así DOCUMENTO")
    message = page.locator(f"#{asked.get_attribute('aria-describedby')}")
    assert not message.is_visible()
    asked.focus()
    assert message.is_visible()
    assert message.inner_text() == variable_of(project, "DOCUMENTO").evidence


@pytest.mark.requirement("M08")
def test_the_dictionary_goes_out_as_a_workbook_and_comes_back(
    page: Page, running: RunningServer, project: Path, tmp_path: Path
) -> None:
    open_dictionary(page, running, project)
    with page.expect_download() as waited:
        page.get_by_role("button", name="Descargar .xlsx").click()
    taken = tmp_path / waited.value.suggested_filename
    waited.value.save_as(taken)
    edit_dictionary(project, {"EDAD": {"purpose": "se perderá"}})
    page.reload()
    page.get_by_text("categorías; la menor").first.wait_for()
    page.get_by_text("Importar un diccionario editado").first.click()
    page.locator("input[type=file]").set_input_files(taken)
    page.get_by_text("Líneas que cambiaron: 1.").wait_for()
    assert variable_of(project, "EDAD").purpose == ""


def test_a_hostile_name_is_shown_as_it_is_and_does_nothing(page: Page, running: RunningServer, project: Path) -> None:
    open_dictionary(page, running, project)
    assert page.locator("table.d-table").get_by_text(HOSTILE, exact=True).first.is_visible()
    page.get_by_role("button", name=f"Detalle de {HOSTILE}").click()
    page.get_by_role("dialog").get_by_role("heading", name=HOSTILE).wait_for()


def test_an_edit_that_would_cancel_an_approval_says_so_before_and_after(
    page: Page, running: RunningServer, tmp_path: Path
) -> None:
    folder = survey.make_project(tmp_path / "p", ("atenea",))
    head = survey.add_people(folder, eva=["head"])["eva"]
    approve(folder, "dictionary", head, "head")
    project = Path(shutil.copytree(folder, running.root / f"aprobado-{tmp_path.name}"))
    open_page(page, running, f"/p/{project.name}/dictionary")
    page.get_by_text("Está aprobado: el diccionario.").wait_for()
    fill(page, "Propósito de ZONA", "otro")
    page.get_by_role("button", name="Guardar y dejar sin efecto la aprobación").click()
    page.get_by_text("Quedó sin efecto la aprobación de: el diccionario.").wait_for()
    page.get_by_text("Está aprobado: el diccionario.").wait_for(state="detached")
    assert valid_approvals(open_project(project), "dictionary") == ()


def test_leaving_with_something_unsaved_asks_first(chromium: Browser, running: RunningServer, project: Path) -> None:
    with tab(chromium, running) as (page, heard):
        open_dictionary(page, running, project)
        page.get_by_label("Naturaleza de SEXO", exact=True).select_option("sensitive")
        page.get_by_text("Variables con cambios sin guardar").wait_for()
        with page.expect_event("dialog"):
            page.get_by_role("link", name="Datos").click(no_wait_after=True)
        assert heard.dialogs == ["beforeunload"]
        assert page.url.endswith("/dictionary")
