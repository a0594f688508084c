"""Parquet files: typed columns become their canonical text, batch by batch.

Knows pyarrow's reader. Ignores what columns mean. A file of a few kilobytes may name one long text a million times:
texts stay in their dictionaries until it is known how long each row becomes, and are cut into pieces that fit.
Source: Apache Parquet, Encodings (RLE_DICTIONARY).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from celosia.data.errors import DamagedFile, RowTooLong
from celosia.data.limits import LONGEST_ROW
from celosia.data.readers.arrow import translate_stream_faults, write_stream
from celosia.data.readers.head import Head, head_of_batches
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft
from celosia.model.sources import ReadingChoices
from celosia.storage import content_digest

_BATCH = 65_536
_PIECE = 2 * LONGEST_ROW  # bytes of text held at once
_FAULTS = (pa.ArrowException, OSError)


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads a Parquet file into a working copy."""
    with _open_file(path) as file:
        batches = translate_stream_faults(_batches(file, progress), _FAULTS, _damaged_file(path))
        pieces = _pieces(path, batches)
        return write_stream(file.schema_arrow, pieces, choices, draft, content_digest(path), path.name)


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a Parquet file: as many as were asked for, or fewer where they are very long."""
    with _open_file(path) as file:
        batches = translate_stream_faults(file.iter_batches(min(rows, _batch_size(file))), _FAULTS, _damaged_file(path))
        pieces = _pieces(path, batches)
        return head_of_batches(file.schema_arrow, pieces, rows, choices, path.name, total=file.metadata.num_rows)


def _damaged_file(path: Path) -> DamagedFile:
    return DamagedFile(path=str(path), format="Parquet")


def _open_file(path: Path) -> pq.ParquetFile:
    try:
        with pq.ParquetFile(path) as plain:
            folded = _dictionary_columns(plain)
        return pq.ParquetFile(path, read_dictionary=folded)
    except _FAULTS:
        raise _damaged_file(path) from None


def _dictionary_columns(file: pq.ParquetFile) -> list[str]:
    """The text columns that the file keeps as dictionaries."""
    if not file.num_row_groups:
        return []
    texts = {field.name for field in file.schema_arrow if pa.types.is_string(field.type)}
    first = file.metadata.row_group(0)
    return [name for i in range(first.num_columns) if (name := first.column(i).path_in_schema) in texts]


def _batch_size(file: pq.ParquetFile) -> int:
    """Rows at a time, by the bytes that the file says they have once inflated."""
    groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
    longest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=1)
    return max(1, min(_BATCH, _PIECE // max(longest, 1)))


def _batches(file: pq.ParquetFile, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    total = max(file.metadata.num_rows, 1)
    done = 0
    for batch in file.iter_batches(batch_size=_batch_size(file)):
        yield batch
        done += batch.num_rows
        if progress is not None:
            progress(done / total)


def _pieces(path: Path, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches in pieces whose texts fit; a row longer than any line of a table is refused by its number."""
    done = 0
    for batch in batches:
        ends = np.cumsum(_row_bytes(path, batch, done))
        start = 0
        while start < batch.num_rows:
            before = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + _PIECE, side="right")))
            yield batch.slice(start, stop - start)
            start = stop
        done += batch.num_rows


def _row_bytes(path: Path, batch: pa.RecordBatch, done: int) -> npt.NDArray[np.int64]:
    """How many bytes of text each row becomes."""
    sizes = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if (lengths := _lengths(column)) is not None:
            sizes += lengths
    if sizes.size and sizes.max() > LONGEST_ROW:
        row = done + int(np.argmax(sizes > LONGEST_ROW)) + 1
        raise RowTooLong(path=str(path), row=row, megabytes=LONGEST_ROW // 1_000_000)
    return sizes


def _lengths(column: pa.Array) -> npt.NDArray[np.int64] | None:
    """The bytes of each text, without unfolding a dictionary; None for what is no text."""
    if pa.types.is_dictionary(column.type):
        inside = _lengths(column.dictionary)
        indices = pc.fill_null(column.indices, 0).to_numpy(zero_copy_only=False)
        return None if inside is None or not len(inside) else inside[indices]
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return None
    lengths = pc.fill_null(pc.binary_length(column), 0)
    return lengths.to_numpy(zero_copy_only=False).astype(np.int64)
