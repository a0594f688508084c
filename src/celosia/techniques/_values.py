"""A technique that is a function of one cell: each plain value through it once, the special cells as they are.

Knows dictionaries of texts and slices of them, so that memory does not grow with the number of distinct values.
Ignores what the function does. Missing, masked and declared unknown cells never reach it (DESIGN §3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia import messages
from celosia.model.values import CellKind, kind_of
from celosia.techniques._checks import wrong_setting
from celosia.techniques._contract import Settings, StepInput, StepOutcome
from celosia.techniques.errors import UnmappedValues, UnreadableCells

Publish = Callable[[Sequence[str]], Sequence[str | None]]  # plain values to texts; None where it cannot
_SLICE = 65_536


@dataclass(frozen=True, slots=True)
class RecodedColumn:
    """A column after a function: its texts, and the lines whose value the function could not take."""

    cells: pa.Array
    failed: NDArray[np.bool_]


def each_value(
    cells: pa.Array, unknown: Sequence[str], publish: Publish, special: Mapping[str, str] = MappingProxyType({})
) -> RecodedColumn:
    """Every plain value of a column through `publish`; a value it cannot take stays and is marked.

    `special` names texts for missing and masked cells, which otherwise stay as they are.
    """
    encoded = cells.dictionary_encode()
    texts, failed = [pa.array([], pa.large_string())], [np.zeros(0, bool)]
    for start in range(0, len(encoded.dictionary), _SLICE):
        part = _publish_slice(encoded.dictionary.slice(start, _SLICE).to_pylist(), unknown, publish, special)
        texts.append(part.cells)
        failed.append(part.failed)
    codes = encoded.indices
    failed_lines = np.concatenate(failed)[codes.to_numpy(zero_copy_only=False)]
    return RecodedColumn(pa.concat_arrays(texts).take(codes), failed_lines)


def _publish_slice(
    values: list[str], unknown: Sequence[str], publish: Publish, special: Mapping[str, str]
) -> RecodedColumn:
    plain = [value for value in values if kind_of(value, unknown) is CellKind.PLAIN]
    text_of = {**special, **dict(zip(plain, publish(plain), strict=True))}
    texts = [text_of.get(value, value) for value in values]
    cells = [value if text is None else text for value, text in zip(values, texts, strict=True)]
    return RecodedColumn(pa.array(cells, pa.large_string()), np.array([text is None for text in texts], bool))


def plain_lines(cells: pa.Array, unknown: Sequence[str]) -> NDArray[np.bool_]:
    """The lines whose cell is neither missing, masked nor a declared unknown code."""
    return each_value(cells, unknown, lambda values: [None] * len(values)).failed


def new_names(technique: str, settings: Settings) -> dict[str, str]:
    """The name of each column after the step: `into` for a single column, else its own."""
    columns, into = settings["columns"], settings["into"]
    if into is None:
        return {name: name for name in columns}
    if len(columns) != 1 or not into:
        raise wrong_setting(technique, "into", "one_column")
    return {columns[0]: into}


def recode_outcome(
    names: Mapping[str, str], columns: Mapping[str, pa.Array], notes: Mapping[str, Any] | None = None
) -> StepOutcome:
    """The outcome of a step that replaces each column by another one."""
    return StepOutcome(
        columns={names[name]: cells for name, cells in columns.items()},
        stands_for={new: old for old, new in names.items()},
        notes=notes or {},
    )


def refuse_unreadable(
    technique: str, given: StepInput, name: str, failed: NDArray[np.bool_], expected: str, **fields: object
) -> None:
    """Stop with the number of rows a technique cannot read; `expected` is a key of `techniques.expected`."""
    if failed.any():
        rows = int(given.rows[failed].sum())
        words = messages.text(f"techniques.expected.{expected}", **fields)
        raise UnreadableCells(technique=technique, variable=name, rows=rows, expected=words)


def refuse_unmapped(technique: str, given: StepInput, name: str, failed: NDArray[np.bool_]) -> None:
    """Stop with the number of values and rows that have no counterpart."""
    if failed.any():
        distinct = len(given.columns[name].filter(pa.array(failed)).unique())
        rows = int(given.rows[failed].sum())
        raise UnmappedValues(technique=technique, variable=name, distinct=distinct, rows=rows)
