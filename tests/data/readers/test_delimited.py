"""CSV and its kin become a working copy of text, cell by cell as they stand."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from celosia.data.readers.ingest import ingest
from celosia.data.readers.working import working_labels, working_names
from celosia.model.errors import UnknownFormat, UnknownVariable

Make = Callable[..., Path]
ROWS = [("05302", "José Núñez"), ("13101", "María")]


@pytest.mark.requirement("M22")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_dialect_gives_the_same_cells(make: Make, read: Callable, encoding: str, mark: str, end: str) -> None:
    text = end.join(mark.join(row) for row in [("comuna", "nombre"), *ROWS]) + end
    result, rows = read(make(text.encode(encoding)))
    assert result.names == ("comuna", "nombre")
    assert rows == ROWS


def test_codes_keep_their_zeros_and_markers_stay_apart(make: Make, read: Callable) -> None:
    _, rows = read(make("codigo,pais,nota\n05302,NA,*\n99999,**,NULL\n"))
    assert rows == [("05302", "NA", "*"), ("99999", "**", "NULL")]


def test_empty_quoted_and_blank_cells_are_all_missing_and_blanks_are_counted(make: Make, read: Callable) -> None:
    result, rows = read(make('id,b,c\n1,,"" \n2,  ,\u00a0\t\n3, x ,y\n'))
    assert rows == [("1", "", ""), ("2", "", ""), ("3", " x ", "y")]
    assert [(n.key, dict(n.fields)) for n in result.notices] == [("blank_cells", {"count": 2})]


def test_blank_lines_of_a_single_column_are_left_out_and_counted(make: Make, read: Callable) -> None:
    found, rows = read(make("SEXO\nF\n\nM\n\r\nF\n\n\n"), header=True)
    assert rows == [("F",), ("M",), ("F",)]
    assert ("blank_rows", 2) in [(note.key, dict(note.fields).get("count")) for note in found.source.choices.notes]


def test_line_ends_quotes_and_delimiters_inside_quotes_are_kept(make: Make, read: Callable) -> None:
    _, rows = read(make('id;glosa\n1;"uno\ndos; ""tres"""\n2;"""triple"""\n3;5" de alto\n'))
    assert rows == [("1", 'uno\ndos; "tres"'), ("2", '"triple"'), ("3", '5" de alto')]


def test_mixed_line_ends_are_read_and_noticed(make: Make, read: Callable) -> None:
    result, rows = read(make('id,b\r\n1,x\n2,"y\r\nz"\r\n3,w\n'))
    assert rows == [("1", "x"), ("2", "y\nz"), ("3", "w")]
    assert "line_ends" in [note.key for note in result.notices]


def test_without_header_columns_are_named_by_position(make: Make, read: Callable) -> None:
    result, rows = read(make("11.111.111-1;Ana\n22.222.222-2;Luz\n"))
    assert result.names == ("columna_1", "columna_2")
    assert len(rows) == 2


def test_quotes_can_be_taken_as_plain_characters(make: Make, read: Callable) -> None:
    _, rows = read(make('id;b\n1;"uno\n2;dos"\n'), quote="")
    assert rows == [("1", '"uno'), ("2", 'dos"')]


def test_names_that_differ_in_case_are_allowed_and_noticed(make: Make, read: Callable) -> None:
    result, rows = read(make("Edad,EDAD,edad\n1,2,3\n"))
    assert result.names == ("Edad", "EDAD", "edad")
    assert rows == [("1", "2", "3")]
    assert "case_collision" in [note.key for note in result.notices]


def test_repeated_and_blank_headers_are_renamed_when_asked(make: Make, read: Callable) -> None:
    result, _ = read(make("a,,a,a_2,b\n1,2,3,4,5\n"), header=True, rename_duplicates=True)
    assert result.names == ("a", "columna_2", "a_3", "a_2", "b")
    assert ("renamed", (("count", 2),)) in [(n.key, n.fields) for n in result.notices]


