"""Two people at once, a server killed in the middle, a session that ends: nothing is lost, torn or half-signed.

Real processes and real kills; the pages are looked at in a browser where only a page can tell.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from celosia.pipeline.candidate.approvals import valid_approvals
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.files import digest_of_file
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import load_identity
from celosia.pipeline.project.journal import read_journal
from celosia.web.server.guard import CSRF
from celosia.workbench.accounts import key_path
from celosia.workbench.request import edit_request
from celosia.workbench.signing_keys import approve_with_key, make_key
from tests.projects import discharges, survey
from tests.projects.discharges import ROLES
from tests.projects.every_page import file_digests, minsal
from tests.projects.steps import NOW, PHRASE
from tests.web.actions import sign
from tests.web.browser import open_page
from tests.web.editors import EDITORS, FILES, ROUNDS, compete, purposes
from tests.web.shared_server import SharedServer, employ, let_in, logged_in_tab, shared_server_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.web, pytest.mark.slow]
posix = pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")


# --- verbs in several processes -----------------------------------------------------------------------


def _together(work: Callable[..., None], arguments: Callable[[int], tuple[Any, ...]]) -> None:
    context = multiprocessing.get_context("spawn")
    made = [context.Process(target=work, args=arguments(who)) for who in range(EDITORS)]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join(300)
    assert [thread.exitcode for thread in made] == [0] * EDITORS


@pytest.mark.parametrize("verb", FILES)
def test_of_several_who_edit_what_all_saw_exactly_one_wins_each_time(tmp_path: Path, verb: str) -> None:
    folder = survey.make_project(tmp_path / "p")
    edit_request(folder, {"title": "al comienzo"})
    noted = len(read_journal(folder / "journal.jsonl").entries)
    context = multiprocessing.get_context("spawn")
    start, won = context.Barrier(EDITORS, timeout=120), context.Queue()
    _together(compete, lambda who: (verb, folder, who, start, won))
    winners = dict(won.get(timeout=5) for _ in range(ROUNDS))
    assert sorted(winners) == list(range(ROUNDS))  # one each time …
    assert won.empty()  # … and no second one
    assert len(read_journal(folder / "journal.jsonl").entries) == noted + ROUNDS
    _holds(verb, folder, winners[ROUNDS - 1])
    assert not [path for path in folder.rglob(".*") if path.is_dir()]


def _holds(verb: str, folder: Path, winner: int) -> None:
    """The file is whole, and what the last winner wrote is in it."""
    last = ROUNDS - 1
    settings = tomllib.loads((folder / "celosia.toml").read_text("utf-8"))
    labels = {variable.name: variable.label for variable in open_project(folder).variables}
    assert len(labels) == 6
    if verb == "dictionary":
        assert labels["SEXO"] == f"de {winner} en {last}"
    elif verb == "settings":
        assert str(10 + EDITORS * last + winner) in json.dumps(settings["policy"])
    else:
        assert tomllib.loads((folder / "request.toml").read_text("utf-8"))["title"] == f"de {winner} en {last}"


def test_edits_of_different_lines_at_once_lose_none_of_them(tmp_path: Path) -> None:
    folder = survey.make_project(tmp_path / "p")
    start = multiprocessing.get_context("spawn").Barrier(EDITORS, timeout=120)
    _together(purposes, lambda who: (folder, who, start))
    by_variable = {variable.name: variable.purpose for variable in open_project(folder).variables}
    names = ("SEXO", "ZONA", "DIAG")
    assert [by_variable[name] for name in names] == [f"de {who} en {ROUNDS - 1}" for who in range(EDITORS)]
    assert (
        sum(entry["what"] == "purpose" for entry in read_journal(folder / "journal.jsonl").entries) == EDITORS * ROUNDS
    )


# --- two people in the page -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """Two who execute, and their project."""
    root = tmp_path_factory.mktemp("juntos") / "proyectos"
    root.mkdir()
    employ(root, "beto", "Beto Soto", "executor")
    employ(root, "rosa", "Rosa Gil", "executor")
    survey.make_project(root / "p")
    with shared_server_at(root) as made:
        yield made
    assert "Traceback" not in made.terminal_output()


def purpose(page: Page, name: str, text: str) -> None:
    page.get_by_label(f"Propósito de {name}", exact=True).fill(text)
    page.get_by_label(f"Propósito de {name}", exact=True).press("Tab")
    page.get_by_text("Variables con cambios sin guardar: 1.").wait_for()


def save(page: Page) -> None:
    page.get_by_role("button", name="Guardar los cambios").click()


def purpose_of(folder: Path, name: str) -> str:
    return next(variable.purpose for variable in open_project(folder).variables if variable.name == name)


def test_of_two_who_edit_the_dictionary_the_second_is_told_and_loses_nothing(
    chromium: Browser, shared: SharedServer
) -> None:
    folder = shared.root / "p"
    with (
        logged_in_tab(chromium, shared, "beto") as (first_tab, _),
        logged_in_tab(chromium, shared, "rosa") as (other, _),
    ):
        for page in (first_tab, other):
            open_page(page, shared.running, "/p/p/dictionary")
        purpose(first_tab, "SEXO", "de Beto")
        purpose(other, "ZONA", "de Rosa")
        save(first_tab)
        first_tab.get_by_text("Variables guardadas:").first.wait_for()
        save(other)
        reload = other.get_by_role("button", name="Recargar y conservar mis cambios")
        reload.wait_for()
        assert purpose_of(folder, "ZONA") != "de Rosa"  # not over what she had not seen …
        assert other.get_by_label("Propósito de ZONA", exact=True).input_value() == "de Rosa"  # … and still there
        reload.click()
        reload.wait_for(state="hidden")
        save(other)
        other.get_by_text("Variables guardadas:").first.wait_for()
    assert (purpose_of(folder, "SEXO"), purpose_of(folder, "ZONA")) == ("de Beto", "de Rosa")
    whose = [entry["who"] for entry in read_journal(folder / "journal.jsonl").entries if entry["what"] == "dictionary"]
    assert whose == ["Beto Soto", "Rosa Gil"]


def test_a_session_that_ends_under_an_open_page_says_so_and_keeps_what_was_typed(
    chromium: Browser, tmp_path: Path
) -> None:
    employ(tmp_path, "beto", "Beto Soto", "executor")
    folder = survey.make_project(tmp_path / "p")
    before = digest_of_file(folder / "dictionary.csv")
    with shared_server_at(tmp_path, idle=30) as shared, logged_in_tab(chromium, shared, "beto") as (page, _):
        open_page(page, shared.running, "/p/p/dictionary")
        purpose(page, "DIAG", "escrito antes del fin")
        time.sleep(35)
        save(page)
        page.get_by_text("Su sesión terminó").first.wait_for()
        assert page.get_by_label("Propósito de DIAG", exact=True).input_value() == "escrito antes del fin"
        assert page.url.endswith("/p/p/dictionary")
        assert digest_of_file(folder / "dictionary.csv") == before


# --- a server that is killed ------------------------------------------------------------------------------


def kill(shared: SharedServer, whole: bool) -> None:
    """SIGKILL to the server, with or without its processes; wait until none of them is left."""
    server, workers = shared.running.process, children(shared.running.process.pid)
    for process in (server.pid, *(workers if whole else ())):
        os.kill(process, signal.SIGKILL)
    server.wait(20)
    until = time.monotonic() + 60
    while any(alive(worker) for worker in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [worker for worker in workers if alive(worker)], "a process outlived its server"


def children(process: int) -> list[int]:
    listing = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(word) for word in listing.stdout.split()]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def signed_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with accounts, keys and a project whose candidate waits for its verifier."""
    root = tmp_path_factory.mktemp("firmas") / "proyectos"
    root.mkdir()
    people = {}
    for role, name in ROLES.items():
        employ(root, role, name, role)
        make_key(key_path(root, role), name, PHRASE)
        people[role] = load_identity(PHRASE, key_path(root, role))
    folder = discharges.make_project(root / "p", people, rows=300)
    make_plan(folder, now=NOW)
    approve_with_key(folder, "plan", "head", key_path(root, "head"), PHRASE, "Conforme", now=NOW)
    run_plan(folder, now=NOW)
    return root


