"""Whole walks of several people on one server: MEL through its approvals to the delivery, MINSAL to the publication.

Each person has an account, a key and a tab of their own; what one role may not do is tried, refused and noted. At the
end the files are read as the command line reads them. Sources: MEL IV.2 to IV.4; MINSAL Roles 1, Verificación 4.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nicegui import core
from tests.pipeline import mel_project
from tests.pipeline.made_projects import NOW, PHRASE, described
from tests.web.deeds import (
    CLAIM,
    PATIENCE,
    attack,
    done,
    draft,
    go,
    go_to,
    hand_over,
    join,
    journal,
    judged,
    make_own_key,
    read_claims_sent,
    settled,
    signed,
    worked,
)
from tests.web.office import Office, employ, entered, office_at
from tests.web.threads import run

from celosia import errors, pipeline
from celosia.web import _office as web_office
from celosia.web._frame import Desk
from celosia.web._jobs import Jobs
from celosia.web._sessions import Sessions
from celosia.web._workers import Pool

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]

HEAD, EXECUTOR, VERIFIER, OUTSIDER, LEAD = "Ana Rojas", "Beto Soto", "Carla Díaz", "Omar Rey", "Lucía Paz"
ACCOUNTS = (
    ("ana", HEAD, "head"), ("beto", EXECUTOR, "executor"), ("carla", VERIFIER, "verifier"),
    ("omar", OUTSIDER, "outsider"), ("lucia", LEAD, "lead"),
)  # fmt: skip
DICTIONARY, CANDIDATE, RESIDUAL = "el diccionario anotado", "el candidato", "el riesgo que queda"
FOUR = ("public/data.csv", "public/dictionary.csv", "restricted/data.csv", "restricted/dictionary.csv")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """A shared server with five accounts and nobody's key."""
    root = tmp_path_factory.mktemp("gente") / "proyectos"
    root.mkdir()
    for login, name, role in ACCOUNTS:
        employ(root, login, name, role)
    with office_at(root) as made:
        yield made
    for secret in (PHRASE, CLAIM, "Traceback"):
        assert secret not in made.said()


@pytest.fixture(autouse=True)
def nobody_acts() -> Iterator[None]:
    """What a test does for somebody ends with it."""
    yield
    pipeline.act_as("")


def has_button(page: Page, name: str) -> bool:
    return page.get_by_role("button", name=name).count() > 0


# --- MEL --------------------------------------------------------------------------------------------


@pytest.fixture
def survey(office: Office, tmp_path: Path) -> Path:
    """What the executor prepared: a household survey with its annotated dictionary and its request."""
    pipeline.act_as(EXECUTOR)
    folder = mel_project.made(tmp_path)
    mel_project.requested(folder)
    return Path(shutil.move(folder, office.root / "evaluacion"))


@pytest.mark.requirement("P09", "P10", "P12", "P13", "P16", "P17")
def test_mel_is_approved_by_another_account_and_delivered(chromium: Browser, office: Office, survey: Path) -> None:
    with entered(chromium, office, "beto") as (page, heard):
        _cannot_approve(page, office, survey)
        assert heard.complaints == []
    _verb_is_refused(office, survey)
    with entered(chromium, office, "carla") as (page, _):
        make_own_key(page, office, survey)
    with entered(chromium, office, "lucia") as (page, heard):
        _lead_joins_everybody(page, office, survey)
        _lead_reads_and_approves(page, office, survey)
        assert heard.complaints == []
    first = pipeline.valid_approvals(survey, "dictionary")
    assert [(one.name, one.role) for one in first] == [(LEAD, "lead")]
    with entered(chromium, office, "beto") as (page, heard):
        _edits(page, office, survey)
        _is_stopped(page, office, survey)
        assert heard.complaints == []
    assert pipeline.valid_approvals(survey, "dictionary") == ()
    with entered(chromium, office, "lucia") as (page, heard):
        go(page, office, survey, "dossier")
        page.get_by_text("En el diccionario cambiaron: OPINION.").wait_for()
        signed(page, DICTIONARY)
        assert heard.complaints == []
    assert len(pipeline.valid_approvals(survey, "dictionary")) == 1
    with entered(chromium, office, "beto") as (page, heard):
        _runs_and_contrasts(page, office, survey)
        assert heard.complaints == []
    for login, what in (("lucia", RESIDUAL), ("carla", CANDIDATE)):
        with entered(chromium, office, login) as (page, heard):
            go(page, office, survey, "dossier")
            signed(page, what)
            assert heard.complaints == []
    with entered(chromium, office, "beto") as (page, heard):
        _releases(page, office, survey)
        worked(page, "Armar la entrega", "Armado de la entrega")
        assert heard.complaints == []
    with entered(chromium, office, "lucia") as (page, heard):
        go(page, office, survey, "dossier")
        page.get_by_text("La entrega está en la carpeta «delivery»").wait_for()
        assert not has_button(page, "Armar la entrega")
        signed(page, next((survey / "releases").glob("2*")).name)
        assert page.get_by_label("Consulta al DEIS").count() == 0
        _publishes(page)
        assert heard.complaints == []
    _is_delivered(survey)


