"""The rules at the border of the engines, each learnt by trying (DESIGN §4).

Rule 1 is proved with the readers, rule 4 with the writers, rule 10 with the kernels.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.data.engines.base import Engine, Expression
from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.engines.open import open_engine
from celosia.data.errors import EngineFault, EngineUnreachable, UnknownEngine
from celosia.data.table import Table
from celosia.errors import CelosiaError
from tests.data.engines.plain_rows import Plain, plain_tables, streamed

PLANTED = "Juana Perez Planted"
SPANISH_ORDER = ("a", "á", "b", "n", "ñ", "z", "A", "Z", "ch", "cz")
WITH_NULL = "SELECT * FROM (VALUES ('a', NULL, '1'), (NULL, 'x', '2'), ('', 'x', '3')) AS v(c0, c1, c2)"


class Overheard:
    """An engine that remembers what it was asked, and asks another."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self.name, self.memory, self.reads_files = engine.name, engine.memory, engine.reads_files
        self.asked: list[Expression] = []

    def fetch(self, expression: Expression) -> pa.Table:
        self.asked.append(expression)
        return self._engine.fetch(expression)

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        self.asked.append(expression)
        return self._engine.stream(expression, batch_rows)

    def parquet(self, path: Path) -> Expression:
        return self._engine.parquet(path)

    def numbered_parquet(self, path: Path, column: str) -> Expression:
        return self._engine.numbered_parquet(path, column)

    def digest(self, text: Expression) -> Expression:
        return self._engine.digest(text)

    def digest_sums(self, lines: Expression) -> tuple[int, ...]:
        self.asked.append(lines)
        return self._engine.digest_sums(lines)

    def upload(self, table: pa.Table) -> Expression:
        return self._engine.upload(table)

    def keep(self, expression: Expression, folder: Path | None = None) -> Expression:
        self.asked.append(expression)
        return self._engine.keep(expression, folder)

    def keep_ranked(self, expression: Expression, order: Sequence[str], folder: Path | None = None) -> Expression:
        self.asked.append(expression)
        return self._engine.keep_ranked(expression, order, folder)

    def forget(self, uploaded: Expression) -> None:
        self._engine.forget(uploaded)

    def close(self) -> None:
        self._engine.close()