@pytest.fixture
def signing_root(signed_base: Path, tmp_path: Path) -> Path:
    """The same, as a copy of its own."""
    return Path(shutil.copytree(signed_base, tmp_path / "proyectos"))


def scratch(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".celosia") and path.is_dir()]


def has_reached(moment: str, folder: Path, size: int, lines: int) -> bool:
    """Whether a signature came as far as this; a draft may be gone before anybody looks again."""
    if moment == "begun":
        return (folder / "private" / ".sign.lock").exists()
    if moment == "drafted":
        return bool(scratch(folder)) or has_reached("written", folder, size, lines)
    if moment == "written":
        return (folder / "approvals.jsonl").stat().st_size > size
    return len((folder / "journal.jsonl").read_bytes().splitlines()) > lines


@posix
@pytest.mark.requirement("M31", "M38")
@pytest.mark.parametrize("whole", [True, False], ids=["all", "server"])
@pytest.mark.parametrize("moment", ["begun", "drafted", "written", "noted"])
def test_a_signature_is_there_whole_or_not_at_all_when_its_server_is_killed(
    chromium: Browser, signing_root: Path, moment: str, whole: bool
) -> None:
    folder = signing_root / "p"
    (folder / "private" / ".sign.lock").unlink()  # the first who signs makes it again
    size, lines = (folder / "approvals.jsonl").stat().st_size, len(read_journal(folder / "journal.jsonl").entries)
    with shared_server_at(signing_root) as shared, logged_in_tab(chromium, shared, "verifier") as (page, _):
        open_page(page, shared.running, "/p/p/dossier")
        sign(page, "el candidato")
        until = time.monotonic() + 60
        while not has_reached(moment, folder, size, lines) and time.monotonic() < until:
            pass  # the next moment is already another one
        assert time.monotonic() < until
        kill(shared, whole)
    standing = [approval for approval in open_project(folder).approvals if approval.what == "candidate"]
    assert len(standing) <= 1
    assert len(valid_approvals(open_project(folder), "candidate")) == len(
        standing
    )  # what is there is whole and verifies
    known = [entry for entry in read_journal(folder / "journal.jsonl").entries if entry["what"] == "approve"]
    assert len(known) - 1 <= len(standing)  # the journal tells of no signature that is not there
    with shared_server_at(signing_root) as shared:
        visitor = let_in(shared, "verifier")
        assert visitor.client.get("/p/p/dossier").status_code == 200
        visitor.client.close()
        approve_with_key(folder, "candidate", "verifier", key_path(signing_root, "verifier"), PHRASE)
    approvals = [approval for approval in open_project(folder).approvals if approval.what == "candidate"]
    entries_noted = [entry for entry in read_journal(folder / "journal.jsonl").entries if entry["what"] == "approve"]
    assert len(approvals) == len(standing) + 1
    assert len(entries_noted) == len(approvals) + 1  # that of the plan, and one line for each
    assert not scratch(folder)


