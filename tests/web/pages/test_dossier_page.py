"""The dossier with three accounts: one executes, another verifies, a third signs and publishes; nobody does both."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celosia.model import dictionary
from celosia.pipeline.candidate.approvals import valid_approvals
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.author import act_as
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import load_identity
from celosia.pipeline.release.publication_entry import next_review
from celosia.pipeline.release.verify import verify_release
from celosia.web.server import rights
from celosia.workbench.accounts import key_path
from celosia.workbench.operations import dossier, people
from celosia.workbench.signing_keys import approve_with_key, make_key
from tests.projects.discharges import ROLES, make_project
from tests.projects.steps import NOW, PHRASE, make_intruder_test
from tests.web.actions import (
    acts_in_journal,
    go,
    join,
    make_own_key,
    sign,
    sign_form,
    sign_roster,
    wait_until_connected,
    wait_until_noted,
)
from tests.web.browser import NARROW, open_page
from tests.web.operations import may
from tests.web.shared_server import SharedServer, employ, logged_in_tab, shared_server_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.web, pytest.mark.slow]
LOGINS = {"head": "ana", "executor": "beto", "verifier": "carla"}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A server with three people, their keys, and a project whose candidate waits for its verifier."""
    root = tmp_path_factory.mktemp("office") / "proyectos"
    root.mkdir()
    people = {}
    for role, login in LOGINS.items():
        employ(root, login, ROLES[role], role)
        make_key(key_path(root, login), ROLES[role], PHRASE)
        people[role] = load_identity(PHRASE, key_path(root, login))
    employ(root, "dora", "Dora Paz", "delegate")
    folder = make_project(root / "base", people, rows=300)
    make_plan(folder, now=NOW)
    approve_with_key(folder, "plan", "head", key_path(root, "ana"), PHRASE, "Conforme", now=NOW)
    act_as(ROLES["executor"])
    run_plan(folder, now=NOW)
    act_as("")
    make_intruder_test(folder, people["verifier"])
    with shared_server_at(root) as made:
        yield made
    assert PHRASE not in made.terminal_output()
    assert "Traceback" not in made.terminal_output()


@pytest.fixture
def project(shared: SharedServer, request: pytest.FixtureRequest) -> Path:
    """The project, as a copy of its own."""
    return Path(shutil.copytree(shared.root / "base", shared.root / f"p{abs(hash(request.node.name)) % 10**8}"))


