"""Each role tries every page, every endpoint and every verb that it may not use: refused, and in the journal.

The pages are those that are registered: a new one is tried without being named here.
"""

from __future__ import annotations

import asyncio
import html
import json
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from nicegui import Client, app, core, ui
from starlette.routing import Route
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from celosia import messages
from celosia.pipeline.candidate.run import run_plan
from celosia.pipeline.planning.plan import make_plan
from celosia.pipeline.project.author import act_as
from celosia.stats.run import run_stats
from celosia.web import pages
from celosia.web.errors import NotYourRole, SessionOver
from celosia.web.server import rights
from celosia.web.server.application import _LOGIN_ROUTES, _ROUTES
from celosia.web.server.guard import CSRF
from celosia.web.server.server import Server
from celosia.web.server.sessions import IDLE, LIFE, Session, Sessions
from celosia.web.ui.context import PageContext
from celosia.web.work.jobs import Jobs
from celosia.web.work.workers import Call, Pool
from celosia.workbench.operation import Operation
from celosia.workbench.operations.projects import status
from tests.projects.every_page import file_digests
from tests.projects.steps import NOW
from tests.projects.survey import make_project
from tests.stats.small_stats import PERSONS, category, people, project, table
from tests.web.operations import all_operations
from tests.web.shared_server import PASSWORD, Inside, SharedServer, employ, let_in, shared_server_at
from tests.web.threads import run

pytestmark = [pytest.mark.web, pytest.mark.slow]

PEOPLE = {
    "executor": "Beto Soto",
    "verifier": "Carla Díaz",
    "head": "Ana Rojas",
    "lead": "Lea Mora",
    "delegate": "Dora Paz",
    "outsider": "Omar Rey",
}
PROJECT, STATS, TABLE = "p", "tablas", "t__internal"
CHANNEL = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
ENDPOINTS = {"/upload", "/download/{ticket}", "/preference", "/login", "/password", "/logout"}
WAIT = 60  # seconds: a refusal is noted beside the answer


def registered_paths() -> list[str]:
    """The path of every page that is registered."""
    pages.register()
    paths = [route.path for route in app.routes if isinstance(route, Route)]
    return sorted({path for path in paths if not path.startswith("/_nicegui")})


PAGES = registered_paths()


def page_of(path: str) -> str:
    """The name under which the table of rights knows a page."""
    if path.startswith("/s/"):
        return "stats"
    return path.removeprefix("/p/{name}").strip("/") or ("overview" if path != "/" else "projects")


def address(path: str) -> str:
    return path.replace("{name}", STATS if path.startswith("/s/") else PROJECT).replace("{item}", TABLE)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """A server with one account of each role, a project with its candidate and a STATS folder with its tables."""
    home = tmp_path_factory.mktemp("roles")
    root = home / "proyectos"
    root.mkdir()
    for role, name in PEOPLE.items():
        employ(root, role, name, role)
    folder = make_project(root / "p")
    act_as(PEOPLE["executor"])
    make_plan(folder, now=NOW)
    run_plan(folder, now=NOW)
    act_as("")
    counts = {("A", "x"): 12, ("A", "y"): 9, ("B", "x"): 3, ("B", "y"): 7, ("C", "x"): 8, ("C", "y"): 6}
    asked = table("t", category("sector", ["A", "B", "C"]), category("sex", ["x", "y"]), PERSONS, title='"Prueba"')
    made = project(home, people(counts, ["sector", "sex"]), asked)
    run_stats(made, now=NOW)
    text = (made / "stats.toml").read_text("utf-8").replace("../personal.duckdb", str(home / "personal.duckdb"))
    (made / "stats.toml").write_text(text, "utf-8")
    shutil.copytree(made, root / STATS)
    with shared_server_at(root) as running:
        yield running
    assert "Traceback" not in running.terminal_output()
    assert PASSWORD not in running.terminal_output()


@pytest.fixture(scope="module")
def inside(shared: SharedServer) -> Iterator[dict[str, Inside]]:
    """Everybody, each come in by the form."""
    made = {role: let_in(shared, role) for role in PEOPLE}
    yield made
    for visitor in made.values():
        visitor.client.close()


@pytest.fixture
def somebody(shared: SharedServer) -> Iterator[Callable[[str], Inside]]:
    """A session of its own, for tests that end it."""
    made: list[Inside] = []

    def enter(role: str) -> Inside:
        made.append(let_in(shared, role))
        return made[-1]

    yield enter
    for thread in made:
        thread.client.close()


