"""Parquet files: typed columns become their canonical text, batch by batch.

Knows pyarrow's reader. Ignores what columns mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.readers._arrow import stopping_faults, write_stream
from celosia.data.readers._digest import file_digest
from celosia.data.readers._head import Head, head_of_batches
from celosia.data.readers._stream import Progress
from celosia.data.readers._working import Draft
from celosia.errors import DamagedFile
from celosia.model.sources import ReadingChoices

_BATCH = 65_536
_FAULTS = (pa.ArrowException, OSError)


def read(path: Path, choices: ReadingChoices, draft: Path, progress: Progress | None) -> Draft:
    """Reads a Parquet file into a working copy."""
    damaged = DamagedFile(path=str(path), format="Parquet")
    try:
        file = pq.ParquetFile(path)
    except _FAULTS:
        raise damaged from None
    with file:
        batches = stopping_faults(_batches(file, progress), _FAULTS, damaged)
        return write_stream(file.schema_arrow, batches, choices, draft, file_digest(path), path.name)


def _batches(file: pq.ParquetFile, progress: Progress | None) -> Iterator[pa.RecordBatch]:
    total = max(file.metadata.num_rows, 1)
    done = 0
    for batch in file.iter_batches(batch_size=_BATCH):
        yield batch
        done += batch.num_rows
        if progress is not None:
            progress(done / total)


def head(path: Path, choices: ReadingChoices, rows: int) -> Head:
    """The first rows of a Parquet file."""
    damaged = DamagedFile(path=str(path), format="Parquet")
    try:
        file = pq.ParquetFile(path)
    except _FAULTS:
        raise damaged from None
    with file:
        batches = stopping_faults(file.iter_batches(batch_size=rows), _FAULTS, damaged)
        return head_of_batches(file.schema_arrow, batches, rows, choices, path.name, total=file.metadata.num_rows)
