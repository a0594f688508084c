"""The intruder with three accounts: one attacks, an outsider tries and hands over, another judges; nobody sees more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.model.paths import ProjectPaths
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.author import act_as
from celosia.web.server import rights
from celosia.workbench.intruder import intruder_view
from celosia.workbench.operations import intruder
from tests.projects.steps import NOW
from tests.projects.survey import PLANTED, make_project
from tests.web.actions import (
    CLAIM,
    acts_in_journal,
    attack,
    draft,
    go,
    hand_over,
    read_claims_sent,
    save_judgement,
    wait_until_noted,
)
from tests.web.browser import NARROW, WIDE
from tests.web.operations import may
from tests.web.shared_server import SharedServer, employ, logged_in_tab, shared_server_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]
PROJECT = "p"
SCRIPT = Path(__file__).parents[1].joinpath("layout.js").read_text("utf-8")
PICTURES = Path(__file__).resolve().parents[3] / "build" / "screenshots"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A server with an executor, a verifier and an outsider, and a project with its candidate."""
    root = tmp_path_factory.mktemp("intruso") / "proyectos"
    root.mkdir()
    for login, name, role in (
        ("beto", "Beto Soto", "executor"),
        ("carla", "Carla Díaz", "verifier"),
        ("omar", "Omar Rey", "outsider"),
    ):
        employ(root, login, name, role)
    folder = make_project(root / "p")
    act_as("Beto Soto")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    act_as("")
    with shared_server_at(root) as made:
        yield made
    assert CLAIM not in made.terminal_output()
    assert "Traceback" not in made.terminal_output()


def looked_at(page: Page, name: str) -> None:
    """Nothing overflows or overlaps; the picture is kept."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    page.evaluate(SCRIPT)
    assert page.evaluate("celosiaOverlaps()") == []


def axe(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:160]}"
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]


@pytest.mark.requirement("M28", "M29")
def test_one_attacks_another_tries_and_a_third_judges(chromium: Browser, shared: SharedServer):
    folder = shared.root / PROJECT
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        attack(page, shared, PROJECT)
        looked_at(page, "intruso-wide-light")
        assert axe(page) == []
        assert heard.complaints == []
    assert intruder_view(folder).current
    with logged_in_tab(chromium, shared, "omar") as (page, heard):
        draft(page, PROJECT)
        assert not (folder / "claims.csv").exists()
        looked_at(page, "prueba-wide-light")
        assert axe(page) == []
        hand_over(page)
        assert heard.complaints == []
    assert CLAIM in (folder / "claims.csv").read_text("utf-8")
    with logged_in_tab(chromium, shared, "carla") as (page, heard):
        read_claims_sent(page, shared, PROJECT)
        looked_at(page, "juicio-wide-light")
        save_judgement(page)
        assert axe(page) == []
        assert heard.complaints == []
    assert (read_claims(ProjectPaths(folder).claims).rows, read_claims(ProjectPaths(folder).claims).correct) == (2, 0)
    assert acts_in_journal(folder, "intruder", "claims", "claims-judged") == [
        ("intruder", "Beto Soto"),
        ("claims", "Omar Rey"),
        ("claims-judged", "Carla Díaz"),
    ]
    assert CLAIM not in (folder / "journal.jsonl").read_text("utf-8")


@pytest.mark.requirement("M29")
@pytest.mark.parametrize("step", ["", "intruder", "data", "result", "dossier", "people"])
def test_an_outsider_opens_nothing_else(chromium: Browser, shared: SharedServer, step: str):
    with logged_in_tab(chromium, shared, "omar") as (page, _):
        answer = page.goto(f"{shared.base}/p/{PROJECT}" + (f"/{step}" if step else ""))
        assert answer is not None
        assert answer.status == 403
        page.get_by_text("no incluye esta acción").wait_for()
    wait_until_noted(shared.root / PROJECT, "refused", "Omar Rey")


@pytest.mark.requirement("M29")
def test_the_outsiders_pages_tell_nothing_of_the_house(chromium: Browser, shared: SharedServer):
    with logged_in_tab(chromium, shared, "omar", NARROW, dark=True) as (page, heard):
        content = page.content()
        go(page, shared, PROJECT, "attempt")
        looked_at(page, "prueba-narrow-dark")
        assert axe(page) == []
        content += page.content()
        with page.expect_download() as download:
            page.get_by_role("button", name="Descargar el archivo").click()
        assert Path(download.value.path()).read_bytes()[:2] == b"PK"
        assert heard.complaints == []
    for secret in (PLANTED, "NOMBRE", "RUT", str(shared.root), "encuesta", "MINSAL", "minsal"):
        assert secret not in content


def test_the_intruders_page_can_be_read_on_a_telephone(chromium: Browser, shared: SharedServer):
    with logged_in_tab(chromium, shared, "carla", NARROW, dark=True) as (page, heard):
        go(page, shared, PROJECT, "intruder")
        looked_at(page, "intruso-narrow-dark")
        assert axe(page) == []
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        assert heard.complaints == []


@pytest.mark.requirement("M29", "M38")
def test_who_attacks_who_tries_and_who_judges_are_different_roles():
    for role in ("executor", "verifier", "head"):
        assert not may(role, intruder.send_claims)
        assert not rights.may_see((role,), "attempt")
    for name in ("judge_claims", "received_claims", "intruder_view", "intrude_project", "save_worksheet"):
        assert not may("outsider", getattr(intruder, name))
    assert may("verifier", intruder.judge_claims)
    assert not may("verifier", intruder.intrude_project)
    assert not may("head", intruder.judge_claims)
