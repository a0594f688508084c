"""PostgreSQL in place: what is refused, what is never touched, and one snapshot for all counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from celosia.data.table import Table
from celosia.errors import EngineFault, OpaqueColumns, UnknownTable, UnknownVariable

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
