"""A working copy as a table: counted in this process, treated and written on an engine that is opened for that alone.

Knows coded columns and the table on the engine. Ignores how either is made. Combinations, frequencies and persons are
those that the engine would count (tests/data/engines/test_copied_table.py); what is left to the engine it does itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from celosia.data.counting.coded_columns import (
    CodedColumn,
    NumberedPersons,
    column_frequencies,
    group_rows,
    replace_texts,
    star_rows,
    tuples_from_groups,
)
from celosia.data.counting.columns import Frequencies
from celosia.data.counting.copied_columns import CopiedColumns
from celosia.data.engines.base import Engine, Expression
from celosia.data.engines.lazy import LazyEngine
from celosia.data.engines.memory import most_tuples
from celosia.data.table import ORIGIN, Table
from celosia.model.schema import Schema
from celosia.model.values import MISSING, is_masked
from celosia.tuples.table import Tuples

Maker = Callable[[], CodedColumn | None]


class CopiedTable(Table):
    """Rows of a working copy; `makers` gives the columns whose texts are no longer those of the copy."""

    def __init__(
        self,
        columns: CopiedColumns,
        names: Sequence[str],
        on_engine: Callable[[], Table],
        traced: bool,
        makers: Mapping[str, Maker] | None = None,
    ):
        self._columns = columns
        self._on_engine = on_engine
        self._traced = traced
        self._makers = dict(makers or {})
        self._made: dict[str, CodedColumn | None] = {}
        self._ranks = ()
        self._before = None
        self.schema = Schema(tuple(names))

    @cached_property
    def _rows(self) -> Table:
        """The same table on the engine."""
        return self._on_engine()

    @cached_property
    def _expression(self) -> Expression:
        return self._rows._expression

    @property
    def engine(self) -> Engine:
        """The engine, opened where it is needed."""
        return self._rows.engine

    @property
    def in_process(self) -> bool:
        """The rows are read here."""
        return True

    @property
    def has_origin(self) -> bool:
        """Whether each row knows which row of the source it was."""
        return self._traced

    def count_rows(self) -> int:
        """Number of rows."""
        rows = self._columns.count_rows()
        return super().count_rows() if rows is None else rows

    def with_missing(self, markers: Mapping[str, Sequence[str]]) -> Table:
        """The table with each column's declared markers read as missing."""
        declared = {name: dict.fromkeys(texts, MISSING) for name, texts in markers.items() if texts}
        return self._replace_texts(declared, lambda rows: rows.with_missing(markers)) if declared else self

    def map_values(self, name: str, mapping: Mapping[str, str]) -> Table:
        """The table with a column's values replaced as the mapping says; others stay."""
        return self._replace_texts({name: mapping}, lambda rows: rows.map_values(name, mapping)) if mapping else self

    def mask_dependent(self, name: str, determinant: str) -> Table:
        """The table with a column's cell masked in every row whose leader's cell is."""
        made = {name: partial(self._starred_column, name, determinant)}
        return self._derive_table(made, lambda rows: rows.mask_dependent(name, determinant))

    def distinct_counts(self, names: Sequence[str] | None = None) -> dict[str, int]:
        """Number of distinct values of each column, missing included."""
        chosen = self.names if names is None else tuple(names)
        columns = self._coded_columns(chosen)
        return super().distinct_counts(chosen) if columns is None else {n: c.size for n, c in columns.items()}

    def distinct_together(self, names: Sequence[str]) -> int:
        """Number of distinct combinations of the columns."""
        columns = self._coded_columns(names)
        return super().distinct_together(names) if columns is None else len(group_rows(list(columns.values())).rows)

    def frequencies(self, name: str, about: int | None = None, distinct: int | None = None) -> Frequencies:
        """Rows behind each value, or behind a sample of them."""
        column = self._coded_column(name)
        if column is None:
            return super().frequencies(name, about, distinct)
        return column_frequencies(column, about, distinct)

    def multiplicities(self, name: str) -> dict[int, int]:
        """How many values stand in one row, how many in two, and so on."""
        column = self._person_numbers(name)
        if column is None:
            return super().multiplicities(name)
        rows, values = np.unique(np.bincount(column.codes, minlength=column.total), return_counts=True)
        return dict(zip(rows.tolist(), values.tolist(), strict=True))

    def tuples(self, names: Sequence[str], person: str | None = None) -> Tuples:
        """Distinct combinations of the columns with their rows and, given a key, the persons behind."""
        chosen = self.schema.checked_names(names, "tuples")
        columns = self._coded_columns(chosen)
        whose = None if person is None else self._person_numbers(person)
        if columns is None or (person is not None and whose is None):
            return super().tuples(chosen, person)
        groups = group_rows(list(columns.values()), whose is not None)
        self._refuse_too_many_combinations(len(groups.rows), most_tuples(self._columns.memory, len(chosen)), chosen)
        return tuples_from_groups(columns, groups, whose)

    def _coded_columns(self, names: Sequence[str]) -> dict[str, CodedColumn] | None:
        """Columns as codes; None where one of them is left to the engine."""
        columns: dict[str, CodedColumn] = {}
        for name in names:
            column = self._coded_column(name)
            if column is None:
                return None
            columns[name] = column
        return columns

    def _coded_column(self, name: str) -> CodedColumn | None:
        position = self.schema.position(name)
        if name not in self._makers:
            return self._columns.coded_column(position)
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def _person_numbers(self, name: str) -> NumberedPersons | None:
        position = self.schema.position(name)
        if name not in self._makers:
            return self._columns.person_numbers(position)
        column = self._coded_column(name)
        return None if column is None else column.person_numbers()

    def _replace_texts(self, mappings: Mapping[str, Mapping[str, str]], on_engine: Callable[[Table], Table]) -> Table:
        """The table with some texts of some columns replaced."""
        for name in mappings:
            self.schema.position(name)
        return self._derive_table(
            {n: partial(self._replaced_column, n, texts) for n, texts in mappings.items()}, on_engine
        )

    def _derive_table(self, makers: Mapping[str, Maker], on_engine: Callable[[Table], Table]) -> CopiedTable:
        """The table with some columns made anew; the others are found where they are."""
        others = {name: partial(self._coded_column, name) for name in self._makers}
        return CopiedTable(self._columns, self.names, lambda: on_engine(self._rows), self._traced, {**others, **makers})

    def _replaced_column(self, name: str, texts: Mapping[str, str]) -> CodedColumn | None:
        column = self._coded_column(name)
        return None if column is None else replace_texts(column, texts)

    def _starred_column(self, name: str, determinant: str) -> CodedColumn | None:
        column, leader = self._coded_column(name), self._coded_column(determinant)
        if column is None or leader is None:
            return None
        masked = np.array([is_masked(text) for text in leader.texts.to_pylist()], bool)
        return star_rows(column, masked[leader.codes])


def copied_table(path: Path, names: Sequence[str], engine: LazyEngine, traced: bool) -> CopiedTable:
    """The table of a working copy; `traced` where its rows are to know which row of the source they were."""

    def on_engine() -> Table:
        opened = engine.open()
        rows = opened.numbered_parquet(path, ORIGIN) if traced else opened.parquet(path)
        return Table(opened, rows, names)

    return CopiedTable(CopiedColumns(path, engine.memory), names, on_engine, traced)
