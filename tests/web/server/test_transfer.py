"""Files to and from the page: bounded, private, under harmless names, by one-time tickets of one session."""

from __future__ import annotations

import http.client
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.pipeline.project.author import act_as
from celosia.pipeline.release.stats_rules import journal_entries
from celosia.web.server.guard import CSRF
from celosia.web.server.server import Server
from celosia.web.server.sessions import Session
from celosia.web.server.transfer import NAME, harmless_name, note_download, send_download, size_text
from celosia.web.work.workers import Call
from celosia.workbench.accounts import note_download as note_release
from tests.web.serving import UPLOAD_MEGABYTES, RunningServer
from tests.web.threads import run

LIMIT = UPLOAD_MEGABYTES * 1_000_000


# --- names and tickets ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_name", "expected_name"),
    [
        ("egresos 2024.csv", "egresos_2024.csv"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\x.csv", "x.csv"),
        ("/etc/shadow", "shadow"),
        (".bashrc", "bashrc"),
        ("..", "archivo"),
        ("", "archivo"),
        ("a\x00b.csv", "a_b.csv"),
        ("-rf", "rf"),
        ("$(rm -rf).csv", "rm_-rf_.csv"),
        ("Año ñandú.csv", "Año_ñandú.csv"),
        ("a\nb.csv", "a_b.csv"),
        ("<script>.csv", "script_.csv"),
        ("con:stream.csv", "con_stream.csv"),
    ],
)
def test_a_files_own_name_is_kept_only_as_far_as_it_is_harmless(given_name: str, expected_name: str) -> None:
    assert harmless_name(given_name) == expected_name


@given(st.text())
def test_no_name_leads_anywhere_or_surprises_a_shell(given_name: str) -> None:
    name = harmless_name(given_name)
    assert name == Path(name).name
    assert 0 < len(name) <= 80
    assert not set(name) & set("/\\\x00 \n\r\t'\"`$;&|<>*?()[]{}:")
    assert name[0] not in ".-_"


def _session() -> Session:
    return Session("s", "c", 0.0, "es")


