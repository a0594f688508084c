"""What every technique is: a name, declared parameters, and a function over the columns it uses.

Knows columns as Arrow text without NULL, line by line. Ignores files, engines, roles and policies. A technique never
changes what it is given; it answers with the columns that take the place of others, and says what it kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.numbers import NumberColumn, number_column
from celosia.errors import NotNumeric
from celosia.model.parameters import Param, settle
from celosia.model.values import CellKind, kind_of
from celosia.techniques._draws import Draws

Settings = Mapping[str, Any]
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Lines(StrEnum):
    """What a line of the given columns stands for."""

    VALUES = "values"  # a distinct combination of the columns used, with its number of rows: the result is a function
    ROWS = "rows"  # one row, in the canonical order of the whole table


@dataclass(frozen=True, slots=True)
class Given:
    """The columns a technique asked for, and how many rows each line stands for."""

    columns: Mapping[str, pa.Array]  # large_string, no NULL; missing is ""
    rows: NDArray[np.int64]
    names: tuple[str, ...] = ()  # every column of the table: `select` alone keeps some and lets the others go

    @property
    def lines(self) -> int:
        """Number of lines."""
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What takes the place of what: new columns by name, columns that leave, lines that leave."""

    columns: Mapping[str, pa.Array] = field(default_factory=lambda: _NOTHING)  # by published name
    stands_for: Mapping[str, str] = field(default_factory=lambda: _NOTHING)  # new name -> the column it replaces
    removed: tuple[str, ...] = ()
    dropped: NDArray[np.bool_] | None = None
    order: NDArray[np.int64] | None = None  # new order of the lines: `shuffle` alone
    preserved: tuple[str, ...] = ()  # keys of `techniques.preserved`
    notes: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)  # figures only, never a cell
    codebook: Mapping[str, tuple[pa.Array, pa.Array]] = field(default_factory=lambda: _NOTHING)  # private/ only


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique."""

    name: str
    lines: Lines
    params: Mapping[str, Param]
    uses: Callable[[Settings], Sequence[str]]  # the columns it must be given
    apply: Callable[[Given, Settings, Draws], Outcome]
    random: bool = False
    apart: bool = False  # by value: each of `columns` is treated on its own
    uncovered: Callable[[Given, Settings], list[str]] | None = None  # values no step can place: private list only
    refuses: tuple[str, ...] = ()  # of no_rows, one_row, all_missing: refused with `techniques.reason.<it>`
    norms: tuple[str, ...] = ()  # requirement ids it answers

    def settled(self, given: Settings) -> dict[str, Any]:
        """Its parameters with their values, checked."""
        return settle(self.name, self.params, given)


COLUMNS = Param("texts", required=True)
DECIMAL = Param("text", default=".", choices=(".", ","))
UNKNOWN = Param("texts", default=())
INTO = Param("text")  # a new name for a column that changes its meaning
STRATA = Param("texts", default=())
DECIMALS = Param("whole", minimum=0)  # rounding of published numbers; none when absent


def columns_of(settings: Settings) -> tuple[str, ...]:
    """`uses` of a technique over `columns` alone, or with `strata`."""
    return (*settings["columns"], *settings.get("strata", ()))


def unknown_in(settings: Settings, name: str) -> tuple[str, ...]:
    """The codes of unknown of a column: those of the step, or the column's own where the dictionary told them.

    A code of one column is a value of another: 9 is an unknown sex and an age.
    """
    declared = settings.get("unknown", ())
    return tuple(declared.get(name, ())) if isinstance(declared, Mapping) else tuple(declared)


def numbers_in(given: Given, name: str, settings: Settings, technique: str) -> NumberColumn:
    """A column as numbers; text in it is refused with its count."""
    codes = unknown_in(settings, name)
    column = number_column(given.columns[name], settings.get("decimal", "."), codes)
    if column.unreadable:
        rows = _unreadable_rows(given, name, column, codes)
        raise NotNumeric(technique=technique, variable=name, rows=rows)
    return column


def _unreadable_rows(given: Given, name: str, column: NumberColumn, codes: Sequence[str]) -> int:
    if int(given.rows.max(initial=1)) == 1:
        return column.unreadable
    cells = given.columns[name]
    silent = [kind_of(text, codes) is not CellKind.PLAIN for text in cells.to_pylist()]
    readable = column.plain | np.array(silent, bool)
    return int(given.rows[~readable].sum())


def strata_of(given: Given, names: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """The stratum of each line, numbered in code-point order of its values, and how many there are."""
    if not names:
        return np.zeros(given.lines, np.int64), 1 if given.lines else 0
    combined = np.zeros(given.lines, np.int64)
    for name in names:
        codes, size = coded(given.columns[name])
        combined = np.unique(combined * size + codes, return_inverse=True)[1].astype(np.int64)
    return combined, int(combined.max(initial=-1)) + 1


def coded(cells: pa.Array) -> tuple[NDArray[np.int64], int]:
    """Codes of a text column into its values in code-point order, and how many values there are."""
    found = cells.dictionary_encode()
    order = pc.sort_indices(found.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[found.indices.to_numpy(zero_copy_only=False)], len(order)


def text_array(values: Sequence[str]) -> pa.Array:
    """Texts as a technique gives them back."""
    return pa.array(values, pa.large_string())


def placed(cells: pa.Array, where: NDArray[np.bool_], texts: pa.Array) -> pa.Array:
    """The column with other texts in some lines, in order."""
    return pc.replace_with_mask(cells, pa.array(where), texts)
