"""What Parquet files, frames and DuckDB tables share: an Arrow stream becomes the working copy.

Knows Arrow batches. Ignores where they come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from celosia.data.readers._canonical import refuse_types, slices, text_of
from celosia.data.readers._names import kept_positions, settled
from celosia.data.readers._tables import without_rows
from celosia.data.readers._working import Draft, Labels, write_working
from celosia.errors import CelosiaError
from celosia.model.sources import Notice, ReadingChoices


def write_stream(
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    choices: ReadingChoices,
    draft: Path,
    digest: str = "",
    place: str = "",
) -> Draft:
    """Writes a stream; without a digest of the source, the canonical text is digested on the way."""
    names, notices = settled(schema.names, choices)
    kept = kept_positions(names, choices.dropped)
    names = tuple(names[i] for i in kept)
    refuse_types(pa.schema([schema.field(i) for i in kept]), names)
    texts = _texts(batches, kept)
    return write_texts(names, texts, replace(choices, notes=choices.notes + notices), draft, digest, place=place)


def write_texts(
    names: tuple[str, ...],
    texts: Iterable[Sequence[pa.Array]],
    choices: ReadingChoices,
    draft: Path,
    digest: str = "",
    labels: Labels | None = None,
    place: str = "",
) -> Draft:
    """Writes batches of text columns and gives the account of it; a source without rows is refused."""
    held = {} if labels is None else labels  # filled while reading, for what only the rows tell
    written = write_working(draft, names, texts, held, hashed=not digest)
    if written.rows == 0:
        raise without_rows(choices, place or choices.sheet or choices.format)
    noted = replace(choices, notes=choices.notes + written.notices)
    return Draft(names, written.rows, digest or written.digest, noted, held)


def stopping_faults(
    batches: Iterable[pa.RecordBatch], faults: tuple[type[Exception], ...], error: CelosiaError
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


def _texts(batches: Iterable[pa.RecordBatch], kept: Sequence[int]) -> Iterator[list[pa.Array]]:
    for batch in batches:
        for piece in slices(batch):
            yield [text_of(piece.column(i)) for i in kept]


def from_rows(rows: Sequence[Sequence[str | None]], width: int) -> list[pa.Array]:
    """Text columns of a batch of rows."""
    return [pa.array([row[i] for row in rows], pa.string()) for i in range(width)]


def with_notice(choices: ReadingChoices, *notices: Notice) -> ReadingChoices:
    """The choices with more notices."""
    return replace(choices, notes=choices.notes + notices)
