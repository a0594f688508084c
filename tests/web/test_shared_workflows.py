"""Whole walks of several people on one server: MEL through its approvals to the delivery, MINSAL to the publication.

Each person has an account, a key and a tab of their own; what one role may not do is tried, refused and noted. At the
end the files are read as the command line reads them. Sources: MEL IV.2 to IV.4; MINSAL Roles 1, Verificación 4.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nicegui import core

from celosia.model.paths import ProjectPaths
from celosia.pipeline.candidate.approvals import valid_approvals
from celosia.pipeline.candidate.claims import read_claims
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.author import act_as
from celosia.pipeline.project.errors import PeopleMissing
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import load_identity
from celosia.pipeline.release.mel_delivery import delivered_files
from celosia.pipeline.release.publication_entry import next_review
from celosia.pipeline.release.status import status
from celosia.pipeline.release.verify import verify_release
from celosia.web.errors import NotYourRole
from celosia.web.server.server import Server
from celosia.web.server.sessions import Sessions
from celosia.web.ui.context import PageContext
from celosia.web.work.jobs import Jobs
from celosia.web.work.workers import Pool
from celosia.workbench.accounts import key_path
from celosia.workbench.operations import dossier as operations
from celosia.workbench.signing_keys import approve_with_key, key_card, make_key
from tests.projects import household_survey
from tests.projects.discharges import make_project
from tests.projects.steps import NOW, PHRASE
from tests.web.actions import (
    CLAIM,
    PATIENCE,
    acts_in_journal,
    attack,
    draft,
    go,
    go_to,
    hand_over,
    join,
    journal,
    make_own_key,
    read_claims_sent,
    run_work,
    save_judgement,
    sign_form,
    sign_roster,
    vouch,
    wait_until_connected,
)
from tests.web.shared_server import SharedServer, employ, logged_in_tab, shared_server_at
from tests.web.threads import run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]

HEAD, EXECUTOR, VERIFIER, OUTSIDER, LEAD = "Ana Rojas", "Beto Soto", "Carla Díaz", "Omar Rey", "Lucía Paz"
ACCOUNTS = (
    ("ana", HEAD, "head"),
    ("beto", EXECUTOR, "executor"),
    ("carla", VERIFIER, "verifier"),
    ("omar", OUTSIDER, "outsider"),
    ("lucia", LEAD, "lead"),
)
DICTIONARY, CANDIDATE, RESIDUAL = "el diccionario anotado", "el candidato", "el riesgo que queda"
INTRUDER, ATTEMPTS = "la prueba del intruso motivado", 10  # the least that MINSAL's protocol asks for, with 60 minutes
TODAY = datetime.now(UTC).date()
FOUR = ("public/data.csv", "public/dictionary.csv", "restricted/data.csv", "restricted/dictionary.csv")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A shared server with five accounts and nobody's key."""
    root = tmp_path_factory.mktemp("gente") / "proyectos"
    root.mkdir()
    for login, name, role in ACCOUNTS:
        employ(root, login, name, role)
    with shared_server_at(root) as made:
        yield made
    for secret in (PHRASE, CLAIM, "Traceback"):
        assert secret not in made.terminal_output()


@pytest.fixture(autouse=True)
def nobody_acts() -> Iterator[None]:
    """What a test does for somebody ends with it."""
    yield
    act_as("")


def has_button(page: Page, name: str) -> bool:
    return page.get_by_role("button", name=name).count() > 0


# --- MEL --------------------------------------------------------------------------------------------


@pytest.fixture
def survey(shared: SharedServer, tmp_path: Path) -> Path:
    """What the executor prepared: a household survey with its annotated dictionary and its request."""
    act_as(EXECUTOR)
    folder = household_survey.make_project(tmp_path / "evaluacion")
    household_survey.answer_request(folder)
    return Path(shutil.move(folder, shared.root / "evaluacion"))


