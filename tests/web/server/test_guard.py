"""Nothing reaches the page without its session, name, origin and secret; and no answer goes out without its rules."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from celosia.pipeline.release.stats_rules import journal_entries
from celosia.web.server.application import local_path
from celosia.web.server.guard import BODY_LIMIT, CSRF, Access, Guard
from celosia.web.server.server import Server
from celosia.web.server.sessions import LIFE, Sessions
from tests.web.serving import RunningServer, running_server
from tests.web.threads import run

pytestmark = pytest.mark.web

CHANNEL = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
STRANGER_INTERVAL = ("http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1", "")


# --- the real server --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/new", "/p/x", "/assets/celosia.css", "/download/x", "/preference", "/nothing"])
def test_without_a_session_nothing_is_answered(running: RunningServer, path: str) -> None:
    answer = httpx.get(running.base + path)
    assert answer.status_code == 401
    assert "celosia serve" in answer.text


def test_a_wrong_token_is_refused(running: RunningServer) -> None:
    assert httpx.get(f"{running.base}/enter?token=falso").status_code == 403
    assert httpx.get(f"{running.base}/enter").status_code == 403


def test_a_token_works_once(running: RunningServer) -> None:
    answer = httpx.get(f"{running.base}/enter", params={"token": running.token})
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_address_opened_again_by_whoever_is_in_leads_home(running: RunningServer) -> None:
    with running.client() as client:
        answer = client.get("/enter", params={"token": running.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "set-cookie" not in answer.headers


def test_a_forged_cookie_is_refused(running: RunningServer) -> None:
    for value in ("x" * 43, running.token, running.enter()[:-1], f'"{running.enter()}', ""):
        assert httpx.get(running.base, headers={"cookie": f"{running.cookie_name}={value}"}).status_code == 401


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(tmp_path: Path) -> None:
    session, guard = _make_guard()
    answer = _ask(guard, "GET", "/enter?token=" + session.new_token(), cookie="")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    parts = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}
    assert {"httponly", "samesite=strict", "path=/", f"max-age={LIFE}"} <= parts


def test_cookies_of_other_pages_on_this_machine_shut_nobody_out(running: RunningServer) -> None:
    """Cookies do not tell ports apart: whatever another program on this machine set comes along."""
    for others in ('state={"a": [1, 2]}', "bad[name]=1", 'x="', "a=b=c", "sinvalor"):
        headers = {"cookie": f"{others}; {running.cookie_name}={running.enter()}"}
        assert httpx.get(f"{running.base}/assets/celosia.css", headers=headers).status_code == 200, others


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "127.0.0.1:{port}.evil.example", ""]
)
def test_a_foreign_name_that_points_here_is_refused(running: RunningServer, host: str) -> None:
    """DNS rebinding: the browser believes that it talks to the stranger's site, and says so."""
    with running.client(host=host.format(port=running.port)) as client:
        assert client.get("/").status_code in ((421,) if host else (400, 421))


def test_the_other_names_of_this_machine_are_ours(running: RunningServer) -> None:
    with running.client(host=f"localhost:{running.port}") as client:
        assert client.get("/assets/celosia.css").status_code == 200


@pytest.mark.parametrize("origin", STRANGER_INTERVAL)
def test_a_request_from_a_foreign_page_is_refused(running: RunningServer, origin: str) -> None:
    with running.client(origin=origin) as client:
        assert client.get("/").status_code == 403
        assert client.put("/upload", content=b"a;b", headers={CSRF: running.csrf()}).status_code == 403


def test_an_upload_that_does_not_say_where_it_comes_from_is_refused(running: RunningServer) -> None:
    with running.client() as client:
        assert client.put("/upload", content=b"a;b", headers={CSRF: running.csrf()}).status_code == 403


def test_an_upload_without_the_secret_of_the_page_is_refused(running: RunningServer) -> None:
    with running.client(origin=running.base) as client:
        assert client.put("/upload", content=b"a;b").status_code == 403
        assert client.put("/upload", content=b"a;b", headers={CSRF: "x" * 43}).status_code == 403
        assert client.put("/upload", content=b"a;b", headers={CSRF: running.csrf()}).status_code == 200


