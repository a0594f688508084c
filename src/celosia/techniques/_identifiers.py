"""The distinct identifiers of some columns, each given one new text in every place it stands.

Knows columns of text and which cells name nobody: missing, masked, declared as unknown. Ignores how the new texts
are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.errors import NothingChosen
from celosia.model.values import MISSING
from celosia.techniques._contract import Given, Settings, unknown_in
from celosia.techniques._settings import named_once

Mask = NDArray[np.bool_]
Renaming = Callable[[pa.Array, Sequence[str]], pa.Array]


@dataclass(frozen=True, slots=True)
class Replaced:
    """The columns with their new texts, and beside each column the identifiers it had."""

    columns: dict[str, pa.Array]
    pairs: dict[str, tuple[pa.Array, pa.Array]]  # per column: identifier, its new text
    distinct: int


def chosen_columns(settings: Settings) -> tuple[str, ...]:
    """`uses` of a technique over `columns` alone: at least one, each named once."""
    if not settings["columns"]:
        raise NothingChosen(option="columns")
    named_once(settings["columns"])
    return tuple(settings["columns"])


def silent_cells(cells: pa.Array, unknown: Sequence[str] = ()) -> Mask:
    """Cells that name nobody: missing, only asterisks, or a declared code of unknown."""
    said = pc.match_substring_regex(cells, r"^\*+$")
    for text in (MISSING, *unknown):
        said = pc.or_(said, pc.equal(cells, text))
    return np.asarray(said.to_numpy(zero_copy_only=False), bool)


def unknown_of(settings: Settings, group: Sequence[str]) -> tuple[str, ...]:
    """The codes of unknown of columns whose identifiers are replaced together."""
    return tuple(dict.fromkeys(code for name in group for code in unknown_in(settings, name)))


def replaced(given: Given, groups: Sequence[Sequence[str]], settings: Settings, renamed: Renaming) -> Replaced:
    """New texts for the identifiers of groups of columns; one identifier, one text throughout its group."""
    columns: dict[str, pa.Array] = {}
    pairs: dict[str, tuple[pa.Array, pa.Array]] = {}
    distinct = 0
    for group in groups:
        known = identifiers([given.columns[name] for name in group], unknown_of(settings, group))
        texts = renamed(known, group)
        distinct += len(known)
        for name in group:
            columns[name], used = _looked_up(given.columns[name], known, texts)
            pairs[name] = (known.filter(used), texts.filter(used))
    return Replaced(columns, pairs, distinct)


def identifiers(columns: Sequence[pa.Array], unknown: Sequence[str]) -> pa.Array:
    """The distinct identifiers of some columns, in code-point order."""
    found = pa.chunked_array([column.unique() for column in columns], pa.large_string()).unique()
    named = found.filter(pa.array(~silent_cells(found, unknown)))
    return named.take(pc.sort_indices(named))


def _looked_up(cells: pa.Array, known: pa.Array, texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The cells with their new texts, and which identifiers stand in them."""
    place = pc.index_in(cells, value_set=known)
    used = np.zeros(len(known), bool)
    used[place.drop_null().to_numpy()] = True
    return pc.coalesce(texts.take(place), cells), pa.array(used)
