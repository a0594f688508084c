"""The Parquet writer: text columns under the user's names. Knows Arrow batches; ignores their meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from celosia.model.sources import ColumnLabels
from celosia.storage import PRIVATE_FILE, atomic_write


def write_parquet(
    batches: Iterable[pa.RecordBatch],
    names: Sequence[str],
    path: Path,
    labels: Mapping[str, ColumnLabels] | None = None,
    mode: int = PRIVATE_FILE,
) -> int:
    """Writes text columns with their labels as field metadata; says how many rows."""
    schema = pa.schema([_field(name, (labels or {}).get(name)) for name in names])
    rows = 0
    with atomic_write(path, mode) as draft, pq.ParquetWriter(draft, schema) as writer:
        for batch in batches:
            columns = [column.cast(pa.string()) for column in batch.columns]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            rows += batch.num_rows
    return rows


def _field(name: str, labels: ColumnLabels | None) -> pa.Field:
    metadata = {"label": labels.label} if labels and labels.label else None
    return pa.field(name, pa.string(), metadata=metadata)