@pytest.mark.requirement("P09", "P10", "P12", "P13", "P16", "P17")
def test_mel_is_approved_by_another_account_and_delivered(
    chromium: Browser, shared: SharedServer, survey: Path
) -> None:
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        _cannot_approve(page, shared, survey)
        assert heard.complaints == []
    _verb_is_refused(shared, survey)
    with logged_in_tab(chromium, shared, "carla") as (page, _):
        make_own_key(page, shared, survey)
    with logged_in_tab(chromium, shared, "lucia") as (page, heard):
        _lead_joins_everybody(page, shared, survey)
        _lead_reads_and_approves(page, shared, survey)
        assert heard.complaints == []
    first = valid_approvals(open_project(survey), "dictionary")
    assert [(release.name, release.role) for release in first] == [(LEAD, "lead")]
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        _edits(page, shared, survey)
        _is_stopped(page, shared, survey)
        assert heard.complaints == []
    assert valid_approvals(open_project(survey), "dictionary") == ()
    with logged_in_tab(chromium, shared, "lucia") as (page, heard):
        go(page, shared, survey, "dossier")
        page.get_by_text("En el diccionario cambiaron: OPINION.").wait_for()
        sign_form(page, DICTIONARY)
        assert heard.complaints == []
    assert len(valid_approvals(open_project(survey), "dictionary")) == 1
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        _runs_and_contrasts(page, shared, survey)
        assert heard.complaints == []
    for login, what in (("lucia", RESIDUAL), ("carla", CANDIDATE)):
        _signs(chromium, shared, survey, login, what)
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        release = _releases(page, shared, survey)
        run_work(page, "Armar la entrega", "Armado de la entrega")
        sign_form(page, release.name)
        assert heard.complaints == []
    _signs(chromium, shared, survey, "carla", release.name)
    with logged_in_tab(chromium, shared, "lucia") as (page, heard):
        go(page, shared, survey, "dossier")
        page.get_by_text("La entrega está en la carpeta «delivery»").wait_for()
        assert not has_button(page, "Armar la entrega")
        sign_form(page, release.name)
        assert page.get_by_label("Consulta al DEIS").count() == 0
        _publishes(page)
        assert heard.complaints == []
    _is_delivered(survey)


def _signs(chromium: Browser, shared: SharedServer, project: Path, login: str, what: str) -> None:
    with logged_in_tab(chromium, shared, login) as (page, heard):
        go(page, shared, project, "dossier")
        sign_form(page, what)
        assert heard.complaints == []


def _cannot_approve(page: Page, shared: SharedServer, project: Path) -> None:
    """Who prepared has a key, reads the dictionary, and finds no way to approve it."""
    make_own_key(page, shared, project)
    assert not has_button(page, "Agregar a")
    go(page, shared, project, "dossier")
    page.get_by_role("heading", name="El diccionario anotado").wait_for()
    page.get_by_text("falta aprobarlo").first.wait_for()
    assert not has_button(page, "Revisar y firmar")
    _is_stopped(page, shared, project)


def _is_stopped(page: Page, shared: SharedServer, project: Path) -> None:
    """A plan may be searched; nothing is applied before the approval."""
    go(page, shared, project, "search")
    run_work(page, "Buscar", "Búsqueda del plan")
    page.get_by_role("button", name="Generar candidato").click()
    page.locator(".c-work .c-note.c-bad").wait_for(timeout=PATIENCE)
    assert DICTIONARY in page.inner_text(".c-work")
    assert not (project / "private" / "candidate" / "data.csv").exists()


def _verb_is_refused(shared: SharedServer, project: Path) -> None:
    """The verb behind the missing button: refused to the account, and in its core to the person."""
    key = key_path(shared.root, "beto")
    run(_try_on_a_page(shared.root, project, key))
    tried = [entry["facts"] for entry in journal(project) if (entry["what"], entry["who"]) == ("refused", EXECUTOR)]
    assert tried == [{"what": "approve_with_key"}]
    with pytest.raises(PeopleMissing):
        approve_with_key(project, "dictionary", "lead", key, PHRASE)
    assert not (project / "approvals.jsonl").exists()


