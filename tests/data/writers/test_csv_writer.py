"""The one CSV dialect: fixed quoting, private, atomic, and harmless in a spreadsheet when asked to be."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from celosia.data.errors import NullCharacter
from celosia.data.writers.csv import write_csv
from celosia.storage import DiskFull, FolderUnwritable

NAME = "Nombre Plantado Peralta"


def batch(*columns: list[str | None]) -> pa.RecordBatch:
    """Text columns."""
    return pa.record_batch([pa.array(c, pa.string()) for c in columns], names=[f"c{i}" for i in range(len(columns))])


def test_the_dialect_is_fixed(tmp_path: Path) -> None:
    cells: list[str | None] = ["05302", "a,b", 'di "no"', "x\ny", "x\ry", " x", "x ", "", None, "ñ;|\t."]
    write_csv([batch(cells, cells)], ["código", "b,c"], tmp_path / "t.csv")
    field = ["05302", '"a,b"', '"di ""no"""', '"x\ny"', '"x\ry"', '" x"', '"x "', "", "", "ñ;|\t."]
    expected = 'código,"b,c"\n' + "".join(f"{cell},{cell}\n" for cell in field)
    assert (tmp_path / "t.csv").read_bytes() == expected.encode()


def test_a_lone_empty_cell_is_not_an_empty_line(tmp_path: Path) -> None:
    write_csv([batch(["x", "", None])], ["a"], tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == 'a\nx\n""\n""\n'


def test_slices_and_other_text_types_give_the_same_bytes(tmp_path: Path) -> None:
    whole = batch(["no", "sí", "ñ,"], ["1", "2", "3"])
    large = pa.record_batch([c.cast(pa.large_string()) for c in whole.columns], names=whole.schema.names)
    coded = pa.record_batch([c.dictionary_encode() for c in whole.columns], names=whole.schema.names)
    seen = set()
    for i, piece in enumerate((whole, large, coded)):
        write_csv([piece.slice(1, 2)], ["a", "b"], tmp_path / f"{i}.csv")
        seen.add((tmp_path / f"{i}.csv").read_bytes())
    assert seen == {'a,b\nsí,2\n"ñ,",3\n'.encode()}


def test_no_rows_leave_the_header(tmp_path: Path) -> None:
    assert write_csv([], ["a", "b"], tmp_path / "t.csv") == 0
    assert (tmp_path / "t.csv").read_bytes() == b"a,b\n"


def test_formulas_are_neutralised_only_when_asked_and_numbers_stay(tmp_path: Path) -> None:
    cells: list[str | None] = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "-5", "+5,5", "-1.5e-3", "-5 %", "a=b", None]
    write_csv([batch(cells)], ["a"], tmp_path / "plain.csv")
    write_csv([batch(cells)], ["a"], tmp_path / "safe.csv", neutralise_formulas=True)
    assert b"'" not in (tmp_path / "plain.csv").read_bytes()
    safe = (tmp_path / "safe.csv").read_bytes().decode().split("\n")[1:-1]
    expected = ["'=1+1", "'+x", "'-x", "'@x", "'\tx", '"\'\rx"', "-5", '"+5,5"', "-1.5e-3", "'-5 %", "a=b", '""']
    assert safe == expected


def test_null_characters_are_refused_by_column(tmp_path: Path) -> None:
    with pytest.raises(NullCharacter) as caught:
        write_csv([batch(["x"], [f"{NAME}\x00"])], ["a", "b"], tmp_path / "t.csv")
    assert caught.value.values == {"variable": "b", "count": 1}
    assert NAME not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")

    def failing() -> Iterator[pa.RecordBatch]:
        yield batch(["x"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_csv(failing(), ["a"], path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.csv"]


def test_files_are_private_unless_told_otherwise(tmp_path: Path) -> None:
    write_csv([batch(["x"])], ["a"], tmp_path / "t.csv")
    write_csv([batch(["x"])], ["a"], tmp_path / "open.csv", mode=0o644)
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("t.csv", "open.csv")]
    assert modes == [0o600, 0o644]


def test_a_full_disk_and_a_closed_folder_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(FolderUnwritable):
        write_csv([batch(["x"])], ["a"], tmp_path / "file" / "t.csv")

    def full() -> Iterator[pa.RecordBatch]:
        raise OSError(28, "No space left on device")
        yield

    with pytest.raises(DiskFull):
        write_csv(full(), ["a"], tmp_path / "t.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
