"""Files made to harm: refused with one clear sentence before they fill memory or disk, or harmless as text."""

from __future__ import annotations

import struct
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from celosia.data import limits
from celosia.data.errors import LineTooLong, SheetTooLarge, TooManyColumns, WorkbookTooLarge
from celosia.data.readers.archive import refuse_bomb
from celosia.data.readers.head import read_head
from celosia.data.readers.ingest import ingest
from celosia.data.sheets import read_rows
from celosia.data.sniffing import sniff
from celosia.hierarchy.errors import BinaryFile
from tests.data.readers.planted import NAME, refused

Make = Callable[..., Path]
SHEET = "xl/worksheets/sheet1.xml"
SMALL = 10_000_000  # bytes that a refusal may hold


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A sound workbook of two rows."""
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "libro.xlsx"
    with xlsxwriter.Workbook(str(path)) as made:
        sheet = made.add_worksheet("hoja")
        sheet.write_row(0, 0, ["nombre", "edad"])
        sheet.write_row(1, 0, [NAME, 41])
    return path


def changed(book: Path, part: str, change: Callable[[bytes], bytes], name: str = "b.xlsx") -> Path:
    """The workbook with one part rewritten."""
    target = book.with_name(name)
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            content = old.read(member)
            new.writestr(member.filename, change(content) if member.filename == part else content)
    return target


def with_cells(book: Path, cells: bytes) -> Path:
    """The workbook with more cells at the end of its sheet."""
    return changed(book, SHEET, lambda xml: xml.replace(b"</sheetData>", cells + b"</sheetData>"))


def bomb(book: Path, blocks: int, declared: int | None = None) -> Path:
    """The workbook whose sheet inflates to `blocks` megabytes, whatever its archive declares."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = b" " * 1_000_000
    data = b"".join(squeeze.compress(block) for _ in range(blocks)) + squeeze.flush()
    target = book.with_name("bomba.xlsx")
    with zipfile.ZipFile(book) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            if member.filename != SHEET:
                new.writestr(member.filename, old.read(member))
    return _append(target, SHEET.encode(), data, blocks * 1_000_000 if declared is None else declared)


def _append(archive: Path, name: bytes, data: bytes, declared: int) -> Path:
    """Adds a deflated member whose header says what it likes."""
    with zipfile.ZipFile(archive) as old:
        start, count = old.start_dir, len(old.infolist())
    body = archive.read_bytes()
    directory = body[start : body.rindex(b"PK\x05\x06")]
    sizes = struct.pack("<3L2H", 0, len(data), declared, len(name), 0)
    local = b"PK\x03\x04" + struct.pack("<5H", 20, 0, 8, 0, 0) + sizes + name
    entry = b"PK\x01\x02" + struct.pack("<6H", 20, 20, 0, 8, 0, 0) + sizes
    entry += struct.pack("<3H2L", 0, 0, 0, 0, start) + name
    everything = directory + entry
    end = struct.pack("<4H2LH", 0, 0, count + 1, count + 1, len(everything), start + len(local) + len(data), 0)
    archive.write_bytes(body[:start] + local + data + everything + b"PK\x05\x06" + end)
    return archive


def held_by(call: Callable[[], object]) -> int:
    """The most memory that a call held, in bytes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def smaller_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit of a workbook at fifty megabytes, so that a bomb is quickly made."""
    monkeypatch.setattr("celosia.data.readers.archive.LARGEST_WORKBOOK", 50_000_000)