@pytest.mark.requirement("M22")
def test_a_column_deselected_at_import_appears_nowhere(make: Make, read: Callable, tmp_path: Path) -> None:
    path = make("RUN;MES_EGRESO;EDAD\n1-9;enero_secreto;5\n2-7;enero_secreto;6\n")
    result, rows = read(path, drop=["MES_EGRESO"])
    assert result.names == ("RUN", "EDAD")
    assert result.source.choices.dropped == ("MES_EGRESO",)
    assert rows == [("1-9", "5"), ("2-7", "6")]
    data = (tmp_path / "private" / "working.parquet").read_bytes()
    assert b"secreto" not in data
    assert b"MES_EGRESO" not in data


def test_dropping_an_unknown_column_names_it(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UnknownVariable):
        ingest(make("a,b\n1,2\n"), tmp_path / "w", drop=["c"])


def test_a_late_byte_turns_utf_8_into_a_single_byte_encoding(make: Make, read: Callable) -> None:
    filler = b"1," + b"x" * 60 + b"\n"
    filler *= 30_000
    path = make(b"id,nombre\n" + filler + "2,Ñuñoa\n".encode("latin-1") + filler)
    result, rows = read(path)
    assert rows[30_000] == ("2", "Ñuñoa")
    assert result.source.choices.encoding == "latin-1"
    assert "encoding_changed" in [note.key for note in result.notices]


def test_a_late_windows_byte_turns_latin_1_into_windows_1252(make: Make, read: Callable) -> None:
    filler = f"1,{'ñ' * 60}\n".encode("latin-1") * 30_000
    result, rows = read(make(b"id,nombre\n" + filler + "2,5 €\n".encode("cp1252") + filler))
    assert rows[30_000] == ("2", "5 €")
    assert result.source.choices.encoding == "windows-1252"


def test_the_digest_is_of_the_file_and_the_name_has_no_folder(make: Make, read: Callable) -> None:
    path = make("id,ñ\n1,á\n".encode("latin-1"))
    source = read(path)[0].source
    assert source.digest == "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    assert (source.name, source.rows, source.columns) == ("personas.csv", 1, 2)


def test_the_working_copy_is_private_and_knows_its_names(make: Make, tmp_path: Path) -> None:
    target = tmp_path / "w.parquet"
    ingest(make("año,Edad\n1,2\n"), target)
    assert stat.S_IMODE(os.stat(target).st_mode) == 0o600
    assert working_names(target) == ("año", "Edad")
    assert working_labels(target) == {}


def test_a_foreign_parquet_file_is_no_working_copy(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "x.parquet")
    with pytest.raises(UnknownFormat):
        working_names(tmp_path / "x.parquet")


def test_file_names_with_pattern_characters_are_read_as_they_are(make: Make, read: Callable) -> None:
    make("a,b\n9,9\n", "dx.csv")
    _, rows = read(make("a,b\n1,2\n", "d*.csv"))
    assert rows == [("1", "2")]
    _, rows = read(make("a,b\n3,4\n", "it's [1] 'x'.csv"))
    assert rows == [("3", "4")]


def test_progress_runs_from_little_to_all(make: Make, tmp_path: Path) -> None:
    seen: list[float] = []
    ingest(make("id,b\n" + "1,x\n" * 300_000), tmp_path / "w.parquet", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.shared
@pytest.mark.requirement("A04")
@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [
        ("cl_deis_deaths_2024_release1.csv", 21_113, 15),
        ("cl_deis_deaths_2024_release2.csv", 23_390, 15),
        ("cl_deis_covid_deaths_2020-07-30.csv", 13_426, 11),
        ("co_dane_ecv_households.csv", 20_141, 100),
        ("co_ins_covid_2020-06-11.csv", 45_212, 13),
    ],
)
def test_real_files_have_the_dimensions_their_owners_state(
    shared: Path, tmp_path: Path, name: str, rows: int, columns: int
) -> None:
    source = ingest(shared / "data" / name, tmp_path / "w.parquet").source
    assert (source.rows, source.columns) == (rows, columns)