def journal_for(root: Path, path: str) -> Path:
    if path.startswith("/p/"):
        return root / PROJECT / "journal.jsonl"
    return root / STATS / "journal.jsonl" if path.startswith("/s/") else server_journal(root)


def server_journal(root: Path) -> Path:
    (entries_noted,) = root.glob(".celosia*/journal.jsonl")
    return entries_noted


def refusals(journal: Path, name: str) -> list[str]:
    """What somebody was refused, according to a journal."""
    lines = journal.read_text("utf-8").splitlines() if journal.is_file() else []
    entries = [json.loads(line) for line in lines]
    return [str(entry["facts"]["what"]) for entry in entries if (entry["what"], entry["who"]) == ("refused", name)]


def noted_refusals(journal: Path, name: str, count: int) -> list[str]:
    """What somebody was refused, once it is as often as expected."""
    until = time.monotonic() + WAIT
    while len(refusals(journal, name)) < count and time.monotonic() < until:
        time.sleep(0.05)
    return refusals(journal, name)


def sentence(role: str) -> str:
    with messages.speaking("es"):
        return str(NotYourRole(roles=messages.text(f"protocols.role.{role}")))


def says(answer: httpx.Response, words: str) -> bool:
    """Whether a page holds words; its framework writes them as JSON."""
    text = html.unescape(answer.text)
    return words in text or json.dumps(words)[1:-1] in text


# --- pages ------------------------------------------------------------------------------------------


def test_every_page_stands_in_the_table_of_rights_and_every_endpoint_is_tried_here() -> None:
    assert len(PAGES) > 15
    known = frozenset().union(*rights.PAGES.values())
    assert {page_of(path) for path in PAGES} == known
    assert {route.path for route in (*_ROUTES, *_LOGIN_ROUTES) if isinstance(route, Route)} == ENDPOINTS


@pytest.mark.requirement("M31", "M38")
@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("role", PEOPLE)
def test_a_page_opens_for_those_whose_role_includes_it_and_the_others_are_noted(
    shared: SharedServer, inside: dict[str, Inside], role: str, path: str
) -> None:
    journal, name = journal_for(shared.root, path), PEOPLE[role]
    before = refusals(journal, name)
    answer = inside[role].client.get(address(path))
    if rights.may_see((role,), page_of(path)):
        assert answer.status_code == 200
        assert not says(answer, sentence(role))  # nothing on it asks for what the role lacks
        assert refusals(journal, name) == before
        return
    assert answer.status_code == 403
    assert says(answer, sentence(role))
    assert noted_refusals(journal, name, len(before) + 1) == [*before, page_of(path)]


@pytest.mark.parametrize("name", ["%2e%2e", "afuera", "nada", "..%2fafuera"])
def test_a_refusal_is_written_in_no_journal_outside(shared: SharedServer, inside: dict[str, Inside], name: str) -> None:
    outside = shared.root.parent / "afuera"
    for folder in (outside, shared.root.parent):
        folder.mkdir(exist_ok=True)
        (folder / "celosia.toml").write_text('format = "celosia/project/1"\n', "utf-8")
    if not (shared.root / "afuera").exists():
        (shared.root / "afuera").symlink_to(outside)
    journal, who = server_journal(shared.root), PEOPLE["outsider"]
    before = len(refusals(journal, who))
    answer = inside["outsider"].client.get(f"/p/{name}/data")
    assert answer.status_code in (403, 404)
    if answer.status_code == 403:
        assert len(noted_refusals(journal, who, before + 1)) == before + 1
    assert not (outside / "journal.jsonl").exists()
    assert not (shared.root.parent / "journal.jsonl").exists()
    assert not (outside / "private").exists()


# --- endpoints ----------------------------------------------------------------------------------------


def channel(shared: SharedServer, cookie: str) -> str:
    """The first word of the page's channel."""
    wire = socket.create_connection(("127.0.0.1", shared.running.port))
    headers = {"Cookie": cookie} if cookie else {}
    url = f"ws://{shared.running.host}{CHANNEL}"
    origin: Any = shared.base
    with connect(url, sock=wire, origin=origin, additional_headers=headers, proxy=None) as opened:
        return str(opened.recv(timeout=20))


