"""Files whose views, dictionaries or lists of parts ask for more than their own rows: refused, and in time."""

from __future__ import annotations

import signal
import sqlite3
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data import limits
from celosia.data.errors import DamagedFile, ReachesOutside, RowTooLong, SourceTooSlow, WorkbookTooLarge
from celosia.data.readers import duckdb as duckdb_reader
from celosia.data.readers import sqlite as sqlite_reader
from celosia.data.readers.archive import refuse_bomb
from celosia.data.readers.head import list_tables, read_head
from celosia.data.readers.ingest import ingest

ENDLESS = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 1e15) SELECT count(*) AS n FROM r"
LONG = 4_000_000


# --- views that reach outside their file ---------------------------------------------------------


@pytest.fixture
def curious(tmp_path: Path) -> Path:
    """A DuckDB file with one table of its own and two views of what lies around it."""
    (tmp_path / "secreto.csv").write_text("clave\nsecretisima\n", "utf-8")
    path = tmp_path / "curiosa.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE VIEW contenido AS FROM read_csv('{tmp_path}/secreto.csv')")
        made.execute(f"CREATE VIEW carpeta AS FROM glob('{tmp_path}/*')")
        made.execute("CREATE TABLE propia AS SELECT 'F' AS sexo")
        made.execute("CREATE VIEW vista AS SELECT sexo AS s FROM propia")
    return path


@pytest.mark.parametrize("view", ["contenido", "carpeta"])
@pytest.mark.parametrize(
    "read", [lambda path, view, to: read_head(path, 5, table=view), lambda p, v, to: ingest(p, to, table=v)]
)
def test_a_view_of_a_database_file_reads_no_other_file(
    curious: Path, view: str, read: Callable[..., object], tmp_path: Path
) -> None:
    with pytest.raises(ReachesOutside) as caught:
        read(curious, view, tmp_path / "w.parquet")
    assert caught.value.__suppress_context__
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("table", ["propia", "vista"])
def test_tables_and_views_of_its_own_rows_are_still_read(curious: Path, table: str, tmp_path: Path) -> None:
    assert read_head(curious, 5, table=table).rows == (("F",),)
    assert ingest(curious, tmp_path / "w.parquet", table=table).source.rows == 1
    assert set(list_tables(curious)) == {"carpeta", "contenido", "propia", "vista"}


# --- views without end ---------------------------------------------------------------------------


def test_a_view_of_sqlite_that_never_ends_is_left_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.sqlite"
    with sqlite3.connect(path) as made:
        made.execute(f"CREATE VIEW v AS {ENDLESS}")
    made.close()
    monkeypatch.setattr(sqlite_reader, "PATIENCE", 0.5)
    with pytest.raises(SourceTooSlow):
        read_head(path, 5)


def test_a_view_of_duckdb_that_never_ends_is_left_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE VIEW v AS {ENDLESS}")
    monkeypatch.setattr(duckdb_reader, "PATIENCE", 0.5)
    with pytest.raises(SourceTooSlow):
        read_head(path, 5)


def test_whoever_reads_a_whole_view_of_sqlite_can_interrupt_it(tmp_path: Path) -> None:
    path = tmp_path / "b.sqlite"
    with sqlite3.connect(path) as made:
        made.execute(f"CREATE VIEW v AS {ENDLESS}")
    made.close()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            ingest(path, tmp_path / "w.parquet")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_a_view_of_sqlite_makes_no_text_longer_than_a_row(tmp_path: Path) -> None:
    path = tmp_path / "b.sqlite"
    with sqlite3.connect(path) as made:
        made.execute("CREATE VIEW v AS SELECT hex(zeroblob(20000000)) AS comuna")
    made.close()
    with pytest.raises(DamagedFile):
        read_head(path, 5)


# --- one long text, named many times -------------------------------------------------------------


def folded(path: Path, length: int, rows: int) -> Path:
    """A Parquet file of a few kilobytes whose only text stands in every row."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, "int32")), pa.array(["x" * length]))
    pq.write_table(pa.table({"sexo": texts, "n": range(rows)}), path, compression="zstd")
    return path


@pytest.mark.parametrize("plain", [False, True])
def test_the_first_rows_of_a_folded_text_are_as_many_as_fit(tmp_path: Path, plain: bool) -> None:
    path = folded(tmp_path / "b.parquet", LONG, 100)
    if plain:
        pq.write_table(pa.table({"sexo": ["x" * LONG] * 20}), path, compression="zstd", use_dictionary=False)
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    found = read_head(path, 100)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1 <= len(found.rows) <= 2 * limits.LONGEST_ROW // LONG
    assert held < 6 * limits.LONGEST_ROW
    assert pa.total_allocated_bytes() - before < 6 * limits.LONGEST_ROW


@pytest.mark.parametrize("read", [lambda path, _: read_head(path, 5), ingest])
def test_a_text_longer_than_any_row_is_refused_by_its_number(tmp_path: Path, read: Callable[..., object]) -> None:
    path = folded(tmp_path / "b.parquet", limits.LONGEST_ROW + 1, 3)
    with pytest.raises(RowTooLong) as caught:
        read(path, tmp_path / "w.parquet")
    assert caught.value.values["row"] == 1


def test_a_folded_column_is_read_as_what_it_says(tmp_path: Path, read: Callable) -> None:
    texts = ["a", None, "ñandú", "a", ""] * 20_000
    pq.write_table(pa.table({"t": texts, "n": range(100_000)}), tmp_path / "b.parquet", row_group_size=7_000)
    _, rows = read(tmp_path / "b.parquet")
    assert [row[0] for row in rows] == [text or "" for text in texts]
    assert [row[1] for row in rows] == [str(i) for i in range(100_000)]


# --- a list of parts without end -----------------------------------------------------------------


@pytest.mark.parametrize("long", [False, True], ids=["zip", "zip64"])
def test_a_workbook_with_an_endless_list_of_parts_is_refused_before_it_is_parsed(tmp_path: Path, long: bool) -> None:
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    head, directory = b"PK\x03\x04" + b"\0" * 26, entry * 150_000
    body = head + directory
    if long:
        body += struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 150_000, 150_000, len(directory), len(head))
        body += struct.pack("<4sLQL", b"PK\x06\x07", 0, len(head) + len(directory), 1)
    size = 0xFFFFFFFF if long else len(directory)
    body += struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, size, 0xFFFFFFFF if long else len(head), 0)
    path = tmp_path / "b.xlsx"
    path.write_bytes(body)
    tracemalloc.start()
    for look in (
        refuse_bomb,
        list_tables,
        lambda path: read_head(path, 5),
        lambda path: ingest(path, tmp_path / "w.parquet"),
    ):
        with pytest.raises(WorkbookTooLarge):
            look(path)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert held < 3_000_000
