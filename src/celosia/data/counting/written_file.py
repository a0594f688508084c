"""A file in our own CSV dialect counted from its bytes: codes of the columns asked for, row by row, and their tuples.

Knows Arrow's CSV reader, NumPy and the kernels that number. Ignores policies and engines. The whole file is gone
over for its digest, its encoding and its line lengths while its columns are read. It is for files whose codes fit in
memory; what this strict reader does not take is left to the reader of any CSV, which can say what is wrong with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from celosia.data.counting.columns import Frequencies, digest_bound, number_rows
from celosia.data.readers.canonical import WHITESPACE
from celosia.data.readers.stream import UndecodableLine, survey_text
from celosia.data.sniffing._dialect import first_records
from celosia.errors import CelosiaError
from celosia.model.schema import Schema
from celosia.model.values import MISSING, SUPPRESSED
from celosia.storage import part_files
from celosia.tuples.table import Persons, Tuples, pack_keys, roll_up_persons

_BLOCK = 1 << 24  # bytes that one thread parses at a time
_HEADER = 1 << 20
_MANY = 1_000_000  # keys that are numbered sooner by a kernel, which must be loaded, than by sorting
_EACH_ROW, _EACH_PERSON = 40, 80  # bytes per row while tuples are sorted, and while persons are numbered
_EACH_LETTER = 3  # times that the keys of persons are held while they are numbered

Codes = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class CountedFile:
    """The columns asked for as codes, and the whole file's names, rows and digest."""

    names: tuple[str, ...]
    rows: int
    digest: str
    columns: Mapping[str, tuple[tuple[str, ...], Codes]]  # vocabulary in code-point order, and the code of each row
    persons: tuple[int, Codes] | None = None  # how many there are, and whose row each one is

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """Distinct combinations of the columns with their rows and, given a key, the persons behind."""
        chosen = Schema(self.names).checked_names(names, "tuples")
        vocabularies = tuple(self.columns[name][0] for name in chosen)
        codes = np.array([self.columns[name][1] for name in chosen], np.int32).T
        label, holder = _number_keys(pack_keys(codes, [len(v) for v in vocabularies]))
        rows = np.bincount(label, minlength=len(holder)).astype(np.int64)
        persons = None if person is None else self._count_persons(label, len(holder))
        return Tuples(chosen, vocabularies, codes[holder], rows, persons)

    def count_rows(self) -> int:
        """Number of rows."""
        return self.rows

    def distinct_counts(self, names: Sequence[str] | None = None) -> dict[str, int]:
        """Number of distinct values of each column, missing included."""
        return {name: len(self.columns[name][0]) for name in (self.names if names is None else names)}

    def frequencies(self, name: str, about: int | None = None, distinct: int | None = None) -> Frequencies:
        """Rows behind each value, or behind those of the sample that a Table would draw."""
        values, codes = self.columns[name]
        counts = np.bincount(codes, minlength=len(values)).astype(np.int64)
        texts = pa.array(values, pa.large_string())
        total = distinct or len(values)
        if about is None or total <= about:
            return Frequencies(texts, counts)
        bound = digest_bound(about, total)
        drawn = [hashlib.sha256(text.encode()).hexdigest() < bound or not text.strip(SUPPRESSED) for text in values]
        chosen = np.array(drawn, bool) | (counts * about > self.rows)
        return Frequencies(texts.filter(pa.array(chosen)), counts[chosen])

    def _count_persons(self, label: NDArray[np.int64], tuples: int) -> Persons:
        """Persons with one tuple counted by it, and the incidence of the others."""
        total, whose = self.persons or (0, np.zeros(0, np.int32))
        once = (np.bincount(whose, minlength=total) == 1)[whose]
        settled = np.bincount(label[once], minlength=tuples)  # most have one row, and need not be sorted
        others = Persons(total, settled, label[~once], whose[~once].astype(np.int64))
        return roll_up_persons(others, np.arange(tuples, dtype=np.int64), tuples)


def fits_in_memory(rows: int, columns: int, order: Path | None, memory: int) -> bool:
    """Whether the codes of so many rows, and what counting them takes, need at most half of the memory."""
    keys = 0 if order is None else sum(part.stat().st_size for part in part_files(order))
    each = _EACH_ROW if order is None else _EACH_PERSON
    return rows * (4 * columns + each) + _EACH_LETTER * keys <= memory // 2


