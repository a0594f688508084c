"""The pages of the request and of the risk: what is clicked is in the project's files, and figures are the norm's."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.model import dictionary
from celosia.model.variables import Role
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.project.edits import read_request
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.saved_reports import saved_report
from celosia.workbench.risk import risk_overview, risk_scenarios, risk_state
from tests.projects.steps import NOW
from tests.projects.survey import PLANTED, make_project
from tests.risk.guide_example import NAMES, guide_rows
from tests.web.actions import wait_until_connected
from tests.web.browser import NARROW, open_page, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]
SENTENCE = 60_000  # ms that a piece of work may take on a busy machine


@pytest.fixture
def guide(running: RunningServer, tmp_path: Path) -> Path:
    """The example of ATENEA's guide: 84 people, two variables."""
    source = tmp_path / "guia.csv"
    source.write_text("\n".join(";".join(row) for row in [NAMES, *guide_rows()]) + "\n", "utf-8")
    folder = running.root / f"guia-{tmp_path.name}"
    init(source, folder, ("atenea",), now=NOW)
    lines = [replace(v, role=Role.QUASI) for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    return folder


@pytest.mark.requirement("A13", "A14", "A16", "A17", "A18")
def test_a_scenario_built_on_the_page_gives_the_guides_line_and_its_report(chromium: Browser, running, guide: Path):
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{guide.name}/risk")
        page.get_by_text("Nuevo escenario").click()
        for name in NAMES:
            page.get_by_label(name, exact=True).check()
        page.get_by_role("button", name="Agregar el escenario").click()
        page.get_by_role("button", name=f"Quitar el escenario {', '.join(NAMES)}").wait_for()
        wait_until_connected(page)
        assert risk_state(guide).scenarios[0].variables == tuple(NAMES)
        page.get_by_role("button", name="Calcular los escenarios").click()
        report = page.get_by_role("region", name=re.compile("^Informe de riesgos"))
        report.wait_for(timeout=SENTENCE)
        wait_until_connected(page)
        assert "7 de 84 = 8,33 %" in report.inner_text()
        page.get_by_role("button", name=re.compile("^Tabla de frecuencias")).click()
        shown = page.get_by_role("region", name=re.compile("^Frecuencia e indicador"))
        shown.wait_for(timeout=SENTENCE)
        wait_until_connected(page)
        cells = [line.split("\t") for line in shown.locator("tbody").inner_text().splitlines()]
        risky = [cell[0].strip() for cell in cells if cell[-1].strip() == "en riesgo"]
        assert risky == ["8", "10", "11"]
        with page.expect_download() as download:
            page.get_by_role("button", name="Descargar en PDF").click()
        assert download.value.suggested_filename == "atenea_risk.pdf"
        assert heard.complaints == []


@pytest.mark.requirement("M28")
def test_the_overview_is_computed_on_request_and_said_to_be_old_when_a_role_changes(
    chromium: Browser, running, tmp_path
):
    folder = make_project(tmp_path / "p", ("atenea",)).rename(running.root / f"riesgo-{tmp_path.name}")
    with tab(chromium, running, NARROW, dark=True) as (page, heard):
        open_page(page, running, f"/p/{folder.name}/risk")
        page.get_by_role("button", name="Calcular: Panorama").click()
        page.get_by_role("button", name="Volver a calcular: Panorama").wait_for(timeout=SENTENCE)
        assert saved_report(folder, "risk_overview") is not None
        page.get_by_role("img", name=re.compile("^Gráfico de barras: grupos de 1: 0")).wait_for()
        text = page.inner_text("main")
        assert all(word in text for word in ("Individualización", "Vinculación", "Inferencia: DIAG"))
        assert "desactualizado" not in text
        lines = [replace(v, role=Role.PLAIN) if v.name == "ZONA" else v for v in open_project(folder).variables]
        (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
        open_page(page, running, f"/p/{folder.name}/risk")
        assert "desactualizado" in page.inner_text("main")
        assert PLANTED not in page.content()
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        assert heard.complaints == []


@pytest.mark.requirement("A01", "A02", "A03")
def test_the_form_says_what_is_missing_and_writes_the_request(chromium: Browser, running, guide: Path):
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{guide.name}/request")
        assert "Faltan por responder 11 puntos" in page.inner_text("main")
        page.get_by_label("¿Quién usará los datos?").select_option("external")
        page.get_by_label("¿Quién los solicita?").fill("Universidad")
        page.get_by_label("¿Qué funcionario").fill("Nora Gil")
        page.get_by_label("¿En qué fecha se recibió").fill("2026-10-01")
        page.get_by_label("¿Con qué nivel de agregación").fill("registro")
        page.get_by_label("¿Con qué autorización").fill("Convenio 3")
        page.get_by_label("¿Para qué se usarán?").fill("estudio")
        for name in NAMES:
            page.get_by_label(f"Se solicita {name}").check()
        page.get_by_label(f"No se puede difundir {NAMES[1]}").check()
        page.get_by_label("Propiedad", exact=True).select_option("frequencies")
        page.get_by_role("button", name="Agregar", exact=True).click()
        page.get_by_role("button", name="Quitar frecuencias").wait_for()
        page.get_by_label("¿La información está protegida").select_option("yes")
        page.get_by_label("¿Autorizaron su entrega").select_option("no")
        page.get_by_text("Hay cambios sin guardar").wait_for()
        page.get_by_role("button", name="Guardar la solicitud").click()
        page.get_by_text("Están respondidos todos los puntos").wait_for()
        written = read_request(guide)
        assert (written.kind, written.use, written.variables) == ("external", "estudio", NAMES)
        assert (written.limited, written.properties) == ((NAMES[1],), ({"property": "frequencies"},))
        assert heard.complaints == []


def test_two_tabs_that_write_the_request_do_not_overwrite_each_other(chromium: Browser, running, guide: Path):
    with tab(chromium, running) as (page, _), tab(chromium, running) as (other, _):
        for own_tab in (page, other):
            open_page(own_tab, running, f"/p/{guide.name}/request")
        for own_tab, use in ((page, "primero"), (other, "segundo")):
            own_tab.get_by_label("¿Para qué se usarán?").fill(use)
            own_tab.get_by_role("button", name="Guardar la solicitud").click()
            own_tab.get_by_role("alert").or_(own_tab.get_by_text("La solicitud quedó guardada")).first.wait_for()
        assert read_request(guide).use == "primero"
        assert other.get_by_label("¿Para qué se usarán?").input_value() == "segundo"  # nothing typed is lost


def test_a_variable_named_like_a_script_is_shown_as_text(chromium: Browser, running, tmp_path: Path):
    name = "<img src=x onerror=alert(1)>"
    source = tmp_path / "raro.csv"
    rows = [[name, "zona"], *([value, "sur"] for value in "AABBC")]
    source.write_text("\n".join(";".join(row) for row in rows) + "\n", "utf-8")
    folder = running.root / f"raro-{tmp_path.name}"
    init(source, folder, ("atenea",), now=NOW, header=True)
    lines = [replace(v, role=Role.QUASI) for v in open_project(folder).variables]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    risk_overview(folder, now=NOW)
    risk_scenarios(folder, now=NOW)
    with tab(chromium, running) as (page, heard):
        for step in ("risk", "request"):
            open_page(page, running, f"/p/{folder.name}/{step}")
            assert name in page.inner_text("main")
            assert page.locator("main img[src=x]").count() == 0
        assert (heard.dialogs, heard.complaints) == ([], [])


def test_reports_on_disk_are_private(guide: Path):
    risk_overview(guide, now=NOW)
    path = guide / "private" / "reports" / "risk_overview.json"
    assert path.stat().st_mode & 0o077 == 0
    assert json.loads(path.read_text("utf-8"))["document"]["found"]["units"] == 84
