"""A pandas, Polars or Arrow table handed over in Python: copied to a file, or coded in memory.

Knows the Arrow stream interface. Ignores the libraries themselves: none is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from celosia.data.errors import DuplicateHeader, not_a_frame
from celosia.data.readers.arrow import add_notices, translate_stream_faults, write_stream
from celosia.data.readers.canonical import unsupported_column
from celosia.data.readers.stream import Progress
from celosia.data.readers.working import WorkingDraft
from celosia.model.sources import Notice, ReadingChoices

_UNNAMED_INDEX = "__index_level_"


def read(frame: object, choices: ReadingChoices, draft: Path, progress: Progress | None) -> WorkingDraft:
    """Reads a frame into a working copy; an index without a name is not data and stays out."""
    reader, choices = open_stream(frame, choices)
    return write_stream(reader.schema, sound_batches(reader), choices, draft)


def open_stream(frame: object, choices: ReadingChoices) -> tuple[pa.RecordBatchReader, ReadingChoices]:
    """The columns of a frame as an Arrow stream, without an index that has no name; a lazy frame is collected."""
    reader = _stream(collect_lazy(frame))
    positions = [i for i, name in enumerate(reader.schema.names) if not name.startswith(_UNNAMED_INDEX)]
    if len(positions) == len(reader.schema):
        return reader, choices
    schema = pa.schema([reader.schema.field(i) for i in positions])
    batches = (batch.select(positions) for batch in reader)
    return pa.RecordBatchReader.from_batches(schema, batches), add_notices(choices, Notice.of("index_dropped"))


def sound_batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches of a stream; what it may raise quotes cells and becomes our own error."""
    return translate_stream_faults(reader, (pa.ArrowException,), unsupported_column("?", "mixed"))


def collect_lazy(frame: Any) -> Any:
    """A frame whose rows were not made yet (Polars), with its rows; any other stays as it is."""
    is_lazy = not hasattr(frame, "__arrow_c_stream__") and callable(getattr(frame, "collect", None))
    return frame.collect() if is_lazy else frame


def _stream(frame: object) -> pa.RecordBatchReader:
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    # The query of a lazy frame is carried out here, once.
    if type(frame).__name__ == "LazyFrame" and hasattr(frame, "collect"):
        frame = frame.collect()
    if not hasattr(frame, "__arrow_c_stream__"):
        raise not_a_frame()
    # pandas allows repeated names and its Arrow stream then fails with another story.
    names = _column_names(frame)
    for name in names:
        if names.count(name) > 1:
            positions = ", ".join(str(i) for i, other in enumerate(names, 1) if other == name)
            raise DuplicateHeader(variable=name, positions=positions)
    try:
        return pa.RecordBatchReader.from_stream(frame)
    except (pa.ArrowException, ValueError, TypeError):
        raise unsupported_column(_first_mixed(frame), "mixed") from None


def _column_names(frame: object) -> list[str]:
    """The names of a frame; of an Arrow table `columns` are the cells themselves, which are never names."""
    return [name for name in getattr(frame, "columns", ()) if isinstance(name, str)]


def _first_mixed(frame: object) -> str:
    """The first column that does not convert by itself."""
    for name in _column_names(frame):
        try:
            pa.array(frame[name])  # type: ignore[index]
        except (pa.ArrowException, ValueError, TypeError):
            return name
    return "?"