@pytest.mark.requirement("M31", "M32", "M33", "M38")
def test_from_candidate_to_published_with_three_people(
    chromium: Browser, shared: SharedServer, project: Path, tmp_path: Path
):
    with logged_in_tab(chromium, shared, "carla") as (page, heard):
        go(page, shared, project, "dossier")
        sign_form(page, "el candidato")
        assert page.get_by_role("button", name="Armar la publicación").count() == 0
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        go(page, shared, project, "dossier")
        assert page.get_by_role("button", name="Revisar y firmar: el candidato").count() == 0
        page.get_by_role("button", name="Armar la publicación").click()
        page.get_by_text("faltan firmas", exact=True).wait_for(timeout=120_000)
        wait_until_connected(page)
        release = next((project / "releases").glob("2*")).name
        sign_form(page, release)
        assert page.get_by_role("button", name="Registrar la publicación").count() == 0
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "carla") as (page, _):
        go(page, shared, project, "dossier")
        sign_form(page, release)
        assert page.get_by_role("button", name="Registrar la publicación").count() == 0
    with logged_in_tab(chromium, shared, "ana") as (page, _):
        go(page, shared, project, "dossier")
        sign_form(page, release)
        today = datetime.now(UTC).date()
        page.get_by_label("Consulta al DEIS").fill(today.isoformat())
        page.get_by_label("Fecha de publicación").fill(today.isoformat())
        page.get_by_label("Periodicidad de actualización").fill("anual")
        page.get_by_label("Frase de paso").last.fill(PHRASE)
        page.get_by_role("button", name="Registrar la publicación").click()
        page.get_by_text(next_review(today, "anual").isoformat()).wait_for(timeout=120_000)
        wait_until_connected(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Descargar el .zip").click()
        download.value.save_as(tmp_path / "r.zip")
        open_page(page, shared.running, "/verify")
        page.locator("input[type=file]").set_input_files(tmp_path / "r.zip")
        page.get_by_text("La publicación está íntegra").wait_for(timeout=120_000)
        assert page.get_by_role("cell", name="Carla Díaz", exact=True).count() == 1
    assert verify_release(project / "releases" / release).holds
    assert acts_in_journal(project, "approve", "release", "sign", "publish") == [
        ("approve", "Ana Rojas"),
        ("approve", "Carla Díaz"),  # the intruder's test
        ("approve", "Carla Díaz"),
        ("release", "Beto Soto"),
        ("sign", "Beto Soto"),
        ("sign", "Carla Díaz"),
        ("sign", "Ana Rojas"),
        ("publish", "Ana Rojas"),
    ]


@pytest.mark.requirement("M32")
def test_the_sheet_is_read_above_the_field_of_the_passphrase(chromium: Browser, shared: SharedServer, project: Path):
    with logged_in_tab(chromium, shared, "carla") as (page, heard):
        go(page, shared, project, "dossier")
        page.get_by_role("button", name="Revisar y firmar: el candidato").click()
        sheet = page.get_by_role("heading", name="Hoja de aprobación: el candidato")
        sheet.wait_for(timeout=60_000)
        assert page.get_by_role("columnheader", name="Fila 1").count() == 1
        field = page.get_by_label("Frase de paso").first
        assert sheet.bounding_box()["y"] < field.bounding_box()["y"]
        assert heard.complaints == []


@pytest.mark.requirement("M31")
def test_what_changed_while_somebody_read_is_not_signed(chromium: Browser, shared: SharedServer, project: Path):
    with logged_in_tab(chromium, shared, "carla", NARROW, dark=True) as (page, heard):
        go(page, shared, project, "dossier")
        page.get_by_role("button", name="Revisar y firmar: el plan").click()
        page.get_by_text("Resumen de lo que se firma").wait_for()
        lines = [replace(v, label="Otra") if v.name == "SEXO" else v for v in open_project(project).variables]
        (project / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
        before = (project / "approvals.jsonl").read_bytes()
        page.get_by_label("Frase de paso").fill(PHRASE)
        page.locator(".c-signing button[type=submit]").click()
        page.get_by_text("No se firmó nada").wait_for()
        assert (project / "approvals.jsonl").read_bytes() == before
        go(page, shared, project, "dossier")
        page.get_by_text("En el diccionario cambiaron: SEXO").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
        assert heard.complaints == []


def test_a_wrong_passphrase_signs_nothing_stays_nowhere_and_is_noted(
    chromium: Browser, shared: SharedServer, project: Path
):
    with logged_in_tab(chromium, shared, "carla") as (page, heard):
        go(page, shared, project, "dossier")
        sign(page, "el candidato", "frase equivocada")
        page.get_by_text("La frase de paso no abre la clave").wait_for()
        assert page.get_by_label("Frase de paso").input_value() == ""
        assert "frase equivocada" not in page.content()
        assert str(shared.root) not in page.content()
        assert heard.complaints == []
    assert valid_approvals(open_project(project), "candidate") == ()
    wait_until_noted(project, "refused", "Carla Díaz")
    assert "frase equivocada" not in (project / "journal.jsonl").read_text("utf-8")


@pytest.mark.requirement("M33")
def test_a_document_is_read_in_the_page_and_downloaded(chromium: Browser, shared: SharedServer, project: Path):
    with logged_in_tab(chromium, shared, "ana") as (page, heard):
        go(page, shared, project, "dossier")
        page.get_by_role("button", name="Leer: Anexo I").click()
        document = page.locator("article.c-document")
        document.get_by_role("cell", name="Datos abiertos", exact=True).wait_for()
        assert document.locator("iframe, script, style").count() == 0
        with page.expect_download() as download:
            page.get_by_role("button", name="Anexo I: Formulario de anonimización, PDF").click()
        assert Path(download.value.path()).read_bytes()[:4] == b"%PDF"
        page.get_by_role("button", name="Mostrar la bitácora").click()
        page.get_by_role("cell", name="generó el candidato").wait_for()
        assert heard.complaints == []


@pytest.mark.requirement("M38")
def test_somebody_makes_a_key_and_the_head_adds_them(chromium: Browser, shared: SharedServer, project: Path):
    with logged_in_tab(chromium, shared, "dora") as (page, heard):
        go(page, shared, project, "people")
        assert page.get_by_role("heading", name="Agregar personas").count() == 0
        make_own_key(page, shared, project)
        assert "no está en este proyecto" in page.inner_text("main")
        assert heard.complaints == []
    with logged_in_tab(chromium, shared, "ana") as (page, heard):
        go(page, shared, project, "people")
        join(page, "Dora Paz")
        assert "espera" in page.inner_text("main").lower()
        sign_roster(page)
        assert heard.complaints == []
    assert {("person-added", "Ana Rojas"), ("roster", "Ana Rojas")} <= set(acts_in_journal(project))
    assert "Dora Paz" in [person.name for person in open_project(project).members]


def test_what_is_no_release_is_told_as_such(chromium: Browser, shared: SharedServer, tmp_path: Path):
    (tmp_path / "x.zip").write_bytes(b"no es un zip")
    with logged_in_tab(chromium, shared, "beto") as (page, heard):
        open_page(page, shared.running, "/verify")
        page.locator("input[type=file]").set_input_files(tmp_path / "x.zip")
        page.get_by_text("no es un archivo .zip").wait_for()
        assert heard.complaints == []


@pytest.mark.requirement("M31", "M38")
def test_no_role_does_what_belongs_to_another():
    assert not may("verifier", dossier.make_release)
    assert not may("verifier", dossier.publish_with_key)
    assert not may("executor", dossier.approve_with_key)
    assert not may("executor", dossier.publish_with_key)
    for role in ("executor", "verifier", "delegate", "outsider"):
        assert not may(role, people.join_person)
        assert not may(role, people.join_card)
        assert not may(role, people.sign_people)
        assert not may(role, people.change_key)
        assert not may(role, people.remove_person)
    for name in ("dossier_view", "sign_with_key", "approve_with_key", "archive_release", "verify_upload"):
        assert not may("outsider", getattr(dossier, name))
    assert not rights.may_sign(("executor",), "verifier")
    assert rights.may_sign(("owner",), "verifier")
