"""A table of plain columns as a pandas, Polars or Arrow frame, and which of the three a frame is.

Knows the three libraries. Ignores what a table holds. pandas and Polars are loaded only when one of their frames is
asked for; Arrow is always there.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa

from celosia.model.value_errors import ValueOutOfRange

FrameKind = Literal["pandas", "polars", "arrow"]
KINDS: tuple[FrameKind, ...] = ("pandas", "polars", "arrow")


def frame_kind(frame: object) -> FrameKind | None:
    """Which library a frame belongs to; None for what is no frame of the three."""
    home = type(frame).__module__.partition(".")[0]
    if home == "pyarrow" and isinstance(frame, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return "arrow"
    return next((kind for kind in ("pandas", "polars") if kind == home), None)


def _installed_kinds() -> tuple[FrameKind, ...]:
    """Which of the libraries are installed, in their order of preference."""
    return tuple(kind for kind in KINDS if kind == "arrow" or importlib.util.find_spec(kind) is not None)


def make_frame(records: Sequence[Mapping[str, Any]], kind: str | None = None) -> Any:
    """Lines of plain values as a frame; the columns are those of the lines, in the order in which they first occur."""
    names = tuple(dict.fromkeys(name for record in records for name in record))
    table = pa.table({name: _arrow_column(record.get(name) for record in records) for name in names})
    return convert_table(table, kind)


def convert_table(table: pa.Table, kind: str | None = None) -> Any:
    """An Arrow table as a frame of a kind; without one, of the library that is installed."""
    chosen = _installed_kinds()[0] if kind is None else kind
    if chosen not in _installed_kinds():
        raise ValueOutOfRange(parameter="kind", given=kind, allowed=", ".join(_installed_kinds()))
    if chosen == "arrow":
        return table
    return _pandas_frame(table) if chosen == "pandas" else _polars_frame(table)


def _pandas_frame(table: pa.Table) -> Any:
    """Whole numbers with gaps and truth values with gaps keep their kind."""
    import pandas

    nullable = {pa.int64(): pandas.Int64Dtype(), pa.bool_(): pandas.BooleanDtype()}
    gaps = {field.type for field in table.schema if table.column(field.name).null_count}
    return table.to_pandas(types_mapper={kind: nullable[kind] for kind in gaps & set(nullable)}.get)


def _polars_frame(table: pa.Table) -> Any:
    import polars

    return polars.from_arrow(table)


def _arrow_column(values: Iterable[Any]) -> pa.Array:
    """Values of one kind as they are, numbers of two kinds as decimals, anything else as text."""
    cells = [_cell(value) for value in values]
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())


def _cell(value: Any) -> Any:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