def nothing_answers(shared: SharedServer, cookie: str, csrf: str) -> None:
    """Every page and endpoint sends whoever brings this to the door, and nothing is taken from them."""
    headers = {"origin": shared.base, CSRF: csrf, **({"cookie": cookie} if cookie else {})}
    with httpx.Client(base_url=shared.base, headers=headers, timeout=120) as client:
        for path in (*map(address, PAGES), "/download/x", "/preference?theme=dark&back=/", "/password", "/nada"):
            answer = client.get(path)
            assert (answer.status_code, answer.headers.get("location")) == (303, "/login"), path
        assert client.put("/upload", content=b"a;b").status_code == 401
        changed = {"csrf": csrf, "old": PASSWORD, "new": "otra contraseña larga", "again": "otra contraseña larga"}
        assert client.post("/password", data=changed).status_code == 401
        assert client.post("/logout", data={"csrf": csrf}).status_code == 401
        assert client.get("/assets/celosia.js").status_code == 303
    with pytest.raises(InvalidStatus):
        channel(shared, cookie)


def uploads(shared: SharedServer) -> list[Path]:
    return shared.running.scratch_files()


def put(visitor: Inside, **headers: str) -> httpx.Response:
    return visitor.client.put("/upload", content=b"a;b\n1;2\n", headers={CSRF: visitor.csrf, **headers})


def test_without_a_session_everything_leads_to_the_door(shared: SharedServer) -> None:
    nothing_answers(shared, "", "")
    nothing_answers(shared, f"{shared.running.cookie_name}={'x' * 43}", "x" * 43)
    with httpx.Client(base_url=shared.base) as client:
        assert client.get("/login").status_code == 200
        assert client.get("/enter?token=x").status_code == 303  # there is no such way in where there are accounts


@pytest.mark.parametrize("role", PEOPLE)
def test_everybody_but_the_outsider_uploads(shared: SharedServer, inside: dict[str, Inside], role: str) -> None:
    journal, name = server_journal(shared.root), PEOPLE[role]
    before, files = refusals(journal, name), sorted(uploads(shared))
    answer = put(inside[role])
    if role != "outsider":
        assert answer.status_code == 200
        assert answer.json()["bytes"] == 8
        assert refusals(journal, name) == before
        return
    assert answer.status_code == 403
    assert answer.json()["sentence"] == sentence(role)
    assert refusals(journal, name) == [*before, "upload"]  # before the answer, not after it
    assert sorted(uploads(shared)) == files


def test_who_may_upload_is_everybody_with_a_role_but_the_outsider() -> None:
    assert [role for role in (*PEOPLE, "owner", "nobody") if rights.may_upload((role,))] == [
        "executor",
        "verifier",
        "head",
        "lead",
        "delegate",
        "owner",
    ]
    assert not rights.may_upload(())


def test_the_secret_of_another_session_changes_nothing(shared: SharedServer, inside: dict[str, Inside]) -> None:
    own, other = inside["executor"], inside["verifier"]
    assert put(own, **{CSRF: other.csrf}).status_code == 403
    changed = {"csrf": other.csrf, "old": PASSWORD, "new": "otra contraseña larga", "again": "otra contraseña larga"}
    assert own.client.post("/password", data=changed).status_code == 403
    assert own.client.post("/logout", data={"csrf": other.csrf}).status_code == 403
    assert own.client.get("/password").status_code == 200  # still inside, with the same password
    let_in(shared, "executor").client.close()


def test_a_preference_is_of_one_session_alone(inside: dict[str, Inside]) -> None:
    changed, other = inside["outsider"].client, inside["executor"].client
    assert changed.get("/preference", params={"language": "en", "back": "/"}).status_code == 303
    try:
        assert "contraseña" in other.get("/password").text
        assert "contraseña" not in changed.get("/password").text
    finally:
        changed.get("/preference", params={"language": "es", "back": "/"})


def test_a_ticket_of_somebody_else_is_none(tmp_path: Path) -> None:
    from celosia.web.server.transfer import send_download

    sessions, path = Sessions("es"), tmp_path / "x.csv"
    path.write_text("a;b\n", "utf-8")
    visitor, other = sessions.open("ana", "Ana", ("head",)), sessions.open("omar", "Omar", ("outsider",))
    visitor.downloads["boleto"], visitor.uploads["boleto"] = (str(path), "x.csv"), str(path)
    assert send_download(other, "boleto").status_code == 404
    assert "boleto" not in other.uploads
    assert send_download(visitor, "boleto").status_code == 200
    assert send_download(visitor, "boleto").status_code == 404  # and its own only once


def test_a_ticket_of_an_upload_opens_no_download(inside: dict[str, Inside]) -> None:
    ticket = put(inside["executor"]).json()["ticket"]
    for visitor in inside.values():
        assert visitor.client.get(f"/download/{ticket}").status_code == 404


