"""The CSV writer: one fixed dialect for every engine, so that equal cells are equal bytes.

Knows Arrow batches and files. Ignores where the rows come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from celosia.data.writers.dialect import as_text, encode_header, encode_rows, neutralise_batch, refuse_null_characters
from celosia.storage import PRIVATE_FILE, atomic_write


def write_csv(
    batches: Iterable[pa.RecordBatch],
    names: Sequence[str],
    path: Path,
    neutralise_formulas: bool = False,
    mode: int = PRIVATE_FILE,
) -> int:
    """Writes text columns under the names given, whole or not at all; says how many rows."""
    rows = 0
    with atomic_write(path, mode) as draft, draft.open("wb") as sink:
        sink.write(encode_header(names))
        for batch in batches:
            text = as_text(batch)
            refuse_null_characters(text, names)
            sink.write(encode_rows(neutralise_batch(text) if neutralise_formulas else text))
            rows += batch.num_rows
    return rows


def write_lines(
    blocks: Iterable[bytes | memoryview], names: Sequence[str], path: Path, mode: int = PRIVATE_FILE
) -> None:
    """Writes lines already in our dialect below the header, whole or not at all."""
    with atomic_write(path, mode) as draft, draft.open("wb") as sink:
        sink.write(encode_header(names))
        for block in blocks:
            sink.write(block)
