"""The page of the result: the verdict in words, rows side by side, work whose report stays when the tab is closed."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.model import dictionary
from celosia.model.variables import Role, Scale, Treatment
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.saved_reports import saved_report
from tests.projects.steps import NOW
from tests.projects.survey import PLANTED, PUBLISHED, make_project, write_source
from tests.web.actions import wait_until_connected
from tests.web.browser import NARROW, open_page, tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]


@pytest.fixture
def project(running: RunningServer, tmp_path: Path) -> Path:
    folder = make_project(tmp_path / "p")
    make_plan(folder, k=4, now=NOW)
    run_plan(folder, now=NOW)
    place = running.root / f"resultado-{tmp_path.name}"
    shutil.copytree(folder, place)
    return place


@pytest.mark.requirement("M26", "A31")
def test_verdict_rules_and_rows_are_there_and_identifiers_are_not(
    chromium: Browser, running: RunningServer, project: Path
):
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{project.name}/result")
        text = page.inner_text("main")
        assert "CUMPLE" in text
        assert re.search(r"\d+ \(\d+,\d\d %\)", text)
        assert "4. Verificación y Validación" in text
        published = page.get_by_role("region", name="Publicado", exact=True)
        assert published.locator("tbody tr").count() == 20
        page.get_by_role("button", name="Filas siguientes").click()
        page.get_by_text("Filas 21 a 40 de 120").wait_for()
        page.get_by_label("Mostrar también").check()
        page.get_by_role("columnheader", name="NOMBRE").wait_for()
        assert page.get_by_role("region", name="Original", exact=True).get_by_text("•••").count() == 40
        assert PLANTED not in page.content()
        assert heard.complaints == []


@pytest.mark.requirement("A28")
def test_evaluating_keeps_a_report_and_shows_each_variable(chromium: Browser, running: RunningServer, project: Path):
    with tab(chromium, running, NARROW, dark=True) as (page, heard):
        open_page(page, running, f"/p/{project.name}/result")
        page.get_by_role("button", name="Evaluar", exact=True).click()
        page.get_by_role("button", name="Evaluar otra vez").wait_for(timeout=120_000)
        wait_until_connected(page)
        assert saved_report(project, "evaluation") is not None
        page.get_by_label("Variable", exact=True).select_option(label="DIAG")
        page.get_by_role("img", name="Distribución de «DIAG»").wait_for()
        assert "Ninguna técnica es absoluta" in page.inner_text("main")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide == 0
        assert heard.complaints == []


def test_a_changed_dictionary_is_told_before_anything_else(chromium: Browser, running: RunningServer, project: Path):
    lines = [replace(v, purpose="") if v.name == "ZONA" else v for v in open_project(project).variables]
    (project / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    with tab(chromium, running) as (page, _):
        open_page(page, running, f"/p/{project.name}/result")
        first = page.locator("main .c-note").first.inner_text()
        assert "DESACTUALIZADO" in first
        assert "cambió el diccionario" in first


def test_a_header_that_is_markup_is_read_as_words(chromium: Browser, running: RunningServer, tmp_path: Path):
    hostile = "<img src=x onerror=alert(1)>"
    source = write_source(tmp_path / "encuesta.csv")
    source.write_text(source.read_text("utf-8").replace("ZONA", hostile).replace("norte", "<b>n</b>"), "utf-8")
    folder = Path(init(str(source), tmp_path / "p", (), now=NOW).project.folder)
    wanted = {hostile if name == "ZONA" else name: role for name, role in PUBLISHED.items()}
    lines = [
        replace(
            v,
            label="x",
            role=wanted.get(v.name, Role.IDENTIFIER),
            scale=Scale.CATEGORICAL,
            purpose="estudio" if v.name in wanted else "",
            treatment=Treatment.KEEP if v.name in wanted else Treatment.REMOVE,
        )
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    place = running.root / f"hostil-{tmp_path.name}"
    shutil.copytree(folder, place)
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/p/{place.name}/result")
        assert page.get_by_role("columnheader", name=hostile).count() == 2
        assert page.locator("main img, main td b").count() == 0
        assert heard.dialogs == []
