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
from celosia.errors import UnreadableCells
from celosia.model.parameters import conflict
from celosia.model.values import CellKind, kind_of
from celosia.techniques._contract import Given, Outcome, Settings

Publish = Callable[[Sequence[str]], Sequence[str | None]]  # plain values to texts; None where it cannot
_SLICE = 65_536


@dataclass(frozen=True, slots=True)
class Published:
    """A column after a function: its texts, and the lines whose value the function could not take."""

    cells: pa.Array
    failed: NDArray[np.bool_]


def each_value(
    cells: pa.Array, unknown: Sequence[str], publish: Publish, special: Mapping[str, str] = MappingProxyType({})
) -> Published:
    """Every plain value of a column through `publish`; a value it cannot take stays and is marked.

    `special` names texts for missing and masked cells, which otherwise stay as they are.
    """
    encoded = cells.dictionary_encode()
    texts, failed = [pa.array([], pa.large_string())], [np.zeros(0, bool)]
    for start in range(0, len(encoded.dictionary), _SLICE):
        made = _sliced(encoded.dictionary.slice(start, _SLICE).to_pylist(), unknown, publish, special)
        texts.append(made.cells)
        failed.append(made.failed)
    place = encoded.indices
    return Published(pa.concat_arrays(texts).take(place), np.concatenate(failed)[place.to_numpy(zero_copy_only=False)])


def _sliced(values: list[str], unknown: Sequence[str], publish: Publish, special: Mapping[str, str]) -> Published:
    plain = [value for value in values if kind_of(value, unknown) is CellKind.PLAIN]
    found = {**special, **dict(zip(plain, publish(plain), strict=True))}
    texts = [found.get(value, value) for value in values]
    return Published(
        pa.array(
            [value if text is None else text for value, text in zip(values, texts, strict=True)], pa.large_string()
        ),
        np.array([text is None for text in texts], bool),
    )


def plain_lines(cells: pa.Array, unknown: Sequence[str]) -> NDArray[np.bool_]:
    """The lines whose cell is neither missing, masked nor a declared unknown code."""
    return each_value(cells, unknown, lambda values: [None] * len(values)).failed


def new_names(technique: str, settings: Settings) -> dict[str, str]:
    """The name of each column after the step: `into` for a single column, else its own."""
    columns, into = settings["columns"], settings["into"]
    if into is None:
        return {name: name for name in columns}
    if len(columns) != 1 or not into:
        raise conflict(technique, "into", "one_column", "techniques")
    return {columns[0]: into}


def recoded(names: Mapping[str, str], made: Mapping[str, pa.Array], notes: Mapping[str, Any] | None = None) -> Outcome:
    """The outcome of a step that puts one column in the place of another."""
    return Outcome(
        columns={names[name]: cells for name, cells in made.items()},
        stands_for={new: old for old, new in names.items()},
        notes=notes or {},
    )


def refuse_unreadable(
    technique: str, given: Given, name: str, failed: NDArray[np.bool_], expected: str, **fields: object
) -> None:
    """Stop with the number of rows a technique cannot read; `expected` is a key of `techniques.expected`."""
    if failed.any():
        rows = int(given.rows[failed].sum())
        wanted = messages.text(f"techniques.expected.{expected}", **fields)
        raise UnreadableCells(technique=technique, variable=name, rows=rows, expected=wanted)
