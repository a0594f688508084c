"""What strangers hand in: addresses, releases, cards and keys give nothing of the computer or of people away."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from celosia.data.errors import EngineUnreachable
from celosia.data.preview import VEIL
from celosia.data.readers import postgresql
from celosia.dossier.atenea import profile_document
from celosia.dossier.page import to_html
from celosia.model import dictionary
from celosia.model.variables import Role, Scale
from celosia.model.verdict import State
from celosia.pipeline.intake.errors import AddressRefused
from celosia.pipeline.intake.init_project import init
from celosia.pipeline.intake.preview import preview_source, source_choices, source_tables
from celosia.pipeline.intake.profile import profile_report
from celosia.pipeline.intake.source_address import resolved_source
from celosia.pipeline.project.errors import IdentityMissing, NameNeeded
from celosia.pipeline.project.folder import open_project
from celosia.pipeline.project.identity import new_identity, read_card
from celosia.pipeline.release.folder import listed_files, manifest_text, read_release
from celosia.pipeline.release.make_release import make_release
from celosia.pipeline.release.verify import verify_release
from celosia.workbench.projects import create_project
from celosia.workbench.result import side_by_side
from tests.projects.discharges import make_keys, make_project, run_to_approved_candidate
from tests.projects.steps import NOW, PHRASE, PUBLIC_KEY

# --- addresses typed on a page -------------------------------------------------------------------

REFUSED = [
    "postgresql://svc@db.victim/x?hostaddr=127.0.0.1",
    "postgresql://u@h/x?passfile=/etc/shadow",
    "postgresql://u@h/x?sslkey=/root/.ssh/id_rsa",
    "postgresql://u@h/x?sslcert=/root/c.crt&sslrootcert=/etc/passwd",
    "postgresql://u@h/x?service=interno",
    "postgresql://u@h/x?options=-c%20role%3Dadmin",
    "postgresql://u@/x?host=/var/run/postgresql",
    "postgresql://%2Fvar%2Frun%2Fpostgresql/x",
    "postgresql://u@h,%2Ftmp/x",
    "postgresql://u@/x?host=@abstracto",
    "postgresql:///x",
]
VERBS: list[Callable[[str], Any]] = [
    preview_source,
    source_tables,
    source_choices,
    lambda address: create_project(".", "uno", address),
]


@pytest.fixture
def psycopg() -> Any:
    return pytest.importorskip("psycopg")


@pytest.mark.parametrize("verb", VERBS, ids=["preview", "tables", "choices", "create"])
@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_asks_for_more_than_a_server_is_refused(
    psycopg: Any, verb: Callable[[str], Any], address: str
) -> None:
    with pytest.raises(AddressRefused):
        verb(address)


def test_an_address_of_a_server_keeps_its_parts_and_gets_no_password(psycopg: Any) -> None:
    found = resolved_source("postgresql://ana%20d@servidor:5433/base%2Fdos?sslmode=require", password=False)
    parts = psycopg.conninfo.conninfo_to_dict(found)
    assert parts == {
        "user": "ana d", "host": "servidor", "port": "5433", "dbname": "base/dos", "sslmode": "require",
        "password": "", "passfile": "/dev/null",
    }  # fmt: skip


def test_an_address_on_the_command_line_or_in_the_environment_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://tester@/postgres?host=/tmp/socket"
    monkeypatch.setenv("BASE", address)
    assert resolved_source(address) == resolved_source("env:BASE", password=False) == address


@pytest.fixture
def listening() -> Iterator[Callable[[bool], tuple[int, list[bytes]]]]:
    """A server that asks for the password in plain text, or says nothing at all."""
    opened: list[socket.socket] = []

    def listen(asks: bool) -> tuple[int, list[bytes]]:
        server = socket.create_server(("127.0.0.1", 0))
        opened.append(server)
        heard: list[bytes] = []
        if asks:
            threading.Thread(target=_ask, args=(server, heard), daemon=True).start()
        return server.getsockname()[1], heard

    yield listen
    for server in opened:
        server.close()


def _ask(server: socket.socket, heard: list[bytes]) -> None:
    client, _ = server.accept()
    with client:
        while struct.unpack(">II", client.recv(4096)[:8])[1] in (80877103, 80877104):  # no encryption here
            client.sendall(b"N")
        client.sendall(b"R" + struct.pack(">II", 8, 3))
        heard.append(client.recv(4096))


def test_the_passwords_of_whoever_runs_the_page_are_sent_to_nobody(
    psycopg: Any, listening: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "pgpass"
    kept.write_text("*:*:*:*:secretisima\n")
    kept.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(kept))
    monkeypatch.setenv("PGPASSWORD", "secretisima")
    port, heard = listening(True)
    with pytest.raises(EngineUnreachable):
        source_tables(f"postgresql://svc@127.0.0.1:{port}/x")
    assert b"secretisima" not in b"".join(heard)


def test_a_server_that_says_nothing_is_left_after_a_while(
    psycopg: Any, listening: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "_CONNECTING", 2)
    port, _ = listening(False)
    with pytest.raises(EngineUnreachable):  # or the test itself would never end
        source_tables(f"postgresql://x@127.0.0.1:{port}/x")


# --- keys of persons and households --------------------------------------------------------------


@pytest.fixture
def household_project(tmp_path: Path) -> Path:
    """A dictionary in which somebody called both keys plain numbers."""
    lines = ["rut,hogar,edad,comuna"] + [
        f"{10_000_000 + i * 7919},{900_000 + i // 8},{i % 90},Arica" for i in range(400)
    ]
    (tmp_path / "h.csv").write_text("\n".join(lines) + "\n", "utf-8")
    folder = Path(init(str(tmp_path / "h.csv"), tmp_path / "p", (), None, "rut", now=NOW).project.folder)
    config = folder / "celosia.toml"
    config.write_text(config.read_text("utf-8").replace("[unit]\n", '[unit]\nhousehold = "hogar"\n'), "utf-8")
    told = [
        replace(v, role=Role.PLAIN, scale=Scale.DISCRETE, kind=None, mel_label=None)
        for v in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(told), "utf-8")
    return folder


def test_the_profile_shows_no_key_whatever_the_dictionary_calls_it(household_project: Path) -> None:
    report = profile_report(household_project)
    found = {one.name: one for one in report.variables}
    for name in ("rut", "hogar"):
        assert (found[name].veiled, found[name].numbers, found[name].categories) == (True, None, ())
    assert found["edad"].numbers is not None
    page = to_html(profile_document(report))
    assert "10000000" not in (told := json.dumps(report.as_dict()) + page.replace(".", ""))
    assert "900000" not in told


def test_side_by_side_shows_no_key_whatever_the_dictionary_calls_it(tmp_path: Path) -> None:
    from tests.workbench.test_result import make_run_project

    folder = make_run_project(tmp_path, household=True)
    sides = side_by_side(folder, rows=90)
    place = [column.before for column in sides.columns].index("HOGAR")
    assert sides.columns[place].veiled
    assert {row.before[place] for row in sides.rows} == {VEIL}


# --- releases and cards --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    people = make_keys(tmp_path_factory.mktemp("keys"))
    folder = run_to_approved_candidate(make_project(tmp_path_factory.mktemp("made") / "egresos", people), people)
    return Path(make_release(folder, now=NOW).folder)


def resealed(release: Path, files: dict[str, str]) -> None:
    made = replace(read_release(release).manifest, files=files)
    (release / "manifest.json").write_text(manifest_text(made), "utf-8")


def test_a_database_among_the_data_files_is_told_and_not_opened(released: Path, tmp_path: Path) -> None:
    release = Path(shutil.copytree(released, tmp_path / "copia"))
    with duckdb.connect(str(release / "data.duckdb")) as made:
        made.execute("CREATE TABLE t AS SELECT 1 AS a")
    resealed(release, listed_files(release))
    found = {one.id: one for one in verify_release(release).findings}
    assert found["files"].state is State.FAILS
    assert found["formats"].state is State.HOLDS  # opened, it would have been found to differ


def test_a_manifest_cannot_name_a_file_outside_the_release(released: Path, tmp_path: Path) -> None:
    release = Path(shutil.copytree(released, tmp_path / "copia"))
    (release / "data.d").mkdir()
    outside = tmp_path / "ajeno.csv"
    shutil.copy(release / "data.csv", outside)
    digest = f"sha256:{hashlib.sha256(outside.read_bytes()).hexdigest()}"
    resealed(release, {**listed_files(release), "data.d/../../ajeno.csv": digest})
    outside.write_text("otra\ncosa\n")
    found = {one.id: one for one in verify_release(release).findings}
    assert found["files"].state is State.FAILS
    assert found["formats"].state is State.HOLDS  # it was not looked at


@pytest.mark.parametrize(
    "name",
    ['Ana"\n[[people]]', "A\u202eB", "x" * 121, "", "Ana\x1b[2J", "x" * 100_000],
    ids=["lines", "bidi", "long", "empty", "escape", "huge"],
)
def test_a_card_whose_name_cannot_be_shown_as_it_is_is_refused(tmp_path: Path, name: str) -> None:
    card = tmp_path / "c.json"
    card.write_text(json.dumps({"format": "celosia/identity/1", "name": name, "key": PUBLIC_KEY}), "utf-8")
    with pytest.raises(IdentityMissing):
        read_card(card)
    with pytest.raises(NameNeeded):
        new_identity("Ana\u202eB", PHRASE, tmp_path / "a.key")


@pytest.mark.parametrize("filling", [" " * 64_000, "[" * 60_000], ids=["large", "deep"])
def test_a_card_larger_or_deeper_than_any_is_refused(tmp_path: Path, filling: str) -> None:
    card = tmp_path / "c.json"
    card.write_text(filling + json.dumps({"format": "celosia/identity/1", "name": "Ana", "key": PUBLIC_KEY}), "utf-8")
    with pytest.raises(IdentityMissing):
        read_card(card)
