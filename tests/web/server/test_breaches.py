"""Ways into a shared page that somebody tried: none of them opens."""

from __future__ import annotations

import json
import re
import signal
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest
import socketio

from celosia.pipeline.release.stats_rules import journal_entries
from celosia.web.server.sessions import FROM_MOST, WRONG_MOST
from celosia.workbench.accounts import add_account, change_account
from tests.web.shared_server import PASSWORD, SharedServer, employ, let_in, shared_server_at
from tests.web.threads import run

pytestmark = pytest.mark.web
CLIENT = re.compile(r"(?:client_id|clientId)[^0-9a-f]{1,12}([0-9a-f-]{36})")
ELEMENTS = re.compile(r"String\.raw`(.*?)`", re.DOTALL)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("breaches") / "proyectos"
    folder.mkdir()
    employ(folder, "ana", "Ana Rojas", "executor")
    employ(folder, "dina", "Dina Vera", "outsider")
    employ(folder, "carla", "Carla Díaz", "head")
    return folder


@pytest.fixture(scope="module")
def shared(root: Path) -> Iterator[SharedServer]:
    with shared_server_at(root) as started:
        yield started


def guess(shared: SharedServer, login: str, password: str = "no es esta") -> int:
    with httpx.Client(base_url=shared.base, headers={"origin": shared.base}, timeout=120) as door:
        return door.post("/login", data={"login": login, "password": password}).status_code


def test_an_account_that_is_closed_or_changes_roles_is_out_at_once(root: Path, shared: SharedServer) -> None:
    employ(root, "beto", "Beto Soto", "verifier")
    inside = let_in(shared, "beto")
    assert inside.client.get("/").status_code == 200
    change_account(root, "beto", roles=["head"])
    assert inside.client.get("/").headers.get("location") == "/login"
    again = let_in(shared, "beto")
    change_account(root, "beto", active=False)
    assert again.client.get("/").headers.get("location") == "/login"
    assert guess(shared, "beto", PASSWORD) == 403


def test_many_guesses_at_once_are_many(root: Path, shared: SharedServer) -> None:
    employ(root, "elsa", "Elsa Paz", "verifier")
    with ThreadPoolExecutor(12) as many:
        statuses = list(many.map(lambda _: guess(shared, "elsa"), range(12)))
    assert statuses.count(403) <= WRONG_MOST
    assert statuses.count(429) >= 12 - WRONG_MOST
    assert guess(shared, "elsa", PASSWORD) == 429  # shut, whoever knocks
    assert WRONG_MOST < FROM_MOST


def test_what_is_typed_where_a_name_belongs_is_written_nowhere(root: Path, shared: SharedServer) -> None:
    secret = "mi clave escrita en el campo equivocado"
    guess(shared, secret)
    path = root / ".celosia" / "journal.jsonl"
    assert secret not in path.read_text("utf-8")
    refused = [entry for entry in journal_entries(path) if entry["what"] in ("login-refused", "login-shut")]
    assert {entry["who"] for entry in refused} == {"–"}


def test_a_stranger_who_goes_on_knocking_fills_no_journal_and_keeps_nobody_out(
    root: Path, shared: SharedServer
) -> None:
    employ(root, "hugo", "Hugo Neira", "verifier")
    stranger = httpx.HTTPTransport(local_address="127.0.0.66")
    with httpx.Client(base_url=shared.base, headers={"origin": shared.base}, transport=stranger, timeout=120) as door:
        for login in ("hugo", "password of hugo", "key hugo"):
            codes = [door.post("/login", data={"login": login, "password": "x"}).status_code for _ in range(9)]
            assert codes == [403] * WRONG_MOST + [429] * (9 - WRONG_MOST)
    entries_noted = journal_entries(root / ".celosia" / "journal.jsonl")
    shut = [entry["facts"] for entry in entries_noted if entry["what"] == "login-shut"]
    assert [entry["account"] for entry in shut if entry["address"] == "127.0.0.66"] == ["hugo", ""]
    inside = let_in(shared, "hugo")
    new = "otra clave bien larga"
    changed = {"csrf": inside.csrf, "old": PASSWORD, "new": new, "again": new}
    assert inside.client.post("/password", data=changed).headers["location"] == "/"