@pytest.mark.usefixtures("smaller_limit")
@pytest.mark.parametrize("declared", [None, 1000], ids=["declared", "lied about"])
def test_a_workbook_that_inflates_beyond_the_limit_is_refused(
    book: Path, declared: int | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = bomb(book, 60, declared)
    assert path.stat().st_size < 100_000
    error = refused(WorkbookTooLarge, lambda: ingest(path, tmp_path / "w.parquet"), caplog, tmp_path)
    assert error.values["megabytes"] == 50


@pytest.mark.usefixtures("smaller_limit")
def test_a_bomb_among_dictionaries_is_refused_too(book: Path) -> None:
    with pytest.raises(WorkbookTooLarge):
        read_rows(bomb(book, 60))


@pytest.mark.slow
def test_refusing_gigabytes_holds_a_few_megabytes(book: Path) -> None:
    def tried() -> None:
        with pytest.raises(WorkbookTooLarge):
            refuse_bomb(path)

    path = bomb(book, limits.LARGEST_WORKBOOK // 1_000_000 + 1, declared=1000)
    assert path.stat().st_size < 3_000_000
    assert held_by(tried) < SMALL


@pytest.mark.parametrize(
    "cells",
    [
        b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        b"<row r='9'><c s='/>' r = 'XFD1048576'><v>1</v></c></row>",
        b'<row r="2"><x:c t="n" r="xfd1048576"><v>1</v></x:c></row>',
        b'<row r="1048576"><c r="A1048576"><v>1</v></c></row><row r="3"><c r="XFD3"><v>2</v></c></row>',
    ],
    ids=["corner", "hidden by quotes", "prefix and small letters", "two far cells"],
)
def test_cells_that_stand_a_billion_apart_are_refused(
    book: Path, cells: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = with_cells(book, cells)
    error = refused(SheetTooLarge, lambda: ingest(path, tmp_path / "w.parquet"), caplog, tmp_path)
    assert error.values["columns"] == 16_384


def test_a_far_cell_across_two_blocks_is_seen(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = with_cells(book, b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    monkeypatch.setattr("celosia.data.readers.archive._BLOCK", 7)
    with pytest.raises(SheetTooLarge):
        refuse_bomb(path)


def test_formatted_cells_without_content_do_no_harm(book: Path, tmp_path: Path) -> None:
    path = with_cells(book, b'<row r="1048576" spans="1:2"><c r="XFD1048576" s="1"/></row>')
    assert ingest(path, tmp_path / "w.parquet").source.rows == 1


def ods(path: Path, rows: str) -> Path:
    """An OpenDocument sheet of the rows given."""
    table, office = (
        "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
        "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    )
    text = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
    content = (
        f'<office:document-content xmlns:office="{office}" xmlns:table="{table}" xmlns:text="{text}"><office:body>'
        f'<office:spreadsheet><table:table table:name="h">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
    return path


CELL = '<table:table-cell office:value-type="string"><text:p>x</text:p></table:table-cell>'


def test_an_open_document_row_repeated_a_million_times_is_refused(tmp_path: Path) -> None:
    wide = CELL.replace("table-cell ", 'table-cell table:number-columns-repeated="16384" ', 1)
    rows = f'<table:table-row table:number-rows-repeated="1048576">{wide}</table:table-row>'
    with pytest.raises(SheetTooLarge):
        ingest(ods(tmp_path / "b.ods", rows), tmp_path / "w.parquet")


def test_the_empty_end_of_an_open_document_sheet_does_no_harm(tmp_path: Path) -> None:
    empty = '<table:table-row table:number-rows-repeated="1048500"><table:table-cell '
    empty += 'table:number-columns-repeated="16384"/></table:table-row>'
    rows = f"<table:table-row>{CELL}</table:table-row>" * 3 + empty
    refuse_bomb(ods(tmp_path / "b.ods", rows))


@pytest.mark.parametrize("read", [lambda path, _: sniff(path), lambda path, _: read_head(path, 5), ingest])
def test_a_hundred_thousand_columns_are_refused_at_once(make: Make, tmp_path: Path, read: Callable) -> None:
    line = b",".join(b"c%d" % i for i in range(100_000)) + b"\n"
    with pytest.raises(TooManyColumns) as caught:
        read(make(line * 2), tmp_path / "w.parquet")
    assert caught.value.values == {"found": 100_000, "most": limits.MOST_COLUMNS}


def test_too_many_columns_of_a_parquet_file_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({f"c{i}": ["x"] for i in range(limits.MOST_COLUMNS + 1)}), tmp_path / "t.parquet")
    with pytest.raises(TooManyColumns):
        ingest(tmp_path / "t.parquet", tmp_path / "w.parquet")


def test_an_endless_line_is_refused_by_its_number(make: Make) -> None:
    path = make(b"nombre,edad\n" + b"x" * 20_000_000)
    with pytest.raises(LineTooLong) as caught:
        ingest(path, path.with_name("w.parquet"))
    assert caught.value.values["line"] == 2


def test_a_first_line_without_end_is_refused_by_the_preview_too(make: Make) -> None:
    with pytest.raises(LineTooLong):
        read_head(make(b"x" * 80_000_000), 5, header=False, delimiter=",", encoding="utf-8")


def test_null_bytes_are_refused_by_the_preview(make: Make) -> None:
    with pytest.raises(BinaryFile):
        read_head(make(b"nombre,edad\nana,\x00\n"), 5)


def test_formulas_and_scripts_are_text_like_any_other(make: Make, read: Callable) -> None:
    lines = '"<script>alert(1)</script>",edad\n"=cmd|\' /C calc\'!A0",1\n+1+1,2\n@SUM(A1),3\n'
    ingested, rows = read(make(lines), header=True)
    assert ingested.names == ("<script>alert(1)</script>", "edad")
    assert [row[0] for row in rows] == ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)"]


def test_a_formula_cell_of_a_workbook_gives_its_last_result(book: Path, read: Callable) -> None:
    path = with_cells(book, b'<row r="3"><c r="A3" t="str"><f>HYPERLINK("http://x")</f><v>hola</v></c></row>')
    _, rows = read(path)
    assert rows[1] == ("hola", "")
