"""PERSONAL is only read: every engine refuses a write, types are the same everywhere, addresses stay secret."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from celosia.data.errors import EngineFault, EngineUnreachable
from celosia.pipeline.intake.errors import AddressUnclear, AddressUnset
from celosia.pipeline.project.errors import PasswordInAddress
from celosia.stats.declaration.declaration import Personal
from celosia.stats.errors import AddressInProject, NotOneSelect, PersonalQueryFails
from celosia.stats.sources.addresses import address
from celosia.stats.sources.connections import open_source
from celosia.storage import FileMissing
from tests.stats.personal_rows import EVENTS, Row, personal

ROWS = [Row("u1", "oficio", "2024-01", "18+", 5), Row("u2", "Ñ", "2024-02", "<18", None)]
SECRET = "postgresql://lector:s3creto@db.example/personal"


# --- addresses ---------------------------------------------------------------------------------


def test_an_address_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONAL_URL", SECRET)
    found = address("env:PERSONAL_URL", tmp_path)
    assert (found.kind, found.url) == ("postgres", SECRET)
    assert "s3creto" not in repr(found)


def test_an_address_comes_from_a_file_outside_the_project(tmp_path: Path) -> None:
    project = tmp_path / "proyecto"
    project.mkdir()
    (tmp_path / "personal.url").write_text(f"# la base\n{SECRET}\n")
    assert address(f"file:{tmp_path / 'personal.url'}", project).url == SECRET
    (project / "personal.url").write_text(SECRET)
    for inside in (f"file:{project / 'personal.url'}", "file:personal.url"):
        with pytest.raises(AddressInProject):
            address(inside, project)


def test_an_address_that_is_not_there_names_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PERSONAL_URL", raising=False)
    with pytest.raises(AddressUnset) as unset:
        address("env:PERSONAL_URL", tmp_path)
    assert "env:PERSONAL_URL" in str(unset.value)


@pytest.mark.requirement("Y27")
@pytest.mark.parametrize("url", [SECRET, "postgresql://db/x?password=s3creto", "postgres://[s3creto"])
def test_a_password_in_the_project_is_refused_and_not_repeated(url: str, tmp_path: Path) -> None:
    with pytest.raises(PasswordInAddress) as refused:
        address(url, tmp_path)
    assert "s3creto" not in str(refused.value)


@pytest.mark.parametrize("url", ["", "mysql://h/db", "datos.xlsx", "spark://cluster:7077"])
def test_another_kind_of_address_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(AddressUnclear):
        address(url, tmp_path)


def test_a_file_is_known_by_its_first_bytes_rather_than_its_name(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "datos.duckdb")) as made, made:
        made.execute("CREATE TABLE t (a)")
    duckdb.connect(str(tmp_path / "datos.db")).close()
    assert address("datos.duckdb", tmp_path).kind == "sqlite"
    assert address("datos.db", tmp_path).kind == "duckdb"
    assert address("nuevo.db", tmp_path).kind == "sqlite"


def test_a_database_that_is_not_there_or_is_none(tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        open_source("personal.duckdb", tmp_path)
    for name in ("personal.duckdb", "personal.sqlite"):
        (tmp_path / name).write_bytes(b"4.123.456" * 1000)
        with pytest.raises(EngineUnreachable) as refused:
            open_source(name, tmp_path)
        assert "4.123.456" not in str(refused.value)


@pytest.mark.postgres
def test_a_server_that_does_not_answer_is_not_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERSONAL_URL", "postgresql://lector:s3creto@127.0.0.1:1/personal")
    with pytest.raises(EngineUnreachable) as refused:
        open_source("env:PERSONAL_URL", tmp_path)
    assert "s3creto" not in str(refused.value)
    assert refused.value.__cause__ is None


# --- read-only ---------------------------------------------------------------------------------

WRITES = ("DELETE FROM events", "CREATE TABLE copia (a int)", "DROP TABLE events")


@pytest.mark.parametrize("statement", WRITES)
@pytest.mark.parametrize("kind", ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_the_engine_itself_refuses_a_write(
    kind: str, statement: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = str(request.getfixturevalue("postgres_url")) if kind == "postgres" else ""
    with personal(kind, tmp_path, url, ROWS) as source:
        assert source.rows(EVENTS) == 2
        with pytest.raises((duckdb.Error, sqlite3.OperationalError, _psycopg_error())):
            source.connection.execute(statement)  # type: ignore[attr-defined]
    with personal_again(kind, tmp_path, url) as source:
        assert source.rows(EVENTS) == 2


def _psycopg_error() -> type[BaseException]:
    psycopg = pytest.importorskip("psycopg")
    return psycopg.errors.ReadOnlySqlTransaction  # type: ignore[no-any-return]


@contextlib.contextmanager
def personal_again(kind: str, folder: Path, url: str) -> Iterator[Any]:
    source = open_source(url or f"personal.{kind}", folder)
    yield source
    source.close()


@pytest.mark.postgres
def test_all_counts_see_one_snapshot_and_nothing_is_created(postgres_url: str, tmp_path: Path) -> None:
    import psycopg

    tables = "SELECT count(*) FROM pg_class"
    with (
        personal("postgres", tmp_path, postgres_url, ROWS) as source,
        psycopg.connect(postgres_url, autocommit=True) as other,
    ):
        before = other.execute(tables).fetchone()
        assert source.rows(EVENTS) == 2
        other.execute("DELETE FROM events")
        assert source.rows(EVENTS) == 2
        assert other.execute(tables).fetchone() == before


# --- queries and types ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM events",
        "SELECT 1; SELECT 2",
        "WITH gone AS (DELETE FROM events RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copia FROM events",
        "CREATE TABLE copia AS SELECT * FROM events",
        "SELECT FROM WHERE (",
        "",
    ],
)
def test_a_query_that_is_not_one_select_is_refused(query: str, tmp_path: Path) -> None:
    with personal("sqlite", tmp_path, "", ROWS) as source, pytest.raises(NotOneSelect):
        source.relation(Personal("q", "user_id", query=query))


@pytest.mark.parametrize("kind", ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_query_is_a_block_like_a_table(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = str(request.getfixturevalue("postgres_url")) if kind == "postgres" else ""
    query = "WITH chosen AS (SELECT user_id, sector FROM events WHERE age = '18+')\nSELECT * FROM chosen -- adultos\n;"
    adults = Personal("adults", "user_id", query=query)
    with personal(kind, tmp_path, url, ROWS) as source:
        assert [name for name, _ in source.columns(adults)] == ["user_id", "sector"]
        assert source.fetch(source.relation(adults)).to_pylist() == [{"user_id": "u1", "sector": "oficio"}]
        assert "events" in source.tables()


def test_a_query_that_the_database_refuses_is_named(tmp_path: Path) -> None:
    for kind in ("duckdb", "sqlite"):
        with personal(kind, tmp_path, "", ROWS) as source, pytest.raises(PersonalQueryFails) as refused:
            source.relation(Personal("activos", "user_id", query="SELECT cedula FROM events"))
        assert refused.value.values["personal"] == "activos"


TYPED = "(a {text}, b {whole}, c double precision, d date, e timestamp, f decimal(9, 2), g boolean)"
LINE = ("x", 7, 1.5, date(2024, 1, 31), datetime(2024, 1, 31, 23, 30), Decimal("10.25"), True)
KINDS = ["string", "int64", "float64", "date", "timestamp(6)", "decimal(9, 2)", "boolean"]


def _plain(kinds: tuple[tuple[str, str], ...]) -> list[str]:
    return [kind.replace(",", ", ").replace("  ", " ") for _, kind in kinds]


@pytest.mark.postgres
def test_types_are_the_same_in_duckdb_and_postgres(postgres_url: str, tmp_path: Path) -> None:
    import psycopg

    block = Personal("typed", "a", table="typed")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as made:
        made.execute(f"CREATE TABLE typed {TYPED.format(text='varchar', whole='integer')}")
        made.execute("INSERT INTO typed VALUES (?, ?, ?, ?, ?, ?, ?)", LINE)
    with psycopg.connect(postgres_url, autocommit=True) as server:
        server.execute("DROP TABLE IF EXISTS typed")
        server.execute(f"CREATE TABLE typed {TYPED.format(text='char(5)', whole='smallint')}".encode())
        server.execute("INSERT INTO typed VALUES (%s, %s, %s, %s, %s, %s, %s)", LINE)
    for url in ("t.duckdb", postgres_url):
        source = open_source(url, tmp_path)
        assert _plain(source.columns(block)) == KINDS
        assert tuple(source.fetch(source.relation(block)).to_pylist()[0].values()) == LINE
        source.close()


@pytest.mark.postgres
def test_an_instant_is_read_in_utc(postgres_url: str, tmp_path: Path) -> None:
    block = Personal("moments", "a", query="SELECT 'x' AS a, timestamptz '2024-01-31 23:30:00-03' AS moment")
    with duckdb.connect(str(tmp_path / "t.duckdb")):
        pass
    for url in ("t.duckdb", postgres_url):
        source = open_source(url, tmp_path)
        assert source.columns(block)[1] == ("moment", "timestamp('UTC', 6)")
        relation = source.relation(block)
        shown = relation.select(
            day=relation["moment"].day().cast("int64"), hour=relation["moment"].hour().cast("int64")
        )
        assert source.fetch(shown).to_pylist() == [{"day": 1, "hour": 2}]
        source.close()


def test_what_an_engine_says_of_a_value_is_not_repeated(tmp_path: Path) -> None:
    with personal("duckdb", tmp_path, "", [Row("u1", "4.123.456", "2024-01", "18+")]) as source:
        relation = source.relation(EVENTS)
        with pytest.raises(EngineFault) as fault:
            source.fetch(relation.select(n=relation["sector"].cast("int64")))
    assert "4.123.456" not in str(fault.value)
    assert fault.value.__cause__ is None