def _cannot_approve(page: Page, office: Office, project: Path) -> None:
    """Who prepared has a key, reads the dictionary, and finds no way to approve it."""
    make_own_key(page, office, project)
    assert not has_button(page, "Agregar a")
    go(page, office, project, "dossier")
    page.get_by_role("heading", name="El diccionario anotado").wait_for()
    page.get_by_text("falta aprobarlo").first.wait_for()
    assert not has_button(page, "Revisar y firmar")
    _is_stopped(page, office, project)


def _is_stopped(page: Page, office: Office, project: Path) -> None:
    """A plan may be searched; nothing is applied before the approval."""
    go(page, office, project, "search")
    worked(page, "Buscar", "Búsqueda del plan")
    page.get_by_role("button", name="Generar candidato").click()
    page.locator(".c-work .c-note.c-bad").wait_for(timeout=PATIENCE)
    assert DICTIONARY in page.inner_text(".c-work")
    assert not (project / "private" / "candidate" / "data.csv").exists()


def _verb_is_refused(office: Office, project: Path) -> None:
    """The verb behind the missing button: refused to the account, and in its core to the person."""
    key = pipeline.key_path(office.root, "beto")
    run(_tried_at_a_desk(office.root, project, key))
    tried = [one["facts"] for one in journal(project) if (one["what"], one["who"]) == ("refused", EXECUTOR)]
    assert tried == [{"what": "approve_with_key"}]
    with pytest.raises(errors.PeopleMissing):
        pipeline.approve_with_key(project, "dictionary", "lead", key, PHRASE)
    assert not (project / "approvals.jsonl").exists()


async def _tried_at_a_desk(root: Path, project: Path, key: Path) -> None:
    """As if a page had offered it: the desk of an executor's session asks for the verb."""
    core.loop, before = asyncio.get_running_loop(), core.loop
    pool, sessions = Pool(1), Sessions("es")
    session = sessions.open("beto", EXECUTOR, ("executor",))
    desk = Desk(web_office.Office(root, root, sessions, pool, Jobs(pool), 0, shared=True), session, project.name)
    try:
        with pytest.raises(errors.NotYourRole):
            await desk.answer("approve_with_key", project, "dictionary", "lead", key, PHRASE)
        noted = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*noted)
    finally:
        pool.close()
        core.loop = before


def _lead_joins_everybody(page: Page, office: Office, project: Path) -> None:
    make_own_key(page, office, project)
    for name in (LEAD, EXECUTOR, VERIFIER):
        join(page, name)


def _lead_reads_and_approves(page: Page, office: Office, project: Path) -> None:
    go_to(page, "Expediente")
    page.get_by_role("button", name="Leer: Diccionario anotado").click()
    document = page.locator("article.c-document")
    document.get_by_text("MUNICIPIO").first.wait_for(timeout=PATIENCE)
    assert "Persona 7" not in document.inner_text()
    signed(page, DICTIONARY)


def _edits(page: Page, office: Office, project: Path) -> None:
    """Two words of one line; the page says beforehand what that costs."""
    go(page, office, project, "dictionary")
    page.get_by_label("Propósito de OPINION", exact=True).fill("otra evaluación")
    page.get_by_label("Propósito de OPINION", exact=True).press("Tab")
    assert "Está aprobado: el diccionario" in page.inner_text("main")
    page.get_by_role("button", name="Guardar y dejar sin efecto la aprobación").click()
    page.get_by_text("Quedó sin efecto la aprobación de: el diccionario.").first.wait_for()


def _runs_and_contrasts(page: Page, office: Office, project: Path) -> None:
    go(page, office, project, "search")
    worked(page, "Buscar", "Búsqueda del plan")
    worked(page, "Generar candidato", "Generación del candidato")
    go_to(page, "Resultado")
    page.get_by_role("button", name="Evaluar").click()
    page.get_by_role("heading", name="Contraste de las dos bases (MEL)").wait_for(timeout=PATIENCE)
    page.get_by_text("Las dos bases tienen las mismas observaciones").wait_for()
    settled(page)


def _releases(page: Page, office: Office, project: Path) -> Path:
    go(page, office, project, "dossier")
    assert not has_button(page, f"Revisar y firmar: {CANDIDATE}")
    page.get_by_role("button", name="Armar la publicación").click()
    page.locator("section.c-release h3", has_text="20").first.wait_for(timeout=PATIENCE)
    settled(page)
    return next((project / "releases").glob("2*"))


