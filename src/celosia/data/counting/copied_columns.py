"""The columns of a working copy as codes, each read from its Parquet files when it is first asked for.

Knows Arrow and Parquet. Ignores names, policies and engines. A column that is not plainly readable text, or whose codes
would not fit in memory, is left to the engine, which says what is wrong with it; so is one in which nearly every row
has a text of its own, which codes make no smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from celosia.data.counting.coded_columns import CodedColumn, NumberedPersons, compact
from celosia.data.counting.columns import number_rows
from celosia.storage import part_files

_EACH_ROW = 80  # bytes per row while combinations are sorted and persons numbered
_MANY, _MOST_BYTES = 100_000, 8  # from so many rows on, bytes per row in the file above which texts hardly repeat
_EACH_LETTER = 3  # times that the texts of a column are held while they are coded
_Made = TypeVar("_Made")
_FAULTS = (pa.ArrowException, OSError, ValueError, LookupError)


class CopiedColumns:
    """The columns of a working copy, in the order of its rows."""

    def __init__(self, path: Path, memory: int):
        self.memory = memory
        self._path = path
        self._coded: dict[int, CodedColumn | None] = {}
        self._numbered: dict[int, NumberedPersons | None] = {}

    def count_rows(self) -> int | None:
        """Number of rows; None where the files cannot be read."""
        try:
            return sum(pq.read_metadata(part).num_rows for part in part_files(self._path))
        except _FAULTS:
            return None

    def coded_column(self, position: int) -> CodedColumn | None:
        """One column; None where it is left to the engine."""
        if position not in self._coded:
            self._coded[position] = self._attempt(position, _code)
        return self._coded[position]

    def person_numbers(self, position: int) -> NumberedPersons | None:
        """One column as the key of persons; None where it is left to the engine."""
        if position not in self._numbered:
            self._numbered[position] = self._attempt(position, _number)
        return self._numbered[position]

    def _attempt(self, position: int, make: Callable[[pa.ChunkedArray], _Made]) -> _Made | None:
        try:
            column = self._read(position, as_codes=make is _code)
            return None if column is None or column.null_count else make(column)
        except _FAULTS:
            return None

    def _read(self, position: int, as_codes: bool) -> pa.ChunkedArray | None:
        """The chunks of a column of text; None where coding it would take more than half of the memory."""
        name, files = f"c{position}", [pq.ParquetFile(part) for part in part_files(self._path)]
        rows, letters = 0, 0
        for file in files:
            place = file.schema_arrow.get_field_index(name)
            groups = range(file.metadata.num_row_groups)
            rows += file.metadata.num_rows
            letters += sum(file.metadata.row_group(group).column(place).total_uncompressed_size for group in groups)
        need = rows * (4 * (len(self._coded) + 1) + _EACH_ROW) + _EACH_LETTER * letters
        hardly_repeats = as_codes and rows >= _MANY and letters > _MOST_BYTES * rows
        if not rows or hardly_repeats or need > self.memory // 2:
            return None
        again = [pq.ParquetFile(part, read_dictionary=[name] if as_codes else None) for part in part_files(self._path)]
        return pa.chunked_array([chunk for file in again for chunk in file.read([name]).column(0).chunks])


def _code(column: pa.ChunkedArray) -> CodedColumn:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    return compact(whole.dictionary.cast(pa.large_string()), whole.indices.to_numpy(zero_copy_only=False))


def _number(column: pa.ChunkedArray) -> NumberedPersons:
    """Numbers as the keys first occur, but those of more than two rows by the order of their texts."""
    total, numbers, texts = number_rows(column)
    many = np.flatnonzero(np.bincount(numbers, minlength=total) > 2)
    first = np.empty(total, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    order = pc.sort_indices(texts.take(pa.array(first[many]))).to_numpy(zero_copy_only=False)
    moved = np.arange(total, dtype=np.int32)
    moved[many[order]] = many
    return NumberedPersons(total, moved[numbers])