def test_a_file_is_downloaded_once_as_an_attachment(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_text("<script>", "utf-8")
    session = _session()
    session.downloads["t"] = (str(path), "informe.html")
    answer = send_download(session, "t")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert send_download(session, "t").status_code == 404


def test_a_ticket_of_another_session_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a", "utf-8")
    mine, other = _session(), _session()
    mine.downloads["t"] = (str(path), "x.csv")
    assert send_download(other, "t").status_code == 404
    assert send_download(mine, "t").status_code == 200


def test_a_file_that_is_gone_is_not_there(tmp_path: Path) -> None:
    session = _session()
    session.downloads["t"] = (str(tmp_path / "nada"), "x")
    assert send_download(session, "t").status_code == 404


@pytest.mark.parametrize(
    ("size", "said"), [(1, "1 B"), (1_000, "1 kB"), (1_500_000, "1,5 MB"), (2_000_000_000, "2 GB")]
)
def test_a_size_is_said_as_people_say_it(size: int, said: str) -> None:
    assert size_text(size) == said


# --- the real server --------------------------------------------------------------------------------


def _put(
    running: RunningServer, content: bytes | Iterator[bytes], name: str = "x.csv"
) -> tuple[int, dict[str, object]]:
    headers = {CSRF: running.csrf(), NAME: name, "origin": running.base}
    with running.client(**headers) as client:
        answer = client.put("/upload", content=content)
    return answer.status_code, answer.json()


@pytest.mark.web
def test_a_file_arrives_whole_private_and_under_a_ticket(running: RunningServer) -> None:
    body = b"a;b\n" * 1000
    status, answer = _put(running, body, "..%2F..%2Fmis%20egresos.csv")
    assert status == 200
    assert (answer["name"], answer["bytes"]) == ("mis_egresos.csv", len(body))
    assert str(running.root) not in str(answer)
    (path,) = (path for path in running.scratch_files() if path.name == "mis_egresos.csv")
    assert path.read_bytes() == body
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.unlink()


@pytest.mark.web
@pytest.mark.parametrize("chunked", [False, True])
def test_a_file_over_the_limit_is_refused_and_leaves_nothing(running: RunningServer, chunked: bool) -> None:
    before = running.scratch_files()
    body = b"x" * (LIMIT + 1)
    content: bytes | Iterator[bytes] = (body[i : i + 65_536] for i in range(0, len(body), 65_536)) if chunked else body
    status, answer = _put(running, content)
    assert status == 413
    assert answer["code"] == "upload_too_large"
    assert "8 MB" in str(answer["sentence"])
    assert running.scratch_files() == before


@pytest.mark.web
def test_a_file_of_exactly_the_limit_is_taken(running: RunningServer) -> None:
    status, answer = _put(running, b"x" * LIMIT, "justo.csv")
    assert (status, answer["bytes"]) == (200, LIMIT)
    for path in running.scratch_files():
        if path.name == "justo.csv":
            path.unlink()


@pytest.mark.web
def test_two_gigabytes_are_refused_before_one_byte_is_read(running: RunningServer) -> None:
    wire = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    wire.putrequest("PUT", "/upload")
    for name, value in _headers(running).items():
        wire.putheader(name, value)
    wire.putheader("Content-Length", "2000000000")
    wire.endheaders()
    assert wire.getresponse().status == 413


@pytest.mark.web
def test_a_stream_without_end_is_cut_at_the_limit_and_leaves_nothing(running: RunningServer) -> None:
    before, sent, chunk = running.scratch_files(), 0, b"x" * 100_000
    wire = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    wire.putrequest("PUT", "/upload")
    for name, value in _headers(running).items():
        wire.putheader(name, value)
    wire.putheader("Transfer-Encoding", "chunked")
    wire.endheaders()
    try:
        while sent < 2_000_000_000:
            wire.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            sent += len(chunk)
    except OSError:
        pass  # the server hung up
    assert sent < LIMIT + 64_000_000  # what the two ends and the wire hold between them
    assert running.scratch_files() == before


def _headers(running: RunningServer) -> dict[str, str]:
    cookie = f"{running.cookie_name}={running.enter()}"
    return {"Cookie": cookie, "Origin": running.base, CSRF: running.csrf(), NAME: "x.csv"}


@pytest.mark.web
def test_a_sender_who_goes_away_leaves_nothing(running: RunningServer) -> None:
    before = running.scratch_files()
    wire = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    wire.putrequest("PUT", "/upload")
    for name, value in _headers(running).items():
        wire.putheader(name, value)
    wire.putheader("Content-Length", "1000000")
    wire.endheaders(b"x" * 1000)
    wire.close()
    _until(lambda: running.scratch_files() == before)


def _until(holds: object) -> None:
    import time

    for _ in range(200):
        if holds():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise AssertionError("it never came to hold")


@pytest.mark.web
def test_an_upload_is_refused_in_the_language_of_its_session(running: RunningServer) -> None:
    try:
        running.prefer("en")
        _, answer = _put(running, b"x" * (LIMIT + 1))
        assert "upload" in str(answer["sentence"]) or "larger" in str(answer["sentence"])
        running.prefer("es")
        _, answer = _put(running, b"x" * (LIMIT + 1))
        assert "archivo" in str(answer["sentence"])
    finally:
        running.prefer()


@pytest.mark.web
@pytest.mark.parametrize("ticket", ["nada", "..%2f..%2fetc%2fpasswd", "%00"])
def test_a_download_without_a_ticket_is_not_there(running: RunningServer, ticket: str) -> None:
    with running.client() as client:
        assert client.get(f"/download/{ticket}").status_code == 404


@pytest.mark.web
def test_only_put_uploads(running: RunningServer) -> None:
    with running.client(**_headers(running)) as client:
        for method in ("GET", "POST", "DELETE", "PATCH"):
            assert client.request(method, "/upload", content=b"a").status_code in (404, 405)


class _Pool:
    """Does at once what it is asked."""

    async def ask(self, call: Call) -> None:
        act_as(call.who, call.account)
        try:
            note_release(*call.args)
        finally:
            act_as("", "")


def test_a_release_that_somebody_fetches_is_in_its_journal_once_a_minute(tmp_path: Path) -> None:
    (tmp_path / "egresos").mkdir()
    nothing: Any = None
    pool: Any = _Pool()
    shared = Server(tmp_path, tmp_path, nothing, pool, nothing, 0, shared=True)
    session = _session()
    session.name, session.login = "Ana Rojas", "ana"
    for ticket in ("a", "b", "c"):
        session.notes[ticket] = ("egresos", "2026-11-15")
        run(note_download(shared, session, ticket))
    run(note_download(shared, session, "a"))  # a ticket is good for one line
    [line] = journal_entries(tmp_path / "egresos" / "journal.jsonl")
    assert (line["what"], line["who"], line["account"]) == ("download", "Ana Rojas", "ana")
    assert line["facts"] == {"release": "2026-11-15"}
    assert session.notes == {}
