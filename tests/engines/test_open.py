"""From an address to an engine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from celosia.data.engines import open_engine
from celosia.errors import EngineFault, FileMissing, JavaMissing, MissingExtra, UnknownEngine


def test_duckdb_is_the_engine_when_none_is_named(tmp_path: Path) -> None:
    engine = open_engine(None, tmp_path)
    assert engine.name == "DuckDB"
    engine.close()


@pytest.mark.parametrize("address", ["oracle", "duckdb:x", "localhost", "http://x"])
def test_an_unknown_address_is_wrong_use(address: str) -> None:
    with pytest.raises(UnknownEngine):
        open_engine(address)


@pytest.mark.parametrize(
    ("library", "module", "address", "extra"),
    [("psycopg", "postgres", "postgresql://x", "postgres"), ("pyspark", "spark", "spark", "spark")],
)
def test_a_missing_extra_names_itself(
    monkeypatch: pytest.MonkeyPatch, library: str, module: str, address: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    for name in [name for name in sys.modules if module in name and name.startswith("celosia.data.engines.")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MissingExtra) as missing:
        open_engine(address)
    assert missing.value.values["extra"] == extra


def test_spark_without_java_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JavaMissing):
        open_engine("spark", tmp_path)
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_a_working_copy_that_is_not_there_is_named(tmp_path: Path) -> None:
    from celosia.data.engines.duckdb import DuckDBEngine

    engine = DuckDBEngine()
    with pytest.raises((EngineFault, FileMissing)):
        engine.parquet(tmp_path / "gone.parquet")
    engine.close()
