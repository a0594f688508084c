"""The YAPÓ example, whole, on DuckDB, SQLite and a real PostgreSQL: the same tables on each, and every rule met."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from celosia.demo.synthetic.personal import personal_database
from celosia.stats.attack import attack_stats
from celosia.stats.check import check_stats
from celosia.stats.errors import ValuesWithoutMapping
from celosia.stats.project import read_config
from celosia.stats.run import run_stats
from celosia.stats.store.target import open_target
from examples.yapo.make_data import SEED, declare, in_duckdb, in_postgres, in_sqlite
from examples.yapo.walk import MISSING

NOW, LATER = datetime(2025, 1, 2, tzinfo=UTC), datetime(2025, 1, 9, tzinfo=UTC)
USERS = 250
pytestmark = pytest.mark.slow


def made(folder: Path, source: str, target: str, monkeypatch: pytest.MonkeyPatch, complete: bool = True) -> Path:
    monkeypatch.setenv("PERSONAL_URL", source)
    monkeypatch.setenv("STATS_URL", target)
    home = folder / "censo"
    declare(home)
    if complete:
        path = home / "mapas" / "instituciones.csv"
        path.write_text(path.read_text("utf-8") + MISSING, "utf-8")
    return home


def stats_of(home: Path) -> dict[str, list[dict[str, Any]]]:
    config = read_config(home)
    with contextlib.closing(open_target(config.target.url, home, config.target.schema, read_only=True)) as target:
        return {name: target.read(name).to_pylist() for name in target.tables()}


@pytest.fixture(scope="module")
def database() -> dict[str, Any]:
    return personal_database(USERS, SEED)


@pytest.fixture
def in_a_duckdb(tmp_path: Path, database: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Path:
    in_duckdb(database, tmp_path / "personal.duckdb")
    return made(tmp_path, "../personal.duckdb", "stats.duckdb", monkeypatch)


@pytest.mark.requirement(
    "Y01", "Y02", "Y04", "Y05", "Y06", "Y08", "Y09", "Y10", "Y11", "Y12", "Y13", "Y14", "Y19", "Y28"
)
def test_the_example_meets_every_rule_and_a_second_run_changes_nothing(in_a_duckdb: Path) -> None:
    run_stats(in_a_duckdb, now=NOW)
    first = stats_of(in_a_duckdb)
    found = check_stats(in_a_duckdb)
    assert [one.rule for one in found.rules.failing] == []
    assert len(found.rules.results) >= 13
    run_stats(in_a_duckdb, now=LATER)
    assert stats_of(in_a_duckdb) == first
    assert attack_stats(in_a_duckdb).findings == ()
    words = {str(value) for rows in first.values() for row in rows for value in row.values()}
    assert {"18-24", "2024-Q1", "2020-2024", "terciaria", "11", "100-500", "femenino"} <= words


@pytest.mark.requirement("Y28")
def test_sqlite_gives_the_same_tables_as_duckdb(
    in_a_duckdb: Path, tmp_path: Path, database: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_stats(in_a_duckdb, now=NOW)
    expected = stats_of(in_a_duckdb)
    folder = tmp_path / "other"
    folder.mkdir()
    in_sqlite(database, folder / "personal.sqlite")
    home = made(folder, "../personal.sqlite", "stats.sqlite", monkeypatch)
    run_stats(home, now=NOW)
    assert stats_of(home) == expected


@pytest.mark.postgres
@pytest.mark.requirement("Y28")
def test_postgresql_gives_the_same_tables_as_duckdb_and_checks_itself(
    in_a_duckdb: Path, tmp_path: Path, database: dict[str, Any], monkeypatch: pytest.MonkeyPatch, own_database: str
) -> None:
    run_stats(in_a_duckdb, now=NOW)
    expected = stats_of(in_a_duckdb)
    in_postgres(database, own_database)
    folder = tmp_path / "other"
    folder.mkdir()
    home = made(folder, own_database, own_database, monkeypatch)
    run_stats(home, now=NOW)
    assert stats_of(home) == expected
    assert check_stats(home).holds


@pytest.mark.requirement("Y12", "Y27")
def test_an_institution_without_a_level_stops_the_job_with_a_private_list(
    tmp_path: Path, database: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_duckdb(database, tmp_path / "personal.duckdb")
    home = made(tmp_path, "../personal.duckdb", "stats.duckdb", monkeypatch, complete=False)
    with pytest.raises(ValuesWithoutMapping) as stopped:
        run_stats(home, now=NOW)
    listed = home / "private" / "unmapped" / "formacion_por_nivel.nivel.csv"
    assert "Lapachos" in listed.read_text("utf-8")
    assert listed.stat().st_mode & 0o777 == 0o600
    assert "Lapachos" not in str(stopped.value) + (home / "journal.jsonl").read_text("utf-8")
