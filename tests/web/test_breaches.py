"""Ways into a shared page that somebody tried: none of them opens."""

from __future__ import annotations

import asyncio
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
from tests.web.office import PASSWORD, Office, employ, let_in, office_at

from celosia.pipeline import add_account, change_account, journal_entries
from celosia.web._sessions import FROM_MOST, WRONG_MOST

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
def office(root: Path) -> Iterator[Office]:
    with office_at(root) as found:
        yield found


def guess(office: Office, login: str, password: str = "no es esta") -> int:
    with httpx.Client(base_url=office.base, headers={"origin": office.base}, timeout=120) as door:
        return door.post("/login", data={"login": login, "password": password}).status_code


def test_an_account_that_is_closed_or_changes_roles_is_out_at_once(root: Path, office: Office) -> None:
    employ(root, "beto", "Beto Soto", "verifier")
    inside = let_in(office, "beto")
    assert inside.client.get("/").status_code == 200
    change_account(root, "beto", roles=["head"])
    assert inside.client.get("/").headers.get("location") == "/login"
    again = let_in(office, "beto")
    change_account(root, "beto", active=False)
    assert again.client.get("/").headers.get("location") == "/login"
    assert guess(office, "beto", PASSWORD) == 403


def test_many_guesses_at_once_are_many(root: Path, office: Office) -> None:
    employ(root, "elsa", "Elsa Paz", "verifier")
    with ThreadPoolExecutor(12) as many:
        found = list(many.map(lambda _: guess(office, "elsa"), range(12)))
    assert found.count(403) <= WRONG_MOST
    assert found.count(429) >= 12 - WRONG_MOST
    assert guess(office, "elsa", PASSWORD) == 429  # shut, whoever knocks
    assert WRONG_MOST < FROM_MOST


def test_what_is_typed_where_a_name_belongs_is_written_nowhere(root: Path, office: Office) -> None:
    secret = "mi clave escrita en el campo equivocado"
    guess(office, secret)
    path = root / ".celosia" / "journal.jsonl"
    assert secret not in path.read_text("utf-8")
    refused = [one for one in journal_entries(path) if one["what"] in ("login-refused", "login-shut")]
    assert {one["who"] for one in refused} == {"–"}


def test_a_stranger_who_goes_on_knocking_fills_no_journal_and_keeps_nobody_out(root: Path, office: Office) -> None:
    employ(root, "hugo", "Hugo Neira", "verifier")
    stranger = httpx.HTTPTransport(local_address="127.0.0.66")
    with httpx.Client(base_url=office.base, headers={"origin": office.base}, transport=stranger, timeout=120) as door:
        for login in ("hugo", "password of hugo", "key hugo"):
            codes = [door.post("/login", data={"login": login, "password": "x"}).status_code for _ in range(9)]
            assert codes == [403] * WRONG_MOST + [429] * (9 - WRONG_MOST)
    told = journal_entries(root / ".celosia" / "journal.jsonl")
    shut = [one["facts"] for one in told if one["what"] == "login-shut"]
    assert [one["account"] for one in shut if one["address"] == "127.0.0.66"] == ["hugo", ""]
    inside = let_in(office, "hugo")
    new = "otra clave bien larga"
    changed = {"csrf": inside.csrf, "old": PASSWORD, "new": new, "again": new}
    assert inside.client.post("/password", data=changed).headers["location"] == "/"


def test_an_address_that_somebody_claims_for_themselves_is_not_believed(root: Path, office: Office) -> None:
    with httpx.Client(base_url=office.base, headers={"origin": office.base, "x-forwarded-for": "11.111.111-1"}) as door:
        door.post("/login", data={"login": "dina", "password": "no es esta"}, timeout=120)
    told = journal_entries(root / ".celosia" / "journal.jsonl")
    assert {one["facts"]["address"] for one in told if "address" in one["facts"]} <= {"127.0.0.1", "127.0.0.66"}


def elements_of(page: str) -> tuple[str, dict[str, Any]]:
    """The id of a page and its elements, as the browser gets them."""
    client, found = CLIENT.search(page), ELEMENTS.search(page)
    assert client is not None
    assert found is not None
    raw = found[1]
    for sign, plain in (("&lt;", "<"), ("&gt;", ">"), ("&#96;", "`"), ("&#36;", "$"), ("&amp;", "&")):
        raw = raw.replace(sign, plain)
    return client[1], json.loads(raw)


async def opened(office: Office, cookie: str, page: str) -> socketio.AsyncClient:
    """A socket as the page opens it."""
    headers = {"Origin": office.base, "Cookie": cookie}
    made = socketio.AsyncClient(http_session=aiohttp.ClientSession(headers=headers), reconnection=False)
    ids = f"client_id={page}&tab_id={uuid.uuid4()}&document_id={uuid.uuid4()}&next_message_id=0"
    await made.connect(
        f"{office.base}?{ids}&implicit_handshake=true", transports=["websocket"],
        socketio_path="/_nicegui_ws/socket.io", headers=headers,
    )  # fmt: skip
    return made


def test_a_socket_counts_only_for_pages_of_its_own_session(office: Office) -> None:
    mine, other = let_in(office, "ana"), let_in(office, "dina")
    page, _ = elements_of(mine.client.get("/").text)

    async def steal() -> bool:
        try:
            socket = await opened(office, other.cookie, page)
        except (socketio.exceptions.ConnectionError, aiohttp.ClientError):
            return False
        await socket.disconnect()
        return True

    async def own() -> bool:
        socket = await opened(office, mine.cookie, page)
        there = socket.connected
        await socket.disconnect()
        return there

    assert asyncio.run(steal()) is False
    assert asyncio.run(own()) is True


def test_the_channel_is_a_websocket_and_nothing_else(office: Office) -> None:
    inside = let_in(office, "dina")
    answer = inside.client.get("/_nicegui_ws/socket.io/?EIO=4&transport=polling")
    assert answer.status_code == 403


def test_wrong_passwords_on_the_form_that_changes_it_end_the_session(root: Path, office: Office) -> None:
    employ(root, "fito", "Fito Luna", "verifier")
    inside = let_in(office, "fito")
    given = {"csrf": inside.csrf, "old": "no es esta", "new": "otra clave bien larga", "again": "otra clave bien larga"}
    codes = [inside.client.post("/password", data=given).status_code for _ in range(WRONG_MOST + 1)]
    assert codes == [403] * WRONG_MOST + [303]
    assert inside.client.get("/").headers.get("location") == "/login"


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_what_was_sent_is_gone_when_the_session_or_the_server_ends(tmp_path: Path, end: signal.Signals) -> None:
    root = tmp_path / "proyectos"
    root.mkdir()
    employ(root, "ana", "Ana Rojas", "executor")
    with office_at(root) as office:
        for leaves in (True, False):
            inside = let_in(office, "ana")
            headers = {"x-celosia-csrf": inside.csrf, "x-celosia-name": "pacientes.csv"}
            assert inside.client.put("/upload", content=b"nombre\nAna\n", headers=headers).status_code == 200
            assert list(root.glob(".celosia-*/*/pacientes.csv"))
            if leaves:
                assert inside.client.post("/logout", data={"csrf": inside.csrf}).status_code == 303
                assert not list(root.glob(".celosia-*/*/pacientes.csv"))
        office.served.process.send_signal(end)
        office.served.process.wait(60)
    assert not list(root.glob(".celosia-*"))


def test_a_new_account_comes_in_without_a_restart(root: Path, office: Office) -> None:
    made, password = add_account(root, "gabi", "Gabi Ríos", ["verifier"])
    assert made.fresh
    assert guess(office, "gabi", password) == 303
