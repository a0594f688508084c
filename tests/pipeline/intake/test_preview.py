"""Previews: read like the real thing, fast on long files, and no identifying cell ever leaves."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.data import preview
from celosia.data.errors import RaggedLine, UnclosedQuote
from celosia.data.readers.ingest import ingest
from celosia.demo.synthetic.discharges import write_discharges
from celosia.demo.synthetic.files import write_raw_csv
from celosia.demo.synthetic.surveys import survey
from celosia.errors import CelosiaError
from celosia.hierarchy.errors import WrongEncoding
from celosia.model import dictionary
from celosia.model.errors import UnknownVariable
from celosia.model.value_errors import ValueOutOfRange
from celosia.model.variables import Kind, MelLabel, Role, Scale, Variable
from celosia.pipeline.intake.errors import AddressUnclear, AddressUnset
from celosia.pipeline.intake.preview import preview_project, preview_source, source_choices, source_tables
from celosia.pipeline.project.errors import PasswordInAddress
from celosia.pipeline.project.folder import open_project
from tests.projects.survey import PLANTED, make_project

NAMES = ("RUN", "NOMBRE", "SEXO", "EDAD", "COMENTARIO")
PEOPLE = [
    (
        f"{11111111 + i}-K",
        f"Nombre{i} Apellido{i}",
        "HM"[i % 2],
        str(20 + i % 50),
        f"Vive con {i} personas en la casa",
    )
    for i in range(60)
]


# --- the door ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "variable",
    [
        Variable("a", role=Role.IDENTIFIER),
        Variable("a"),
        Variable("a", role=Role.PLAIN, scale=Scale.FREE_TEXT),
        Variable("a", role=Role.QUASI, kind=Kind.IDENTIFICATION),
        Variable("a", role=Role.PLAIN, mel_label=MelLabel.DIRECT),
    ],
)
@given(cells=st.lists(st.text(), max_size=5))
def test_every_veiled_cell_looks_the_same(variable: Variable, cells: list[str]) -> None:
    assert preview.veil_cells(variable, cells) == (preview.VEIL,) * len(cells)


@given(st.text())
def test_a_shown_cell_is_short_and_on_one_line(text: str) -> None:
    shown = preview.display_cell(text)
    assert len(shown) <= preview.LONGEST_CELL + 1
    assert shown.isprintable()


def test_a_cell_cannot_turn_the_words_around_it() -> None:
    assert preview.display_cell("a\u202eb\nc") == "a b c"


def test_other_cells_are_shown_as_they_are() -> None:
    assert preview.veil_cells(Variable("a", role=Role.QUASI), ["05302", "", "*"]) == ("05302", "", "*")


def test_a_hidden_column_is_veiled_whatever_the_dictionary_says() -> None:
    shown = preview.preview_rows([Variable("a", role=Role.PLAIN)], [("x",)], hidden={"a"})
    assert shown.rows == ((preview.VEIL,),)
    assert shown.columns[0].veiled


# --- sources ----------------------------------------------------------------------------------------


def write_csv(path: Path, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    lines = [delimiter.join(row) for row in [NAMES, *PEOPLE]]
    path.write_bytes(("\n".join(lines) + "\n").encode(encoding))
    return path


def as_table() -> pa.Table:
    return pa.table({name: [row[i] for row in PEOPLE] for i, name in enumerate(NAMES)})


def xlsx(folder: Path) -> Path:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(str(folder / "p.xlsx")) as book:
        for name in ("personas", "otra"):
            sheet = book.add_worksheet(name)
            for i, row in enumerate([NAMES, *PEOPLE]):
                sheet.write_row(i, 0, row)
    return folder / "p.xlsx"


def parquet(folder: Path) -> Path:
    pq.write_table(as_table(), folder / "p.parquet")
    return folder / "p.parquet"


def sav(folder: Path) -> Path:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pytest.importorskip("pandas").DataFrame(PEOPLE, columns=NAMES)
    pyreadstat.write_sav(frame, str(folder / "p.sav"))
    return folder / "p.sav"


def dta(folder: Path) -> Path:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pytest.importorskip("pandas").DataFrame(PEOPLE, columns=NAMES)
    pyreadstat.write_dta(frame, str(folder / "p.dta"))
    return folder / "p.dta"


def sqlite_file(folder: Path) -> Path:
    with sqlite3.connect(folder / "p.db") as connection:
        connection.execute(f"CREATE TABLE personas ({', '.join(NAMES)})")
        connection.executemany(f"INSERT INTO personas VALUES ({', '.join('?' * len(NAMES))})", PEOPLE)
    connection.close()
    return folder / "p.db"


def duckdb_file(folder: Path) -> Path:
    people = as_table()
    with duckdb.connect(str(folder / "p.duckdb")) as connection:
        connection.register("people", people)
        connection.execute("CREATE TABLE personas AS FROM people")
    return folder / "p.duckdb"


@pytest.mark.requirement("M01")
@pytest.mark.parametrize(
    "source",
    [
        lambda folder: write_csv(folder / "p.csv"),
        lambda folder: write_csv(folder / "p.csv", ";", "latin-1"),
        lambda folder: write_csv(folder / "p.csv", "\t", "utf-16"),
        xlsx,
        parquet,
        sav,
        dta,
        sqlite_file,
        duckdb_file,
    ],
    ids=["csv", "latin-1", "utf-16", "xlsx", "parquet", "sav", "dta", "sqlite", "duckdb"],
)
def test_every_format_shows_the_same_rows_with_identifiers_veiled(
    source: Callable[[Path], Path], tmp_path: Path
) -> None:
    found = preview_source(source(tmp_path), rows=3)
    assert [column.name for column in found.preview.columns] == list(NAMES)
    assert [column.veiled for column in found.preview.columns] == [True, True, False, False, True]
    assert found.preview.rows == tuple((preview.VEIL, preview.VEIL, row[2], row[3], preview.VEIL) for row in PEOPLE[:3])
    assert "Apellido" not in repr(found) + str(found.as_dict())


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_preview_names_the_columns_and_choices_that_importing_will(delimiter: str, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv", delimiter, "windows-1252")
    found, read = preview_source(path), ingest(path, tmp_path / "w.parquet")
    assert tuple(column.name for column in found.preview.columns) == read.names
    assert replace(found.choices, notes=()) == replace(read.source.choices, notes=())


def test_sheets_and_tables_are_listed(tmp_path: Path) -> None:
    assert source_tables(xlsx(tmp_path)) == ("personas", "otra")
    assert source_tables(sqlite_file(tmp_path)) == ("personas",)
    assert source_tables(duckdb_file(tmp_path)) == ("personas",)
    assert source_tables(write_csv(tmp_path / "p.csv")) == ()
    assert preview_source(xlsx(tmp_path), sheet="otra").tables == ("personas", "otra")


def test_a_table_of_a_server_is_shown_without_its_address(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE previa (run text, sexo text, nacimiento timestamp, datos json)")
        rows = [(f"{11111111 + i}-K", "HM"[i % 2], "2001-02-03", "{}") for i in range(40)]
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO previa VALUES (%s, %s, %s, %s)", rows)
    try:
        monkeypatch.setenv("DIRECCION_DE_PRUEBA", postgres_url)
        assert "previa" in source_tables("env:DIRECCION_DE_PRUEBA")
        found = preview_source("env:DIRECCION_DE_PRUEBA", rows=2, table="previa")
        assert found.preview.rows[0][:3] == (preview.VEIL, "H", "2001-02-03")
        assert [column.refused != "" for column in found.preview.columns] == [False, False, False, True]
        assert postgres_url not in repr(found)
    finally:
        with psycopg.connect(postgres_url) as connection:
            connection.execute("DROP TABLE previa")


def test_an_environment_variable_without_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NADA_AQUI", raising=False)
    with pytest.raises(AddressUnset):
        preview_source("env:NADA_AQUI")
    monkeypatch.setenv("NADA_AQUI", "/etc/passwd")
    with pytest.raises(AddressUnclear):
        preview_source("env:NADA_AQUI")


BAD: list[tuple[str, dict[str, Any], type[CelosiaError], int]] = [
    ("a,b\n1,2\n3\n", {}, RaggedLine, 3),
    ('a,b\n1,2\n3,"x\n' + "y\n" * 400_000, {}, UnclosedQuote, 3),
    ('a,b\n1,2\n3,"x"y\n', {}, UnclosedQuote, 3),
    ("a,b\n1,Ñ\n", {"encoding": "ascii"}, WrongEncoding, 2),
]


@pytest.mark.parametrize(("text", "reading", "kind", "line"), BAD, ids=["ragged", "endless", "stray", "encoding"])
def test_what_is_wrong_is_named_by_its_line(
    text: str, reading: dict[str, Any], kind: type[CelosiaError], line: int, tmp_path: Path
) -> None:
    (tmp_path / "p.csv").write_text(text, "utf-8")
    with pytest.raises(kind) as caught:
        preview_source(tmp_path / "p.csv", header=True, delimiter=",", **reading)
    assert caught.value.values["line"] == line


def test_a_column_of_unknown_meaning_with_a_value_for_each_row_is_veiled(tmp_path: Path) -> None:
    lines = ["zzq,sexo"] + [f"{(i * 7919) % 1000003:07d}Q,{'HM'[i % 2]}" for i in range(80)]
    (tmp_path / "p.csv").write_text("\n".join(lines), "utf-8")
    found = preview_source(tmp_path / "p.csv", header=True)
    assert found.preview.columns[0].veiled
    assert not found.preview.columns[1].veiled


def test_columns_left_out_are_not_in_the_preview(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "p.csv")
    found = preview_source(path, drop=["RUN", "NOMBRE"])
    assert [column.name for column in found.preview.columns] == ["SEXO", "EDAD", "COMENTARIO"]
    with pytest.raises(UnknownVariable):
        preview_source(path, drop=["NO"])


def test_choices_are_told_where_rows_cannot_be_shown(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("nombre;edad\nana;1;x\n", "utf-8")
    with pytest.raises(RaggedLine):
        preview_source(tmp_path / "p.csv")
    assert source_choices(tmp_path / "p.csv").delimiter == ";"


@pytest.mark.parametrize("verb", [preview_source, source_tables, source_choices])
def test_an_address_with_a_password_is_refused_where_it_was_typed(verb: Callable[..., object]) -> None:
    with pytest.raises(PasswordInAddress):
        verb("postgresql://ana:secreta@servidor/base")


def test_an_unknown_reading_choice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueOutOfRange):
        preview_source(write_csv(tmp_path / "p.csv"), nothing=1)


@pytest.mark.slow
def test_a_million_rows_are_previewed_in_less_than_two_seconds(tmp_path: Path) -> None:
    path = write_discharges(tmp_path / "egresos.csv", 1_000_000, 1)
    preview_source(write_csv(tmp_path / "p.csv"))  # what is loaded once is loaded
    start = time.process_time()
    found = preview_source(path)
    assert time.process_time() - start < 2
    assert found.choices.delimiter == ";"


def test_the_wizard_veils_what_a_survey_says_of_people(tmp_path: Path) -> None:
    write_raw_csv(tmp_path / "encuesta.csv", survey(300, 5).to_batches())
    found = preview_source(tmp_path / "encuesta.csv")
    veiled = {column.name for column in found.preview.columns if column.veiled}
    assert {"NOMBRES", "APELLIDOS", "DOCUMENTO", "TELEFONO", "ENCUESTADOR"} <= veiled
    assert {"SEXO", "EDAD", "NIVEL_EDUCATIVO"}.isdisjoint(veiled)


# --- projects ---------------------------------------------------------------------------------------


def test_the_rows_of_a_project_are_veiled_by_its_dictionary(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p")
    shown = preview_project(folder, rows=200)
    assert shown.total == len(shown.rows) == 120
    assert shown.rows[7] == (preview.VEIL, preview.VEIL, "M", "norte", "731000", "D2")
    assert PLANTED not in repr(shown)


def test_a_changed_dictionary_veils_another_column(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p")
    lines = [
        replace(one, role=Role.IDENTIFIER) if one.name == "ZONA" else one for one in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    assert preview_project(folder, rows=1).rows[0][3] == preview.VEIL


def test_the_key_of_the_person_is_veiled_even_where_its_role_is_not(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p")
    lines = [
        replace(one, role=Role.PLAIN, scale=None, kind=None, mel_label=None) for one in open_project(folder).variables
    ]
    (folder / "dictionary.csv").write_text(dictionary.dump(lines), "utf-8")
    person = open_project(folder).config.person
    shown = preview_project(folder, rows=1)
    assert person is not None
    assert {column.name for column in shown.columns if column.veiled} == {person}


@given(rows=st.integers(1, 50), offset=st.integers(0, 130))
def test_pages_follow_one_another(rows: int, offset: int, paged: Path) -> None:
    whole = preview_project(paged, rows=200).rows
    assert preview_project(paged, rows=rows, offset=offset).rows == whole[offset : offset + rows]


@pytest.fixture(scope="module")
def paged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose working copy has several row groups."""
    folder = make_project(tmp_path_factory.mktemp("paged") / "p")
    copy = open_project(folder).paths.working_copy
    table = pq.read_table(copy)
    pq.write_table(table, copy, row_group_size=50)
    return folder


@pytest.mark.slow
def test_the_last_page_of_a_million_rows_comes_quickly(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "p")
    copy = open_project(folder).paths.working_copy
    pq.write_table(pa.concat_tables([pq.read_table(copy)] * 8_334), copy, row_group_size=122_880)
    start = time.process_time()
    shown = preview_project(folder, rows=20, offset=1_000_000)
    assert time.process_time() - start < 2
    assert len(shown.rows) == 20
