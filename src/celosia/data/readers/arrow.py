"""What Parquet files, frames and DuckDB tables share: an Arrow stream becomes the working copy.

Knows Arrow batches. Ignores where they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from celosia.data.readers.canonical import canonical_text, refuse_types, slice_batch
from celosia.data.readers.names import no_rows_error, select_columns
from celosia.data.readers.working import Labels, WorkingDraft, write_working
from celosia.model.sources import Notice, ReadingChoices


def write_stream(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    choices: ReadingChoices,
    draft: Path,
    digest: str = "",
    source_name: str = "",
) -> WorkingDraft:
    """Writes a stream; without a digest of the source, the canonical text is digested on the way."""
    selected = select_columns(schema.names, choices)
    refuse_types(pa.schema([schema.field(i) for i in selected.positions]), selected.names)
    texts = _texts(batches, selected.positions)
    return write_texts(selected.names, texts, selected.choices, draft, digest, source_name=source_name)


def write_texts(
    names: tuple[str, ...],
    texts: Iterable[Sequence[pa.Array]],
    choices: ReadingChoices,
    draft: Path,
    digest: str = "",
    labels: Labels | None = None,
    source_name: str = "",
) -> WorkingDraft:
    """Writes batches of text columns and gives the account of it; a source without rows is refused."""
    labels_read = {} if labels is None else labels  # filled while reading, for what only the rows tell
    written = write_working(draft, names, texts, labels_read, with_digest=not digest)
    if written.rows == 0:
        raise no_rows_error(choices, source_name or choices.sheet or choices.format)
    noted = replace(choices, notes=choices.notes + written.notices)
    return WorkingDraft(names, written.rows, digest or written.digest, noted, labels_read)


def translate_stream_faults(
    batches: Iterable[pa.RecordBatch], faults: tuple[type[Exception], ...], error: Exception
) -> Iterator[pa.RecordBatch]:
    """The batches, with what a foreign reader may raise (it quotes cells) replaced by our own error."""
    source = iter(batches)
    while True:
        try:
            batch = next(source)
        except StopIteration:
            return
        except faults:
            raise error from None
        yield batch


def _texts(batches: Iterable[pa.RecordBatch], positions: Sequence[int]) -> Iterator[list[pa.Array]]:
    for batch in batches:
        for piece in slice_batch(batch):
            yield [canonical_text(piece.column(i)) for i in positions]


def columns_of_rows(rows: Sequence[Sequence[str | None]], width: int) -> list[pa.Array]:
    """Text columns of a batch of rows."""
    return [pa.array([row[i] for row in rows], pa.string()) for i in range(width)]


def add_notices(choices: ReadingChoices, *notices: Notice) -> ReadingChoices:
    """The choices with more notices."""
    return replace(choices, notes=choices.notes + notices)
