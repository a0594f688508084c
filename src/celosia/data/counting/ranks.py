"""Rows kept with their position in the canonical order, so that a step by row takes its own columns and no other.

Knows engines, expressions and Arrow columns. Ignores names and techniques. The position of a row follows from its
values, never from an engine's own partitions: the same draws meet the same rows everywhere (DESIGN §4, rule 8). New
columns go back as a private Parquet file, which every engine reads in pieces, and are joined by position.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from celosia.data.counting.columns import integer_array
from celosia.data.engines.base import RANK, Engine, Expression
from celosia.storage import PRIVATE_FILE, set_mode, temporary_folder_beside, translate_write_errors

_BATCH = 100_000


@contextlib.contextmanager
def keep_by_rank(engine: Engine, rows: Expression, order: Sequence[str], folder: Path) -> Iterator[Expression]:
    """The rows with RANK, kept below `folder` as long as the block lasts."""
    with temporary_folder_beside(folder / "ranked") as scratch:
        ranked_rows = engine.keep_ranked(rows, order, scratch)
        try:
            yield ranked_rows
        finally:
            engine.forget(ranked_rows)


def fetch_columns(engine: Engine, rows: Expression, columns: Sequence[Expression]) -> list[pa.Array]:
    """Some columns of rows kept by rank, in the order of the ranks; nothing else leaves the engine."""
    chosen = rows.select(**{f"c{i}": column for i, column in enumerate(columns)}, **{RANK: rows[RANK]})
    chunks: list[list[pa.Array]] = [[] for _ in columns]
    count = 0
    for batch in engine.stream(chosen.order_by(RANK)):
        ranks = batch.column(len(columns)).to_numpy(zero_copy_only=False)
        if not np.array_equal(ranks, np.arange(count, count + len(ranks))):
            raise AssertionError("ranks with a gap")  # a gap would give every later row the draws of another
        count += len(ranks)
        for chunk, column in zip(chunks, batch.columns, strict=False):  # the last one is the rank
            chunk.append(column.cast(pa.large_string()))
    return [pa.chunked_array(chunk, pa.large_string()).combine_chunks() for chunk in chunks]


def fetch_ranks(engine: Engine, rows: Expression) -> tuple[NDArray[np.int64], list[pa.Array]]:
    """The RANK of rows, its last column, which several may share, and the texts beside it; in the order of both."""
    columns = rows.columns
    result = engine.fetch(rows.order_by([RANK, *columns[:-1]]))
    texts = [result.column(i).cast(pa.large_string()).combine_chunks() for i in range(len(columns) - 1)]
    return integer_array(result.column(RANK)), texts


@contextlib.contextmanager
def upload_by_rank(
    engine: Engine, values: Sequence[pa.Array], dropped: NDArray[np.bool_] | None, folder: Path
) -> Iterator[Expression]:
    """New columns p0… by the place k0 of their row, without the rows that leave; on the engine for the block."""
    count = len(values[0]) if values else len(dropped) if dropped is not None else 0
    with temporary_folder_beside(folder / "sent") as scratch:
        path = scratch / "sent.parquet"
        _write(path, values, dropped, count)
        uploaded = engine.parquet(path)
        try:
            yield uploaded
        finally:
            engine.forget(uploaded)


def _write(path: Path, values: Sequence[pa.Array], dropped: NDArray[np.bool_] | None, count: int) -> None:
    names = ["k0", *(f"p{i}" for i in range(len(values)))]
    schema = pa.schema([(name, pa.string() if i else pa.int64()) for i, name in enumerate(names)])
    with translate_write_errors(path.parent), pq.ParquetWriter(path, schema) as writer:
        for start in range(0, count, _BATCH):
            end = min(start + _BATCH, count)
            columns = [column.slice(start, end - start).cast(pa.string()) for column in values]
            batch = pa.record_batch([pa.array(np.arange(start, end)), *columns], schema=schema)
            writer.write_batch(batch if dropped is None else batch.filter(pa.array(~dropped[start:end])))
    set_mode(path, PRIVATE_FILE)
