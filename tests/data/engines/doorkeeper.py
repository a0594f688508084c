"""An engine whose door is watched: what leaves it, and what it is handed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.data.engines.base import Engine, Expression


class Doorkeeper:
    """An engine that notes every text that leaves it and every file it is handed, and asks another."""

    def __init__(self, engine: Engine):
        self._engine = engine
        self.left: set[str] = set()
        self.handed: list[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def fetch(self, expression: Expression) -> pa.Table:
        found = self._engine.fetch(expression)
        for batch in found.to_batches():
            self._note(batch)
        return found

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        for batch in self._engine.stream(expression, batch_rows):
            self._note(batch)
            yield batch

    def parquet(self, path: Path) -> Expression:
        self.handed.append(pq.read_schema(path).names)
        return self._engine.parquet(path)

    def _note(self, batch: pa.RecordBatch) -> None:
        texts = (column for column in batch.columns if not pa.types.is_integer(column.type))
        self.left.update(cell for column in texts for cell in column.to_pylist())