def begin_frontier(page: Page, shared: SharedServer) -> None:
    """The frontier is asked for, and the page says that it is being computed."""
    open_page(page, shared.running, "/p/p/search")
    page.get_by_role("button", name="Calcular la frontera").click()
    page.locator(".c-work progress").wait_for()


@posix
@pytest.mark.parametrize("whole", [True, False], ids=["all", "server"])
def test_work_that_ran_when_its_server_was_killed_leaves_the_project_as_it_was(
    chromium: Browser, tmp_path: Path, whole: bool
) -> None:
    root = tmp_path / "proyectos"
    root.mkdir()
    employ(root, "beto", "Beto Soto", "executor")
    folder = minsal(root, "p", rows=60_000, run=False)  # a frontier that is still sought when the server is killed
    before = file_digests(folder)
    with shared_server_at(root) as shared, logged_in_tab(chromium, shared, "beto") as (page, _):
        answer = let_in(shared, "beto")
        assert answer.client.put("/upload", content=b"a;b", headers={CSRF: answer.csrf}).status_code == 200
        answer.client.close()
        begin_frontier(page, shared)
        kill(shared, whole)
    assert file_digests(folder) == before
    left = {path.name for path in root.glob(".celosia-*")}
    assert left, "the upload lies where the killed server left it"
    with shared_server_at(root) as shared, logged_in_tab(chromium, shared, "beto") as (page, heard):
        assert not left & {path.name for path in root.glob(".celosia-*")}
        begin_frontier(page, shared)
        page.locator(".c-work .c-note.c-good").wait_for(timeout=240_000)
        assert heard.complaints == []
    assert not scratch(folder)
    assert (folder / "private" / "reports" / "frontier.json").is_file()
