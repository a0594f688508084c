"""The SPSS and Stata writers: labels kept, codes as text unless a column is asked to be a number.

Knows pyreadstat, which takes a Polars frame. Ignores what the columns mean. The whole table is in memory.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from celosia import messages
from celosia.data.errors import NumberExpected, UnwritableNames
from celosia.model.errors import MissingExtra
from celosia.model.sources import ColumnLabels
from celosia.storage import PRIVATE_FILE, atomic_write

_DTA_END = b"</stata_dta>"
Labels = Mapping[str, ColumnLabels]


def write_sav(
    batches: Iterable[pa.RecordBatch],
    names: Sequence[str],
    path: Path,
    labels: Labels | None = None,
    numeric: Collection[str] = (),
    mode: int = PRIVATE_FILE,
) -> int:
    """Writes an SPSS file; says how many rows."""
    return _write("write_sav", batches, names, path, labels or {}, numeric, mode)


def write_dta(
    batches: Iterable[pa.RecordBatch],
    names: Sequence[str],
    path: Path,
    labels: Labels | None = None,
    numeric: Collection[str] = (),
    mode: int = PRIVATE_FILE,
) -> int:
    """Writes a Stata file; value labels only of numeric columns, which is all Stata knows."""
    all_labels = labels or {}
    stata_labels = {name: _for_stata(column_labels, name in numeric) for name, column_labels in all_labels.items()}
    return _write("write_dta", batches, names, path, stata_labels, numeric, mode)


def _for_stata(labels: ColumnLabels, numeric: bool) -> ColumnLabels:
    return labels if numeric else ColumnLabels(label=labels.label)


def _write(
    writer: str,
    batches: Iterable[pa.RecordBatch],
    names: Sequence[str],
    path: Path,
    labels: Labels,
    numeric: Collection[str],
    mode: int,
) -> int:
    library, polars = _libraries()
    schema = pa.schema([(name, pa.string()) for name in names])
    pieces = [pa.record_batch([c.cast(pa.string()) for c in batch.columns], schema=schema) for batch in batches]
    table = pa.Table.from_batches(pieces, schema)
    columns = [_typed_column(table.column(i), name, name in numeric) for i, name in enumerate(names)]
    frame = polars.from_arrow(pa.table(columns, names=list(names)))
    codes = {
        name: _codes(column_labels, name in numeric)
        for name, column_labels in labels.items()
        if column_labels.values and name in names
    }
    with atomic_write(path, mode) as draft:
        try:
            getattr(library, writer)(
                frame,
                str(draft),
                column_labels={
                    name: column_labels.label for name, column_labels in labels.items() if column_labels.label
                },
                variable_value_labels=codes,
            )
        except library.PyreadstatError:
            raise UnwritableNames(path=path.name) from None
        except library.ReadstatError as fault:
            if "unable to write" in str(fault).lower():
                raise OSError(errno.ENOSPC, "") from None
            raise UnwritableNames(path=path.name) from None
        _refuse_truncated_file(library, writer, draft, names[-1], table.num_rows)
    return table.num_rows


def _refuse_truncated_file(library: Any, writer: str, draft: Path, last: str, rows: int) -> None:
    """A file that does not give its last row back was cut by a full disk: the library does not always notice."""
    read = getattr(library, writer.replace("write", "read"))
    try:
        last_row, _ = read(str(draft), usecols=[last], row_offset=max(rows - 1, 0), row_limit=1, output_format="dict")
        whole = len(last_row.get(last, ())) == min(rows, 1)
    except (library.PyreadstatError, library.ReadstatError):
        whole = False
    if not whole or (writer == "write_dta" and not _ends_with(draft, _DTA_END)):
        raise OSError(errno.ENOSPC, "")


def _ends_with(path: Path, end: bytes) -> bool:
    with path.open("rb") as file:
        file.seek(-len(end), os.SEEK_END)
        return file.read() == end


def _libraries() -> tuple[Any, Any]:
    try:
        import polars
        import pyreadstat
    except ImportError:
        raise MissingExtra(feature=messages.text("reading.features.statistical"), extra="office") from None
    return pyreadstat, polars


def _typed_column(column: pa.ChunkedArray, name: str, numeric: bool) -> pa.ChunkedArray:
    """Text as it is, or numbers where asked; missing is null in both."""
    filled = pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    if not numeric:
        return pc.fill_null(filled, "")
    readable = pc.match_substring_regex(filled, r"^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$")
    wrong = pc.sum(pc.invert(readable)).as_py() or 0
    if wrong:
        raise NumberExpected(variable=name, count=wrong)
    return pc.cast(filled, pa.float64())


def _codes(labels: ColumnLabels, numeric: bool) -> dict[Any, str]:
    convert: Callable[[str], Any] = float if numeric else str
    return {convert(code): text for code, text in labels.values}
