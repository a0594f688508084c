"""Sheets of Excel (.xlsx, .xls) and OpenDocument (.ods) workbooks.

Knows fastexcel, which gives each cell as text. Ignores formulas: their last result is what counts.
A code typed as a number has lost its leading zeros before we see it; such columns are named.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from celosia import messages
from celosia.data.errors import DamagedFile
from celosia.data.readers.archive import refuse_bomb
from celosia.data.readers.arrow import add_notices, write_texts
from celosia.data.readers.head import Head, head_of_texts
from celosia.data.readers.names import choose_table, numbered_names, select_columns
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft
from celosia.data.sniffing._header import guess_header, header_notices
from celosia.data.sniffing._records import Record
from celosia.hierarchy.errors import EmptyFile
from celosia.model.errors import MissingExtra
from celosia.model.sources import Notice, ReadingChoices
from celosia.storage import content_digest

if TYPE_CHECKING:
    import fastexcel

_SAMPLE = 1000
_BATCH = 65_536
_NO_DAY = "1899-12-3[01]T"  # how a time without a date comes out


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads one sheet of a workbook into a working copy."""
    cells, numeric, choices, _ = _load_sheet(path, choices)
    return _write(path, cells, numeric, choices, draft)


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a sheet; the library parses all of it."""
    cells, numeric, choices, sheets = _load_sheet(path, choices, rows)
    filled, first, choices, notices = _first_row(path, cells, numeric, choices)
    first_rows_ = filled.slice(1 if choices.header else 0, rows)
    texts = zip(*(column.to_pylist() for column in first_rows_.columns), strict=True)
    noted = replace(choices, notes=choices.notes + notices)
    result = head_of_texts(first, texts, noted, path.name, tables=sheets)
    return replace(result, choices=noted)


def tables(path: Path) -> tuple[str, ...]:
    """The sheets of a workbook."""
    return tuple(_open(path).sheet_names)


def _load_sheet(
    path: Path, choices: ReadingChoices, rows: int | None = None
) -> tuple[pa.Table, tuple[int, ...], ReadingChoices, tuple[str, ...]]:
    book = _open(path)
    import fastexcel

    try:
        choices = choose_table(path.name, book.sheet_names, choices, first=True)
        cells = _cells(book, choices.sheet, rows)
        return cells, _numeric_positions(book, choices.sheet), choices, tuple(book.sheet_names)
    except (fastexcel.FastExcelError, pa.ArrowException):
        raise DamagedFile(path=str(path), format="Excel") from None


def _open(path: Path) -> fastexcel.ExcelReader:
    try:
        import fastexcel
    except ImportError:
        feature = messages.text("reading.features.workbooks")
        raise MissingExtra(feature=feature, extra="office") from None
    # The library's log speaks of columns and cells to whoever listens: nobody does.
    for name in ("fastexcel", "_fastexcel"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    refuse_bomb(path)
    try:
        return fastexcel.read_excel(path)
    except fastexcel.FastExcelError:
        raise DamagedFile(path=str(path), format="Excel") from None


def _cells(book: fastexcel.ExcelReader, sheet: str, rows: int | None) -> pa.Table:
    """The rows of a sheet as text, first row included, the empty ones too."""
    n_rows = None if rows is None else _SAMPLE + rows  # empty rows are left out later
    batch = book.load_sheet(sheet, header_row=None, n_rows=n_rows, dtypes="string").to_arrow()
    columns = [_iso(column) for column in batch.columns]
    return pa.table(columns, names=[f"c{i}" for i in range(len(columns))])


def _iso(column: pa.Array) -> pa.Array:
    """Dates and times as ISO texts: fastexcel writes «2024-03-04 00:00:00» for a date."""
    text = pc.cast(column, pa.string())
    whole = pc.replace_substring_regex(text, r"^(\d{4}-\d{2}-\d{2}) 00:00:00$", r"\1")
    stamp = pc.replace_substring_regex(whole, r"^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})", r"\1T\2")
    return pc.replace_substring_regex(stamp, "^" + _NO_DAY, "")


def _numeric_positions(book: fastexcel.ExcelReader, sheet: str) -> tuple[int, ...]:
    """Columns that hold numbers, by the look of the first rows."""
    typed = book.load_sheet(sheet, header_row=0, n_rows=_SAMPLE)
    return tuple(i for i, column in enumerate(typed.available_columns()) if column.dtype in ("int", "float"))


def _write(path: Path, cells: pa.Table, numeric: Sequence[int], choices: ReadingChoices, draft: Path) -> WorkingDraft:
    filled, first, choices, notices = _first_row(path, cells, numeric, choices)
    selected = select_columns(first, choices)
    rows = filled.slice(1) if choices.header else filled
    texts = (list(batch.columns) for batch in rows.select(list(selected.positions)).to_batches(_BATCH))
    noted = add_notices(choices, *notices)
    return write_texts(selected.names, texts, noted, draft, content_digest(path), source_name=path.name)


def _first_row(
    path: Path, cells: pa.Table, numeric: Sequence[int], choices: ReadingChoices
) -> tuple[pa.Table, Sequence[str], ReadingChoices, tuple[Notice, ...]]:
    """The filled rows, the names of the columns as they stand, and what is to be said of them."""
    filled, empty = _drop_empty_rows(cells)
    if filled.num_rows == 0:
        raise EmptyFile(path=str(path))
    choices = _guess_header(filled, choices)
    first = (
        [column[0].as_py() or "" for column in filled.columns] if choices.header else numbered_names(filled.num_columns)
    )
    selected = select_columns(first, choices)
    notices = selected.choices.notes[len(choices.notes) :]
    coded = ", ".join(selected.all_names[i] for i in numeric if i in selected.positions)
    if coded:
        notices += (Notice.of("numbers_in_workbook", variables=coded),)
    if empty:
        notices += (Notice.of("blank_rows", count=empty),)
    return filled, first, choices, notices


def _drop_empty_rows(cells: pa.Table) -> tuple[pa.Table, int]:
    if cells.num_columns == 0:
        return cells, 0
    filled = pc.fill_null(pc.not_equal(cells.column(0), ""), False)
    for column in cells.columns[1:]:
        filled = pc.or_(filled, pc.fill_null(pc.not_equal(column, ""), False))
    filled_rows = cells.filter(filled)
    return filled_rows, _inner_gaps(filled)


def _inner_gaps(filled: pa.ChunkedArray) -> int:
    """Empty rows before the last filled one; those after it are no rows at all."""
    flags = filled.to_pylist()
    while flags and not flags[-1]:
        flags.pop()
    return flags.count(False)


def _guess_header(cells: pa.Table, choices: ReadingChoices) -> ReadingChoices:
    if "header" not in choices.guessed:
        return choices
    sample = cells.slice(0, _SAMPLE).to_pylist()
    header, sure = guess_header([Record(i, [text or "" for text in row.values()]) for i, row in enumerate(sample)])
    return replace(choices, header=header, notes=choices.notes + header_notices(header, sure))
