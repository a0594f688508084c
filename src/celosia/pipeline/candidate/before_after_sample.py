"""Rows of the source kept beside what became of them, so that a page can show both without doing the work again.

Knows positions of rows and texts. The rows are evenly spread over the source, few enough to be read at once, and stay
in `private/` beside the candidate they belong to. Ignores roles: what may be seen of a row is decided when it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from celosia.data.table import ORIGIN, Table
from celosia.data.writers.dialect import neutralise_batch
from celosia.storage import PRIVATE_FILE, set_mode, translate_write_errors

FORMAT = "celosia/sample/1"
MOST = 1000
_KEY = b"celosia"


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of the source and, row by row, what is published of them; None where the row left."""

    digest: str  # of the candidate
    columns: tuple[str, ...]
    published: tuple[str, ...]
    positions: tuple[int, ...]
    before: tuple[tuple[str, ...], ...]
    after: tuple[tuple[str, ...] | None, ...]


def spread_positions(rows: int, most: int = MOST) -> NDArray[np.int64]:
    """At most so many positions, evenly spread: the same for the same source."""
    count = min(rows, most)
    return np.arange(count, dtype=np.int64) * rows // count if count else np.zeros(0, np.int64)


class RowSampler:
    """The published rows that pass by, of which those of the chosen positions are kept."""

    def __init__(self, source_rows: int, published: Sequence[str]):
        self.positions = spread_positions(source_rows)
        self.published = tuple(published)
        self._kept: list[pa.RecordBatch] = []

    def watch(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches without their last column, the row of the source."""
        chosen, width = pa.array(self.positions), len(self.published)
        names = [*(f"p{i}" for i in range(width)), ORIGIN]
        for batch in batches:
            last = batch.num_columns - 1
            few = batch.filter(pc.is_in(batch.column(last), chosen))
            shown = neutralise_batch(few.select(range(width)))  # as the file has it
            self._kept.append(pa.record_batch([*shown.columns, few.column(last)], names=names))
            yield batch.select(range(last))

    def recorded_rows(self) -> pa.Table:
        """The published columns of the rows kept, and the row of the source."""
        text = [(f"p{i}", pa.string()) for i in range(len(self.published))]
        schema = pa.schema([*text, (ORIGIN, pa.int64())])
        return pa.Table.from_batches([batch.cast(schema) for batch in self._kept], schema)


def save_sample(source: Table, recorder: RowSampler, digest: str, path: Path) -> None:
    """Write the rows of the source beside what became of them."""
    before = source.rows_of_origin(recorder.positions)
    joined = before.join(recorder.recorded_rows(), keys=ORIGIN, join_type="left outer").sort_by(ORIGIN)
    names = {"format": FORMAT, "digest": digest, "columns": source.names, "published": recorder.published}
    labelled = joined.replace_schema_metadata({_KEY: json.dumps(names, ensure_ascii=False).encode("utf-8")})
    with translate_write_errors(path.parent):
        pq.write_table(labelled, path)
        set_mode(path, PRIVATE_FILE)


def read_sample(path: Path, rows: int, offset: int) -> tuple[Sample, int] | None:
    """Some of the rows kept, and how many there are; None where there are none, or none that can be read."""
    try:
        stored = pq.read_table(path)
        names = json.loads((stored.schema.metadata or {})[_KEY])
        return (_sample(names, stored.slice(offset, rows)), stored.num_rows) if names["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _sample(names: Mapping[str, Any], rows: pa.Table) -> Sample:
    before = [rows.column(f"c{i}").to_pylist() for i in range(len(names["columns"]))]
    after = [rows.column(f"p{i}").to_pylist() for i in range(len(names["published"]))]
    shown = list(zip(*after, strict=True)) if after else [()] * rows.num_rows
    return Sample(
        digest=names["digest"],
        columns=tuple(names["columns"]),
        published=tuple(names["published"]),
        positions=tuple(rows.column(ORIGIN).to_pylist()),
        before=tuple(zip(*before, strict=True)),
        after=tuple(None if None in cells else cells for cells in shown),
    )
