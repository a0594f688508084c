"""The published rows as the kind of frame that came in: pandas, Polars or Arrow, each column with its type.

Knows how each library makes a frame. Ignores why a cell is published as it is. A column whose every cell is as it was
keeps its type; any other becomes text, or categories where it had them. What a frame carries beside its cells (an
index, `attrs`, metadata, categories that no row shows) does not leave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.readers.frame import collect_lazy
from celosia.model.values import MISSING

Rows = NDArray[np.int64]
Texts = Mapping[str, pa.Array]  # the columns that changed, as text


def frame_like(frame: Any, names: Sequence[str], published: Sequence[str], rows: Rows, changed: Texts) -> Any:
    """The rows of a frame with its published columns; `names` are those of all its columns, in their order."""
    places = [(name, list(names).index(name)) for name in published]
    if hasattr(frame, "iloc"):
        return _pandas_frame(frame, places, rows, changed)
    if type(frame).__module__.split(".")[0] == "polars":
        made = _polars_frame(collect_lazy(frame), places, rows, changed)
        return made if hasattr(frame, "__arrow_c_stream__") else made.lazy()
    table = _arrow_table(frame, places, rows, changed)
    return table.combine_chunks().to_batches()[0] if isinstance(frame, pa.RecordBatch) else table


def _arrow_table(frame: Any, places: Sequence[tuple[str, int]], rows: Rows, changed: Texts) -> pa.Table:
    source = pa.table(frame) if not isinstance(frame, pa.RecordBatch) else pa.Table.from_batches([frame])
    positions = pa.array(rows)
    columns = {}
    for name, place in places:
        column = source.column(place)
        if name in changed:
            columns[name] = _arrow_text(changed[name], column.type)
        else:
            columns[name] = _drop_unused_categories(column.take(positions))
    return pa.table(columns)


def _arrow_text(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    shown = pc.if_else(pc.equal(texts, MISSING), None, texts)
    if pa.types.is_dictionary(kind):
        return shown.cast(pa.string()).dictionary_encode()
    is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return shown.cast(kind if is_text else pa.string())


def _drop_unused_categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of categories without those that no row shows."""
    if not pa.types.is_dictionary(column.type):
        return column
    return column.cast(column.type.value_type).dictionary_encode()


def _polars_frame(frame: Any, places: Sequence[tuple[str, int]], rows: Rows, changed: Texts) -> Any:
    import polars

    taken = frame[rows]
    columns = []
    for name, place in places:
        own = taken.to_series(place)
        if name in changed:
            texts = polars.Series(own.name, polars.from_arrow(_arrow_text(changed[name], pa.large_string())))
            columns.append(texts.cast(polars.Categorical) if _has_categories(own) else texts)
        else:
            columns.append(_renew_categories(own))
    return polars.DataFrame(columns)


def _has_categories(series: Any) -> bool:
    return str(series.dtype).startswith(("Categorical", "Enum"))


def _renew_categories(series: Any) -> Any:
    """Categories rebuilt from the values that the rows show, without those of the source."""
    import polars

    if str(series.dtype).startswith("Enum"):
        shown = set(series.drop_nulls().cast(polars.String).unique().to_list())
        return series.cast(polars.Enum([text for text in series.dtype.categories.to_list() if text in shown]))
    return series.cast(polars.String).cast(series.dtype) if _has_categories(series) else series


def _pandas_frame(frame: Any, places: Sequence[tuple[str, int]], rows: Rows, changed: Texts) -> Any:
    import pandas

    width = len(frame.columns)
    levels = [level for level in frame.index.names if level is not None]
    arrays, labels = [], []
    for name, place in places:
        is_column = place < width
        labels.append(frame.columns[place] if is_column else levels[place - width])
        own = frame.iloc[:, place].array if is_column else frame.index.get_level_values(levels[place - width]).array
        arrays.append(_pandas_text(changed[name], own.dtype) if name in changed else _pandas_own(own.take(rows)))
    made = pandas.DataFrame(dict(enumerate(arrays)), index=pandas.RangeIndex(len(rows)))
    whole = [place for _, place in places]
    made.columns = (
        frame.columns.take(whole) if all(p < width for p in whole) else pandas.Index(labels, tupleize_cols=False)
    )
    return made


def _pandas_own(column: Any) -> Any:
    return column.remove_unused_categories() if hasattr(column, "remove_unused_categories") else column


def _pandas_text(texts: pa.Array, dtype: Any) -> Any:
    """Changed cells as text: in the text type that the column had, else in the one that this pandas gives to text."""
    import pandas

    cells = np.array(_arrow_text(texts, pa.string()).to_pylist(), dtype=object)
    if isinstance(dtype, pandas.CategoricalDtype):
        return pandas.Categorical(cells)
    is_object = pandas.api.types.is_object_dtype(dtype)
    had_text = is_object or pandas.api.types.is_string_dtype(dtype)
    return pandas.Series(cells, dtype=dtype if had_text else None).array
