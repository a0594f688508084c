"""Invented people as a frame of pandas, Polars or Arrow, for the tests of frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

KINDS = ("pandas", "polars", "lazy", "arrow")
ZIP_LEVELS = pd.DataFrame({"zip": [f"10{i:02d}" for i in range(20)]})
ZIP_LEVELS["zone"], ZIP_LEVELS["all"] = ZIP_LEVELS.zip.str[:3], "*"


def made_people(rows: int = 600, seed: int = 7) -> pd.DataFrame:
    """Two rows for most people; columns of several types, with missing cells."""
    rng = np.random.default_rng(seed)
    weeks = pd.Timestamp("2024-01-01", tz="America/Santiago") + pd.to_timedelta(rng.integers(0, 50, rows), "D")
    frame = pd.DataFrame(
        {
            "run": [f"p{i:07d}" for i in rng.integers(0, rows * 2 // 3, rows)],
            "age": rng.integers(17, 90, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(ZIP_LEVELS.zip, rows),
            "diagnosis": pd.Categorical(rng.choice(["flu", "cold", "asthma", "burn"], rows)),
            "pay": rng.normal(500, 100, rows).round(2),
            "visits": pd.array(rng.integers(0, 4, rows), "Int64"),
            "seen": weeks,
        },
        index=rng.permutation(rows),
    )
    frame.loc[frame.index[::17], ["pay", "visits"]] = [np.nan, pd.NA]
    return frame


def as_kind(frame: pd.DataFrame, kind: str) -> Any:
    """The same rows as another kind of frame."""
    if kind == "pandas":
        return frame
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if kind == "arrow":
        return table
    polars_frame = pl.from_arrow(table)
    assert isinstance(polars_frame, pl.DataFrame)
    return polars_frame.lazy() if kind == "lazy" else polars_frame


def as_rows(frame: Any) -> list[tuple[str, ...]]:
    """The canonical texts of a frame, row by row."""
    from celosia.data.engines.lazy import LazyEngine
    from celosia.data.frame_table import code_frame

    table = code_frame(frame, LazyEngine()).table
    return list(zip(*(table.column(name).row_texts().to_pylist() for name in table.names), strict=True))
