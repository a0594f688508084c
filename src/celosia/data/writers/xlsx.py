"""The Excel writer: every cell as text, so that codes keep their zeros and nothing becomes a formula.

Knows xlsxwriter. Ignores formats and colours, except the frozen header.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from celosia import messages
from celosia.data.errors import TooManyRows
from celosia.model.errors import MissingExtra
from celosia.model.sources import ColumnLabels
from celosia.storage import PRIVATE_FILE, atomic_write

_MOST_ROWS = 1_048_575  # under the header


def write_xlsx(
    batches: Iterable[pa.RecordBatch],
    names: Sequence[str],
    path: Path,
    labels: Mapping[str, ColumnLabels] | None = None,
    mode: int = PRIVATE_FILE,
) -> int:
    """Writes one sheet of text cells, and a second one with the labels if there are any."""
    try:
        import xlsxwriter
    except ImportError:
        raise MissingExtra(feature=messages.text("reading.features.workbooks"), extra="office") from None
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with atomic_write(path, mode) as draft:
        book = xlsxwriter.Workbook(str(draft), options | {"tmpdir": str(draft.parent)})
        try:
            rows = _write_rows(book.add_worksheet(messages.text("reading.sheets.data")), batches, names, path)
            if labels:
                _write_labels(book.add_worksheet(messages.text("reading.sheets.labels")), names, labels)
        finally:
            _close(book)
    return rows


def _close(book: object) -> None:
    """Closes a workbook; its own error would hide the system's."""
    from xlsxwriter.exceptions import FileCreateError

    try:
        book.close()  # type: ignore[attr-defined]
    except FileCreateError as fault:
        _release_archive(fault)
        raise (fault.args[0] if fault.args and isinstance(fault.args[0], OSError) else OSError()) from None
    except OSError as fault:
        _release_archive(fault)
        raise


def _release_archive(fault: BaseException | None) -> None:
    """Drops the archive that a full disk left open: it tries to write once more as it goes, and would print that."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        while fault is not None:
            traceback.clear_frames(fault.__traceback__)
            fault = fault.__context__
    finally:
        sys.unraisablehook = hook


def _write_rows(sheet: object, batches: Iterable[pa.RecordBatch], names: Sequence[str], path: Path) -> int:
    sheet.freeze_panes(1, 0)  # type: ignore[attr-defined]
    _write_row(sheet, 0, names)
    row = 0
    for batch in batches:
        if row + batch.num_rows > _MOST_ROWS:
            raise TooManyRows(path=str(path), most=_MOST_ROWS)
        for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            row += 1
            _write_row(sheet, row, cells)
    return row


def _write_row(sheet: object, row: int, cells: Sequence[str | None]) -> None:
    for column, cell in enumerate(cells):
        if cell:
            sheet.write_string(row, column, cell)  # type: ignore[attr-defined]


def _write_labels(sheet: object, names: Sequence[str], labels: Mapping[str, ColumnLabels]) -> None:
    row = 0
    for name in names:
        column_labels = labels.get(name, ColumnLabels())
        for code, text in (("", column_labels.label), *column_labels.values):
            if text:
                _write_row(sheet, row, (name, code, text))
                row += 1