async def _try_on_a_page(root: Path, project: Path, key: Path) -> None:
    """As if a page had offered it: the page of an executor's session asks for the operation."""
    core.loop, before = asyncio.get_running_loop(), core.loop
    pool, sessions = Pool(1), Sessions("es")
    session = sessions.open("beto", EXECUTOR, ("executor",))
    page = PageContext(Server(root, root, sessions, pool, Jobs(pool), 0, shared=True), session, project.name)
    try:
        with pytest.raises(NotYourRole):
            await page.answer(operations.approve_with_key, project, "dictionary", "lead", key, PHRASE)
        noted = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*noted)
    finally:
        pool.close()
        core.loop = before


def _lead_joins_everybody(page: Page, shared: SharedServer, project: Path) -> None:
    make_own_key(page, shared, project)
    for name in (LEAD, EXECUTOR, VERIFIER):
        join(page, name)
    sign_roster(page)


def _lead_reads_and_approves(page: Page, shared: SharedServer, project: Path) -> None:
    go_to(page, "Expediente")
    page.get_by_role("button", name="Leer: Diccionario anotado").click()
    document = page.locator("article.c-document")
    document.get_by_text("MUNICIPIO").first.wait_for(timeout=PATIENCE)
    assert "Persona 7" not in document.inner_text()
    sign_form(page, DICTIONARY)


def _edits(page: Page, shared: SharedServer, project: Path) -> None:
    """Two words of one line; the page says beforehand what that costs."""
    go(page, shared, project, "dictionary")
    page.get_by_label("Propósito de OPINION", exact=True).fill("otra evaluación")
    page.get_by_label("Propósito de OPINION", exact=True).press("Tab")
    assert "Está aprobado: el diccionario" in page.inner_text("main")
    page.get_by_role("button", name="Guardar y dejar sin efecto la aprobación").click()
    page.get_by_text("Quedó sin efecto la aprobación de: el diccionario.").first.wait_for()


def _runs_and_contrasts(page: Page, shared: SharedServer, project: Path) -> None:
    go(page, shared, project, "search")
    run_work(page, "Buscar", "Búsqueda del plan")
    run_work(page, "Generar candidato", "Generación del candidato")
    go_to(page, "Resultado")
    page.get_by_role("button", name="Evaluar").click()
    page.get_by_role("heading", name="Contraste de las dos bases (MEL)").wait_for(timeout=PATIENCE)
    page.get_by_text("Las dos bases tienen las mismas observaciones").wait_for()
    wait_until_connected(page)


def _releases(page: Page, shared: SharedServer, project: Path) -> Path:
    go(page, shared, project, "dossier")
    assert not has_button(page, f"Revisar y firmar: {CANDIDATE}")
    page.get_by_role("button", name="Armar la publicación").click()
    page.locator("section.c-release h3", has_text="20").first.wait_for(timeout=PATIENCE)
    wait_until_connected(page)
    return next((project / "releases").glob("2*"))


def _is_delivered(project: Path) -> None:
    assert delivered_files(open_project(project)) == FOUR
    release = next((project / "releases").glob("2*"))
    assert verify_release(release).holds
    _has_ended(project)
    assert acts_in_journal(project, "person-added", "approve", "run", "release", "deliver", "sign", "publish") == [
        *[("person-added", LEAD)] * 3,
        ("approve", LEAD),
        ("approve", LEAD),
        ("run", EXECUTOR),
        ("approve", LEAD),
        ("approve", VERIFIER),
        ("release", EXECUTOR),
        ("deliver", EXECUTOR),
        ("sign", EXECUTOR),
        ("sign", VERIFIER),
        ("sign", LEAD),
        ("publish", LEAD),
    ]
    given = [entry["facts"] for entry in journal(project) if entry["what"] == "approve"]
    assert [entry["what"] for entry in given] == ["dictionary", "dictionary", "residual", "candidate"]


# --- MINSAL -----------------------------------------------------------------------------------------


@pytest.fixture
def discharges(shared: SharedServer) -> Path:
    """Hospital discharges, described and planned by the executor; the head has approved the plan."""
    act_as(EXECUTOR)
    people = {}
    for login, name, role in ACCOUNTS[:3]:
        key = key_path(shared.root, login)
        if not key.is_file():
            make_key(key, name, PHRASE)
        people[role] = load_identity(PHRASE, key)
    folder = make_project(shared.root / "egresos", people, rows=300)
    make_plan(folder, now=NOW)
    approve_with_key(folder, "plan", "head", key_path(shared.root, "ana"), PHRASE, now=NOW)
    return folder


