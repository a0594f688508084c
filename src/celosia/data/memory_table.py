"""A table whose rows are in this process: the operations of Table over integer codes, without asking an engine.

Knows coded columns and tuples. Ignores files. A frame that somebody hands over stays here: what only an engine can do
is asked of a DuckDB in memory, to which the rows are given when that is first needed. Every answer is that of any
other engine (tests/data/engines/test_contract.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.counting.coded_columns import (
    CodedColumn,
    Mask,
    Numbers,
    column_frequencies,
    compact,
    group_rows,
    replace_texts,
    star_rows,
    tuples_from_groups,
)
from celosia.data.counting.columns import Frequencies
from celosia.data.engines.base import Engine, Expression
from celosia.data.engines.lazy import LazyEngine
from celosia.data.engines.memory import most_tuples
from celosia.data.table import Table
from celosia.model.schema import Schema
from celosia.model.values import MISSING, SUPPRESSED, is_masked
from celosia.tuples.table import Tuples, pack_keys

Columns = Mapping[str, CodedColumn]
Covers = tuple[tuple[str, ...], ...]  # columns recoded together, which are ordered before the others


class MemoryTable(Table):
    """Rows in this process; `rows` says which row of the frame each one was."""

    def __init__(self, lazy_engine: LazyEngine, columns: Columns, rows: Numbers, covers: Covers = ()):
        self._lazy_engine = lazy_engine
        self._columns = dict(columns)
        self.rows = rows
        self._covers = covers
        self._ranks = ()
        self._before = None
        self.schema = Schema(tuple(columns))

    @cached_property
    def _expression(self) -> Expression:
        """The rows on the engine, given to it when they are first asked for there."""
        texts = [column.row_texts() for column in self._columns.values()]
        return self.engine.upload(pa.table({f"c{i}": text for i, text in enumerate(texts)}))

    @property
    def engine(self) -> Engine:
        """A DuckDB in memory."""
        return self._lazy_engine.open()

    @property
    def in_process(self) -> bool:
        """The rows are here."""
        return True

    @property
    def has_origin(self) -> bool:
        """Rows know theirs by `rows`; there is no hidden column."""
        return False

    def column(self, name: str) -> CodedColumn:
        """One column."""
        self.schema.position(name)
        return self._columns[name]

    def count_rows(self) -> int:
        """Number of rows."""
        return len(self.rows)

    def select(self, names: Sequence[str]) -> MemoryTable:
        """The table with these columns only."""
        chosen = self.schema.checked_names(names, "select")
        covers = tuple(cover for cover in self._covers if set(cover) <= set(chosen))
        return MemoryTable(self._lazy_engine, {name: self._columns[name] for name in chosen}, self.rows, covers)

    def with_missing(self, markers: Mapping[str, Sequence[str]]) -> Table:
        """The table with each column's declared markers read as missing."""
        declared = {name: texts for name, texts in markers.items() if texts}
        changed = {
            name: replace_texts(self._columns[name], dict.fromkeys(texts, MISSING)) for name, texts in declared.items()
        }
        return self._with_columns(changed) if changed else self

    def where(self, name: str, values: Sequence[str]) -> MemoryTable:
        """The rows that hold one of the values."""
        column = self.column(name)
        wanted = np.zeros(column.size + 1, bool)
        wanted[column.codes_of(list(dict.fromkeys(values)))] = True
        return self._pick_rows(wanted[column.codes])

    def first_rows(self, rows: int) -> MemoryTable:
        """At most so many rows."""
        return self._pick_rows(np.arange(min(rows, len(self.rows))))

    def map_values(self, name: str, mapping: Mapping[str, str]) -> Table:
        """The table with a column's values replaced as the mapping says; others stay."""
        return self._with_columns({name: replace_texts(self.column(name), mapping)}) if mapping else self

    def mask_dependent(self, name: str, determinant: str) -> Table:
        """The table with a column's cell masked in every row whose leader's cell is."""
        leader = self.column(determinant)
        masked = np.array([is_masked(text) for text in leader.texts.to_pylist()], bool)
        return self._with_columns({name: star_rows(self.column(name), masked[leader.codes])})

    def recode(
        self,
        tuples: Tuples,
        published: Sequence[NDArray[np.integer]],
        vocabularies: Sequence[Sequence[str]],
        masks: Mapping[str, NDArray[np.bool_]] | None = None,
        dropped: NDArray[np.bool_] | None = None,
    ) -> Table:
        """The table with each combination replaced by its published one; an unknown one is suppressed."""
        place = self.places_among(tuples)
        changed = {}
        for name, codes, vocabulary in zip(tuples.names, published, vocabularies, strict=True):
            texts = pa.array([*vocabulary, SUPPRESSED], pa.large_string())
            changed[name] = compact(texts, np.append(codes, len(vocabulary))[place])
        for name, mask in (masks or {}).items():
            changed[name] = star_rows(self._columns[name], np.append(mask, True)[place])
        recoded = self._with_columns(changed, tuples.names)
        return recoded if dropped is None else recoded._pick_rows(~np.append(dropped, True)[place])

    def distinct_counts(self, names: Sequence[str] | None = None) -> dict[str, int]:
        """Number of distinct values of each column, missing included."""
        return {name: self.column(name).size for name in (self.names if names is None else names)}

    def distinct_together(self, names: Sequence[str]) -> int:
        """Number of distinct combinations of the columns."""
        return len(group_rows([self.column(name) for name in names]).rows)

    def frequencies(self, name: str, about: int | None = None, distinct: int | None = None) -> Frequencies:
        """Rows behind each value, or behind a sample of them."""
        return column_frequencies(self.column(name), about, distinct)

    def multiplicities(self, name: str) -> dict[int, int]:
        """How many values stand in one row, how many in two, and so on."""
        rows, values = np.unique(self.column(name).row_counts(), return_counts=True)
        return dict(zip(rows.tolist(), values.tolist(), strict=True))

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """Distinct combinations of the columns with their rows and, given a key, the persons behind."""
        chosen = self.schema.checked_names(names, "tuples")
        whose = None if person is None else self.column(person).person_numbers()
        groups = group_rows([self._columns[name] for name in chosen], whose is not None)
        self._refuse_too_many_combinations(len(groups.rows), most_tuples(self._lazy_engine.memory, len(chosen)), chosen)
        return tuples_from_groups({name: self._columns[name] for name in chosen}, groups, whose)

    def batches(self, names: Sequence[str] | None = None, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """Rows in batches of text columns, in their order."""
        chosen = self.names if names is None else self.schema.checked_names(names, "columns")
        return _batches([self._columns[name].row_texts() for name in chosen], batch_rows)

    def ordered_batches(
        self,
        names: Sequence[str] | None = None,
        batch_rows: int = 100_000,
        along: Sequence[str] = (),
        origin: bool = False,
        salt: str | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The rows in the order of these columns, in batches."""
        chosen = self.names if names is None else self.schema.checked_names(names, "columns")
        order = pa.array(self.published_order(chosen))
        beside = [_salt_texts(self.column(name), salt) for name in along]
        return _batches([column.take(order) for column in (*self._texts_of_rows(chosen), *beside)], batch_rows)

    def published_order(self, names: Sequence[str]) -> Numbers:
        """Positions of the rows in an order made by the values of these columns alone, as `ordered_rows` has it.

        Recoded columns come first, then the others, each by code point; equal rows stay as they stand.
        """
        first = [name for cover in self._covers if set(cover) <= set(names) for name in cover]
        rest = [name for name in names if name not in first]
        columns = [self._columns[name] for name in (*first, *rest)]
        key = pack_keys(np.stack([column.codes for column in columns], axis=1), [column.size for column in columns])
        return np.argsort(key, kind="stable")

    def places_among(self, tuples: Tuples) -> Numbers:
        """The place of each row's combination among some tuples; -1, the last, where it is none of them."""
        columns = [self.column(name) for name in tuples.names]
        pairs = zip(columns, tuples.vocabularies, strict=True)
        moved = [column.codes_of(vocabulary) for column, vocabulary in pairs]
        known = np.stack([codes[tuples.codes[:, i]] for i, codes in enumerate(moved)], axis=1)
        # A combination that no row holds, with a text that none has, is nobody's: it gets the code after the last.
        sizes = [column.size + 1 for column in columns]
        known = np.where(known < 0, np.array([column.size for column in columns]), known)
        rows = np.stack([column.codes for column in columns], axis=1)
        keys = pack_keys(np.concatenate([known, rows]), sizes)
        keys_of_tuples, keys_of_rows = keys[: len(known)], keys[len(known) :]
        order = np.argsort(keys_of_tuples, kind="stable")
        nearest = np.searchsorted(keys_of_tuples, keys_of_rows, sorter=order).clip(max=max(len(order) - 1, 0))
        if not len(order):
            return np.full(len(rows), -1)
        place = order[nearest]
        return np.where(keys_of_tuples[place] == keys_of_rows, place, -1)

    def _texts_of_rows(self, names: Sequence[str]) -> list[pa.Array]:
        return [self._columns[name].row_texts() for name in names]

    def _with_columns(self, changed: Columns, cover: tuple[str, ...] = ()) -> MemoryTable:
        """The table with some columns replaced; an order made by a replaced column no longer holds."""
        covers = tuple(before for before in self._covers if not set(before) & set(changed))
        columns = {name: changed.get(name, column) for name, column in self._columns.items()}
        return MemoryTable(self._lazy_engine, columns, self.rows, (*covers, cover) if cover else covers)

    def _pick_rows(self, rows: Mask | Numbers) -> MemoryTable:
        columns = {name: column.pick(rows) for name, column in self._columns.items()}
        return MemoryTable(self._lazy_engine, columns, self.rows[rows], self._covers)


def _salt_texts(column: CodedColumn, salt: str | None) -> pa.Array:
    """The texts of each row, or the digests of a secret and the texts."""
    if salt is None:
        return column.row_texts()
    digests = [hashlib.sha256((salt + text).encode()).hexdigest() for text in column.texts.to_pylist()]
    return pa.array(digests, pa.large_string()).take(pa.array(column.codes))


def _batches(columns: Sequence[pa.Array], batch_rows: int) -> Iterator[pa.RecordBatch]:
    names = [f"c{i}" for i in range(len(columns))]
    for start in range(0, len(columns[0]) if columns else 0, batch_rows):
        yield pa.record_batch([column.slice(start, batch_rows).cast(pa.string()) for column in columns], names=names)
