"""Small tables of cells that people edit by hand, such as the dictionary: CSV or a workbook's first sheet.

Knows rows of text. Ignores what they mean. Data tables go through the readers instead.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from celosia.data.errors import UnreadableSheet
from celosia.data.readers.archive import refuse_bomb
from celosia.model.errors import MissingExtra
from celosia.storage import atomic_write, translate_read_errors


def read_rows(path: Path) -> list[list[str]]:
    """The rows of a CSV file or of a workbook's first sheet, every cell as text."""
    if path.suffix.lower() in (".xlsx", ".xls", ".ods"):
        return _workbook_rows(path)
    with translate_read_errors(path):
        content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("windows-1252", errors="replace")
    head = "\n".join(text.splitlines()[:2])
    return list(csv.reader(io.StringIO(text), delimiter=max(",;\t", key=head.count)))


def write_rows(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """The rows as CSV or, by suffix, as a workbook whose cells are all text."""
    content = _workbook(rows) if path.suffix.lower() == ".xlsx" else _csv_text(rows).encode("utf-8")
    with atomic_write(path, 0o644) as draft:
        draft.write_bytes(content)


def _csv_text(rows: Sequence[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _workbook_rows(path: Path) -> list[list[str]]:
    try:
        import fastexcel
    except ImportError:
        raise MissingExtra(feature="Excel", extra="office") from None
    with translate_read_errors(path):
        path.open("rb").close()
    refuse_bomb(path)
    try:
        sheet = fastexcel.read_excel(str(path)).load_sheet(0, header_row=None, dtypes="string")
        frame = sheet.to_arrow()
    except fastexcel.FastExcelError:
        raise UnreadableSheet(path=str(path)) from None
    columns = [column.to_pylist() for column in frame.columns]
    rows = [["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return [_strip_empty_tail(row) for row in rows]


def _strip_empty_tail(row: list[str]) -> list[str]:
    while row and row[-1] == "":
        row.pop()
    return row


def _workbook(rows: Sequence[Sequence[str]]) -> bytes:
    try:
        import xlsxwriter
    except ImportError:
        raise MissingExtra(feature="Excel", extra="office") from None
    buffer = io.BytesIO()
    # strings_to_*: a cell that begins with = or http stays the text it is
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(buffer, options) as book:
        sheet = book.add_worksheet()
        text = book.add_format({"num_format": "@", "valign": "top"})
        for i, row in enumerate(rows):
            for j, cell in enumerate(row):
                sheet.write_string(i, j, cell, text)
        sheet.freeze_panes(2, 1)
        sheet.set_column(0, 0, 28)
        sheet.set_column(1, 40, 18)
    return buffer.getvalue()
