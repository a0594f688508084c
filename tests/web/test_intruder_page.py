"""The intruder with three accounts: one attacks, an outsider tries and hands over, another judges; nobody sees more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipeline.small_project import NOW, PLANTED, make_project
from tests.web.browser import NARROW, WIDE
from tests.web.deeds import CLAIM, attack, done, draft, go, hand_over, judged, noted, read_claims_sent
from tests.web.office import Office, employ, entered, office_at

from celosia.pipeline import act_as, intruder_view, make_plan, read_claims, run_plan
from celosia.web import _rights as rights

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]
PROJECT = "p"
SCRIPT = Path(__file__).with_name("looks.js").read_text("utf-8")
PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A server with an executor, a verifier and an outsider, and a project with its candidate."""
    root = tmp_path_factory.mktemp("intruso") / "proyectos"
    root.mkdir()
    for login, name, role in (
        ("beto", "Beto Soto", "executor"), ("carla", "Carla Díaz", "verifier"), ("omar", "Omar Rey", "outsider"),
    ):  # fmt: skip
        employ(root, login, name, role)
    folder = make_project(root)
    act_as("Beto Soto")
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    act_as("")
    with office_at(root) as made:
        yield made
    assert CLAIM not in made.said()
    assert "Traceback" not in made.said()


def looked_at(page: Page, name: str) -> None:
    """Nothing overflows or overlaps; the picture is kept."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    page.evaluate(SCRIPT)
    assert page.evaluate("celosiaOverlaps()") == []


def axe(page: Page) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.requirement("M28", "M29")
def test_one_attacks_another_tries_and_a_third_judges(chromium: Browser, office: Office):
    folder = office.root / PROJECT
    with entered(chromium, office, "beto") as (page, heard):
        attack(page, office, PROJECT)
        looked_at(page, "intruso-wide-light")
        assert axe(page) == []
        assert heard.complaints == []
    assert intruder_view(folder).current
    with entered(chromium, office, "omar") as (page, heard):
        draft(page, PROJECT)
        assert not (folder / "claims.csv").exists()
        looked_at(page, "prueba-wide-light")
        assert axe(page) == []
        hand_over(page)
        assert heard.complaints == []
    assert CLAIM in (folder / "claims.csv").read_text("utf-8")
    with entered(chromium, office, "carla") as (page, heard):
        read_claims_sent(page, office, PROJECT)
        looked_at(page, "juicio-wide-light")
        judged(page)
        assert axe(page) == []
        assert heard.complaints == []
    assert (read_claims(folder).rows, read_claims(folder).correct) == (2, 0)
    assert done(folder, "intruder", "claims", "claims-judged") == [
        ("intruder", "Beto Soto"),
        ("claims", "Omar Rey"),
        ("claims-judged", "Carla Díaz"),
    ]
    assert CLAIM not in (folder / "journal.jsonl").read_text("utf-8")


@pytest.mark.requirement("M29")
@pytest.mark.parametrize("step", ["", "intruder", "data", "result", "dossier", "people"])
def test_an_outsider_opens_nothing_else(chromium: Browser, office: Office, step: str):
    with entered(chromium, office, "omar") as (page, _):
        answer = page.goto(f"{office.base}/p/{PROJECT}" + (f"/{step}" if step else ""))
        assert answer is not None
        assert answer.status == 403
        page.get_by_text("no incluye esta acción").wait_for()
    noted(office.root / PROJECT, "refused", "Omar Rey")


@pytest.mark.requirement("M29")
def test_the_outsiders_pages_tell_nothing_of_the_house(chromium: Browser, office: Office):
    with entered(chromium, office, "omar", NARROW, dark=True) as (page, heard):
        told = page.content()
        go(page, office, PROJECT, "attempt")
        looked_at(page, "prueba-narrow-dark")
        assert axe(page) == []
        told += page.content()
        with page.expect_download() as download:
            page.get_by_role("button", name="Descargar el archivo").click()
        assert Path(download.value.path()).read_bytes()[:2] == b"PK"
        assert heard.complaints == []
    for secret in (PLANTED, "NOMBRE", "RUT", str(office.root), "encuesta", "MINSAL", "minsal"):
        assert secret not in told


def test_the_intruders_page_can_be_read_on_a_telephone(chromium: Browser, office: Office):
    with entered(chromium, office, "carla", NARROW, dark=True) as (page, heard):
        go(page, office, PROJECT, "intruder")
        looked_at(page, "intruso-narrow-dark")
        assert axe(page) == []
        page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        assert heard.complaints == []


@pytest.mark.requirement("M29", "M38")
def test_who_attacks_who_tries_and_who_judges_are_different_roles():
    for role in ("executor", "verifier", "head"):
        assert not rights.may_do((role,), "send_claims")
        assert not rights.may_see((role,), "attempt")
    for verb in ("judge_claims", "received_claims", "intruder_view", "intrude_project", "save_worksheet"):
        assert not rights.may_do(("outsider",), verb)
    assert rights.may_do(("verifier",), "judge_claims")
    assert not rights.may_do(("verifier",), "intrude_project")
    assert not rights.may_do(("head",), "judge_claims")
