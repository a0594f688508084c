"""The intruder with three accounts: one attacks, an outsider tries and hands over, another judges; nobody sees more."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.pipeline.small_project import NOW, PLANTED, make_project
from tests.web.browser import NARROW, WIDE, open_page
from tests.web.office import Office, employ, entered, office_at

from celosia.pipeline import act_as, intruder_view, make_plan, read_claims, run_plan
from celosia.web import _rights as rights

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]
PROJECT = "p"
CLAIM = "Cree que es la señora Peralta"
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with office_at(root, port) as made:
        yield made
    assert CLAIM not in made.said()
    assert "Traceback" not in made.said()


def go(page: Page, office: Office, step: str) -> None:
    open_page(page, office.served, f"/p/{PROJECT}/{step}")


def journal(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text("utf-8").splitlines()]


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


def attack(page: Page, office: Office) -> None:
    """Attack from the page, see the verdict and take the worksheet."""
    go(page, office, "intruder")
    page.get_by_text("Nadie ha atacado este candidato").wait_for()
    page.get_by_text("Opciones", exact=True).click()
    page.get_by_label("Personas que se intentan").select_option("100")
    page.get_by_role("button", name="Atacar", exact=True).click()
    page.get_by_role("heading", name="Veredicto").wait_for(timeout=180_000)
    page.wait_for_function("window.socket && window.socket.connected")
    page.get_by_text("Ver lo mismo en una tabla").click()
    assert page.get_by_role("table", name="Todos los ataques").is_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Descargar la planilla, XLSX").click()
    assert Path(download.value.path()).read_bytes()[:2] == b"PK"


def draft(page: Page) -> None:
    """Two records tried, kept as a draft."""
    page.get_by_role("link", name=PROJECT, exact=True).click()
    page.get_by_role("heading", name="Su tarea").wait_for()
    page.wait_for_function("window.socket && window.socket.connected")
    assert [one.strip() for one in page.locator("nav.c-steps a").all_inner_texts()] == ["Prueba del intruso"]
    first, second = page.locator("fieldset.i-record").nth(0), page.locator("fieldset.i-record").nth(1)
    first.get_by_label("Fuente usada").fill("prensa")
    first.get_by_label("Qué afirma").fill(CLAIM)
    first.get_by_label("Seguridad").select_option("high")
    second.get_by_label("Minutos").fill("15")
    page.get_by_role("button", name="Guardar borrador").click()
    page.wait_for_function("document.querySelector('input[name^=claim]')?.getAttribute('value')")
    page.wait_for_function("window.socket && window.socket.connected")


def hand_over(page: Page) -> None:
    """Sent only by whoever declares to know nothing of the data."""
    page.get_by_role("button", name="Enviar", exact=True).click()
    page.get_by_text("debe declarar que no conoce").wait_for()
    page.get_by_label("Declaro que no conozco").check()
    page.get_by_role("button", name="Enviar", exact=True).click()
    page.get_by_text("Ya envió sus intentos sobre 2 registros").wait_for()


def judge(page: Page, office: Office) -> None:
    """The one claim is answered."""
    go(page, office, "intruder")
    page.get_by_text("nadie ha juzgado (1)").wait_for()
    assert page.get_by_role("button", name="Atacar otra vez").count() == 0
    page.get_by_label("¿Acertó? Registro").select_option("no")
    looked_at(page, "juicio-wide-light")
    page.get_by_role("button", name="Guardar las respuestas").click()
    page.get_by_text("Intentos: 2; afirmaciones: 1; correctas: 0").first.wait_for()


@pytest.mark.requirement("M28", "M29")
def test_one_attacks_another_tries_and_a_third_judges(chromium: Browser, office: Office):
    folder = office.root / PROJECT
    with entered(chromium, office, "beto") as (page, heard):
        attack(page, office)
        looked_at(page, "intruso-wide-light")
        assert axe(page) == []
        assert heard.complaints == []
    assert intruder_view(folder).current
    with entered(chromium, office, "omar") as (page, heard):
        draft(page)
        assert not (folder / "claims.csv").exists()
        looked_at(page, "prueba-wide-light")
        assert axe(page) == []
        hand_over(page)
        assert heard.complaints == []
    assert CLAIM in (folder / "claims.csv").read_text("utf-8")
    with entered(chromium, office, "carla") as (page, heard):
        judge(page, office)
        assert axe(page) == []
        assert heard.complaints == []
    assert (read_claims(folder).rows, read_claims(folder).correct) == (2, 0)
    done = [
        (one["what"], one["who"]) for one in journal(folder) if one["what"] in ("intruder", "claims", "claims-judged")
    ]
    assert done == [("intruder", "Beto Soto"), ("claims", "Omar Rey"), ("claims-judged", "Carla Díaz")]
    assert CLAIM not in (folder / "journal.jsonl").read_text("utf-8")


@pytest.mark.requirement("M29")
@pytest.mark.parametrize("step", ["", "intruder", "data", "result", "dossier", "people"])
def test_an_outsider_opens_nothing_else(chromium: Browser, office: Office, step: str):
    with entered(chromium, office, "omar") as (page, _):
        answer = page.goto(f"{office.base}/p/{PROJECT}" + (f"/{step}" if step else ""))
        assert answer is not None
        assert answer.status == 403
        page.get_by_text("no incluye esta acción").wait_for()
    assert ("refused", "Omar Rey") in [(one["what"], one["who"]) for one in journal(office.root / PROJECT)]


@pytest.mark.requirement("M29")
def test_the_outsiders_pages_tell_nothing_of_the_house(chromium: Browser, office: Office):
    with entered(chromium, office, "omar", NARROW, dark=True) as (page, heard):
        told = page.content()
        go(page, office, "attempt")
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
        go(page, office, "intruder")
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
