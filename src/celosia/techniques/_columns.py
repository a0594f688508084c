"""Columns of a step as codes, numbers and strata, and cells replaced in them.

Knows Arrow text without NULL, line by line, and the settings that say how cells are read. Ignores what a step is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.numbers import NumberColumn, number_column
from celosia.model.values import SUPPRESSED, CellKind, kind_of
from celosia.techniques._contract import Settings, StepInput
from celosia.techniques._moments import exact_sum
from celosia.techniques.errors import NotNumeric, NumbersTooLarge

_LARGEST = 1e150  # so that no total overflows


def columns_of(settings: Settings) -> tuple[str, ...]:
    """`uses` of a technique: its columns, its strata and the variables that it compares."""
    return (*settings["columns"], *settings.get("strata", ()), *settings.get("compare", ()))


def unknown_in(settings: Settings, name: str) -> tuple[str, ...]:
    """The codes of unknown of a column: those of the step, or those of the dictionary for that column.

    A code of one column is a value of another: 9 is an unknown sex and an age.
    """
    declared = settings.get("unknown", ())
    return tuple(declared.get(name, ())) if isinstance(declared, Mapping) else tuple(declared)


def numbers_in(given: StepInput, name: str, settings: Settings, technique: str) -> NumberColumn:
    """A column as numbers; text in it is refused with its count."""
    codes = unknown_in(settings, name)
    column = number_column(given.columns[name], settings.get("decimal", "."), codes)
    if column.unreadable:
        rows = _unreadable_rows(given, name, column, codes)
        raise NotNumeric(technique=technique, variable=name, rows=rows)
    return column


def _unreadable_rows(given: StepInput, name: str, column: NumberColumn, codes: Sequence[str]) -> int:
    if int(given.rows.max(initial=1)) == 1:
        return column.unreadable
    cells = given.columns[name]
    silent = [kind_of(text, codes) is not CellKind.PLAIN for text in cells.to_pylist()]
    readable = column.plain | np.array(silent, bool)
    return int(given.rows[~readable].sum())


def strata_of(given: StepInput, names: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """The stratum of each line, numbered in code-point order of its values, and how many there are."""
    if not names:
        return np.zeros(given.lines, np.int64), 1 if given.lines else 0
    combined = np.zeros(given.lines, np.int64)
    for name in names:
        codes, size = encode_values(given.columns[name])
        combined = np.unique(combined * size + codes, return_inverse=True)[1].astype(np.int64)
    return combined, int(combined.max(initial=-1)) + 1


def encode_values(cells: pa.Array) -> tuple[NDArray[np.int64], int]:
    """Codes of a text column into its values in code-point order, and how many values there are."""
    encoded = cells.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[encoded.indices.to_numpy(zero_copy_only=False)], len(order)


def text_array(values: Sequence[str]) -> pa.Array:
    """Texts as a technique gives them back."""
    return pa.array(values, pa.large_string())


def replace_cells(cells: pa.Array, where: NDArray[np.bool_], texts: pa.Array) -> pa.Array:
    """The column with other texts in some lines, in order."""
    return pc.replace_with_mask(cells, pa.array(where), texts)


def mask_cells(cells: pa.Array, where: NDArray[np.bool_]) -> pa.Array:
    """The column with `*` in some lines."""
    return pc.if_else(pa.array(where), pa.scalar(SUPPRESSED, pa.large_string()), cells)


def total_of(technique: str, given: StepInput, name: str, column: NumberColumn, where: NDArray[np.bool_]) -> float:
    """The sum over the rows of some lines; numbers too large to be summed are refused with their count."""
    large = where & (np.abs(np.where(column.plain, column.values, 0.0)) > _LARGEST)
    if large.any():
        raise NumbersTooLarge(technique=technique, variable=name, rows=int(given.rows[large].sum()))
    return exact_sum(column.values[where] * given.rows[where])
