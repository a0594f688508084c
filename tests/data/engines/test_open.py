"""From an address to an engine."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.data.engines.open import open_engine
from celosia.data.errors import EngineFault, JavaMissing, SparkNotStarted, UnknownEngine
from celosia.data.readers.delimited import private_connection
from celosia.storage import FileMissing


def test_duckdb_is_the_engine_when_none_is_named(tmp_path: Path) -> None:
    engine = open_engine(None, tmp_path)
    assert engine.name == "DuckDB"
    engine.close()


@pytest.mark.parametrize("address", ["oracle", "duckdb:x", "localhost", "http://x", "local[x]", "local[0]", "local[2"])
def test_an_unknown_address_is_wrong_use(address: str) -> None:
    with pytest.raises(UnknownEngine):
        open_engine(address)


# A process of its own: modules other tests have imported stay reachable through their package.
WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from celosia.data.engines.open import open_engine
from celosia.model.errors import MissingExtra
try:
    open_engine(sys.argv[2])
except MissingExtra as missing:
    print(missing.values["extra"])
"""


@pytest.mark.parametrize(
    ("library", "address", "extra"), [("psycopg", "postgresql://x", "postgres"), ("pyspark", "spark", "spark")]
)
def test_a_missing_extra_names_itself(library: str, address: str, extra: str) -> None:
    told = subprocess.run([sys.executable, "-c", WITHOUT, library, address], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == extra


def test_spark_without_java_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaMissing):
        open_engine("spark", tmp_path)
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_spark_that_does_not_start_here_speaks_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    context = pytest.importorskip("pyspark").SparkContext
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\nexit 1\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    for name in ("_active_spark_context", "_gateway", "_jvm"):  # a session of other tests stays as it is
        monkeypatch.setattr(context, name, None)
    for address in ("spark", "local[2]"):
        with pytest.raises(SparkNotStarted) as refused:
            open_engine(address, tmp_path)
        assert "clave" not in str(refused.value)
        assert "Java" in str(refused.value)


def test_a_working_copy_that_is_not_there_is_named(tmp_path: Path) -> None:
    from celosia.data.engines.duckdb import DuckDBEngine

    engine = DuckDBEngine()
    with pytest.raises((EngineFault, FileMissing)):
        engine.parquet(tmp_path / "gone.parquet")
    engine.close()


def test_no_duckdb_of_ours_remembers_what_a_file_of_the_same_name_held(tmp_path: Path) -> None:
    """A candidate read back after another of the same name was now and then counted as the one before."""
    engine = open_engine(None, tmp_path)
    with contextlib.closing(engine), contextlib.closing(private_connection(tmp_path)) as reader:
        for connection in (engine.connection, reader):  # type: ignore[attr-defined]
            assert connection.execute("SELECT current_setting('enable_external_file_cache')").fetchone() == (False,)
