"""What our writer writes, our reader reads back cell by cell, whatever the cells and however they were batched."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.data.readers.canonical import WHITESPACE
from celosia.data.readers.ingest import ingest
from celosia.data.sniffing import records
from celosia.data.writers.csv import write_csv

CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12) | st.sampled_from(
    ["", " ", '"', '""', ",", "\n", "\r\n", "\r", "05302", '"a', 'a"', "\ufeff", "#", "\\", "\x01", "\x85", "\u2028"]
)
NAMES = st.lists(
    st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=6), min_size=1, max_size=4, unique=True
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Names and rows of any text."""
    names = draw(NAMES)
    return names, draw(st.lists(st.lists(CELL, min_size=len(names), max_size=len(names)), min_size=1, max_size=8))


def batches(rows: list[list[str]], size: int) -> list[pa.RecordBatch]:
    """The rows as text batches."""
    pieces = [rows[i : i + size] for i in range(0, len(rows), size)]
    return [pa.record_batch([pa.array(c, pa.string()) for c in zip(*p, strict=True)], names=_inside(p)) for p in pieces]


def _inside(piece: list[list[str]]) -> list[str]:
    return [f"c{i}" for i in range(len(piece[0]))]


@settings(max_examples=60)
@given(tables())
def test_every_cell_comes_back(table: tuple[list[str], list[list[str]]]) -> None:
    names, rows = table
    with tempfile.TemporaryDirectory() as folder:
        path, target = Path(folder) / "t.csv", Path(folder) / "w.parquet"
        write_csv(batches(rows, 3), names, path)
        choices = {"delimiter": ",", "quote": '"', "encoding": "utf-8", "header": True, "format": "csv"}
        result = ingest(path, target, **choices)  # type: ignore[arg-type]
        found = [list(row.values()) for row in pq.read_table(target).to_pylist()]
    assert result.names == tuple(names)
    assert found == [["" if not cell.strip(WHITESPACE) else cell for cell in row] for row in rows]


@settings(max_examples=60)
@given(tables(), st.integers(1, 5))
def test_the_bytes_do_not_depend_on_the_batches_and_any_csv_reader_understands_them(
    table: tuple[list[str], list[list[str]]], size: int
) -> None:
    names, rows = table
    with tempfile.TemporaryDirectory() as folder:
        one, other = Path(folder) / "1.csv", Path(folder) / "2.csv"
        assert write_csv(batches(rows, len(rows)), names, one) == len(rows)
        write_csv(batches(rows, size), names, other)
        data = one.read_bytes()
        assert other.read_bytes() == data
    assert data.endswith(b"\n")
    assert list(csv.reader(io.StringIO(data.decode(), newline=""))) == [names, *rows]


@settings(max_examples=200)
@given(tables())
def test_our_slow_records_agree_with_the_standard_library(table: tuple[list[str], list[list[str]]]) -> None:
    _, rows = table
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    lines = io.StringIO(stream.getvalue(), newline="\n")
    found = list(records(lines, ",", '"'))
    assert [record.fields for record in found] == rows
    assert not any(record.broken for record in found)


@pytest.mark.slow
def test_a_large_file_with_line_ends_inside_cells_is_read_in_order_by_several_threads(tmp_path: Path) -> None:
    path, target = tmp_path / "t.csv", tmp_path / "w.parquet"
    cells = ["uno\ndos", 'con "comillas", y coma', "simple", "x" * 300, "ñ\r\nñ", ""]
    rows = 600_000
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=";", lineterminator="\n")
        writer.writerow(["id_fila", "texto", "otro"])
        writer.writerows((i, cells[i * 7 % 6], cells[i * 5 % 6]) for i in range(rows))
    assert ingest(path, target).source.rows == rows
    table = pq.read_table(target)
    assert table.column("c0").to_pylist() == [str(i) for i in range(rows)]
    assert table.column("c1").to_pylist() == [cells[i * 7 % 6] for i in range(rows)]
    assert table.column("c2").to_pylist() == [cells[i * 5 % 6] for i in range(rows)]


@pytest.mark.slow
def test_a_file_larger_than_the_memory_allowed_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celosia.data.readers.delimited._MOST_MEMORY", 400_000_000)
    lines = [f"{i * 7919 % 1_000_003:07d};{i % 346:05d};{'ñandú ' * (i % 30)}fin\n" for i in range(50_000)]
    block = "".join(lines).encode()
    path, target, times = tmp_path / "t.csv", tmp_path / "w.parquet", 600_000_000 // len(block) + 1
    with path.open("wb") as stream:
        stream.write(b"id_fila;comuna;texto\n")
        for _ in range(times):
            stream.write(block)
    assert path.stat().st_size > 600_000_000
    assert ingest(path, target).source.rows == 50_000 * times
    with pq.ParquetFile(target) as file:
        last = list(file.iter_batches(row_groups=[file.num_row_groups - 1], columns=["c0", "c1"]))[-1]
    assert [column[-1].as_py() for column in last.columns] == lines[-1].split(";")[:2]
