"""One session for a process: who shares it, what it reads in parts, what it leaves."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data.engines.duckdb import DuckDBEngine
from celosia.data.engines.open import open_engine
from celosia.data.errors import EmptyTable, EngineBusy, NullCharacter
from celosia.data.readers.ingest import ingest
from celosia.data.table import ORIGIN, Table
from celosia.storage import FileMissing

if TYPE_CHECKING:
    from celosia.data.engines.spark import SparkEngine

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def test_a_session_elsewhere_is_not_taken_for_the_one_asked_for(spark_engine: SparkEngine) -> None:
    with pytest.raises(EngineBusy, match="otra dirección"):
        open_engine("spark://127.0.0.1:1")
    open_engine("spark").close()  # this machine is this machine
    assert spark_engine.session.range(3).count() == 3


def test_the_private_folder_carries_the_process_and_goes(spark_engine: SparkEngine, tmp_path: Path) -> None:
    dead = tmp_path / spark_engine._folder.name.replace(str(os.getpid()), "999999999")
    dead.mkdir()
    engine = open_engine("local[2]", tmp_path)
    names = [path.name for path in tmp_path.iterdir()]
    engine.close()
    assert len(names) == 1
    assert names[0].startswith(f"celosia-{os.getpid()}-")
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_copy_in_parts_know_their_place(spark_engine: SparkEngine, tmp_path: Path) -> None:
    (tmp_path / "partes").mkdir()
    for i, rows in enumerate((["a", "b"], ["c"], ["d", "e", "f"])):
        pq.write_table(pa.table({"x": rows}), tmp_path / "partes" / f"{i}.parquet")
    ingest(tmp_path / "partes", tmp_path / "copy", each=spark_engine.each)
    table = Table(spark_engine, spark_engine.numbered_parquet(tmp_path / "copy", ORIGIN), ("x",))
    found = table.rows_of_origin(pa.array([0, 2, 3, 5]).to_numpy())
    assert found.to_pydict() == {"c0": ["a", "c", "d", "f"], ORIGIN: [0, 2, 3, 5]}


def test_a_table_without_rows_is_called_a_table(spark_engine: SparkEngine, tmp_path: Path) -> None:
    spark_engine.session.sql("CREATE OR REPLACE TEMPORARY VIEW vacia AS SELECT 'x' AS rut WHERE false")
    with pytest.raises(EmptyTable, match="La tabla «vacia»"):
        spark_engine.copy_table("vacia", tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_ours_is_raised_here_as_it_was_there(spark_engine: SparkEngine, tmp_path: Path) -> None:
    def reads_nothing(path: Path) -> None:
        ingest(path, path.with_name("copy"))

    with pytest.raises(FileMissing, match=r"nada\.csv"):
        spark_engine.each(reads_nothing, [tmp_path / "nada.csv"])


def test_a_cell_that_no_file_keeps_is_refused_by_its_column(spark_engine: SparkEngine, tmp_path: Path) -> None:
    rows = spark_engine.upload(pa.table({"c0": ["a\x00b", "c"]}))
    watched = SimpleNamespace(positions=(), passing=lambda batches: batches)
    with pytest.raises(NullCharacter, match="NOTA"):
        spark_engine.write_ordered(rows, ("NOTA",), tmp_path, False, watched)
    assert list(tmp_path.iterdir()) == []


def test_a_table_without_rows_is_a_header(spark_engine: SparkEngine, tmp_path: Path) -> None:
    rows = spark_engine.upload(pa.table({"c0": ["a"], "c1": ["p"]})).filter(lambda t: t["c0"] == "z")
    watched = SimpleNamespace(positions=(), passing=lambda batches: batches)
    order = spark_engine.write_ordered(rows, ("NOTA",), tmp_path, True, watched)
    assert (tmp_path / "data.csv").read_bytes() == b"NOTA\n"
    assert order is not None
    assert pq.read_table(order).num_rows == 0
    assert spark_engine.read_written(tmp_path / "data.csv", tmp_path, order) is None


def test_a_sample_of_many_values_is_the_same_everywhere(spark_engine: SparkEngine) -> None:
    values = pa.table({"c0": [f"{i:05d}" for i in range(60_000)]})
    here = DuckDBEngine()
    found, expected = (
        Table(engine, engine.upload(values), ("x",)).frequencies("x", about=50_000).values
        for engine in (spark_engine, here)
    )
    here.close()
    assert len(found) == pytest.approx(50_000, rel=0.01)
    assert found.equals(expected)
