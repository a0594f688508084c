"""The pages of statistical tables: run now, hidden cells with their reason, intervals for some, lineage, history."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.stats.intervals import find_intervals
from celosia.stats.run import run_stats
from celosia.workbench.operations import stats
from tests.stats.small_stats import HEAD, NOW, PERSONS, category, people, project, table
from tests.web.actions import wait_until_connected, wait_until_noted
from tests.web.browser import NARROW, open_page, tab
from tests.web.operations import may
from tests.web.shared_server import SharedServer, employ, logged_in_tab, shared_server_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.web.serving import RunningServer

pytestmark = [pytest.mark.web, pytest.mark.slow]

HOSTILE = "<img src=x onerror=alert(1)>"
COUNTS = {("A", "x"): 12, ("A", "y"): 9, (HOSTILE, "x"): 3, (HOSTILE, "y"): 7, ("C", "x"): 8, ("C", "y"): 6}
TABLE = table("t", category("sector", ["A", HOSTILE, "C"]), category("sex", ["x", "y"]), PERSONS, title='"Prueba"')
NAME = "t__internal"


def _make_stats(root: Path, scratch: Path, name: str, ran: bool = True) -> Path:
    """A STATS folder under a root; PERSONAL stays outside."""
    (scratch / name).mkdir()
    made = project(scratch / name, people(COUNTS, ["sector", "sex"]), TABLE)
    text = (made / "stats.toml").read_text("utf-8")
    (made / "stats.toml").write_text(
        text.replace("../personal.duckdb", str(scratch / name / "personal.duckdb")), "utf-8"
    )
    if ran:
        run_stats(made, now=NOW)
    return Path(shutil.copytree(made, root / name))


@pytest.mark.requirement("Y16", "Y28")
def test_tables_are_run_from_the_page_and_the_list_of_projects_leads_there(
    chromium: Browser, running: RunningServer, tmp_path: Path
) -> None:
    home = _make_stats(running.root, tmp_path, "tablas", ran=False)
    with tab(chromium, running) as (page, heard):
        open_page(page, running, "/")
        page.get_by_role("link", name="tablas", exact=True).click()
        page.get_by_text("sin ejecutar").wait_for()
        wait_until_connected(page)
        page.get_by_role("button", name="Ejecutar ahora").click()
        page.get_by_text("Todas las reglas se cumplen").wait_for()
        wait_until_connected(page)
        page.get_by_role("button", name="Atacar").click()
        page.get_by_text("No se aprende nada").wait_for()
        page.get_by_role("link", name="Ejecuciones").click()
        page.get_by_role("cell", name="terminada").wait_for()
        assert "45" in page.inner_text("table")  # rows read
        assert heard.complaints == []
    assert (home / "private" / "reports" / "check.json").is_file()


@pytest.mark.requirement("Y16", "Y21")
def test_a_hidden_cell_tells_its_reason_on_hover_and_by_keyboard_and_its_interval(
    chromium: Browser, running: RunningServer, tmp_path: Path
) -> None:
    home = _make_stats(running.root, tmp_path, "celdas")
    with tab(chromium, running) as (page, heard):
        open_page(page, running, f"/s/{home.name}/table/{NAME}")
        small = page.get_by_role("row").filter(has_text=HOSTILE).filter(has_text="pequeña")
        button = small.get_by_role("button")
        tip = small.get_by_role("tooltip", include_hidden=True)
        assert button.inner_text().endswith("oculto")
        assert not tip.is_visible()
        button.hover()
        assert "menos de 5 personas" in tip.inner_text()
        page.mouse.move(0, 0)
        button.focus()
        assert tip.is_visible()
        assert button.get_attribute("aria-describedby") == tip.get_attribute("id")
        page.get_by_role("button", name="Calcular los intervalos").click()
        page.get_by_role("columnheader", name="Posible").wait_for()
        wait_until_connected(page)
        page.get_by_label("Mostrar solo las filas ocultas").check()
        page.get_by_text("publicada", exact=True).first.wait_for(state="detached")
        assert page.locator("main img").count() == 0
        assert heard.complaints == []
        assert heard.dialogs == []


@pytest.mark.requirement("Y24", "Y25")
def test_catalogue_and_lineage_fit_a_small_dark_screen(
    chromium: Browser, running: RunningServer, tmp_path: Path
) -> None:
    home = _make_stats(running.root, tmp_path, "linaje")
    with tab(chromium, running, NARROW, dark=True) as (page, heard):
        for part, words in (("", "Para uso interno"), ("/catalogue", "Tablas de PERSONAL"), ("/history", "terminada")):
            open_page(page, running, f"/s/{home.name}{part}")
            page.get_by_text(words).first.wait_for()
            assert _too_wide(page) == 0
        open_page(page, running, f"/s/{home.name}/lineage")
        picture = page.get_by_role("img", name="Linaje de Prueba")
        assert picture.locator("g.s-stats").count() == 4
        assert picture.locator("path").count() == 8
        assert "people.user_id" in picture.inner_html()
        assert _too_wide(page) == 0
        assert heard.complaints == []


def test_a_missing_variable_is_named_and_running_waits_for_it(
    chromium: Browser, running: RunningServer, tmp_path: Path
) -> None:
    head = HEAD.replace("../personal.duckdb", "env:CELOSIA_TEST_PERSONAL")
    home = project(tmp_path, people(COUNTS, ["sector", "sex"]), TABLE, head=head)
    place = Path(shutil.copytree(home, running.root / "sin-variable"))
    with tab(chromium, running) as (page, _):
        open_page(page, running, f"/s/{place.name}")
        assert "CELOSIA_TEST_PERSONAL" in page.inner_text(".c-note.c-warning")
        assert page.get_by_role("button", name="Ejecutar ahora").is_disabled()


def _too_wide(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


# --- several people --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A shared server with one STATS folder and four accounts."""
    root = tmp_path_factory.mktemp("estadisticas") / "proyectos"
    root.mkdir()
    scratch = root.parent / "personal"
    scratch.mkdir()
    home = _make_stats(root, scratch, "censo")
    find_intervals(home, NAME)
    for login, role in (("beto", "executor"), ("vera", "verifier"), ("jefa", "head"), ("otra", "outsider")):
        employ(root, login, login.capitalize(), role)
    with shared_server_at(root) as made:
        yield made


