"""Two people at the page: MINSAL's Annex II-1 from the file to a checked candidate, and ATENEA's to its risk report.

Everything is clicked as its reader would click it; then the project's files are read as the command line reads them.
Source: MINSAL, Anexo II.1 (ARX); ATENEA guide G3_DE, 4.2.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from celosia.demo.synthetic.discharges import discharges
from celosia.demo.synthetic.surveys import education_requests
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.saved_reports import saved_report
from tests.projects.every_page import SEED
from tests.web.actions import PATIENCE, go_to, run_work, wait_until_connected
from tests.web.browser import Heard, open_page
from tests.web.serving import RunningServer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.web, pytest.mark.slow]

COLUMNS = (
    "SEXO",
    "EDAD_AÑOS",
    "PREVISION",
    "REGION",
    "PERTENENCIA_ESTABLECIMIENTO_SALUD",
    "MES_EGRESO",
    "CONDICION_EGRESO",
    "DIAG1",
    "DIAG2",
)
QUASI = tuple(name for name in COLUMNS if name not in ("MES_EGRESO", "DIAG1", "DIAG2"))


def write_csv(path: Path, table: pa.Table) -> Path:
    """`;` and UTF-8, as the annex has it."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return path


def import_file(
    page: Page, running: RunningServer, raw: Path, name: str, norm: str, leave_out: tuple[str, ...] = ()
) -> Path:
    """The wizard, from the list of projects to the new project's data."""
    open_page(page, running, "/")
    page.get_by_role("link", name="Importar datos").click()
    page.wait_for_url("**/new")
    page.wait_for_function("window.socket && window.socket.connected")
    page.get_by_label("Archivo", exact=True).set_input_files(raw)
    page.get_by_role("heading", name=f"Cómo se lee {raw.name}").wait_for()
    assert page.get_by_label("Separador").input_value() == ";"
    assert page.get_by_label("Codificación").input_value() == "utf-8"
    page.get_by_role("button", name="Continuar").click()
    page.get_by_role("heading", name="Columnas que quedan fuera").wait_for()
    for column in leave_out:
        page.get_by_label(f"Dejar fuera {column}", exact=True).check()
    page.get_by_role("button", name="Continuar").click()
    fill_field(page, "Nombre de la carpeta", name)
    page.get_by_label(re.compile(f"^{norm}: ")).check()
    page.get_by_role("button", name="Crear el proyecto").click()
    page.wait_for_url(f"**/p/{name}/data", timeout=PATIENCE)
    return running.root / name


