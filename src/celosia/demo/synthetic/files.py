"""Raw files as institutions hand them over: `;`, latin-1, CRLF, quotes only where needed.

Knows bytes. Ignores what the columns mean. celosia's own releases are written elsewhere (UTF-8, LF).
A file appears whole or not at all, and memory does not grow with its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from celosia.demo.synthetic.draws import join_texts
from celosia.storage import move, translate_write_errors


def write_raw_csv(
    path: str | Path,
    batches: Iterable[pa.RecordBatch],
    *,
    delimiter: str = ";",
    encoding: str = "iso-8859-1",
    newline: str = "\r\n",
) -> Path:
    """Write text batches to a file in the manner of the institutions; returns the path."""
    path = Path(path)
    part = path.with_name(f"{path.name}.part")
    try:
        with translate_write_errors(path), part.open("wb") as file:
            for text in _texts(batches, delimiter, newline):
                file.write(text.encode(encoding))
        move(part, path)
    finally:
        _remove(part)
    return path


def _remove(part: Path) -> None:
    """Leave nothing half-written, also after an interruption."""
    try:
        part.unlink(missing_ok=True)
    except OSError:
        return


def _texts(batches: Iterable[pa.RecordBatch], delimiter: str, newline: str) -> Iterator[str]:
    """The header once, then the lines of each batch as one text."""
    for number, batch in enumerate(batches):
        if number == 0:
            yield _lines([pa.array([name]) for name in batch.schema.names], delimiter, newline)
        if batch.num_rows:
            yield _lines([pc.cast(column, pa.string()) for column in batch.columns], delimiter, newline)


def _lines(columns: list[pa.Array], delimiter: str, newline: str) -> str:
    """Rows of text columns as delimited lines."""
    fields = [_quote_column(column, delimiter) for column in columns]
    lines = join_texts(*fields[:-1], join_texts(fields[-1], newline), by=delimiter)
    return pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "")[0].as_py()


def _quote_column(column: pa.Array, delimiter: str) -> pa.Array:
    """The column with quotes where a cell needs them."""
    data = column.buffers()[2]
    content = b"" if data is None else data.to_pybytes()
    if not any(mark.encode() in content for mark in (delimiter, '"', "\n", "\r")):
        return column  # most columns: one look at the bytes instead of one at each cell
    needs = pc.match_substring_regex(column, f'[{delimiter}"\r\n]')
    return pc.if_else(needs, join_texts('"', pc.replace_substring(column, '"', '""'), '"'), column)
