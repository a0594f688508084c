"""A pandas, Polars or Arrow frame as a table in memory: the same texts, names and digest as its working copy.

Knows Arrow columns and their canonical text. Ignores files: nothing is written. Texts are made once per distinct value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.counting.coded_columns import CodedColumn, compact
from celosia.data.engines.lazy import LazyEngine
from celosia.data.memory_table import MemoryTable
from celosia.data.readers.canonical import WHITESPACE, canonical_cells, canonical_text, refuse_types
from celosia.data.readers.frame import open_stream, sound_batches
from celosia.data.readers.names import SelectedColumns, no_rows_error, select_columns
from celosia.data.readers.working import refuse_json_texts
from celosia.data.sniffing import Overrides, apply_overrides
from celosia.data.writers.dialect import encode_header, join_fields, quote_fields
from celosia.model.sources import Ingested, Notice, ReadingChoices, Source
from celosia.model.values import MISSING
from celosia.proposals.facts import ColumnFacts

_PIECE = 65_536
_JSON_SAMPLE = 3_000
_TYPED = (  # types whose distinct values are found before their text is made
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_time,
    pa.types.is_decimal,
)
Indices = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A frame in memory: the table that is counted, what was read, and its own typed columns by name."""

    table: MemoryTable
    ingested: Ingested
    typed: Mapping[str, pa.ChunkedArray]


def code_frame(frame: object, lazy_engine: LazyEngine, **overrides: Unpack[Overrides]) -> FrameTable:
    """The frame as codes; what is no plain value, or has no row, is refused as a file with the same content is."""
    reader, choices = open_stream(frame, apply_overrides(ReadingChoices(format="frame"), **overrides))
    selected = select_columns(reader.schema.names, choices)
    refuse_types(pa.schema([reader.schema.field(i) for i in selected.positions]), selected.names)
    typed = pa.Table.from_batches(sound_batches(reader), reader.schema)
    if not typed.num_rows:
        raise no_rows_error(selected.choices, selected.choices.format)
    columns, blanks, nulls = {}, 0, 0
    for name, position in zip(selected.names, selected.positions, strict=True):
        columns[name], blank, null = _code_column(typed.column(position))
        blanks, nulls = blanks + blank, nulls + null
    _refuse_json({name: columns[name] for name, i in _name_positions(selected) if _is_text(typed.column(i).type)})
    counted = {"blank_cells": blanks, "null_cells": nulls}
    notices = tuple(Notice.of(key, count=count) for key, count in counted.items() if count)
    noted = replace(selected.choices, notes=selected.choices.notes + notices)
    digest = _digest(selected.names, list(columns.values()))
    source = Source(noted.sheet or noted.format, digest, typed.num_rows, len(columns), noted)
    table = MemoryTable(lazy_engine, columns, np.arange(typed.num_rows))
    return FrameTable(
        table, Ingested(source, selected.names), {name: typed.column(i) for name, i in _name_positions(selected)}
    )


def _name_positions(selected: SelectedColumns) -> list[tuple[str, int]]:
    return list(zip(selected.names, selected.positions, strict=True))


def _is_text(kind: pa.DataType) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return not any(holds(value) for holds in _TYPED)


def _code_column(column: pa.ChunkedArray) -> tuple[CodedColumn, int, int]:
    """The column as codes, the cells that were blanks only, and those that held null characters."""
    values, indices = _distinct_values(column)
    raw = _texts(values)
    texts, blanks, nulls = canonical_cells(raw)
    texts = pa.concat_arrays([texts.cast(pa.large_string()), pa.array([MISSING], pa.large_string())])
    coded = compact(texts, indices)
    if not blanks and not nulls:
        return coded, 0, 0
    rows = np.bincount(indices, minlength=len(raw) + 1)[:-1]
    blank, null = _blank_and_null(raw)
    return coded, int(rows[blank].sum()), int(rows[null].sum())


def _blank_and_null(raw: pa.Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which distinct cells hold only blanks, and which a null character."""
    filled = pc.fill_null(raw, MISSING)
    null = pc.match_substring(filled, "\x00")
    plain = pc.replace_substring(filled, "\x00", "")
    blank = pc.and_(pc.equal(pc.utf8_trim(plain, WHITESPACE), MISSING), pc.not_equal(plain, MISSING))
    return blank.to_numpy(zero_copy_only=False), null.to_numpy(zero_copy_only=False)


def _distinct_values(column: pa.ChunkedArray) -> tuple[pa.Array, Indices]:
    """The distinct values of a column and which one each row holds; the place after the last stands for none."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        whole = column.unify_dictionaries().combine_chunks()
        return _split_dictionary(whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole)
    if not any(holds(kind) for holds in _TYPED):
        column = pa.chunked_array([_texts(chunk) for chunk in column.chunks], pa.large_string())
    coded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    return _split_dictionary(coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded)


def _split_dictionary(values: pa.DictionaryArray) -> tuple[pa.Array, Indices]:
    none = len(values.dictionary)
    return values.dictionary, pc.fill_null(values.indices.cast(pa.int64()), none).to_numpy(zero_copy_only=False)


def _texts(values: pa.Array) -> pa.Array:
    """The canonical text of values, in pieces small enough for text offsets of 32 bits."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return values.cast(pa.large_string())
    pieces = [canonical_text(values.slice(start, _PIECE)) for start in range(0, len(values), _PIECE)]
    return pa.concat_arrays([piece.cast(pa.large_string()) for piece in pieces] or [pa.array([], pa.large_string())])


def _refuse_json(columns: Mapping[str, CodedColumn]) -> None:
    """Refuse columns whose texts are JSON objects or lists, judged on some of their distinct values."""
    facts = []
    for name, column in columns.items():
        step = max(column.size // _JSON_SAMPLE, 1)
        texts, counts = column.texts[::step], column.row_counts()[::step]
        if pc.any(pc.match_substring_regex(texts, r"^\s*[\[{]")).as_py():
            facts.append(ColumnFacts(name, texts.to_pylist(), counts, int(counts.sum()), len(counts)))
    refuse_json_texts(facts)


def _digest(names: Sequence[str], columns: Sequence[CodedColumn]) -> str:
    """The digest that the working copy of the same rows has."""
    digest = hashlib.sha256(encode_header(names))
    fields = [quote_fields(column.texts, len(columns) == 1) for column in columns]
    for start in range(0, len(columns[0].codes), _PIECE):
        pairs = zip(fields, columns, strict=True)
        digest.update(join_fields([texts.take(pa.array(c.codes[start : start + _PIECE])) for texts, c in pairs]))
    return f"sha256:{digest.hexdigest()}"
