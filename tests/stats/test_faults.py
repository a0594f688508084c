"""A cut connection, a killed process, a full disk, a changed schema: STATS is as it was, and one clear message."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celosia.data.errors import UnknownTable
from celosia.stats.counting.count import count
from celosia.stats.declaration.declaration import Personal
from celosia.stats.errors import ConnectionLost
from celosia.stats.store.target import StatsTarget, open_target
from celosia.storage import DiskFull
from tests.stats.personal_rows import EVENTS, Row, labels, personal, stats_table
from tests.stats.stores import NAME, STORES, emptied, everything, rows

NOW = datetime(2024, 1, 31, 12, tzinfo=UTC)
REPOSITORY = Path(__file__).resolve().parents[2]
# A run in a process of its own: it writes many rows and then waits, or commits, inside its transaction.
RUN = """
import os, resource, sys
from datetime import UTC, datetime
from pathlib import Path
import pyarrow as pa
from celosia.errors import CelosiaError
from celosia.stats.store.target import open_target

url, folder, limit, name = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
many = 300_000
texts = pa.array([f"region {i * 7919:x} {os.urandom(16).hex()}" for i in range(many)])
table = pa.table({"region": texts, "persons": pa.array(range(many), pa.int64())})
try:
    target = open_target(url, folder)
    with target.transaction(datetime(2024, 2, 1, tzinfo=UTC)):
        target.write(name, table)
        target.write_catalogue({})
        if not limit:
            print("writing", flush=True)
            sys.stdin.read()
    target.close()
    print("committed", flush=True)
except CelosiaError as fault:
    print(fault.code, flush=True)
    print(str(fault), flush=True)
"""


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest) -> str:
    return emptied(request.param, request)


def published(url: str, folder: Path) -> dict[str, Any]:
    """STATS after one good run, closed again, and all it holds."""
    target = open_target(url, folder)
    with target.transaction(NOW):
        target.write(NAME, rows([12, None, 19]))
        target.record(NAME, {("persons", ("Asunción",)): 12, ("persons", (None,)): 19})
        target.write_catalogue({NAME: {"k": 5}})
    return closed(target)


def closed(target: StatsTarget) -> dict[str, Any]:
    found = everything(target)
    target.close()
    return found


def a_run(url: str, folder: Path, limit: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, url, str(folder), str(limit), NAME],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": "src"},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.requirement("Y28")
def test_a_process_killed_in_mid_run_leaves_stats_as_it_was(url: str, tmp_path: Path) -> None:
    before = published(url, tmp_path)
    with a_run(url, tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGKILL)
    assert closed(open_target(url, tmp_path)) == before
    target = open_target(url, tmp_path)
    with target.transaction(NOW) as run:  # and the next run works
        target.write(NAME, rows([13, None, 20]))
    assert run == 2
    target.close()


@pytest.mark.slow
@pytest.mark.requirement("Y28")
@pytest.mark.parametrize("url", STORES[:2], indirect=True)
def test_a_full_disk_leaves_stats_as_it_was_and_says_so(url: str, tmp_path: Path) -> None:
    before = published(url, tmp_path)
    with a_run(url, tmp_path, limit=2_000_000) as process:
        said, _ = process.communicate()
    assert said.splitlines()[0] == DiskFull.code
    assert "No queda espacio" in said
    assert closed(open_target(url, tmp_path)) == before


@pytest.mark.postgres
@pytest.mark.requirement("Y28")
@pytest.mark.parametrize("url", STORES[2:], indirect=True)
def test_a_connection_cut_while_writing_leaves_stats_as_it_was(url: str, tmp_path: Path) -> None:
    before = published(url, tmp_path)
    target = open_target(url, tmp_path)
    with pytest.raises(ConnectionLost) as lost, target.transaction(NOW):
        _write_and_be_cut(target, url)
    assert "PostgreSQL" in str(lost.value)
    assert lost.value.__cause__ is None
    assert closed(open_target(url, tmp_path)) == before


def _write_and_be_cut(target: StatsTarget, url: str) -> None:
    target.write(NAME, rows([99, 99, 198]))
    _cut(url, target._store.run("SELECT pg_backend_pid()")[0][0])
    target.write("otra__internal", rows([1, 2, 3]))


def _cut(url: str, process: int) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as administrator:
        administrator.execute("SELECT pg_terminate_backend(%s, 5000)", [process])


@pytest.mark.postgres
@pytest.mark.requirement("Y28")
def test_a_connection_cut_while_counting_is_one_clear_message(postgres_url: str, tmp_path: Path) -> None:
    events = [Row("4.123.456", "oficio", "2024-01", "18+")]
    with personal("postgres", tmp_path, postgres_url, events) as source:
        asked = labels(source)
        _cut(postgres_url, source.connection.info.backend_pid)  # type: ignore[attr-defined]
        with pytest.raises(ConnectionLost) as lost:
            count(source, EVENTS, stats_table(), asked)
    assert "4.123.456" not in str(lost.value)
    assert lost.value.__cause__ is None


def test_a_table_that_left_personal_is_named(tmp_path: Path) -> None:
    for kind in ("duckdb", "sqlite"):
        with personal(kind, tmp_path, "", []) as source, pytest.raises(UnknownTable) as refused:
            source.relation(Personal("users", "user_id", table="users"))
        assert refused.value.values["table"] == "users"
