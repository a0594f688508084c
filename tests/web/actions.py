"""What people do on the pages of a shared project, each deed as a hand would do it: go there, make a key, sign, attack,
try as an outsider, judge, begin long work and wait for it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.projects.steps import PHRASE
from tests.web.browser import open_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.shared_server import SharedServer

PATIENCE = 240_000  # ms for a piece of long work on a busy machine
CLAIM = "Cree que es la señora Peralta"


def go(page: Page, shared: SharedServer, project: Path | str, step: str) -> None:
    """Open a page of a project by its address."""
    open_page(page, shared.running, f"/p/{Path(project).name}/{step}")


def go_to(page: Page, step: str) -> None:
    """Follow the menu of the steps."""
    page.get_by_role("navigation", name="Pasos del proyecto").get_by_role("link", name=step, exact=True).click()
    page.locator("main h1", has_text=step).wait_for()
    wait_until_connected(page)


def wait_until_connected(page: Page) -> None:
    """Wait until the page has its channel, after it was loaded anew."""
    page.wait_for_function("window.socket && window.socket.connected")


def run_work(page: Page, button: str, verb: str) -> None:
    """Begin long work and wait until the page says that it ended well."""
    page.get_by_role("button", name=button, exact=True).click()
    page.locator(".c-work .c-note.c-good", has_text=verb).wait_for(timeout=PATIENCE)


def journal(project: Path) -> list[dict[str, object]]:
    """Every line of a project's journal."""
    return [json.loads(line) for line in (project / "journal.jsonl").read_text("utf-8").splitlines()]


def acts_in_journal(project: Path, *what: str) -> list[tuple[object, object]]:
    """What was done of these, and by whom, in order; all of it where nothing is named."""
    return [(entry["what"], entry["who"]) for entry in journal(project) if not what or entry["what"] in what]


def wait_until_noted(project: Path, what: str, who: str) -> None:
    """Wait until the journal has a line that a page leaves to be written behind it."""
    until = time.monotonic() + PATIENCE / 1000
    while (what, who) not in acts_in_journal(project):
        assert time.monotonic() < until, f"no line of {who}: {what}"
        time.sleep(0.05)


# --- keys and signatures ----------------------------------------------------------------------------


def make_own_key(page: Page, shared: SharedServer, project: Path | str) -> None:
    """Make one's key on the page of the people."""
    go(page, shared, project, "people")
    page.get_by_label("Frase de paso", exact=True).fill(PHRASE)
    page.get_by_label("Frase de paso, otra vez").fill(PHRASE)
    page.get_by_role("button", name="Hacer mi clave").click()
    page.get_by_role("button", name="Descargar mi tarjeta").wait_for()
    wait_until_connected(page)


def join(page: Page, name: str) -> None:
    """Add an account to the project, from the page of the people."""
    page.get_by_role("button", name=f"Agregar a {name}").click()
    page.get_by_role("rowheader", name=name).wait_for()
    wait_until_connected(page)


def sign_roster(page: Page, phrase: str = PHRASE) -> None:
    """Sign into the roster everybody who waits, from the page of the people."""
    button = page.get_by_role("button", name="Firmar la nómina con estas personas")
    form = page.locator("form", has=button)
    form.get_by_label("Frase de paso").fill(phrase)
    button.click()
    button.wait_for(state="detached")
    wait_until_connected(page)


def review(page: Page, label: str) -> None:
    """Look at what is to be signed."""
    page.get_by_role("button", name=f"Revisar y firmar: {label}").click()
    page.get_by_text("Resumen de lo que se firma").wait_for()


def sign(page: Page, label: str, phrase: str = PHRASE) -> None:
    """Look at what is to be signed, and sign it."""
    review(page, label)
    page.get_by_label("Frase de paso").fill(phrase)
    page.locator(".c-signing button[type=submit]").click()


def sign_form(page: Page, label: str) -> None:
    """Sign, and see the page come back without the form."""
    sign(page, label)
    page.locator(".c-signing").wait_for(state="detached")
    wait_until_connected(page)


def vouch(page: Page, label: str, note: str) -> None:
    """Sign what is not signed without a note, which the form says."""
    review(page, label)
    field = page.locator(".c-signing").get_by_label("cómo le consta")
    assert field.get_attribute("required") is not None
    field.fill(note)
    page.get_by_label("Frase de paso").fill(PHRASE)
    page.locator(".c-signing button[type=submit]").click()
    page.locator(".c-signing").wait_for(state="detached")
    wait_until_connected(page)


# --- the intruder -----------------------------------------------------------------------------------


def attack(page: Page, shared: SharedServer, project: Path | str) -> None:
    """Attack from the page, see the verdict and take the worksheet."""
    go(page, shared, project, "intruder")
    page.get_by_text("Nadie ha atacado este candidato").wait_for()
    page.get_by_text("Opciones", exact=True).click()
    page.get_by_label("Personas que se intentan").select_option("100")
    page.get_by_role("button", name="Atacar", exact=True).click()
    page.get_by_role("heading", name="Veredicto").wait_for(timeout=PATIENCE)
    wait_until_connected(page)
    page.get_by_text("Ver lo mismo en una tabla").click()
    assert page.get_by_role("table", name="Todos los ataques").is_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Descargar la planilla, XLSX").click()
    assert Path(download.value.path()).read_bytes()[:2] == b"PK"


def draft(page: Page, project: Path | str, attempts: int = 2, minutes: int = 15) -> None:
    """From the list of projects: some records tried, a claim on the first of them, kept as a draft."""
    page.get_by_role("link", name=Path(project).name, exact=True).click()
    page.get_by_role("heading", name="Su tarea").wait_for()
    wait_until_connected(page)
    assert [step.strip() for step in page.locator("nav.c-steps a").all_inner_texts()] == ["Prueba del intruso"]
    records = page.locator("fieldset.i-record")
    first = records.first
    first.get_by_label("Fuente usada").fill("prensa")
    first.get_by_label("Qué afirma").fill(CLAIM)
    first.get_by_label("Seguridad").select_option("high")
    for place in range(1, attempts):
        records.nth(place).get_by_label("Minutos").fill(str(minutes))
    page.get_by_role("button", name="Guardar borrador").click()
    page.wait_for_function("document.querySelector('input[name^=claim]')?.getAttribute('value')")
    wait_until_connected(page)


def hand_over(page: Page, attempts: int = 2) -> None:
    """Sent only by whoever declares to know nothing of the data."""
    page.get_by_role("button", name="Enviar", exact=True).click()
    page.get_by_text("debe declarar que no conoce").wait_for()
    page.get_by_label("Declaro que no conocía").check()
    page.get_by_role("button", name="Enviar", exact=True).click()
    page.get_by_text(f"Ya envió sus intentos sobre {attempts} registros").wait_for()


def read_claims_sent(page: Page, shared: SharedServer, project: Path | str) -> None:
    """The one claim is answered, and not yet kept."""
    go(page, shared, project, "intruder")
    page.get_by_text("nadie ha juzgado (1)").wait_for()
    assert page.get_by_role("button", name="Atacar otra vez").count() == 0
    page.get_by_label("¿Acertó? Registro").select_option("no")


def save_judgement(page: Page, attempts: int = 2) -> None:
    """Keep the answer."""
    page.get_by_role("button", name="Guardar las respuestas").click()
    page.get_by_text(f"Intentos: {attempts}; afirmaciones: 1; correctas: 0").first.wait_for()
    wait_until_connected(page)