def test_rule_2_duckdb_neither_fetches_nor_loads_extensions() -> None:
    engine = DuckDBEngine()
    settings_found = dict(
        engine.connection.execute(
            "SELECT name, value FROM duckdb_settings() WHERE name LIKE 'auto%known_extensions'"
        ).fetchall()
    )
    assert settings_found == {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    with pytest.raises(EngineFault):
        engine.parquet(Path("https://example.invalid/x.parquet"))
    loaded = "SELECT count(*) FROM duckdb_extensions() WHERE loaded AND install_mode != 'STATICALLY_LINKED'"
    assert engine.connection.execute(loaded).fetchone() == (0,)
    engine.close()


def everything_of(table: Table) -> list[object]:
    """One of each operation, as plain values."""
    names = table.names
    tuples = table.tuples(names[:2], person=names[-1])
    assert tuples.persons is not None
    return [
        table.count_rows(),
        table.distinct_counts(),
        table.distinct_together(names),
        table.frequencies(names[0]).values.to_pylist(),
        table.frequencies(names[0], about=2).values.to_pylist(),
        tuples.vocabularies,
        tuples.codes.tolist(),
        tuples.rows.tolist(),
        tuples.persons.settled.tolist(),
        tuples.persons.tuple_index.tolist(),
        tuples.persons.ordinal.tolist(),
        streamed(recoded(table).ordered_batches()),
        table.numbers(names[0]).values.tolist(),
    ]


def recoded(table: Table) -> Table:
    """The table with its first column reduced to one letter."""
    tuples = table.tuples(table.names[:1])
    letters = tuple(sorted({text[:1] for text in tuples.vocabularies[0]})) or ("",)
    codes = np.array([letters.index(text[:1]) for text in tuples.vocabularies[0]], np.int64)
    return table.recode(tuples, [codes[tuples.codes[:, 0]]], [letters])


def test_rule_3_nothing_that_leaves_an_engine_is_null(engine: Engine) -> None:
    plain = Plain(("a", "b"), (("x", ""), ("", ""), ("y", "z")))
    table = plain.on(engine)
    mapped = table.map_values("a", {"x": ""}).with_missing({"b": ["z"]})
    unknown_to_the_tuples = table.recode(table.where("a", ["x"]).tuples(["a"]), [np.array([0])], [("X",)])
    for result in (mapped, unknown_to_the_tuples):
        assert all(column.null_count == 0 for batch in result.batches() for column in batch.columns)
    assert sorted(streamed(unknown_to_the_tuples.batches())) == [("*", ""), ("*", "z"), ("X", "")]


@pytest.mark.postgres
def test_rule_3_null_and_empty_are_both_missing_in_a_source(postgres_source: Table) -> None:
    assert streamed(postgres_source.ordered_batches()) == [("", "x", "2"), ("", "x", "3"), ("a", "", "1")]
    assert postgres_source.tuples(["A", "b"]).rows.tolist() == [2, 1]


@pytest.mark.parametrize("names", [("Edad", "EDAD"), ("x" * 70 + "a", "x" * 70 + "b"), ("c1", "c0")])
def test_rule_5_names_that_engines_confuse_are_kept_apart(engine: Engine, names: Sequence[str]) -> None:
    table = Plain(tuple(names), (("1", "2"), ("3", "2"))).on(engine)
    assert table.distinct_counts() == {names[0]: 2, names[1]: 1}
    assert all(column in {"c0", "c1"} for batch in table.batches() for column in batch.schema.names)


def test_rule_6_order_is_by_code_point(engine: Engine) -> None:
    table = Plain(("letra", "n"), tuple((v, "1") for v in SPANISH_ORDER)).on(engine)
    assert [row[0] for row in streamed(table.ordered_batches())] == sorted(SPANISH_ORDER)
    assert table.frequencies("letra").values.to_pylist() == sorted(SPANISH_ORDER)


@pytest.mark.postgres
def test_rule_6_the_icu_database_orders_otherwise_by_itself(icu_url: str) -> None:
    import psycopg

    with psycopg.connect(icu_url) as connection:
        query = "SELECT v FROM unnest(%s::text[]) AS v ORDER BY v"
        own_order = [row[0] for row in connection.execute(query, [list(SPANISH_ORDER)])]
    assert own_order != sorted(SPANISH_ORDER)
    assert own_order.index("ñ") == own_order.index("n") + 1


def test_rule_7_no_engine_is_asked_for_a_floating_number() -> None:
    overheard = Overheard(DuckDBEngine())
    everything_of(Plain(("a", "b", "p"), (("1.5", "0.1", "x"), ("2.5", "0.2", "y"))).on(overheard))
    assert len(overheard.asked) > 10
    for expression in overheard.asked:
        for node in expression.op().find(ibis.expr.operations.Value):
            assert not node.dtype.is_floating(), node.name
    overheard.close()


def test_rule_7_sums_of_the_numbers_do_not_depend_on_the_order_of_rows() -> None:
    values = [f"{i / 7:.9f}" for i in range(2_000)]
    sums = set()
    engine = DuckDBEngine(threads=2)
    for seed in range(4):
        shuffled = np.random.default_rng(seed).permutation(values)
        numbers = Plain(("a",), tuple((str(v),) for v in shuffled)).on(engine).numbers("a")
        sums.add(float(np.dot(numbers.values, numbers.rows)))
    engine.close()
    assert len(sums) == 1


@settings(max_examples=20, deadline=None)
@given(plain_tables(), st.randoms(use_true_random=False))
def test_rule_8_results_do_not_depend_on_row_order(plain: Plain, random: object) -> None:
    engine = DuckDBEngine(threads=1)
    rows = list(plain.rows)
    random.shuffle(rows)  # type: ignore[attr-defined]
    assert everything_of(plain.on(engine)) == everything_of(Plain(plain.names, tuple(rows)).on(engine))
    engine.close()


def many_rows() -> pa.Table:
    """Enough rows for several threads and row groups; few persons behind several tuples."""
    rng = np.random.default_rng(8)
    columns = {f"c{i}": rng.integers(0, size, 300_000).astype(str) for i, size in enumerate((9, 40, 100_000))}
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def test_rule_8_results_do_not_depend_on_threads_or_row_groups(tmp_path: Path) -> None:
    rows = many_rows()
    results = []
    for threads, group in ((1, 300_000), (2, 20_000), (4, 5_000)):
        path = tmp_path / f"{threads}.parquet"
        pq.write_table(rows, path, row_group_size=group)
        engine = DuckDBEngine(threads=threads)
        results.append(everything_of(Table(engine, engine.parquet(path), ("a", "b", "p"))))
        engine.close()
    assert results[0] == results[1] == results[2]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_rule_8_results_do_not_depend_on_spark_partitions(spark_engine: Engine, tmp_path: Path) -> None:
    rows = many_rows().slice(0, 20_000)
    for part in range(3):
        pq.write_table(rows.slice(part * 7_000, 7_000), tmp_path / f"{part}.parquet", row_group_size=900)
    table = Table(spark_engine, spark_engine.parquet(tmp_path), ("a", "b", "p"))
    local = DuckDBEngine()
    assert everything_of(table) == everything_of(Table(local, local.upload(rows), ("a", "b", "p")))
    local.close()


def told(error: BaseException) -> str:
    """All that an error could say to anybody."""
    return "".join(traceback.format_exception(error)) + str(error) + repr(error)


def test_rule_9_a_failing_cast_never_quotes_a_cell(
    engine: Engine, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    rows = engine.upload(pa.table({"c0": ["1", PLANTED]}))
    with pytest.raises(EngineFault) as fault:
        engine.fetch(rows.mutate(c0=rows["c0"].cast("int64")))
    assert PLANTED not in told(fault.value)
    captured = capfd.readouterr()
    assert PLANTED not in captured.out + captured.err + caplog.text
    assert engine.fetch(rows).num_rows == 2, "the engine goes on after a fault"


def test_rule_9_a_failing_stream_never_quotes_a_cell(engine: Engine) -> None:
    rows = engine.upload(pa.table({"c0": ["1", PLANTED]}))
    with pytest.raises(EngineFault) as fault:
        list(engine.stream(rows.mutate(c0=rows["c0"].cast("int64"))))
    assert PLANTED not in told(fault.value)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_rule_9_what_spark_writes_stays_in_a_private_folder(spark_engine: Engine) -> None:
    folder = spark_engine._folder  # type: ignore[attr-defined]
    conf = spark_engine.session.sparkContext.getConf()  # type: ignore[attr-defined]
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "spark.log").exists()
    assert conf.get("spark.local.dir") == str(folder)
    assert (conf.get("spark.eventLog.enabled"), conf.get("spark.ui.enabled")) == ("false", "false")
    assert conf.get("spark.driver.bindAddress") == "127.0.0.1"


def test_rule_9_spill_files_are_private_and_go_with_the_engine(tmp_path: Path) -> None:
    engine = DuckDBEngine(spill=tmp_path)
    (spill,) = tmp_path.iterdir()
    assert spill.stat().st_mode & 0o077 == 0
    engine.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("postgresql://juana:planted@127.0.0.1:1/base", EngineUnreachable),
        ("postgresql://juana:planted@[bad", EngineUnreachable),
        ("mysql://juana:planted@localhost/base", UnknownEngine),
    ],
)
@pytest.mark.postgres
def test_rule_9_an_address_is_never_repeated(
    address: str, error: type[CelosiaError], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(error) as fault:
        open_engine(address)
    captured = capfd.readouterr()
    last = str(fault.value) + repr(fault.value) + repr(fault.value.values) + captured.out + captured.err
    assert "planted" not in last
    assert "juana" not in last


@pytest.fixture
def postgres_source(postgres_url: str) -> Iterator[Table]:
    """A table of a database that holds NULL, opened in place."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'CREATE TABLE "Con nulos" AS SELECT c0 AS "A", c1 AS b, c2::int AS n FROM ({WITH_NULL})')
    from celosia.data.engines.postgres import PostgresEngine

    engine = PostgresEngine(postgres_url)
    expression, names = engine.source("Con nulos", "public")
    yield Table(engine, expression, names)
    engine.close()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute('DROP TABLE "Con nulos"')
