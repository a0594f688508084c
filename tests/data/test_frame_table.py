"""A frame coded in memory holds what the working copy of the same frame holds, and is refused where that one is."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data.engines.lazy import LazyEngine
from celosia.data.errors import DuplicateHeader, HeaderOnly, UnsupportedColumn
from celosia.data.frame_table import code_frame
from celosia.data.readers.ingest import ingest
from celosia.errors import WrongUse

WHEN = [dt.datetime(2024, 3, 4), dt.datetime(2024, 3, 4, 5, 6, 7, 80), None, dt.datetime(1999, 1, 1)]
TYPED = pa.table(
    {
        "whole": pa.array([1, 2, None, 1], pa.int32()),
        "float": [1.0, 2.5, None, float("nan")],
        "small": pa.array([0.1, 2.0, None, 0.1], pa.float32()),
        "text": ["a", "", None, "  "],
        "null inside": ["a\x00b", "ab", "\x00", "ab"],
        "flag": [True, None, False, True],
        "day": [dt.date(2024, 1, 2), None, dt.date(2024, 1, 2), dt.date(1, 1, 1)],
        "stamp": pa.array(WHEN, pa.timestamp("us")),
        "zoned": pa.array(WHEN, pa.timestamp("ns", "America/Santiago")),
        "clock": [dt.time(1, 2), None, dt.time(1, 2, 3), dt.time(0)],
        "decimal": [Decimal("1.10"), None, Decimal("1.10"), Decimal("2.00")],
        "category": pa.array(["x", None, "ñ", "x"]).dictionary_encode(),
        "nothing": pa.nulls(4),
    }
)
PANDAS = pd.DataFrame(
    {
        "a": [1, 2, 2, 3],
        "b": pd.Categorical(["z", None, "a", "z"]),
        "c": pd.array([1, None, 2, 2], "Int64"),
        "d": ["x", None, " ", "y"],
    },
    index=[9, 8, 8, 7],
)
FRAMES = {
    "arrow": TYPED,
    "arrow in parts": pa.concat_tables([TYPED.slice(0, 1), TYPED.slice(1), TYPED]),
    "pandas": PANDAS,
    "named index": PANDAS.set_index(pd.Index(list("wxyz"), name="key")),
    "two named levels": PANDAS.set_index(["a", "d"]),
    "numbers as labels": PANDAS.set_axis([0, 1, 2, 3], axis=1),
    "polars": pl.from_arrow(TYPED.drop_columns("decimal")),
    "one column": pa.table({"a": ["", "b"]}),
    "a batch": TYPED.to_batches()[0],
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_in_memory_is_its_working_copy(name: str, tmp_path: Path) -> None:
    copied = ingest(FRAMES[name], tmp_path / "copy.parquet")
    coded = code_frame(FRAMES[name], LazyEngine())
    assert coded.ingested == copied
    rows = pq.read_table(tmp_path / "copy.parquet").rename_columns(list(copied.names)).to_pylist()
    columns = {column: coded.table.column(column).row_texts().to_pylist() for column in coded.table.names}
    assert [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)] == rows


def test_a_lazy_frame_is_collected() -> None:
    frame = pl.DataFrame({"a": [1, 2, 3]})
    lazy = frame.lazy().filter(pl.col("a") > 1)
    assert code_frame(lazy, LazyEngine()).ingested == code_frame(frame[1:], LazyEngine()).ingested


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (pa.table({"a": [[1], [2]]}), UnsupportedColumn),
        (pa.table({"a": ['{"k": 1}', '{"k": 2}', "x"]}), UnsupportedColumn),
        (pd.DataFrame({"a": [1, "x", dt.date(2024, 1, 1)]}), UnsupportedColumn),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), DuplicateHeader),
        (pd.DataFrame({"a": []}), HeaderOnly),
        ({"a": [1]}, WrongUse),
        (7, WrongUse),
    ],
)
def test_what_is_no_table_of_plain_values_is_refused(frame: Any, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        code_frame(frame, LazyEngine())
    with pytest.raises(error):
        ingest(frame, tmp_path / "copy.parquet")