def fill_field(page: Page, label: str, text: str) -> None:
    """Type into a field and leave it."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Tab")


# --- MINSAL -----------------------------------------------------------------------------------------


def _classify(page: Page) -> None:
    """Section 3: all are quasi-identifiers, then the two diagnoses are sensitive."""
    go_to(page, "Diccionario")
    page.get_by_text("Editar varias a la vez").click()
    page.get_by_role("button", name="Elegir todas las que se muestran").click()
    bulk = page.locator("details", has_text="Editar varias a la vez")
    bulk.get_by_label("Naturaleza", exact=True).select_option("quasi")
    bulk.get_by_label("Propósito", exact=True).fill("Datos abiertos de egresos")
    bulk.get_by_label("Propósito", exact=True).press("Tab")
    bulk.get_by_role("button", name="Aplicar a las elegidas").click()
    page.get_by_text(f"Variables con cambios sin guardar: {len(COLUMNS) - 1}.").wait_for()
    for name in ("DIAG1", "DIAG2"):
        page.get_by_label(f"Naturaleza de {name}", exact=True).select_option("sensitive")
        page.locator(".c-role-sensitive", has=page.get_by_label(f"Naturaleza de {name}", exact=True)).wait_for()
    page.get_by_role("button", name="Guardar los cambios").click()
    page.get_by_text(f"Variables guardadas: {len(COLUMNS) - 1}.").first.wait_for()


def _hierarchy(page: Page, variable: str, kind: str) -> None:
    page.get_by_role("button", name=variable, exact=True).click()
    page.get_by_role("heading", name=f"Jerarquía de {variable}").wait_for()
    page.get_by_label("Clase de jerarquía").select_option(kind)


def _set_bound(page: Page, variable: str, level: str) -> None:
    page.get_by_label("Nivel mínimo").select_option(level)
    page.get_by_label("Nivel máximo").select_option(level)
    page.get_by_role("button", name="Guardar la jerarquía").click()
    page.get_by_text(f"Guardada la jerarquía de «{variable}»").first.wait_for()


def _generalise(page: Page) -> None:
    """Sections 6 and 7: an order whose values stay as they are, and ages of 10, 20, 40… of which the first is used."""
    go_to(page, "Jerarquías")
    ownership = "PERTENENCIA_ESTABLECIMIENTO_SALUD"
    _hierarchy(page, ownership, "order")
    page.get_by_role("button", name="Ordenar a mano").wait_for()
    _set_bound(page, ownership, "0")
    _hierarchy(page, "EDAD_AÑOS", "intervals")
    page.get_by_label("Ancho", exact=True).wait_for()
    for label, number in (("Desde", "0"), ("Ancho", "10"), ("Cuántos se unen por nivel", "2")):
        fill_field(page, label, number)
    levels = page.get_by_role("region", name="Niveles de la jerarquía de EDAD_AÑOS")
    levels.get_by_text(re.compile("^0 a 9|^10 a 19|^20 a 29")).first.wait_for()
    _set_bound(page, "EDAD_AÑOS", "1")


def _criteria(page: Page) -> None:
    """Section 4: l-diversity for both diagnoses, k-anonymity, and a suppression limit of 100 %."""
    go_to(page, "Búsqueda")
    diversity = "l-diversidad (valores distintos): "
    for legend in ("k-anonimidad", f"{diversity}DIAG1", f"{diversity}DIAG2"):
        if page.locator("legend", has_text=legend).count() == 0:
            page.get_by_role("button", name="+ Agregar").click()
        page.locator("legend", has_text=legend).wait_for()
    fill_field(page, "Límite de supresión, porcentaje exacto", "100")


@pytest.mark.requirement("M22", "M23", "M24", "M26")
def test_the_annex_of_minsal_is_walked_on_the_page(page: Page, running: RunningServer, tmp_path: Path) -> None:
    raw = write_csv(tmp_path / "egresos_2020.csv", discharges(1_500, SEED).select(list(COLUMNS)))
    folder = import_file(page, running, raw, "EH_2020", "MINSAL", ("MES_EGRESO",))
    assert page.locator("thead", has_text="SEXO").count() > 0
    assert page.locator("thead", has_text="MES_EGRESO").count() == 0
    _classify(page)
    _generalise(page)
    _criteria(page)
    run_work(page, "Buscar", "Búsqueda del plan")
    run_work(page, "Generar candidato", "Generación del candidato")
    go_to(page, "Resultado")
    page.locator(".c-note.c-good", has_text="CUMPLE").wait_for()
    shown = page.locator("dl.c-figures div", has_text="Registros suprimidos").locator("dd").inner_text()
    assert re.fullmatch(r"\d+ \(\d{1,3},\d\d %\)", shown)
    run_work(page, "Verificar otra vez", "Verificación del candidato")
    page.get_by_text("el archivo es el mismo y cumple").wait_for()
    _is_as_asked(folder, shown)


def _is_as_asked(folder: Path, shown: str) -> None:
    """The written candidate, read by nobody's help."""
    with (folder / "private" / "candidate" / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == set(COLUMNS) - {"MES_EGRESO"}
    assert len(rows) == 1_500
    gone = [row for row in rows if all(row[name] == "*" for name in QUASI)]
    assert shown == f"{len(gone)} ({100 * len(gone) / len(rows):.2f} %)".replace(".", ",")
    remaining = [row for row in rows if row not in gone]
    assert remaining
    assert all(re.fullmatch(r"\d+ a \d+|\*?", row["EDAD_AÑOS"]) for row in remaining)
    assert {row["PERTENENCIA_ESTABLECIMIENTO_SALUD"] for row in remaining} <= {
        value.as_py() for value in discharges(1_500, SEED)["PERTENENCIA_ESTABLECIMIENTO_SALUD"].unique()
    }
    classes: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in remaining:
        classes.setdefault(tuple(row[name] for name in QUASI), []).append(row)
    assert min(map(len, classes.values())) >= 2
    roles = {line.name: str(line.role) for line in open_project(folder).variables}
    assert roles == dict.fromkeys(QUASI, "quasi") | {"DIAG1": "sensitive", "DIAG2": "sensitive"}
    assert "MES_EGRESO" not in (folder / "dictionary.csv").read_text("utf-8")


# --- ATENEA -----------------------------------------------------------------------------------------


@pytest.mark.requirement("A18")
def test_a_request_of_atenea_is_walked_to_its_risk_report(
    watched_page: tuple[Page, Heard], running: RunningServer, tmp_path: Path
) -> None:
    page, heard = watched_page
    raw = write_csv(tmp_path / "solicitudes.csv", education_requests(400, SEED))
    folder = import_file(page, running, raw, "becas", "ATENEA")
    go_to(page, "Riesgo")
    panorama = page.locator("section", has=page.get_by_role("heading", name="Panorama", exact=True))
    panorama.locator("button", has_text="Calcular").click()
    page.locator(".c-work .c-note.c-good", has_text="Panorama").wait_for(timeout=PATIENCE)
    page.get_by_text("Personas según el tamaño de su grupo").first.wait_for()
    wait_until_connected(page)
    page.get_by_role("button", name="Calcular los escenarios").click()
    page.get_by_role("region", name=re.compile("scenario|escenario", re.IGNORECASE)).first.wait_for(timeout=PATIENCE)
    wait_until_connected(page)
    with page.expect_download(timeout=PATIENCE) as waited:
        page.get_by_role("button", name="Descargar en Word").click()
    assert Path(waited.value.path()).read_bytes()[:2] == b"PK"
    report = saved_report(folder, "risk_scenarios")
    assert report is not None
    assert not report.stale
    assert heard.complaints == []
    assert heard.dialogs == []
