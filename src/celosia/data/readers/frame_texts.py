"""A frame as columns of text, in memory and in its order.

Knows the columns of pandas, Polars and Arrow. Ignores what is done with them. A column that is no plain value (lists,
bytes, mixed objects) is left aside under its name: who needs it refuses it, who does not is not stopped by it. Named
levels of an index are columns; an index without a name is not data.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from celosia.data.errors import UnsupportedColumn, not_a_frame
from celosia.data.readers.canonical import canonical_cells, canonical_text, refusal_kind, unsupported_column
from celosia.data.readers.names import clean_names, no_rows_error
from celosia.frames import frame_kind
from celosia.model.sources import ReadingChoices

_FRAME = ReadingChoices(format="frame")
_SLICE = 65_536  # rows whose texts surely fit the offsets of a column


@dataclass(frozen=True, slots=True)
class FrameTexts:
    """The plain columns as text without NULL, the label of each name in the frame, and why others are left aside."""

    table: pa.Table
    labels: Mapping[str, Hashable]
    aside: Mapping[str, UnsupportedColumn]


def read_texts(frame: Any) -> FrameTexts:
    """Every column of a frame that holds plain values."""
    labels = _labels(frame)
    names, _ = clean_names([str(label) for label in labels], _FRAME)
    texts: dict[str, pa.ChunkedArray] = {}
    aside: dict[str, UnsupportedColumn] = {}
    for name, label in zip(names, labels, strict=True):
        try:
            texts[name] = _column_texts(name, _column(frame, label))
        except UnsupportedColumn as refusal:
            aside[name] = refusal
    if len(frame) == 0:
        raise no_rows_error(_FRAME, "frame")
    if not texts:
        raise next(iter(aside.values()))
    return FrameTexts(pa.table(texts), dict(zip(names, labels, strict=True)), aside)


def _labels(frame: Any) -> Sequence[Hashable]:
    """The labels of the columns; a label of several levels is refused, because it names no single column."""
    if frame_kind(frame) is None:
        raise not_a_frame()
    labels = list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)
    for label in labels:
        if isinstance(label, tuple):
            raise unsupported_column(" / ".join(map(str, label)), "levels")
    return labels


def _column(frame: Any, label: Hashable) -> Any:
    if isinstance(frame, pa.Table):
        return frame.column(label)
    column = frame[label]
    # pandas gives a frame where a label is repeated; `clean_names` has refused that before.
    return column.to_arrow() if frame_kind(frame) == "polars" else column


def _column_texts(name: str, column: Any) -> pa.ChunkedArray:
    """The cells of a column as text; foreign errors quote cells and are replaced."""
    try:
        cells = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column, from_pandas=True)
    except (pa.ArrowException, ValueError, TypeError):
        raise unsupported_column(name, "mixed") from None
    kind = refusal_kind(cells.type)
    if kind:
        raise unsupported_column(name, kind)
    pieces = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
    slices = [piece.slice(start, _SLICE) for piece in pieces for start in range(0, max(len(piece), 1), _SLICE)]
    texts = [canonical_cells(canonical_text(piece))[0].cast(pa.large_string()) for piece in slices]
    return pa.chunked_array(texts, pa.large_string())
