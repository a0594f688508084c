"""Every other format gives the same text cells: codes as they stand, numbers, dates and labels in one form."""

from __future__ import annotations

import datetime as dt
import decimal
import importlib.util
import sqlite3
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data.errors import ChooseTable, DuplicateHeader, EmptyTable, HeaderOnly, UnsupportedColumn
from celosia.data.readers.head import read_head
from celosia.data.readers.ingest import ingest
from celosia.data.readers.working import working_labels
from celosia.errors import WrongUse
from celosia.model.errors import MissingExtra
from celosia.model.sources import ColumnLabels
from tests.data.readers.planted import NAME, refused

TYPED = pa.table(
    {
        "codigo": ["05302", None],
        "entero": pa.array([7, None], pa.int16()),
        "flotante": [13101.0, 0.1],
        "decimal": [decimal.Decimal("1.50"), None],
        "logico": [True, None],
        "fecha": [dt.date(2024, 3, 4), None],
        "momento": [dt.datetime(2024, 3, 4), dt.datetime(2024, 3, 4, 5, 6, 7, 800000)],
        "zona": pa.array([dt.datetime(2024, 3, 4, 5), None], pa.timestamp("us", "America/Santiago")),
        "hora": [dt.time(1, 2, 3), None],
        "clase": pa.array(["x", "y"]).dictionary_encode(),
        "nada": pa.nulls(2),
    }
)
TEXT = [
    ("05302", "7", "13101", "1.50", "true", "2024-03-04", "2024-03-04", "2024-03-04T05:00:00Z", "01:02:03", "x", ""),
    ("", "", "0.1", "", "", "", "2024-03-04T05:06:07.8", "", "", "y", ""),
]


def _parquet(folder: Path) -> Path:
    pq.write_table(TYPED, folder / "t.parquet")
    return folder / "t.parquet"


def _duckdb(folder: Path) -> Path:
    typed = TYPED
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("typed", typed)
        connection.execute("CREATE TABLE t AS FROM typed")
    return folder / "t.duckdb"


@pytest.mark.parametrize(
    "source",
    [_parquet, _duckdb, lambda _: TYPED, lambda _: TYPED.to_batches()[0]],
    ids=["parquet", "duckdb", "table", "batch"],
)
def test_typed_columns_become_their_canonical_text(
    tmp_path: Path, read: Callable, source: Callable[[Path], object]
) -> None:
    result, rows = read(source(tmp_path))
    assert result.names == tuple(TYPED.column_names)
    assert rows == TEXT


def test_numbers_are_as_short_as_they_read_back(read: Callable) -> None:
    values = [1.0, -0.0, 0.1, 1 / 3, 1e15, 1e300, float("nan"), float("inf"), 123456789012345.0]
    _, rows = read(pa.table({"x": values}))
    assert [row[0] for row in rows][:2] == ["1", "0"]
    assert [float(row[0]) for row in rows if row[0]] == [value for value in values if value == value]
    assert rows[6] == ("",)


def test_pandas_and_polars_frames_give_the_same_digest_as_arrow(read: Callable) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pa.table({"comuna": ["05302", None], "edad": [5, 6]})
    shuffled = pandas.DataFrame({"comuna": ["05302", None], "edad": [5, 6]}, index=[9, 3])
    results = [read(frame) for frame in (table, polars.from_arrow(table), shuffled)]
    assert len({result.source.digest for result, _ in results}) == 1
    assert all(rows == [("05302", "5"), ("", "6")] for _, rows in results)
    assert [note.key for note in results[2][0].notices] == ["index_dropped"]


def test_a_named_pandas_index_is_a_column(read: Callable) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"edad": [5]}, index=pandas.Index(["1-9"], name="rut"))
    assert set(read(frame)[0].names) == {"rut", "edad"}


@pytest.mark.requirement("M37", "A34")
@pytest.mark.parametrize(
    "column",
    [
        pa.array([NAME.encode()]),
        pa.array([[NAME]]),
        pa.array([{"nombre": NAME}]),
        pa.array([[("a", NAME)]], pa.map_(pa.string(), pa.string())),
        pa.array([dt.timedelta(1)]),
        pa.array([f'["{NAME}"]']),
    ],
    ids=["binary", "list", "struct", "map", "duration", "json text"],
)
def test_columns_that_are_not_plain_values_are_refused_by_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, column: pa.Array
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"id": ["1"], "ficha": column}), path)
    folder = tmp_path / "private"
    folder.mkdir()
    error = refused(UnsupportedColumn, lambda: ingest(path, folder / "w"), caplog, folder)
    assert error.values["variable"] == "ficha"
    assert ingest(path, folder / "w", drop=["ficha"]).names == ("id",)