def test_a_cross_site_request_with_our_origin_forged_by_no_browser_is_still_refused(running: RunningServer) -> None:
    with running.client(origin=running.base, **{"sec-fetch-site": "cross-site"}) as client:
        assert client.get("/").status_code == 403


def _channel(running: RunningServer, origin: str | None, cookie: str, host: str = "") -> str:
    """The first word of the channel."""
    headers = {"Cookie": f"{running.cookie_name}={cookie}"} if cookie else {}
    url = f"ws://{host or running.host}{CHANNEL}"
    wire = socket.create_connection(("127.0.0.1", running.port))
    with connect(url, sock=wire, origin=origin, additional_headers=headers, proxy=None) as channel:  # type: ignore[arg-type]
        return str(channel.recv(timeout=20))


def test_our_own_page_opens_its_channel(running: RunningServer) -> None:
    assert _channel(running, running.base, running.enter()).startswith("0{")


@pytest.mark.parametrize("origin", [*STRANGER_INTERVAL, None])
def test_no_foreign_page_opens_the_channel(running: RunningServer, origin: str | None) -> None:
    with pytest.raises(InvalidStatus):
        _channel(running, origin, running.enter())


@pytest.mark.parametrize("cookie", ["", "x" * 43])
def test_the_channel_needs_a_session(running: RunningServer, cookie: str) -> None:
    with pytest.raises(InvalidStatus):
        _channel(running, running.base, cookie)


def test_the_channel_is_not_opened_under_a_foreign_name(running: RunningServer) -> None:
    host = f"evil.example:{running.port}"
    with pytest.raises(InvalidStatus):
        _channel(running, f"http://{host}", running.enter(), host)


ANSWERS = (
    ("GET", "/", True),
    ("GET", "/new", True),
    ("GET", "/nothing", True),
    ("GET", "/p/nada", True),
    ("GET", "/assets/celosia.css", True),
    ("GET", "/assets/nada.css", True),
    ("GET", "/_nicegui/nada", True),
    ("GET", "/download/nada", True),
    ("GET", "/preference?back=/", True),
    ("PUT", "/upload", True),
    ("POST", "/", True),
    ("TRACE", "/", True),
    ("GET", "/", False),
    ("GET", "/enter?token=x", False),
)


@pytest.mark.parametrize(("method", "path", "inside"), ANSWERS)
def test_every_answer_carries_the_rules_of_the_page(
    running: RunningServer, method: str, path: str, inside: bool
) -> None:
    with running.client() if inside else httpx.Client(base_url=running.base) as client:
        _is_dressed(client.request(method, path))


def test_the_way_in_carries_the_rules_of_the_page() -> None:
    sessions, guard = _make_guard()
    _is_dressed(_ask(guard, "GET", "/enter?token=" + sessions.new_token(), cookie=""))


def _is_dressed(answer: httpx.Response) -> None:
    rules = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert rules["default-src"] == "'none'"
    assert "'unsafe-inline'" not in rules["script-src"]
    assert not re.search(r"\*|https?:", " ".join(rules.values()))
    assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
    assert rules["form-action"] in ("'none'", "'self'")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] in ("no-referrer", "same-origin")
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


def test_every_script_of_a_page_bears_a_nonce_that_is_used_once(running: RunningServer) -> None:
    nonces = set()
    with running.client() as client:
        for _ in range(2):
            answer = client.get("/")
            (nonce,) = re.findall(r"'nonce-([^']+)'", answer.headers["content-security-policy"])
            scripts = re.findall(r"<script\b[^>]*>", answer.text)
            assert scripts
            assert all(f'nonce="{nonce}"' in script for script in scripts)
            nonces.add(nonce)
    assert len(nonces) == 2


def test_what_is_private_is_not_kept_by_the_browser(running: RunningServer) -> None:
    with running.client() as client:
        assert client.get("/").headers["cache-control"] == "no-store"


def test_it_listens_on_loopback_only(running: RunningServer) -> None:
    listening = [line.split()[1] for name in ("tcp", "tcp6") for line in _sockets(name) if line.split()[3] == "0A"]
    ours = [place for place in listening if int(place.rpartition(":")[2], 16) == running.port]
    assert ours == [f"0100007F:{running.port:04X}"]


