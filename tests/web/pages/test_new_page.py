"""The import wizard and the page of the data: veiled from the first look, wrong files said by their line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.saved_reports import saved_report
from tests.web.actions import wait_until_connected
from tests.web.browser import open_page
from tests.web.conftest import PLANTED

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]
SCRIPT = "<img src=x onerror=alert(1)>"
Send = Callable[[Path], None]


def people(path: Path, delimiter: str = ";", rows: int = 45, extra: str = "zona") -> Path:
    """A file of people, one of them with a name that may not be seen."""
    lines = [delimiter.join(("RUN", "NOMBRE", "SEXO", "EDAD", extra))]
    for i in range(rows):
        name = PLANTED if i == 0 else f"Persona Inventada{i}"
        cells = (f"{11111111 + i}-K", name, "HM"[i % 2], str(20 + i % 30), "norte" if i % 3 else "sur <b>1</b>")
        lines.append(delimiter.join(cells))
    path.write_text("\n".join(lines) + "\n", "latin-1")
    return path


@pytest.fixture
def send(page: Page, running: RunningServer) -> Send:
    """Opens the wizard and sends a file."""

    def send_file(path: Path) -> None:
        open_page(page, running, "/new")
        page.get_by_label("Archivo", exact=True).set_input_files(path)

    return send_file


def cells(page: Page) -> str:
    """What the table of rows shows."""
    return page.get_by_role("region", name="Tabla de las primeras filas").inner_text()


def to_the_end(page: Page) -> None:
    """From the second step to the last, leaving nothing out."""
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label("Dejar fuera RUN").wait_for()
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label("Nombre de la carpeta").wait_for()


@pytest.mark.requirement("M01")
def test_a_file_becomes_a_project_and_no_name_is_ever_seen(
    page: Page, running: RunningServer, send: Send, tmp_path: Path
) -> None:
    send(people(tmp_path / "Mis personas.csv"))
    page.get_by_role("heading", name="Primeras filas").wait_for()
    assert "•••" in cells(page)
    assert "sur <b>1</b>" in cells(page)
    assert PLANTED not in page.content()
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label("Dejar fuera zona").check()
    page.get_by_role("button", name="Continuar").click()
    assert page.get_by_label("Nombre de la carpeta").input_value() == "mis-personas"
    page.get_by_label("MINSAL: datos abiertos").check()
    page.get_by_role("button", name="Crear el proyecto").click()
    page.wait_for_url("**/p/mis-personas/data", timeout=120_000)
    page.get_by_text("Filas 1 a 20 de 45").wait_for()
    wait_until_connected(page)
    page.get_by_role("button", name="Últimas").click()
    page.get_by_text("Filas 41 a 45 de 45").wait_for()
    assert PLANTED not in page.content()
    config = open_project(running.root / "mis-personas").config
    assert config.protocols == ("minsal",)
    assert config.source.choices.dropped == ("zona",)
    assert config.source.choices.delimiter == ";"
    open_page(page, running, "/")
    page.get_by_role("link", name="mis-personas").wait_for()


def test_the_profile_is_kept_for_the_next_who_looks(
    page: Page, running: RunningServer, send: Send, tmp_path: Path
) -> None:
    send(people(tmp_path / "perfil.csv"))
    to_the_end(page)
    page.get_by_role("button", name="Crear el proyecto").click()
    page.wait_for_url("**/p/perfil/data", timeout=120_000)
    page.get_by_role("button", name="Calcular el perfil").wait_for()
    wait_until_connected(page)
    page.get_by_role("button", name="Calcular el perfil").click()
    page.get_by_role("button", name="Calcular de nuevo").wait_for(timeout=120_000)
    saved = saved_report(running.root / "perfil", "profile")
    assert saved is not None
    assert saved.document["rows"] == 45
    assert PLANTED not in page.content()


def test_a_wrong_choice_is_said_with_the_line_and_can_be_taken_back(page: Page, send: Send, tmp_path: Path) -> None:
    path = people(tmp_path / "texto.csv")
    path.write_text(path.read_text("latin-1").replace("norte", "norte, o cerca", 1), "latin-1")
    send(path)
    page.get_by_role("heading", name="Primeras filas").wait_for()
    page.get_by_label("Separador").select_option(",")
    fault = page.get_by_role("alert")
    fault.wait_for()
    said = fault.inner_text()
    assert "La línea 3 de «texto.csv»" in said  # the private folder of the upload is nobody's business
    page.get_by_label("Separador").select_option(";")
    page.get_by_role("heading", name="Primeras filas").wait_for()


def test_a_file_that_cannot_be_read_at_all_is_named_as_it_was_sent(page: Page, send: Send, tmp_path: Path) -> None:
    path = tmp_path / "vacío.csv"
    path.touch()
    send(path)
    content = page.locator(".q-notification").inner_text()
    assert "El archivo «vacío.csv» está vacío" in content
    assert "hasta 8 MB" in page.locator("#main").inner_text()


def test_a_dictionary_that_cannot_be_read_is_named_as_it_was_sent(page: Page, send: Send, tmp_path: Path) -> None:
    send(people(tmp_path / "con diccionario.csv"))
    to_the_end(page)
    wrong = tmp_path / "diccionario.xlsx"
    wrong.write_text("<html></html>", "utf-8")
    page.get_by_label("Archivo del diccionario").set_input_files(wrong)
    page.get_by_text("diccionario.xlsx", exact=False).first.wait_for()
    page.get_by_role("button", name="Crear el proyecto").click()
    message = page.get_by_role("alert")
    message.wait_for(timeout=120_000)
    assert "«diccionario.xlsx»" in message.inner_text()


def test_a_script_in_a_header_is_a_name_like_any_other(
    page: Page, running: RunningServer, send: Send, tmp_path: Path
) -> None:
    send(people(tmp_path / "guion.csv", extra=SCRIPT))
    page.get_by_role("heading", name="Primeras filas").wait_for()
    assert SCRIPT in cells(page)
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label(f"Dejar fuera {SCRIPT}").wait_for()
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label("Nombre de la carpeta").wait_for()
    page.get_by_role("button", name="Crear el proyecto").click()
    page.wait_for_url("**/p/guion/data", timeout=120_000)
    page.get_by_role("columnheader", name=SCRIPT).wait_for()
    assert page.locator("img[src=x]").count() == 0


def test_a_file_of_the_folder_and_its_tables_are_chosen_without_uploading(page: Page, running: RunningServer) -> None:
    with sqlite3.connect(running.root / "base.sqlite") as connection:
        for name in ("primera", "segunda"):
            connection.execute(f"CREATE TABLE {name} (sexo, edad)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", [("HM"[i % 2], 20 + i) for i in range(30)])
        connection.execute("UPDATE segunda SET sexo = 'X'")
    connection.close()
    open_page(page, running, "/new")
    page.get_by_label("Archivo de la carpeta de proyectos").select_option("base.sqlite")
    page.get_by_role("button", name="Usar este archivo").click()
    page.get_by_label("Hoja o tabla").select_option("segunda")
    page.get_by_role("cell", name="X").first.wait_for()


@pytest.mark.parametrize("address", ["postgresql://ana:secretisima@localhost/base", "/etc/passwd", "env:NO_HAY"])
def test_an_address_that_cannot_be_used_is_refused_and_not_repeated(
    page: Page, running: RunningServer, address: str
) -> None:
    open_page(page, running, "/new")
    page.get_by_label("Dirección").fill(address)
    page.get_by_role("button", name="Conectar").click()
    page.locator(".q-notification").wait_for()
    assert "secretisima" not in page.inner_text("body")
    assert not any("secretisima" in line for line in running.spoken)


def test_what_is_no_table_is_refused_at_the_door(page: Page, send: Send, tmp_path: Path) -> None:
    (tmp_path / "nada.csv").write_bytes(b"\x00\x01" * 500)
    send(tmp_path / "nada.csv")
    page.locator(".q-notification").wait_for()
    page.get_by_text("Un archivo de este equipo").wait_for()


def test_a_dictionary_is_asked_for_where_the_norm_asks(page: Page, send: Send, tmp_path: Path) -> None:
    send(people(tmp_path / "base.csv"))
    to_the_end(page)
    page.get_by_label("MEL: evaluaciones").check()
    page.get_by_role("button", name="Crear el proyecto").click()
    page.get_by_role("alert").get_by_text("diccionario").wait_for()
    (tmp_path / "d.csv").write_text("variable,descripción\nRUN,a\nNOMBRE,b\nSEXO,c\nEDAD,d\nzona,e\n", "utf-8")
    page.get_by_label("Archivo del diccionario").set_input_files(tmp_path / "d.csv")
    page.get_by_text("Diccionario recibido: d.csv").wait_for()
    page.get_by_role("button", name="Crear el proyecto").click()
    page.wait_for_url("**/p/base/data", timeout=120_000)


def test_a_demonstration_is_one_click_away(page: Page, running: RunningServer) -> None:
    open_page(page, running, "/")
    page.get_by_label("Demostración de").select_option("atenea")
    page.get_by_role("button", name="Crear demostración").click()
    page.wait_for_url("**/p/demo-atenea/data", timeout=120_000)
    assert open_project(running.root / "demo-atenea").config.protocols == ("atenea",)
