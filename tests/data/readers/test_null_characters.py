"""Null characters in typed sources: taken out and counted, since no text format keeps them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.readers.ingest import ingest


def test_null_characters_are_taken_out_and_counted(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["BREÑA\x00AA", "b", "\x00"]}), tmp_path / "x.parquet")
    read = ingest(tmp_path / "x.parquet", tmp_path / "w.parquet")
    assert pq.read_table(tmp_path / "w.parquet").column(0).to_pylist() == ["BREÑAAA", "b", ""]
    assert [(n.key, dict(n.fields)) for n in read.notices if n.key == "null_cells"] == [("null_cells", {"count": 2})]