def _is_delivered(project: Path) -> None:
    assert pipeline.delivered_files(project) == FOUR
    release = next((project / "releases").glob("2*"))
    assert pipeline.verify_release(release).holds
    _has_ended(project)
    assert done(project, "person-added", "approve", "run", "release", "deliver", "sign", "publish") == [
        *[("person-added", LEAD)] * 3, ("approve", LEAD), ("approve", LEAD), ("run", EXECUTOR), ("approve", LEAD),
        ("approve", VERIFIER), ("release", EXECUTOR), ("deliver", EXECUTOR), ("sign", LEAD), ("publish", LEAD),
    ]  # fmt: skip
    given = [one["facts"] for one in journal(project) if one["what"] == "approve"]
    assert [one["what"] for one in given] == ["dictionary", "dictionary", "residual", "candidate"]


# --- MINSAL -----------------------------------------------------------------------------------------


@pytest.fixture
def discharges(office: Office) -> Path:
    """Hospital discharges, described and planned by the executor; the head has approved the plan."""
    pipeline.act_as(EXECUTOR)
    people = {}
    for login, name, role in ACCOUNTS[:3]:
        key = pipeline.key_path(office.root, login)
        if not key.is_file():
            pipeline.make_key(key, name, PHRASE)
        people[role] = pipeline.load_identity(PHRASE, key)
    folder = described(office.root / "egresos", people, rows=300)
    pipeline.make_plan(folder, now=NOW)
    pipeline.approve_with_key(folder, "plan", "head", pipeline.key_path(office.root, "ana"), PHRASE, now=NOW)
    return folder


@pytest.mark.requirement("M29", "M31", "M32", "M33", "M34", "M38")
def test_minsal_is_published_by_four_people(chromium: Browser, office: Office, discharges: Path) -> None:
    project = discharges
    with entered(chromium, office, "beto") as (page, heard):
        go(page, office, project, "search")
        worked(page, "Generar candidato", "Generación del candidato")
        attack(page, office, project)
        assert heard.complaints == []
    with entered(chromium, office, "omar") as (page, heard):
        draft(page, project)
        hand_over(page)
        assert heard.complaints == []
    with entered(chromium, office, "carla") as (page, heard):
        read_claims_sent(page, office, project)
        judged(page)
        _verifies(page, office, project)
        assert heard.complaints == []
    with entered(chromium, office, "beto") as (page, heard):
        release = _releases(page, office, project)
        signed(page, release.name)
        assert heard.complaints == []
    with entered(chromium, office, "carla") as (page, heard):
        go(page, office, project, "dossier")
        signed(page, release.name)
        assert not has_button(page, "Registrar la publicación")
        assert heard.complaints == []
    with entered(chromium, office, "ana") as (page, heard):
        _heads(page, office, project, release.name)
        assert heard.complaints == []
    _is_published(office.root, project, release)


def _verifies(page: Page, office: Office, project: Path) -> None:
    """Measure the candidate again, then sign for it; releasing is for somebody else."""
    go_to(page, "Resultado")
    worked(page, "Verificar otra vez", "Verificación del candidato")
    page.get_by_text("el archivo es el mismo y cumple").wait_for()
    settled(page)
    go_to(page, "Expediente")
    signed(page, CANDIDATE)
    assert not has_button(page, "Armar la publicación")


def _heads(page: Page, office: Office, project: Path, release: str) -> None:
    """The third signature, then the publication with its consultation."""
    go(page, office, project, "dossier")
    assert not has_button(page, "Registrar la publicación")
    signed(page, release)
    page.get_by_label("Consulta al DEIS").fill("2026-11-02")
    _publishes(page)


def _publishes(page: Page) -> None:
    page.get_by_label("Fecha de publicación").fill("2026-11-20")
    page.get_by_label("Periodicidad de actualización").fill("anual")
    page.get_by_role("button", name="Registrar la publicación").click()
    page.get_by_text("2027-11-20").wait_for(timeout=PATIENCE)
    settled(page)


def _is_published(root: Path, project: Path, release: Path) -> None:
    verified = pipeline.verify_release(release)
    assert verified.holds
    cards = {role: pipeline.key_card(pipeline.key_path(root, login)) for login, _, role in ACCOUNTS[:3]}
    assert {one["role"]: (one["name"], one["key"]) for one in verified.signatures} == {
        role: (card.name, card.key) for role, card in cards.items() if card
    }
    assert len({one["key"] for one in verified.signatures}) == 3
    _has_ended(project)
    assert (pipeline.read_claims(project).rows, pipeline.read_claims(project).correct) == (2, 0)
    assert CLAIM not in (project / "journal.jsonl").read_text("utf-8")
    deeds = ("run", "intruder", "claims", "claims-judged", "check", "approve", "release", "sign", "publish")
    assert done(project, *deeds) == [
        ("approve", HEAD), ("run", EXECUTOR), ("intruder", EXECUTOR), ("claims", OUTSIDER),
        ("claims-judged", VERIFIER), ("check", VERIFIER), ("approve", VERIFIER), ("release", EXECUTOR),
        ("sign", EXECUTOR), ("sign", VERIFIER), ("sign", HEAD), ("publish", HEAD),
    ]  # fmt: skip


def _has_ended(project: Path) -> None:
    told = pipeline.status(project)
    assert told.done, [gate for gate in told.gates if gate.reason]