def _sockets(name: str) -> list[str]:
    path = Path(f"/proc/net/{name}")
    if not path.exists() and name == "tcp":
        pytest.skip("needs Linux's table of sockets")
    return path.read_text().splitlines()[1:] if path.exists() else []


def test_a_port_that_is_taken_is_said_in_one_sentence(
    running: RunningServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from celosia.cli import main

    assert main(["serve", str(tmp_path), "--no-browser", "--port", str(running.port)]) == 2
    said = capsys.readouterr().err
    assert str(running.port) in said
    assert "Traceback" not in said


# --- paths ------------------------------------------------------------------------------------------

TRICKS = (
    "/p/..%2f..",
    "/p/..",
    "/p/../..",
    "/p/%2e%2e",
    "/p/.oculto",
    "/p/..%5cafuera",
    "/p/a%2fb",
    "/p/a%5cb",
    "/p/a%00b",
    "/p/afuera%2f",
    "/p/../afuera",
    "/p/%2Fetc",
    "/p/lleva-afuera",
    "/p/lleva-afuera/data",
    "/p/~root",
    "/p/C:",
    "/p/" + "a" * 300,
    "/p/%ff%fe",
    "/assets/../_guard.py",
    "/assets/..%2f_guard.py",
    "/assets/%2e%2e/_guard.py",
    "//evil.example/",
    "/p//etc/passwd",
    "/p/%3Cscript%3E",
)


@pytest.fixture(scope="module")
def neighbours(running: RunningServer) -> Path:
    """A project beside the projects' folder, a link to it from inside, a hidden one and one that may be seen."""
    outside = running.root.parent / "afuera"
    for folder in (outside, running.root / ".oculto", running.root / "visible"):
        folder.mkdir()
        (folder / "celosia.toml").write_text('format = "celosia/project/1"\n# SECRETO-DE-AFUERA\n', "utf-8")
    (running.root / "lleva-afuera").symlink_to(outside)
    return outside


def _raw(running: RunningServer, path: str) -> tuple[int, str]:
    """A path as it is: no client tidies it up."""
    wire = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    wire.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
    wire.putheader("Host", running.host)
    wire.putheader("Cookie", f"{running.cookie_name}={running.enter()}")
    wire.endheaders()
    answer = wire.getresponse()
    return answer.status, answer.read().decode("utf-8", "replace")


@pytest.mark.parametrize("path", TRICKS)
def test_no_path_leads_out_of_the_projects_folder(running: RunningServer, neighbours: Path, path: str) -> None:
    status, words = _raw(running, path)
    assert "SECRETO" not in words
    assert "root:" not in words
    assert "class Guard" not in words
    assert status in (200, 307, 400, 404)
    if status == 200:
        assert "No hay un proyecto con ese nombre" in words


def test_a_project_that_is_there_is_shown(running: RunningServer, neighbours: Path) -> None:
    status, words = _raw(running, "/p/visible")
    assert status == 200
    assert "No hay un proyecto con ese nombre" not in words


def test_a_link_that_leads_out_is_not_listed(running: RunningServer, neighbours: Path) -> None:
    _, words = _raw(running, "/")
    assert "visible" in words
    assert "oculto" not in words


@pytest.mark.parametrize(
    ("back", "lands"),
    [
        ("/p/x", "/p/x"),
        ("//evil.example", "/"),
        ("https://evil.example", "/"),
        ("/\\evil.example", "/"),
        ("\\\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/evil.example", "/"),
        ("", "/"),
        ("/%0d%0aset-cookie:x", "/%0d%0aset-cookie:x"),
        (" /x", "/"),
        ("/\r\nset-cookie: a=b", "/"),
    ],
)
def test_a_preference_leads_back_to_our_own_pages_only(running: RunningServer, back: str, lands: str) -> None:
    assert local_path(back) == lands
    with running.client() as client:
        answer = client.get("/preference", params={"back": back})
    assert answer.status_code == 303
    assert answer.headers["location"] == lands
    assert "set-cookie" not in answer.headers


def test_a_preference_that_we_do_not_know_changes_nothing(running: RunningServer) -> None:
    running.prefer("es", "light")
    running.prefer("xx", "<script>")
    with running.client() as client:
        assert "Tema: claro" in client.get("/").text


def test_a_page_that_does_not_exist_says_so_without_the_words_of_a_program(running: RunningServer) -> None:
    with running.client() as client:
        answer = client.get("/p/x/nada/y")
    assert answer.status_code == 404
    assert "HTTPException" not in answer.text


def test_a_project_named_on_the_command_line_is_where_one_comes_in(tmp_path: Path) -> None:
    project = tmp_path / "proyectos" / "año uno"
    project.mkdir(parents=True)
    (project / "celosia.toml").write_text('format = "celosia/project/1"\n', "utf-8")
    with running_server(project.parent, folder=project) as running:
        answer = httpx.get(f"{running.base}/enter", params={"token": running.token}, timeout=60)
    assert answer.headers["location"] == "/p/a%C3%B1o%20uno"


def test_the_address_answers_as_soon_as_it_is_told(tmp_path: Path) -> None:
    root = tmp_path / "proyectos"
    root.mkdir()
    with running_server(root) as running:
        assert running.enter()
    assert list(root.iterdir()) == []  # and nothing of it is left behind


# --- the guard alone --------------------------------------------------------------------------------


def _make_guard(port: int = 8000) -> tuple[Sessions, Guard]:
    sessions = Sessions("es", lambda: 0.0)
    return sessions, Guard(_count_body, sessions, _access(port))


def _access(port: int = 8000) -> Access:
    return Access(("127.0.0.1", "localhost"), port)


async def _count_body(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that reads a whole body and says how long it was, or that it was cut off."""
    length = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            length = -1
            break
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": str(length).encode()})


def _ask(guard: Guard, method: str, path: str, cookie: str, **kwargs: Any) -> httpx.Response:
    async def send_request() -> httpx.Response:
        transport = httpx.ASGITransport(guard)
        headers = {"cookie": f"celosia_8000={cookie}", **kwargs.pop("headers", {})}
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers) as client:
            return await client.request(method, path, **kwargs)

    response: httpx.Response = run(send_request())
    return response


def _own(sessions: Sessions) -> tuple[str, dict[str, str]]:
    session = sessions.enter(sessions.new_token())
    assert session is not None
    return session.id, {"origin": "http://127.0.0.1:8000", CSRF: session.csrf}


def test_a_body_within_the_bound_passes_whole() -> None:
    sessions, guard = _make_guard()
    cookie, headers = _own(sessions)
    assert _ask(guard, "POST", "/x", cookie, headers=headers, content=b"a" * BODY_LIMIT).text == str(BODY_LIMIT)


def test_a_body_that_declares_too_much_is_refused_unread() -> None:
    sessions, guard = _make_guard()
    cookie, headers = _own(sessions)
    assert _ask(guard, "POST", "/x", cookie, headers=headers, content=b"a" * (BODY_LIMIT + 1)).status_code == 413
    headers["content-length"] = "-1"
    assert _ask(guard, "POST", "/x", cookie, headers=headers, content=b"a").status_code == 413


def test_a_body_that_declares_nothing_is_cut_off() -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"a" * 100_000

    sessions, guard = _make_guard()
    cookie, headers = _own(sessions)
    assert _ask(guard, "POST", "/x", cookie, headers=headers, content=endless()).text == "-1"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_whatever_changes_something_needs_origin_and_secret(method: str) -> None:
    sessions, guard = _make_guard()
    cookie, headers = _own(sessions)
    assert _ask(guard, method, "/x", cookie, headers=headers).status_code == 200
    for name in headers:
        without = {key: value for key, value in headers.items() if key != name}
        assert _ask(guard, method, "/x", cookie, headers=without).status_code == 403


def test_the_secret_of_another_session_is_worth_nothing() -> None:
    sessions, guard = _make_guard()
    cookie, _ = _own(sessions)
    _, others = _own(sessions)
    assert _ask(guard, "PUT", "/x", cookie, headers=others).status_code == 403


def test_a_session_that_ended_is_out() -> None:
    now = [0.0]
    sessions = Sessions("es", lambda: now[0])
    guard = Guard(_count_body, sessions, _access())
    cookie, _ = _own(sessions)
    assert _ask(guard, "GET", "/x", cookie).status_code == 200
    now[0] = float(LIFE)
    assert _ask(guard, "GET", "/x", cookie).status_code == 401


def test_a_page_in_pieces_is_dressed_whole() -> None:
    async def pieces(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": b"<p>a</p><scr", "more_body": True})
        await send({"type": "http.response.body", "body": "ipt>1</script>ñ".encode()})

    sessions = Sessions("es", lambda: 0.0)
    guard = Guard(pieces, sessions, _access())
    answer = _ask(guard, "GET", "/x", _own(sessions)[0])
    assert re.search(r'<script nonce="[^"]{16,}">1</script>ñ', answer.text)
    assert int(answer.headers["content-length"]) == len(answer.content)


@pytest.mark.parametrize(
    ("tls", "port", "host", "status"),
    [
        (True, 443, "datos.example", 401),
        (True, 443, "datos.example:443", 401),
        (True, 443, "DATOS.example", 401),
        (True, 8443, "datos.example", 421),
        (False, 443, "datos.example", 421),
        (False, 80, "datos.example", 401),
        (True, 443, "evil.example", 421),
        (True, 443, "", 421),
    ],
)
def test_the_port_that_everybody_uses_may_be_left_out(tls: bool, port: int, host: str, status: int) -> None:
    guard = Guard(_count_body, Sessions("es"), Access(("datos.example", "localhost"), port, tls=tls))
    assert _ask(guard, "GET", "/x", "", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("tls", "host", "promised"),
    [
        (True, "datos.example:8000", True),
        (True, "127.0.0.1:8000", True),
        (True, "localhost:8000", False),
        (True, "evil.example:8000", False),
        (False, "datos.example:8000", False),
    ],
)
def test_who_came_by_a_certificate_is_told_to_come_by_one_again(tls: bool, host: str, promised: bool) -> None:
    sessions = Sessions("es", lambda: 0.0)
    guard = Guard(_count_body, sessions, Access(("datos.example", "127.0.0.1", "localhost"), 8000, tls=tls))
    session = sessions.open()
    name = "__Host-celosia_8000" if tls else "celosia_8000"
    for cookie in (f"{name}={session.id}", ""):  # let in, and shown the door
        answer = _ask(guard, "GET", "/x", "", headers={"host": host, "cookie": cookie})
        assert (answer.headers.get("strict-transport-security") == "max-age=31536000") is promised


@pytest.mark.parametrize(
    ("headers", "kinds"),
    [
        ({"host": "evil.example"}, ["host"]),
        ({"origin": "http://evil.example"}, ["origin"]),
        ({CSRF: "falso"}, ["csrf"]),
        ({}, []),
    ],
    ids=["host", "origin", "csrf", "our own"],
)
def test_a_request_that_no_page_of_ours_would_send_is_told(headers: dict[str, str], kinds: list[str]) -> None:
    collected: list[tuple[str, str]] = []
    sessions = Sessions("es", lambda: 0.0)
    guard = Guard(_count_body, sessions, _access(), lambda login, kind: collected.append((login, kind)))
    session = sessions.open("ana", "Ana Rojas", ("head",))
    own = {"origin": "http://127.0.0.1:8000", CSRF: session.csrf}
    _ask(guard, "POST", "/x", session.id, headers=own | headers)
    assert collected == [("ana", kind) for kind in kinds]
    _ask(guard, "POST", "/x", "nadie", headers=own | headers)
    assert collected[len(kinds) :] == [
        ("", kind) for kind in kinds if kind != "csrf"
    ]  # without a session there is none


def test_breaches_are_in_the_journal_of_a_shared_page_alone(tmp_path: Path) -> None:
    async def refuse_twice(shared: bool) -> None:
        nothing: Any = None
        made = Server(tmp_path, tmp_path, nothing, nothing, nothing, 0, shared=shared)
        for _ in range(50):
            made.note_refused_request("", "host")
            made.note_refused_request("ana", "csrf")

    run(refuse_twice(False))
    assert not (tmp_path / ".celosia").exists()
    run(refuse_twice(True))
    lines = journal_entries(tmp_path / ".celosia" / "journal.jsonl")
    entries_sorted = sorted(
        (entry["who"], entry["what"], entry["facts"]["what"], entry["facts"]["times"]) for entry in lines
    )
    assert entries_sorted == [("ana", "request-refused", "csrf", 1), ("–", "request-refused", "host", 1)]
