"""A folder of parts is one table; what does not agree is refused by the name of its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.data.errors import EmptyFolder, FolderMixed, FolderNested, FolderOfOthers, HeaderOnly, PartsDisagree
from celosia.data.readers.head import read_head
from celosia.data.readers.ingest import ingest
from celosia.data.readers.working import working_names
from celosia.errors import CelosiaError
from celosia.storage import combine_digests, content_digest, part_files


def folder(place: Path, **files: str) -> Path:
    """A folder of texts; `__` in a name stands for a dot."""
    made = place / "partes"
    made.mkdir()
    for name, text in files.items():
        (made / name.replace("__", ".")).write_text(text, "utf-8")
    return made


def keyed(texts: list[str]) -> pa.Table:
    return pa.table({"x": pa.array(texts, pa.string()), "n": ["k"] * len(texts)})


def cells(copy: Path) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for part in part_files(copy) for row in pq.read_table(part).to_pylist()]


def test_rows_stand_in_the_order_of_the_names_of_the_files(tmp_path: Path) -> None:
    parts = folder(tmp_path, b__csv="x;y\n3;c\n", a__csv="x;y\n1;a\n2;b\n", c__csv="x;y\n4;ñ\n")
    read = ingest(parts, tmp_path / "copy")
    assert cells(tmp_path / "copy") == [("1", "a"), ("2", "b"), ("3", "c"), ("4", "ñ")]
    assert (read.names, read.source.rows, read.source.name) == (("x", "y"), 4, "partes")
    assert working_names(tmp_path / "copy") == ("x", "y")
    assert read.source.choices.delimiter == ";"
    assert "3 archivos" in read.notices[0].text()


def test_what_spark_and_hidden_files_leave_is_nobodys_data(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,a\n", _SUCCESS="", __a__csv__crc="zz")
    assert (parts / ".a.csv.crc").exists()
    ingest(parts, tmp_path / "copy")
    assert cells(tmp_path / "copy") == [("1", "a")]


def test_a_part_without_rows_is_told_and_left_out(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,a\n", b__csv="x,y\n", c__csv="", d__csv="x,y\n2,b\n")
    read = ingest(parts, tmp_path / "copy")
    assert cells(tmp_path / "copy") == [("1", "a"), ("2", "b")]
    assert [path.name for path in part_files(tmp_path / "copy")] == ["part-00000.parquet", "part-00001.parquet"]
    assert any("sin filas: 2" in notice.text() for notice in read.notices)


def test_typed_parts_become_one_text(tmp_path: Path) -> None:
    parts = folder(tmp_path)
    pq.write_table(pa.table({"n": pa.array([1, None], pa.int64())}), parts / "a.parquet")
    pq.write_table(pa.table({"n": pa.array([2.0, 2.5], pa.float64())}), parts / "b.parquet")
    ingest(parts, tmp_path / "copy")
    assert cells(tmp_path / "copy") == [("1",), ("",), ("2",), ("2.5",)]


def test_the_digest_is_that_of_the_parts_in_their_order(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,a\n", b__csv="x,y\n2,b\n")
    read = ingest(parts, tmp_path / "copy")
    assert read.source.digest == combine_digests([content_digest(parts / name) for name in ("a.csv", "b.csv")])
    (parts / "a.csv").rename(parts / "c.csv")
    assert ingest(parts, tmp_path / "other").source.digest != read.source.digest


def test_what_was_noticed_in_the_parts_is_added_up(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n ,a\n", b__csv="x,y\n ,b\n  ,c\n")
    said = [notice.text() for notice in ingest(parts, tmp_path / "copy").notices]
    assert sum("leídas como vacías: 3" in text for text in said) == 1


def test_its_first_rows_can_be_seen(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,a\n", b__csv="x,y\n2,b\n")
    shown = read_head(parts, 5)
    assert (shown.names, shown.rows, shown.source) == (("x", "y"), (("1", "a"),), "partes")


def test_whoever_spreads_the_work_gets_one_task_for_each_part(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,a\n", b__csv="x,y\n2,b\n")
    asked: list[int] = []

    def each(task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        asked.append(len(items))
        done = [task(item) for item in reversed(items)]  # in whatever order
        return done[::-1]

    ingest(parts, tmp_path / "copy", each=each)
    assert asked == [2]
    assert cells(tmp_path / "copy") == [("1", "a"), ("2", "b")]


DISAGREEING = {
    "other name": ({"a__csv": "x,y\n1,2\n", "b__csv": "x,z\n1,2\n"}, PartsDisagree, "b.csv"),
    "other order": ({"a__csv": "x,y\n1,2\n", "b__csv": "y,x\n1,2\n"}, PartsDisagree, "b.csv"),
    "one more column": ({"a__csv": "x,y\n1,2\n", "b__csv": "x,y,z\n1,2,3\n"}, PartsDisagree, "b.csv"),
    "nothing": ({}, EmptyFolder, "partes"),
    "hidden only": ({"_SUCCESS": "x"}, EmptyFolder, "partes"),
    "headers only": ({"a__csv": "x,y\n"}, HeaderOnly, "partes"),
}


@pytest.mark.parametrize("kind", DISAGREEING)
def test_parts_that_do_not_agree_are_refused_by_name(kind: str, tmp_path: Path) -> None:
    files, error, named = DISAGREEING[kind]
    with pytest.raises(error) as refused:
        ingest(folder(tmp_path, **files), tmp_path / "copy", header=True)
    assert named in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["partes"]


def test_two_kinds_of_file_are_refused_by_name(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,2\n")
    pq.write_table(pa.table({"x": ["1"], "y": ["2"]}), parts / "b.parquet")
    with pytest.raises(FolderMixed, match=r"a\.csv.*b\.parquet"):
        ingest(parts, tmp_path / "copy")


def test_folders_inside_are_refused_by_name(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,2\n")
    (parts / "region=5").mkdir()
    with pytest.raises(FolderNested, match="region=5"):
        ingest(parts, tmp_path / "copy")


def test_files_that_are_not_read_in_parts_are_refused_by_name(tmp_path: Path) -> None:
    parts = folder(tmp_path)
    (parts / "a.sqlite").write_bytes(b"SQLite format 3\x00" + bytes(100))
    with pytest.raises(FolderOfOthers, match=r"a\.sqlite"):
        ingest(parts, tmp_path / "copy")


def test_a_part_that_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    parts = folder(tmp_path, a__csv="x,y\n1,2\n", b__csv='x,y\n1,2\n3,4\n"5,6\n')
    with pytest.raises(CelosiaError, match=r"b\.csv"):
        ingest(parts, tmp_path / "copy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["partes"]


@given(st.lists(st.lists(st.text('aé,\n" 5', max_size=4), min_size=1, max_size=4), min_size=1, max_size=4))
def test_a_table_in_parts_is_the_table(pieces: list[list[str]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        parts = folder(Path(place))
        for i, piece in enumerate(pieces):
            pq.write_table(
                pa.table({"x": pa.array(piece, pa.string()), "n": ["k"] * len(piece)}), parts / f"{i}.parquet"
            )
        whole = [text for piece in pieces for text in piece]
        ingest(parts, Path(place) / "copy")
        ingest(pa.table({"x": pa.array(whole, pa.string()), "n": ["k"] * len(whole)}), Path(place) / "one")
        assert cells(Path(place) / "copy") == cells(Path(place) / "one")
