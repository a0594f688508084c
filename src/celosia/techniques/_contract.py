"""What every technique is: a name, declared parameters, and a function over the columns it uses.

Knows columns as Arrow text without NULL, line by line. Ignores files, engines, roles and policies. A technique never
changes what it is given; it answers with the columns that replace others, and with what it preserved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.parameters import Parameter, read_parameters
from celosia.techniques._draws import Draws

Settings = Mapping[str, Any]
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Lines(StrEnum):
    """What a line of the given columns stands for."""

    VALUES = "values"  # a distinct combination of the columns used, with its number of rows: the result is a function
    ROWS = "rows"  # one row, in the canonical order of the whole table


@dataclass(frozen=True, slots=True)
class StepInput:
    """The columns that a technique uses, and how many rows each line stands for."""

    columns: Mapping[str, pa.Array]  # large_string, no NULL; missing is ""
    rows: NDArray[np.int64]
    names: tuple[str, ...] = ()  # every column of the table: only `select` needs them

    @property
    def lines(self) -> int:
        """Number of lines."""
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The result of a technique: new columns by name, columns and lines that leave."""

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
    params: Mapping[str, Parameter]
    uses: Callable[[Settings], Sequence[str]]  # the columns it must be given
    apply: Callable[[StepInput, Settings, Draws], StepOutcome]
    random: bool = False
    apart: bool = False  # by value: each of `columns` is treated on its own
    uncovered: Callable[[StepInput, Settings], list[str]] | None = None  # values no step can place: private list only
    categories: bool = False  # it treats numbers as names of categories: how far one is from another says nothing
    refuses: tuple[str, ...] = ()  # of no_rows, one_row, all_missing: refused with `techniques.reason.<it>`
    norms: tuple[str, ...] = ()  # requirement ids it answers

    def read_settings(self, given: Settings) -> dict[str, Any]:
        """Its parameters with their values, checked."""
        return read_parameters(self.name, self.params, given)
