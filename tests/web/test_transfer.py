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
from tests.web.server import UPLOAD_MEGABYTES, Served
from tests.web.threads import run

from celosia.pipeline import act_as, journal_entries
from celosia.pipeline import note_download as note_release
from celosia.web._guard import CSRF
from celosia.web._office import Office
from celosia.web._sessions import Session
from celosia.web._transfer import NAME, harmless_name, note_download, send_download, size_text
from celosia.web._workers import Call

LIMIT = UPLOAD_MEGABYTES * 1_000_000


# --- names and tickets ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("egresos 2024.csv", "egresos_2024.csv"), ("../../etc/passwd", "passwd"), ("..\\..\\windows\\x.csv", "x.csv"),
        ("/etc/shadow", "shadow"), (".bashrc", "bashrc"), ("..", "archivo"), ("", "archivo"), ("a\x00b.csv", "a_b.csv"),
        ("-rf", "rf"), ("$(rm -rf).csv", "rm_-rf_.csv"), ("Año ñandú.csv", "Año_ñandú.csv"), ("a\nb.csv", "a_b.csv"),
        ("<script>.csv", "script_.csv"), ("con:stream.csv", "con_stream.csv"),
    ],
)  # fmt: skip
def test_a_files_own_name_is_kept_only_as_far_as_it_is_harmless(given_name: str, kept: str) -> None:
    assert harmless_name(given_name) == kept


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


def _put(served: Served, content: bytes | Iterator[bytes], name: str = "x.csv") -> tuple[int, dict[str, object]]:
    headers = {CSRF: served.csrf(), NAME: name, "origin": served.base}
    with served.client(**headers) as client:
        answer = client.put("/upload", content=content)
    return answer.status_code, answer.json()


@pytest.mark.web
def test_a_file_arrives_whole_private_and_under_a_ticket(served: Served) -> None:
    body = b"a;b\n" * 1000
    status, told = _put(served, body, "..%2F..%2Fmis%20egresos.csv")
    assert status == 200
    assert (told["name"], told["bytes"]) == ("mis_egresos.csv", len(body))
    assert str(served.root) not in str(told)
    (path,) = (path for path in served.corner() if path.name == "mis_egresos.csv")
    assert path.read_bytes() == body
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.unlink()


@pytest.mark.web
@pytest.mark.parametrize("chunked", [False, True])
def test_a_file_over_the_limit_is_refused_and_leaves_nothing(served: Served, chunked: bool) -> None:
    before = served.corner()
    body = b"x" * (LIMIT + 1)
    content: bytes | Iterator[bytes] = (body[i : i + 65_536] for i in range(0, len(body), 65_536)) if chunked else body
    status, told = _put(served, content)
    assert status == 413
    assert told["code"] == "upload_too_large"
    assert "8 MB" in str(told["sentence"])
    assert served.corner() == before


@pytest.mark.web
def test_a_file_of_exactly_the_limit_is_taken(served: Served) -> None:
    status, told = _put(served, b"x" * LIMIT, "justo.csv")
    assert (status, told["bytes"]) == (200, LIMIT)
    for path in served.corner():
        if path.name == "justo.csv":
            path.unlink()


@pytest.mark.web
def test_two_gigabytes_are_refused_before_one_byte_is_read(served: Served) -> None:
    wire = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    wire.putrequest("PUT", "/upload")
    for name, value in _headers(served).items():
        wire.putheader(name, value)
    wire.putheader("Content-Length", "2000000000")
    wire.endheaders()
    assert wire.getresponse().status == 413


@pytest.mark.web
def test_a_stream_without_end_is_cut_at_the_limit_and_leaves_nothing(served: Served) -> None:
    before, sent, chunk = served.corner(), 0, b"x" * 100_000
    wire = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    wire.putrequest("PUT", "/upload")
    for name, value in _headers(served).items():
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
    assert served.corner() == before


def _headers(served: Served) -> dict[str, str]:
    cookie = f"{served.cookie_name}={served.enter()}"
    return {"Cookie": cookie, "Origin": served.base, CSRF: served.csrf(), NAME: "x.csv"}


@pytest.mark.web
def test_a_sender_who_goes_away_leaves_nothing(served: Served) -> None:
    before = served.corner()
    wire = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    wire.putrequest("PUT", "/upload")
    for name, value in _headers(served).items():
        wire.putheader(name, value)
    wire.putheader("Content-Length", "1000000")
    wire.endheaders(b"x" * 1000)
    wire.close()
    _until(lambda: served.corner() == before)


def _until(holds: object) -> None:
    import time

    for _ in range(200):
        if holds():  # type: ignore[operator]
            return
        time.sleep(0.05)
    raise AssertionError("it never came to hold")


@pytest.mark.web
def test_an_upload_is_refused_in_the_language_of_its_session(served: Served) -> None:
    try:
        served.prefer("en")
        _, told = _put(served, b"x" * (LIMIT + 1))
        assert "upload" in str(told["sentence"]) or "larger" in str(told["sentence"])
        served.prefer("es")
        _, told = _put(served, b"x" * (LIMIT + 1))
        assert "archivo" in str(told["sentence"])
    finally:
        served.prefer()


@pytest.mark.web
@pytest.mark.parametrize("ticket", ["nada", "..%2f..%2fetc%2fpasswd", "%00"])
def test_a_download_without_a_ticket_is_not_there(served: Served, ticket: str) -> None:
    with served.client() as client:
        assert client.get(f"/download/{ticket}").status_code == 404


@pytest.mark.web
def test_only_put_uploads(served: Served) -> None:
    with served.client(**_headers(served)) as client:
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
    office = Office(tmp_path, tmp_path, nothing, pool, nothing, 0, shared=True)
    session = _session()
    session.name, session.login = "Ana Rojas", "ana"
    for ticket in ("a", "b", "c"):
        session.notes[ticket] = ("egresos", "2026-11-15")
        run(note_download(office, session, ticket))
    run(note_download(office, session, "a"))  # a ticket is good for one line
    [line] = journal_entries(tmp_path / "egresos" / "journal.jsonl")
    assert (line["what"], line["who"], line["account"]) == ("download", "Ana Rojas", "ana")
    assert line["facts"] == {"release": "2026-11-15"}
    assert session.notes == {}