def test_a_cookie_is_worth_nothing_after_leaving(shared: SharedServer, somebody: Callable[[str], Inside]) -> None:
    visitor = somebody("head")
    assert channel(shared, visitor.cookie).startswith("0{")
    assert visitor.client.post("/logout", data={"csrf": visitor.csrf}).headers["location"] == "/login"
    nothing_answers(shared, visitor.cookie, visitor.csrf)


def test_a_new_password_ends_the_other_sessions_of_the_account(
    shared: SharedServer, somebody: Callable[[str], Inside]
) -> None:
    employ(shared.root, "eva", "Eva Luz", "verifier")
    left, own = somebody("eva"), somebody("eva")
    new = "una contraseña todavía más larga"
    changed = {"csrf": own.csrf, "old": PASSWORD, "new": new, "again": new}
    assert own.client.post("/password", data=changed).headers["location"] == "/"
    assert own.client.get("/verify").status_code == 200
    nothing_answers(shared, left.cookie, left.csrf)


def test_a_session_that_nobody_used_is_over_everywhere(tmp_path: Path) -> None:
    root = tmp_path / "proyectos"
    root.mkdir()
    employ(root, "ana", "Ana Rojas", "head")
    with shared_server_at(root, idle=10) as short:
        visitor = let_in(short, "ana")
        assert channel(short, visitor.cookie).startswith("0{")
        visitor.client.close()
        time.sleep(11)
        nothing_answers(short, visitor.cookie, visitor.csrf)


# --- verbs --------------------------------------------------------------------------------------------


class Counted(Pool):
    """The real processes, and which operations they were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def ask(self, call: Call) -> Any:
        self.asked.append(call.label)
        return await super().ask(call)


def server_parts(root: Path, pool: Pool, sessions: Sessions) -> Server:
    return Server(root, root, sessions, pool, Jobs(pool), 1_000, shared=True)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one project."""
    return make_project(tmp_path_factory.mktemp("verbos") / "p").parent


async def _all_noted(journal: Path, name: str, count: int) -> None:
    """Refusals are noted beside the answers."""
    for _ in range(WAIT * 10):
        if len(refusals(journal, name)) >= count:
            return
        await asyncio.sleep(0.1)


async def _answers(page: PageContext, operations: Sequence[Operation]) -> None:
    for operation in operations:
        with pytest.raises(NotYourRole):
            await page.answer(operation.function, page.folder)


def _starts(page: PageContext, operations: Sequence[Operation]) -> None:
    with Client(ui.page("/de-prueba")):
        for operation in operations:
            page.start(operation.function, page.folder)
            assert page.server.jobs.last(page.folder) is None


@pytest.mark.requirement("M31", "M38")
@pytest.mark.parametrize("role", [role for role in PEOPLE if role != "executor"])
def test_what_a_role_lacks_is_neither_answered_nor_started_and_each_try_is_noted(
    small: Path, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = {
        name: operation
        for name, operation in all_operations().items()
        if "executor" in operation.roles and role not in operation.roles
    }
    assert len(lacking) > 50
    folder, name = small / PROJECT, PEOPLE[role]
    before = {path: digest for path, digest in file_digests(folder).items() if path != "journal.jsonl"}

    async def work() -> list[str]:
        monkeypatch.setattr(core, "loop", asyncio.get_running_loop())
        pool, sessions = Counted(), Sessions("es")
        session: Session = sessions.open(role, name, (role,))
        page = PageContext(server_parts(small, pool, sessions), session, PROJECT, "overview")
        try:
            await _answers(page, list(lacking.values()))
            _starts(page, list(lacking.values()))
            await _all_noted(folder / "journal.jsonl", name, len(lacking))  # the second try of each is no news
        finally:
            pool.close()
        return pool.asked

    assert set(run(work())) == {"note_refusal"}
    assert sorted(refusals(folder / "journal.jsonl", name)) == sorted(lacking)
    assert {path: digest for path, digest in file_digests(folder).items() if path != "journal.jsonl"} == before


def test_a_session_that_is_over_is_told_so_and_nothing_is_called(small: Path) -> None:
    moment = [0.0]

    async def work() -> list[str]:
        pool, sessions = Counted(), Sessions("es", lambda: moment[0])
        page = PageContext(
            server_parts(small, pool, sessions), sessions.open("beto", "Beto Soto", ("executor",)), PROJECT, "data"
        )
        for passed in (IDLE, LIFE):
            moment[0] += passed
            with pytest.raises(SessionOver):
                await page.answer(status, page.folder)
        pool.close()
        return pool.asked

    assert run(work()) == []