def test_an_address_that_somebody_claims_for_themselves_is_not_believed(root: Path, shared: SharedServer) -> None:
    with httpx.Client(base_url=shared.base, headers={"origin": shared.base, "x-forwarded-for": "11.111.111-1"}) as door:
        door.post("/login", data={"login": "dina", "password": "no es esta"}, timeout=120)
    entries_noted = journal_entries(root / ".celosia" / "journal.jsonl")
    assert {entry["facts"]["address"] for entry in entries_noted if "address" in entry["facts"]} <= {
        "127.0.0.1",
        "127.0.0.66",
    }


def elements_of(page: str) -> tuple[str, dict[str, Any]]:
    """The id of a page and its elements, as the browser gets them."""
    client, match = CLIENT.search(page), ELEMENTS.search(page)
    assert client is not None
    assert match is not None
    raw = match[1]
    for sign, plain in (("&lt;", "<"), ("&gt;", ">"), ("&#96;", "`"), ("&#36;", "$"), ("&amp;", "&")):
        raw = raw.replace(sign, plain)
    return client[1], json.loads(raw)


async def open_socket(shared: SharedServer, cookie: str, page: str) -> socketio.AsyncClient:
    """A socket as the page opens it."""
    headers = {"Origin": shared.base, "Cookie": cookie}
    made = socketio.AsyncClient(http_session=aiohttp.ClientSession(headers=headers), reconnection=False)
    ids = f"client_id={page}&tab_id={uuid.uuid4()}&document_id={uuid.uuid4()}&next_message_id=0"
    await made.connect(
        f"{shared.base}?{ids}&implicit_handshake=true",
        transports=["websocket"],
        socketio_path="/_nicegui_ws/socket.io",
        headers=headers,
    )
    return made


def test_a_socket_counts_only_for_pages_of_its_own_session(shared: SharedServer) -> None:
    mine, other = let_in(shared, "ana"), let_in(shared, "dina")
    page, _ = elements_of(mine.client.get("/").text)

    async def steal() -> bool:
        try:
            socket = await open_socket(shared, other.cookie, page)
        except (socketio.exceptions.ConnectionError, aiohttp.ClientError):
            return False
        await socket.disconnect()
        return True

    async def own() -> bool:
        socket = await open_socket(shared, mine.cookie, page)
        there = socket.connected
        await socket.disconnect()
        return there

    assert run(steal()) is False
    assert run(own()) is True


def test_the_channel_is_a_websocket_and_nothing_else(shared: SharedServer) -> None:
    inside = let_in(shared, "dina")
    answer = inside.client.get("/_nicegui_ws/socket.io/?EIO=4&transport=polling")
    assert answer.status_code == 403


def test_wrong_passwords_on_the_form_that_changes_it_end_the_session(root: Path, shared: SharedServer) -> None:
    employ(root, "fito", "Fito Luna", "verifier")
    inside = let_in(shared, "fito")
    given = {"csrf": inside.csrf, "old": "no es esta", "new": "otra clave bien larga", "again": "otra clave bien larga"}
    codes = [inside.client.post("/password", data=given).status_code for _ in range(WRONG_MOST + 1)]
    assert codes == [403] * WRONG_MOST + [303]
    assert inside.client.get("/").headers.get("location") == "/login"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_what_was_sent_is_gone_when_the_session_or_the_server_ends(tmp_path: Path, end: signal.Signals) -> None:
    root = tmp_path / "proyectos"
    root.mkdir()
    employ(root, "ana", "Ana Rojas", "executor")
    with shared_server_at(root) as shared:
        for leaves in (True, False):
            inside = let_in(shared, "ana")
            headers = {"x-celosia-csrf": inside.csrf, "x-celosia-name": "pacientes.csv"}
            assert inside.client.put("/upload", content=b"nombre\nAna\n", headers=headers).status_code == 200
            assert list(root.glob(".celosia-*/*/pacientes.csv"))
            if leaves:
                assert inside.client.post("/logout", data={"csrf": inside.csrf}).status_code == 303
                assert not list(root.glob(".celosia-*/*/pacientes.csv"))
        shared.running.process.send_signal(end)
        shared.running.process.wait(60)
    assert not list(root.glob(".celosia-*"))


def test_a_new_account_comes_in_without_a_restart(root: Path, shared: SharedServer) -> None:
    made, password = add_account(root, "gabi", "Gabi Ríos", ["verifier"])
    assert made.fresh
    assert guess(shared, "gabi", password) == 303