@pytest.mark.requirement("M29", "M31", "M32", "M33", "M34", "M38")
def test_minsal_is_published_by_four_people(chromium: Browser, shared: SharedServer, discharges: Path) -> None:
    project = discharges
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        go(page, shared, project, "search")
        run_work(page, "Generar candidato", "Generación del candidato")
        attack(page, shared, project)
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "omar") as (page, heard):
        draft(page, project, ATTEMPTS, minutes=7)
        hand_over(page, ATTEMPTS)
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "carla") as (page, heard):
        read_claims_sent(page, shared, project)
        save_judgement(page, ATTEMPTS)
        _verifies(page, shared, project)
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        release = _releases(page, shared, project)
        sign_form(page, release.name)
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "carla") as (page, heard):
        go(page, shared, project, "dossier")
        sign_form(page, release.name)
        assert not has_button(page, "Registrar la publicación")
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "ana") as (page, heard):
        _heads(page, shared, project, release.name)
        assert heard.complaints == []
    _is_published(shared.root, project, release)


def _verifies(page: Page, shared: SharedServer, project: Path) -> None:
    """Measure the candidate again, then sign for it and for the intruder test; releasing is for somebody else."""
    go_to(page, "Resultado")
    run_work(page, "Verificar otra vez", "Verificación del candidato")
    page.get_by_text("el archivo es el mismo y cumple").wait_for()
    wait_until_connected(page)
    go_to(page, "Expediente")
    vouch(page, INTRUDER, "supervisada en sala")
    sign_form(page, CANDIDATE)
    assert not has_button(page, "Armar la publicación")


def _heads(page: Page, shared: SharedServer, project: Path, release: str) -> None:
    """The third signature, then the publication with its consultation."""
    go(page, shared, project, "dossier")
    assert not has_button(page, "Registrar la publicación")
    sign_form(page, release)
    page.get_by_label("Consulta al DEIS").fill(TODAY.isoformat())
    _publishes(page)


def _publishes(page: Page) -> None:
    page.get_by_label("Fecha de publicación").fill(TODAY.isoformat())
    page.get_by_label("Periodicidad de actualización").fill("anual")
    page.get_by_label("Frase de paso").last.fill(PHRASE)
    page.get_by_role("button", name="Registrar la publicación").click()
    page.get_by_text(next_review(TODAY, "anual").isoformat()).wait_for(timeout=PATIENCE)
    wait_until_connected(page)


def _is_published(root: Path, project: Path, release: Path) -> None:
    verified = verify_release(release)
    assert verified.holds
    cards = {role: key_card(key_path(root, login)) for login, _, role in ACCOUNTS[:3]}
    assert {signature["role"]: (signature["name"], signature["key"]) for signature in verified.signatures} == {
        role: (card.name, card.key) for role, card in cards.items() if card
    }
    assert len({signature["key"] for signature in verified.signatures}) == 3
    _has_ended(project)
    claims = read_claims(ProjectPaths(project).claims)
    assert (claims.rows, claims.correct) == (ATTEMPTS, 0)
    assert CLAIM not in (project / "journal.jsonl").read_text("utf-8")
    deeds = ("run", "intruder", "claims", "claims-judged", "check", "approve", "release", "sign", "publish")
    assert acts_in_journal(project, *deeds) == [
        ("approve", HEAD),
        ("run", EXECUTOR),
        ("intruder", EXECUTOR),
        ("claims", OUTSIDER),
        ("claims-judged", VERIFIER),
        ("check", VERIFIER),
        *[("approve", VERIFIER)] * 2,
        ("release", EXECUTOR),
        ("sign", EXECUTOR),
        ("sign", VERIFIER),
        ("sign", HEAD),
        ("publish", HEAD),
    ]


def _has_ended(project: Path) -> None:
    report = status(project)
    assert report.done, [gate for gate in report.gates if gate.reason]
