"""Rows kept with their place in the canonical order, so that a step by row takes its own columns and no other.

Knows engines, expressions and Arrow columns. Ignores names and techniques. The place of a row follows from the values
of the whole row, never from an engine's own partitions: the same draws meet the same rows everywhere (DESIGN §4,
rule 8). New columns go back as a private Parquet file, which every engine reads in pieces, and are joined by place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from celosia.data._columns import integers
from celosia.data.engines import Engine
from celosia.data.engines._base import RANK, Expression
from celosia.data.files import PRIVATE_FILE, scratch_beside, writing_into
from celosia.errors import InternalFault

_BATCH = 100_000


@contextlib.contextmanager
def kept_by_rank(engine: Engine, rows: Expression, order: Sequence[str], folder: Path) -> Iterator[Expression]:
    """The rows with RANK, kept below `folder` as long as the block lasts."""
    with scratch_beside(folder / "ranked") as own:
        kept = engine.ranked(rows, order, own)
        try:
            yield kept
        finally:
            engine.forget(kept)


def pulled(engine: Engine, rows: Expression, columns: Sequence[Expression]) -> list[pa.Array]:
    """Some columns of rows kept by rank, in the order of the ranks; nothing else leaves the engine."""
    chosen = rows.select(**{f"c{i}": column for i, column in enumerate(columns)}, **{RANK: rows[RANK]})
    chunks: list[list[pa.Array]] = [[] for _ in columns]
    count = 0
    for batch in engine.stream(chosen.order_by(RANK)):
        places = batch.column(len(columns)).to_numpy(zero_copy_only=False)
        if not np.array_equal(places, np.arange(count, count + len(places))):
            raise InternalFault(where="data.ranked")  # a gap would give every later row the draws of another
        count += len(places)
        for own, column in zip(chunks, batch.columns, strict=False):  # the last one is the rank
            own.append(column.cast(pa.large_string()))
    return [pa.chunked_array(own, pa.large_string()).combine_chunks() for own in chunks]


def placed_rows(engine: Engine, rows: Expression) -> tuple[NDArray[np.int64], list[pa.Array]]:
    """The RANK of rows, its last column, which several may share, and the texts beside it; in the order of both."""
    columns = rows.columns
    found = engine.fetch(rows.order_by([RANK, *columns[:-1]]))
    texts = [found.column(i).cast(pa.large_string()).combine_chunks() for i in range(len(columns) - 1)]
    return integers(found.column(RANK)), texts


@contextlib.contextmanager
def sent(
    engine: Engine, values: Sequence[pa.Array], dropped: NDArray[np.bool_] | None, folder: Path
) -> Iterator[Expression]:
    """New columns p0… by the place k0 of their row, without the rows that leave; on the engine for the block."""
    count = len(values[0]) if values else len(dropped) if dropped is not None else 0
    with scratch_beside(folder / "sent") as own:
        path = own / "sent.parquet"
        _write(path, values, dropped, count)
        uploaded = engine.parquet(path)
        try:
            yield uploaded
        finally:
            engine.forget(uploaded)


def _write(path: Path, values: Sequence[pa.Array], dropped: NDArray[np.bool_] | None, count: int) -> None:
    names = ["k0", *(f"p{i}" for i in range(len(values)))]
    schema = pa.schema([(name, pa.string() if i else pa.int64()) for i, name in enumerate(names)])
    with writing_into(path.parent), pq.ParquetWriter(path, schema) as writer:
        for start in range(0, count, _BATCH):
            end = min(start + _BATCH, count)
            columns = [column.slice(start, end - start).cast(pa.string()) for column in values]
            batch = pa.record_batch([pa.array(np.arange(start, end)), *columns], schema=schema)
            writer.write_batch(batch if dropped is None else batch.filter(pa.array(~dropped[start:end])))
    path.chmod(PRIVATE_FILE)
