"""One technique on a pandas, Polars or Arrow frame, in memory.

Knows how a frame is taken apart and put together again: order, index, types, categories. Ignores the techniques. What
comes back is of the kind that was given: a column that the technique left alone keeps its type; one that it changed is
numbers where it was and still is, else text; categories that no row holds any more are gone. Rows keep their order and
index, except where the technique is about order: the result then has a fresh index, because the old one would tell the
order that was hidden. Named levels of an index are treated as columns.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from celosia import messages
from celosia.data.numbers import number_column
from celosia.data.readers.frame_texts import FrameTexts, read_texts
from celosia.frames import frame_kind, make_frame
from celosia.model.changes import StepChange
from celosia.model.reports.report import html_table
from celosia.pipeline.planning.steps import losses_between
from celosia.techniques import TreatedTable, apply_to_frame, read_step


class TreatedFrame(NamedTuple):
    """A treated frame, of the kind that was given, and what was done to it."""

    frame: Any
    change: StepChange

    @property
    def summary(self) -> str:
        """How many rows the treatment touched."""
        change = self.change
        return messages.text(
            "reports.summary.treated", technique=change.technique, touched=change.rows_touched, rows=change.rows
        )

    def __repr__(self) -> str:
        return f"<TreatedFrame: {self.summary}>"

    def _repr_html_(self) -> str:
        return html_table(self.summary, change_lines(self.change))

    def to_dict(self) -> dict[str, Any]:
        """What was done, as plain data; the frame itself is in `frame`."""
        return self.change.as_dict()

    def to_frame(self, kind: str | None = None) -> Any:
        """What was done to each column, as a frame; the treated frame itself is in `frame`."""
        return make_frame(change_lines(self.change), kind or frame_kind(self.frame))


def change_lines(change: StepChange) -> list[dict[str, Any]]:
    """What a step did to each column."""
    return [
        {"technique": change.technique, "variable": name, "cells": cells, "loss": change.loss.get(name)}
        for name, cells in change.cells_touched.items()
    ]


@dataclass(frozen=True, slots=True)
class _FlatFrame:
    """A frame whose named index levels are columns, and what was there before."""

    frame: Any
    levels: tuple[Hashable, ...] = ()
    lazy: bool = False


def treat_frame(frame: Any, step: Mapping[str, Any], seed: bytes) -> TreatedFrame:
    """One step on a frame: the same kind of frame, and the report of the change."""
    flat = _flatten(frame)
    texts = read_texts(flat.frame)
    declared = _named_by_text(step)
    _refuse_unreadable_column(texts, declared)
    result = apply_to_frame(texts.table, declared, seed)
    loss = losses_between(texts.table, result.table, result.positions, result.change, declared)
    treated = _frame_like(flat.frame, texts, result)
    return TreatedFrame(_restore_shape(flat, treated, result), replace(result.change, loss=loss))


def _flatten(frame: Any) -> _FlatFrame:
    if isinstance(frame, pa.RecordBatch):
        return _FlatFrame(pa.Table.from_batches([frame]))
    kind = frame_kind(frame)
    if kind == "polars" and hasattr(frame, "collect"):
        return _FlatFrame(frame.collect(), lazy=True)
    levels = tuple(name for name in frame.index.names if name is not None) if kind == "pandas" else ()
    return _FlatFrame(frame.reset_index(level=list(levels)) if levels else frame, levels)


def _named_by_text(step: Mapping[str, Any]) -> dict[str, Any]:
    """A step whose columns are named by text, as columns with numbers for labels are named inside."""
    columns = step.get("columns")
    if not isinstance(columns, list | tuple):
        return dict(step)
    return {**step, "columns": [str(name) if isinstance(name, int) else name for name in columns]}


def _refuse_unreadable_column(texts: FrameTexts, step: Mapping[str, Any]) -> None:
    """A step that uses a column which cannot be read is refused by the name of the column."""
    chosen, settings = read_step(step)
    for name in chosen.uses(settings):
        if name in texts.aside:
            raise texts.aside[name]


def _frame_like(frame: Any, texts: FrameTexts, result: TreatedTable) -> Any:
    """The treated table as the kind of frame that was given; columns that are left alone keep their own types."""
    names = [*result.table.column_names]
    names += [name for name in texts.aside if name not in result.outcome.removed]
    order = [name for name in texts.labels if name in names]
    order += [name for name in names if name not in texts.labels]
    if not texts.aside:
        order = names
    new = {
        name: _restore_type(_column_kind(frame, texts.labels.get(name)), result.table.column(name))
        for name in result.outcome.columns
    }
    labels = {name: texts.labels.get(name, name) for name in order}
    if isinstance(frame, pa.Table):
        return _arrow_like(frame, new, labels, result.positions)
    return (_pandas_like if frame_kind(frame) == "pandas" else _polars_like)(frame, new, labels, result.positions)


def _arrow_like(frame: pa.Table, new: Mapping[str, pa.Array], labels: Mapping[str, Any], positions: Any) -> pa.Table:
    rows = frame.take(pa.array(positions))
    columns = {}
    for name, label in labels.items():
        column = new[name] if name in new else rows.column(label)
        if pa.types.is_dictionary(column.type):
            # A dictionary would keep the values of rows that left.
            column = column.cast(column.type.value_type).dictionary_encode()
        columns[str(label)] = column
    return pa.table(columns)


def _pandas_like(frame: Any, new: Mapping[str, pa.Array], labels: Mapping[str, Any], positions: Any) -> Any:
    import pandas

    treated = frame.iloc[positions].copy()
    for name, column in new.items():
        treated[labels[name]] = _pandas_column(frame, labels[name], column)
    treated = treated[list(labels.values())]
    for position, kind in enumerate(treated.dtypes):
        if isinstance(kind, pandas.CategoricalDtype):
            label = treated.columns[position]
            treated[label] = treated[label].cat.remove_unused_categories()
    return treated


def _pandas_column(frame: Any, label: Any, column: pa.Array) -> Any:
    """A changed column for pandas: categories, texts and whole numbers with gaps stay what they were."""
    import pandas

    kind = frame[label].dtype if label in frame.columns else None
    if pa.types.is_integer(column.type) and str(kind).startswith(("Int", "UInt")):
        return pandas.array(column.to_pylist(), "Int64")
    values = column.to_pandas().to_numpy()
    if isinstance(kind, pandas.CategoricalDtype):
        return pandas.Categorical(values)
    if isinstance(kind, pandas.StringDtype):
        return pandas.array(column.to_pylist(), kind)
    return values


def _polars_like(frame: Any, new: Mapping[str, pa.Array], labels: Mapping[str, Any], positions: Any) -> Any:
    import polars

    treated = frame[positions.tolist()]
    treated = treated.with_columns(
        [polars.Series(labels[name], polars.from_arrow(column)) for name, column in new.items()]
    )
    treated = treated.select(list(labels.values()))
    for name, kind in treated.schema.items():
        if kind == polars.Enum:
            present = treated[name].cast(polars.String)
            treated = treated.with_columns(present.cast(polars.Enum(present.unique().drop_nulls().sort())))
    return treated


def _restore_shape(flat: _FlatFrame, treated: Any, result: TreatedTable) -> Any:
    """The index levels and the laziness that the frame came with; a new order gets a fresh index."""
    if flat.lazy:
        return treated.lazy()
    if frame_kind(treated) != "pandas":
        return treated
    if result.outcome.order is not None:
        return treated.reset_index(drop=True)
    left = [level for level in flat.levels if level in treated.columns]
    return treated.set_index(left) if left else treated


def _column_kind(frame: Any, label: Any) -> str:
    """The type of a column in small letters; empty for a column that was not there."""
    if label is None:
        return ""
    return str(frame.schema.field(label).type if isinstance(frame, pa.Table) else frame[label].dtype).lower()


def _restore_type(kind: str, column: pa.ChunkedArray) -> pa.Array:
    """A changed column as numbers where it was numbers and still is, else as text; missing as null."""
    cells = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    missing = pc.equal(cells, "")
    numbers = number_column(cells)
    was_number = kind.startswith(("int", "uint", "float", "double", "halffloat"))
    if was_number and not numbers.unreadable and bool((numbers.plain | np.asarray(missing)).all()):
        return _restore_integers(kind, pa.array(numbers.values, mask=~numbers.plain))
    return pc.if_else(missing, None, cells)


def _restore_integers(kind: str, numbers: pa.Array) -> pa.Array:
    """Numbers of a column of whole numbers as whole numbers, where they still are."""
    values = numbers.to_numpy(zero_copy_only=False)
    present = values[~np.isnan(values)]
    whole = (np.abs(present) <= 2.0**53).all() and (present == np.floor(present)).all()
    if not whole or not kind.startswith(("int", "uint")):
        return numbers
    return numbers.cast(pa.int64())