@pytest.mark.requirement("Y16", "Y21")
def test_who_executes_sees_reason_and_interval_and_may_run(chromium: Browser, shared: SharedServer) -> None:
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        open_page(page, shared.running, f"/s/censo/table/{NAME}")
        page.get_by_role("columnheader", name="Posible").wait_for()
        small = page.get_by_role("row").filter(has_text="oculta: pequeña")
        assert small.count() == 1
        assert "menos de 5 personas" in (small.locator("[role=tooltip]").text_content() or "")
        assert "no se le dice cuál" not in page.inner_text("main")
        open_page(page, shared.running, "/s/censo")
        assert page.get_by_role("button", name="Ejecutar ahora").is_enabled()
        assert heard.complaints == []


@pytest.mark.requirement("Y16")
def test_who_verifies_sees_reason_and_interval_and_the_head_what_readers_see(
    chromium: Browser, shared: SharedServer
) -> None:
    with logged_in_tab(chromium, shared, "vera") as (page, _):
        page.goto(f"{shared.base}/s/censo/table/{NAME}")
        page.get_by_role("columnheader", name="Posible").wait_for()
        assert page.get_by_text("oculta: pequeña").count() == 1
        page.goto(f"{shared.base}/s/censo")
        page.get_by_role("button", name="Revisar", exact=True).wait_for()
        assert page.get_by_role("button", name="Ejecutar ahora").count() == 0
    with logged_in_tab(chromium, shared, "jefa") as (page, _):
        page.goto(f"{shared.base}/s/censo/table/{NAME}")
        page.get_by_text("oculta", exact=True).first.wait_for()
        assert page.get_by_role("columnheader", name="Posible").count() == 0
        assert page.get_by_text("oculta: pequeña").count() == 0
        tips = page.locator("[role=tooltip]").all_text_contents()
        assert all("no se le dice cuál" in tip for tip in tips)


def test_an_outsider_is_refused_every_page_and_the_journal_says_so(chromium: Browser, shared: SharedServer) -> None:
    with logged_in_tab(chromium, shared, "otra") as (page, _):
        assert page.get_by_role("link", name="censo").count() == 0
        for part in ("", "/catalogue", "/lineage", "/history", f"/table/{NAME}"):
            answer = page.goto(f"{shared.base}/s/censo{part}")
            assert answer is not None
            assert answer.status == 403
            assert page.locator("table").count() == 0
    wait_until_noted(shared.root / "censo", "refused", "Otra")
    lines = [json.loads(line) for line in (shared.root / "censo" / "journal.jsonl").read_text("utf-8").splitlines()]
    assert {(line["who"], line["facts"]["what"]) for line in lines if line["what"] == "refused"} == {("Otra", "stats")}


def test_only_who_executes_runs_and_only_some_see_intervals() -> None:
    assert may("executor", stats.run_now)
    for role in ("verifier", "head", "lead", "delegate", "outsider"):
        assert not may(role, stats.run_now)
    for role in ("head", "lead", "delegate", "outsider"):
        assert not may(role, stats.stats_intervals)
        assert not may(role, stats.find_intervals)
    for role in ("executor", "verifier", "owner"):
        assert may(role, stats.stats_intervals)
