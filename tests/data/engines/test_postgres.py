"""PostgreSQL in place: what is refused, what is never touched, and one snapshot for all counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.engines.open import open_engine
from celosia.data.errors import EncodingOfDatabase, EngineFault, OpaqueColumns, UnknownTable
from celosia.data.readers.ingest import ingest
from celosia.data.table import Table
from celosia.model.errors import UnknownVariable
from tests.data.engines.plain_rows import streamed

pytestmark = pytest.mark.postgres
OURS = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'public'"


@pytest.fixture
def administrator(postgres_url: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE egresos (run text, edad int, nota jsonb, alta date, comuna char(8))")
        connection.execute("INSERT INTO egresos VALUES ('1-9', 7, '{}', '2024-02-01', '05302')")
        connection.execute("INSERT INTO egresos (run) VALUES ('2-7')")
        connection.execute("CREATE VIEW sin_nota AS SELECT run, edad, alta, comuna FROM egresos")
        yield connection
        connection.execute("DROP TABLE egresos CASCADE")


@pytest.fixture
def engine(postgres_url: str, administrator: Any) -> Iterator[Any]:
    from celosia.data.engines.postgres import PostgresEngine

    opened = PostgresEngine(postgres_url)
    yield opened
    opened.close()


def test_a_view_is_read_as_text_in_iso_form(engine: Any) -> None:
    expression, names = engine.source("sin_nota")
    assert names == ("run", "edad", "alta", "comuna")
    rows = [tuple(b.values()) for batch in engine.stream(expression) for b in batch.to_pylist()]
    assert sorted(rows) == [("1-9", "7", "2024-02-01", "05302"), ("2-7", "", "", "")]


def test_json_columns_are_refused_by_name_unless_left_out(engine: Any) -> None:
    with pytest.raises(OpaqueColumns) as refused:
        engine.source("egresos")
    assert refused.value.values["columns"] == "nota"
    _, names = engine.source("egresos", columns=("edad", "run"))
    assert names == ("edad", "run")


def test_a_table_or_column_that_is_not_there_is_named(engine: Any) -> None:
    with pytest.raises(UnknownTable):
        engine.source("ingresos")
    with pytest.raises(UnknownVariable):
        engine.source("egresos", columns=("peso",))


def test_the_server_itself_refuses_a_write_while_reading(engine: Any) -> None:
    import psycopg

    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), engine._reading():
        engine.connection.execute("DELETE FROM egresos")


def test_nothing_is_left_in_the_database(engine: Any, administrator: Any) -> None:
    before = administrator.execute(OURS).fetchone()
    expression, names = engine.source("sin_nota")
    table = Table(engine, expression, names)
    table.tuples(["edad"], person="run")
    table.map_values("run", {"1-9": "x"}).count_rows()
    engine.close()
    assert administrator.execute(OURS).fetchone() == before


def test_all_counts_see_the_same_rows_while_others_write(engine: Any, administrator: Any) -> None:
    expression, names = engine.source("sin_nota")
    table = Table(engine, expression, names)
    assert table.count_rows() == 2
    administrator.execute("INSERT INTO egresos (run) VALUES ('3-5')")
    assert table.count_rows() == 2


def test_a_stream_goes_on_while_other_queries_run(engine: Any) -> None:
    rows = engine.upload(pa.table({"c0": [str(i) for i in range(50)]}))
    table = Table(engine, rows, ("n",))
    seen = 0
    for batch in table.batches(batch_rows=10):
        seen += batch.num_rows
        assert table.count_rows() == 50
    assert seen == 50


def test_a_value_that_the_server_cannot_hold_is_a_fault_without_words(engine: Any) -> None:
    with pytest.raises(EngineFault):
        engine.upload(pa.table({"c0": ["a\0b"]}))


@pytest.fixture
def in_latin(postgres_url: str) -> Iterator[Any]:
    """Databases that keep their texts in one byte each."""
    import psycopg

    made = {}
    with psycopg.connect(postgres_url, autocommit=True) as server:
        for encoding in ("LATIN1", "WIN1252"):
            name = f"in_{encoding.lower()}"
            server.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
            made[encoding] = postgres_url.replace("/postgres?", f"/{name}?")
        yield made
        for encoding in made:
            server.execute(f"DROP DATABASE in_{encoding.lower()} WITH (FORCE)")


def test_a_database_whose_bytes_are_in_another_order_is_refused_by_name(in_latin: Any) -> None:
    with pytest.raises(EncodingOfDatabase) as refused:
        open_engine(in_latin["WIN1252"])
    assert refused.value.values == {"encoding": "WIN1252"}


def test_a_database_in_latin_1_is_counted_like_any_other(in_latin: Any) -> None:
    import psycopg

    with psycopg.connect(in_latin["LATIN1"], autocommit=True) as connection:
        connection.execute("CREATE TABLE t (comuna text)")
        connection.cursor().executemany("INSERT INTO t VALUES (%s)", [["Ñuñoa"], ["\u00a0 "], ["z"], [None], ["é"]])
    opened = open_engine(in_latin["LATIN1"])
    expression, names = opened.source("t")  # type: ignore[attr-defined]
    table = Table(opened, expression, names)
    assert table.frequencies("comuna").values.to_pylist() == ["", "z", "Ñuñoa", "é"]
    other = DuckDBEngine()
    alike = Table(other, other.upload(pa.table({"c0": ["é", "", "", "z", "Ñuñoa"]})), names)
    assert table.fingerprint() == alike.fingerprint()
    opened.close()
    other.close()


def test_blanks_times_and_padding_are_settled_as_the_reader_settles_them(
    engine: Any, administrator: Any, postgres_url: str, tmp_path: Path
) -> None:
    administrator.execute(
        "CREATE TABLE settled AS SELECT * FROM (VALUES"
        " (E' \\t', timestamp '2024-01-01', timestamptz '2024-01-01 10:00+00', 1.50::numeric, 'a'::char(3), true),"
        " (U&'\\3000', timestamp '2024-01-01 03:04:05', NULL, 2, NULL, NULL), (' a ', NULL, NULL, NULL, '', false))"
        " AS v(blank, moment, zoned, amount, padded, flag)"
    )
    try:
        expression, names = engine.source("settled")
        here = sorted(streamed(Table(engine, expression, names).batches()))
        read = ingest(postgres_url, tmp_path / "copy.parquet", sheet="settled")
        other = DuckDBEngine()
        copied = Table(other, other.parquet(tmp_path / "copy.parquet"), read.names)
        assert here == sorted(streamed(copied.batches()))
        other.close()
    finally:
        engine.close()  # its snapshot holds the table
        administrator.execute("DROP TABLE settled")