def count_file(path: Path, asked: Sequence[str] | None, order: Path | None) -> CountedFile | None:
    """The file read again, or some columns of it.

    None where it is not plainly what our writer writes, or a column asked for is not there.
    """
    before = _state(path)
    names = read_header(path)
    if names is None or len(set(names)) != len(names) or not set(asked or ()) <= set(names):
        return None
    asked = names if asked is None else asked
    with ThreadPoolExecutor(2) as pool:
        surveyed = pool.submit(survey_text, path, "utf-8", None)
        whose = None if order is None else pool.submit(_persons, order)
        try:
            table = _parse_columns(path, len(names), [names.index(name) for name in asked])
            digest = surveyed.result().digest
        except (pa.ArrowException, OSError, UndecodableLine, CelosiaError):
            return None
        persons = None if whose is None else whose.result()
    if persons is not None and len(persons[1]) != table.num_rows:
        raise ValueError  # file and order have not the same length
    if _state(path) != before or not table.num_rows:
        return None
    columns = {name: _encode_column(column) for name, column in zip(asked, table.columns, strict=True)}
    rows = table.num_rows
    del table
    pa.default_memory_pool().release_unused()  # the texts of all rows, which Arrow would keep for the next file
    return CountedFile(names, rows, digest, columns, persons)


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def read_header(path: Path) -> tuple[str, ...] | None:
    """The names of the columns, where the file begins as ours do."""
    with path.open("rb") as stream:
        start = stream.read(_HEADER)
    records = first_records(start.decode("utf-8", "ignore"), ",", '"', True)
    if start.startswith(b"\xef\xbb\xbf") or len(records) < 2 or records[0].broken:
        return None
    if any(" ".join(name.split()) != name or not name for name in records[0].fields):
        return None  # names that the reader of any CSV would settle
    return tuple(records[0].fields)


def _parse_columns(path: Path, width: int, positions: Sequence[int]) -> pa.Table:
    """The columns at these positions, each text once per block."""
    names = [f"s{i}" for i in range(width)]
    chosen = [names[position] for position in positions] or names[:1]
    text = pa.dictionary(pa.int32(), pa.string())
    return arrow_csv.read_csv(
        path,
        arrow_csv.ReadOptions(block_size=_BLOCK, column_names=names, skip_rows_after_names=1),
        arrow_csv.ParseOptions(newlines_in_values=_quotes_in(path), ignore_empty_lines=False),
        arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, text), strings_can_be_null=False, include_columns=chosen
        ),
    )


def _quotes_in(path: Path) -> bool:
    """Whether any cell may go over several lines."""
    with path.open("rb") as stream:
        return any(b'"' in block for block in iter(lambda: stream.read(_BLOCK), b""))


def _encode_column(column: pa.ChunkedArray) -> tuple[tuple[str, ...], Codes]:
    """The vocabulary in code-point order and the codes; blanks alone are missing, as for every reader."""
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    texts = whole.dictionary.cast(pa.large_string())
    texts = pc.if_else(pc.equal(pc.utf8_trim(texts, WHITESPACE), ""), MISSING, texts)
    distinct = pc.unique(texts)
    vocabulary = distinct.take(pc.sort_indices(distinct))
    code_of_text = pc.index_in(texts, vocabulary).to_numpy(zero_copy_only=False).astype(np.int32)
    return tuple(vocabulary.to_pylist()), code_of_text[whole.indices.to_numpy(zero_copy_only=False)]


def _persons(order: Path) -> tuple[int, Codes]:
    """How many persons the private order names, and a number for each row's."""
    total, numbers, _ = number_rows(pq.ParquetDataset([str(part) for part in part_files(order)]).read().column(0))
    return total, numbers


def _number_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each row's key among the sorted distinct ones, and a row that holds each."""
    if len(keys) < _MANY:
        _, holder, label = np.unique(keys, return_index=True, return_inverse=True)
        return label.astype(np.int64), holder.astype(np.int64)
    from celosia.kernels.numbering import number_keys

    number, first = number_keys(keys)
    order = np.argsort(keys[first])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[number], first[order].astype(np.int64)