def test_pandas_columns_of_mixed_types_are_refused_by_name(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pandas = pytest.importorskip("pandas")
    mixed = pandas.DataFrame({"id": [1, 2], "x": [1, NAME]})
    error = refused(UnsupportedColumn, lambda: ingest(mixed, tmp_path / "w"), caplog, tmp_path)
    assert error.values["variable"] == "x"
    twice = pandas.DataFrame([[NAME, 2]], columns=["a", "a"])
    refused(DuplicateHeader, lambda: ingest(twice, tmp_path / "w"), caplog, tmp_path)


def test_cells_of_an_arrow_table_are_never_taken_for_names(read: Callable) -> None:
    assert read(pa.table({"a": [NAME], "b": [NAME]}))[0].names == ("a", "b")


def test_something_that_is_no_table_is_wrong_use(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    refused(WrongUse, lambda: ingest(42, tmp_path / "w"), caplog, tmp_path)  # type: ignore[arg-type]


def test_a_table_without_rows_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    refused(HeaderOnly, lambda: ingest(TYPED.slice(0, 0), tmp_path / "w"), caplog, tmp_path)


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """A workbook as offices make them: text and numeric codes, dates, an empty row, a second sheet."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    book = xlsxwriter.Workbook(str(tmp_path / "t.xlsx"))
    sheet, day = book.add_worksheet("personas"), book.add_format({"num_format": "yyyy-mm-dd"})
    sheet.write_row(0, 0, ["comuna", "numero", "fecha", "peso"])
    sheet.write_string(1, 0, "05302")
    sheet.write_number(1, 1, 5302)
    sheet.write_datetime(1, 2, dt.datetime(2024, 3, 4), day)
    sheet.write_number(1, 3, 0.5)
    sheet.write_string(3, 0, NAME)
    sheet.write_string(3, 2, " ")
    book.add_worksheet("otra").write_row(0, 0, ["a_1", "b_1"])
    book.close()
    return tmp_path / "t.xlsx"


def test_workbooks_give_text_as_text_whole_numbers_and_iso_dates(workbook: Path, read: Callable) -> None:
    result, rows = read(workbook)
    assert result.names == ("comuna", "numero", "fecha", "peso")
    assert rows == [("05302", "5302", "2024-03-04", "0.5"), (NAME, "", "", "")]
    noticed = {note.key: dict(note.fields) for note in result.notices}
    assert noticed["numbers_in_workbook"] == {"variables": "numero, peso"}
    assert noticed["blank_rows"] == {"count": 1}
    assert noticed["sheet"] == {"sheet": "personas", "others": "otra"}
    assert result.source.choices.guessed == ("format", "header", "sheet")


def test_a_sheet_that_is_not_there_names_those_that_are(
    workbook: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    error = refused(ChooseTable, lambda: ingest(workbook, tmp_path / "w", sheet="x"), caplog, tmp_path)
    assert error.values["known"] == "personas, otra"


def test_a_sheet_of_people_without_header_does_not_name_columns_after_them(tmp_path: Path, read: Callable) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    book = xlsxwriter.Workbook(str(tmp_path / "p.xlsx"))
    sheet = book.add_worksheet()
    sheet.write_row(0, 0, ["11.111.111-1", NAME])
    sheet.write_row(1, 0, ["22.222.222-2", "Ana"])
    book.close()
    assert read(tmp_path / "p.xlsx")[0].names == ("columna_1", "columna_2")


@pytest.mark.parametrize("program", ["sav", "dta"])
def test_spss_and_stata_files_keep_labels_and_codes(tmp_path: Path, read: Callable, program: str) -> None:
    pyreadstat, polars = pytest.importorskip("pyreadstat"), pytest.importorskip("polars")
    frame = polars.DataFrame({"sexo": [1.0, 2.0, 9.0], "comuna": ["05302", "", "13101"], "peso": [0.5, None, 3.0]})
    path = tmp_path / f"t.{program}"
    missing = {"missing_ranges": {"sexo": [9.0]}} if program == "sav" else {}
    getattr(pyreadstat, f"write_{program}")(
        frame,
        str(path),
        column_labels={"sexo": "Sexo de la persona"},
        variable_value_labels={"sexo": {1.0: "Hombre", 2.0: "Mujer"}},
        **missing,
    )
    result, rows = read(path)
    assert rows == [("1", "05302", "0.5"), ("2", "", ""), ("9", "13101", "3")]
    declared = ("9",) if program == "sav" else ()
    expected = ColumnLabels("Sexo de la persona", (("1", "Hombre"), ("2", "Mujer")), declared)
    assert result.labels == {"sexo": expected}
    assert working_labels(tmp_path / "private" / "working.parquet") == {"sexo": expected}
    assert [note.key for note in result.notices] == (["user_missing"] if declared else [])


def test_stata_extended_missing_codes_stay_apart(tmp_path: Path, read: Callable) -> None:
    pyreadstat, pandas = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    path = tmp_path / "t.dta"
    frame = pandas.DataFrame({"edad": [5, "a", 7]})
    pyreadstat.write_dta(frame, str(path), missing_user_values={"edad": ["a"]})
    result, rows = read(path)
    assert rows == [("5",), (".a",), ("7",)]
    assert result.labels["edad"].missing == (".a",)


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    """A SQLite file with two tables and a column of bytes."""
    path = tmp_path / "t.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        f"""CREATE TABLE "las personas" (rut TEXT, comuna TEXT, n INT, x REAL);
        INSERT INTO "las personas" VALUES ('1-9', '05302', 7, 2.0), (NULL, '  ', NULL, 0.1);
        CREATE TABLE fotos (id INT, foto BLOB);
        INSERT INTO fotos VALUES (1, CAST('{NAME}' AS BLOB));"""
    )
    connection.close()
    return path


def test_a_sqlite_table_is_read_by_name(sqlite_file: Path, read: Callable) -> None:
    result, rows = read(sqlite_file, table="las personas")
    assert rows == [("1-9", "05302", "7", "2"), ("", "", "", "0.1")]
    assert result.source.name == "t.sqlite"
    assert result.source.choices.sheet == "las personas"


def test_a_database_of_several_tables_asks_which_one(
    sqlite_file: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    error = refused(ChooseTable, lambda: ingest(sqlite_file, tmp_path / "w"), caplog, tmp_path)
    assert error.values["known"] == "fotos, las personas"
    call = lambda: ingest(sqlite_file, tmp_path / "w", table="fotos")  # noqa: E731
    assert refused(UnsupportedColumn, call, caplog, tmp_path).values["variable"] == "foto"


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_table_of_a_file_without_rows_is_called_a_table(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / f"t.{kind}"
    connection = sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))
    connection.execute("CREATE TABLE vacia (rut text)")
    connection.close()
    for call in (lambda: ingest(path, tmp_path / "w"), lambda: read_head(path, 5)):
        assert refused(EmptyTable, call, caplog, tmp_path).values == {"table": "vacia"}


def test_reading_a_database_leaves_it_as_it_was(sqlite_file: Path, read: Callable) -> None:
    before = sqlite_file.read_bytes()
    read(sqlite_file, table="las personas")
    assert sqlite_file.read_bytes() == before
    assert [path.name for path in sqlite_file.parent.glob("t.sqlite*")] == ["t.sqlite"]


def test_duckdb_names_with_dots_and_schemas_are_told_apart(tmp_path: Path, read: Callable) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE TABLE "o.x" AS SELECT 1 AS a; CREATE SCHEMA o; CREATE TABLE o.y AS SELECT 2 AS a')
        connection.execute(f"CREATE TABLE u AS SELECT '{uuid.UUID(int=5)}'::UUID AS a")
    assert read(path, table="o.x")[1] == [("1",)]
    assert read(path, table="o.y")[1] == [("2",)]
    assert read(path, table="u")[1] == [(str(uuid.UUID(int=5)),)]


@pytest.mark.parametrize(
    ("module", "data", "extra"),
    [("fastexcel", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "office"), ("pyreadstat", b"$FL2", "office")],
)
def test_a_missing_part_names_itself(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    module: str,
    data: bytes,
    extra: str,
) -> None:
    assert importlib.util.find_spec(module)
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / "x"
    path.write_bytes(data)
    error = refused(MissingExtra, lambda: ingest(path, tmp_path / "w"), caplog, tmp_path)
    assert error.values["extra"] == extra


@pytest.mark.shared
@pytest.mark.slow
def test_the_peruvian_file_is_read_whole(shared: Path, tmp_path: Path) -> None:
    source = ingest(shared / "data" / "pe_vaccination_2021w06_w18.parquet", tmp_path / "w").source
    assert (source.rows, source.columns) == (2_210_465, 10)
