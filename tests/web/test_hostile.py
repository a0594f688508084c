"""Data and names that try to become part of the page: they are shown as the words they are, on every page."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.model import dictionary
from celosia.model.variables import Role
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.profile import profile_report
from celosia.pipeline.project.folder import open_project
from celosia.web.ui.page import STEPS
from celosia.workbench.risk import risk_overview, risk_scenarios, risk_special
from tests.projects.every_page import SEARCH_AND_RUN, run_operations
from tests.web.browser import Heard, open_page, tab
from tests.web.conftest import PLANTED
from tests.web.serving import RunningServer, running_server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.web

PROJECT = "Ñandú 1.2 - año"
SCRIPT = "<script>window.pwned=1</script>"
PICTURE = '<img src=x onerror="window.pwned=2">'
DRAWING = '"><svg onload=window.pwned=3>'
TEMPLATE = "{{1234*4321}}"
COMPUTED = "5332114"
ADDRESS = "javascript:window.pwned=4"
FORMULA = '=HYPERLINK("http://evil.example","x")'
HEADERS = ("NOMBRE", SCRIPT, PICTURE, TEMPLATE, ADDRESS, FORMULA, "`${window.pwned=5}`", "EDAD")
VALUES = (SCRIPT, PICTURE, DRAWING, TEMPLATE, ADDRESS, FORMULA, "@SUM(1+1)", "+cmd|' /C calc'!A0")
FOLDERS = ("<img src=x onerror=window.pwned=6>", "a&b=c#d?e", "{{1234*4321}}", "año %2e%2e")


def path_of(step: str) -> str:
    """The address of a step of the hostile project."""
    return f"/p/{PROJECT}" + ("" if step == "overview" else f"/{step}")


def write_hostile(path: Path, rows: int = 240) -> Path:
    """A file whose headers and values are all attempts."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(HEADERS)
        for i in range(rows):
            name = PLANTED if i == 7 else f"Persona {i}"
            row = [VALUES[(i + i // 8 * j) % (2 + j % 3)] for j in range(len(HEADERS) - 2)]
            writer.writerow([name, *row, 20 + i % 40])
    return path


def _hostile_project(root: Path) -> None:
    raw = write_hostile(root.parent / "hostil.csv")
    folder = init(str(raw), root / PROJECT, ("minsal",), header=True).project.folder
    quasi = {SCRIPT, PICTURE, TEMPLATE, "EDAD"}
    lines = [
        replace(
            line,
            label=PICTURE + TEMPLATE,
            purpose=SCRIPT if line.name != "NOMBRE" else "",
            role=Role.IDENTIFIER if line.name == "NOMBRE" else Role.QUASI if line.name in quasi else Role.SENSITIVE,
        )
        for line in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    reports = (profile_report, risk_overview, risk_scenarios, risk_special)
    run_operations(folder, (*reports, *SEARCH_AND_RUN))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    root = tmp_path_factory.mktemp("hostil") / "proyectos"
    root.mkdir()
    for name in FOLDERS:
        (root / name).mkdir()
        (root / name / "celosia.toml").write_text('format = "celosia/project/1"\n', "utf-8")
    _hostile_project(root)
    with running_server(root) as running:
        yield running
    assert PLANTED not in running.errors.read_text("utf-8") + "".join(running.spoken)


@pytest.fixture
def visitor(chromium: Browser, hostile: RunningServer) -> Iterator[tuple[Page, Heard]]:
    with tab(chromium, hostile) as visitor_tab:
        yield visitor_tab
        page, heard = visitor_tab
        assert_unharmed(page, heard)


def assert_unharmed(page: Page, heard: Heard) -> None:
    """Nothing of the data runs, nothing of it became an element, nothing of it was computed, nobody was called."""
    assert page.evaluate("window.pwned") is None
    assert heard.dialogs == []
    assert heard.complaints == []
    assert page.locator("main :is(script, iframe, object, embed, img[src='x'], svg[onload], [onerror])").count() == 0
    assert page.locator("main a[href^='javascript:'], main a[href*='evil.example']").count() == 0
    assert COMPUTED not in page.inner_text("body")


@pytest.mark.parametrize("path", ["/", "/new", *(path_of(step) for step in STEPS)])
def test_hostile_data_is_shown_as_words(visitor: tuple[Page, Heard], hostile: RunningServer, path: str) -> None:
    page, heard = visitor
    open_page(page, hostile, path)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.wait_for_timeout(300)
    assert_unharmed(page, heard)
    assert page.get_by_text("Falla interna").count() == 0


def test_a_hostile_file_goes_through_the_wizard_as_words(
    visitor: tuple[Page, Heard], hostile: RunningServer, tmp_path: Path
) -> None:
    page, heard = visitor
    raw = write_hostile(tmp_path / "<img src=x onerror=window.pwned=8>.csv")
    open_page(page, hostile, "/new")
    page.get_by_label("Archivo", exact=True).set_input_files(raw)
    page.get_by_role("heading", name=re.compile("^Cómo se lee ")).wait_for()
    page.get_by_label("Encabezado").select_option("yes")
    page.locator("th", has_text=PICTURE).first.wait_for()
    assert_unharmed(page, heard)
    assert PLANTED not in page.content()
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label(f"Dejar fuera {PICTURE}", exact=True).check()
    assert_unharmed(page, heard)
    page.get_by_role("button", name="Continuar").click()
    page.get_by_label("Nombre de la carpeta").wait_for()
    assert_unharmed(page, heard)


def test_the_evidence_and_the_detail_of_a_hostile_variable_are_words(
    visitor: tuple[Page, Heard], hostile: RunningServer
) -> None:
    page, heard = visitor
    open_page(page, hostile, f"/p/{PROJECT}/dictionary")
    page.get_by_label(f"Por qué se propone así {PICTURE}", exact=True).hover()
    page.get_by_label(f"Detalle de {PICTURE}", exact=True).click()
    page.locator("dialog[open]").wait_for()
    assert_unharmed(page, heard)


@pytest.mark.parametrize("step", ["dictionary", "risk", "hierarchies"])
def test_a_hostile_header_is_seen_as_it_is_written(
    visitor: tuple[Page, Heard], hostile: RunningServer, step: str
) -> None:
    page, _ = visitor
    open_page(page, hostile, f"/p/{PROJECT}/{step}")
    assert page.get_by_text(PICTURE).count() + page.get_by_text(SCRIPT).count() > 0


def test_a_planted_name_is_shown_by_no_page_that_is_not_the_door(
    visitor: tuple[Page, Heard], hostile: RunningServer
) -> None:
    page, _ = visitor
    for step in STEPS:
        open_page(page, hostile, path_of(step))
        assert PLANTED not in page.content()


@pytest.mark.parametrize("name", [*FOLDERS, "</title><script>window.pwned=7</script>"])
def test_a_hostile_name_in_the_address_is_words_too(
    visitor: tuple[Page, Heard], hostile: RunningServer, name: str
) -> None:
    from urllib.parse import quote

    page, heard = visitor
    page.goto(f"{hostile.base}/p/{quote(name, safe='')}")
    page.wait_for_timeout(300)
    expected = ("404:", "console error: Failed to load")  # there is no such project
    heard.complaints = [line for line in heard.complaints if not line.startswith(expected)]
