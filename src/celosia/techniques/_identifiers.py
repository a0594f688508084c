"""The distinct identifiers of some columns, each replaced by one new text wherever it occurs.

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

from celosia.model.errors import NothingChosen
from celosia.model.values import MISSING
from celosia.techniques._checks import refuse_repeated_names
from celosia.techniques._columns import unknown_in
from celosia.techniques._contract import Settings, StepInput

Mask = NDArray[np.bool_]
NewTexts = Callable[[pa.Array, Sequence[str]], pa.Array]


@dataclass(frozen=True, slots=True)
class ReplacedIdentifiers:
    """The columns with their new texts, and beside each column the identifiers it had."""

    columns: dict[str, pa.Array]
    pairs: dict[str, tuple[pa.Array, pa.Array]]  # per column: identifier, its new text
    distinct: int


def chosen_columns(settings: Settings) -> tuple[str, ...]:
    """`uses` of a technique over `columns` alone: at least one, each named once."""
    if not settings["columns"]:
        raise NothingChosen(option="columns")
    refuse_repeated_names(settings["columns"])
    return tuple(settings["columns"])


def silent_cells(cells: pa.Array, unknown: Sequence[str] = ()) -> Mask:
    """Cells that name nobody: missing, only asterisks, or a declared code of unknown."""
    silent = pc.match_substring_regex(cells, r"^\*+$")
    for text in (MISSING, *unknown):
        silent = pc.or_(silent, pc.equal(cells, text))
    return np.asarray(silent.to_numpy(zero_copy_only=False), bool)


def unknown_of(settings: Settings, group: Sequence[str]) -> tuple[str, ...]:
    """The codes of unknown of columns whose identifiers are replaced together."""
    return tuple(dict.fromkeys(code for name in group for code in unknown_in(settings, name)))


def replace_identifiers(
    given: StepInput, groups: Sequence[Sequence[str]], settings: Settings, new_texts: NewTexts
) -> ReplacedIdentifiers:
    """New texts for the identifiers of groups of columns; one identifier, one text throughout its group."""
    columns: dict[str, pa.Array] = {}
    pairs: dict[str, tuple[pa.Array, pa.Array]] = {}
    distinct = 0
    for group in groups:
        known = identifiers([given.columns[name] for name in group], unknown_of(settings, group))
        texts = new_texts(known, group)
        distinct += len(known)
        for name in group:
            columns[name], used = _replace_known_identifiers(given.columns[name], known, texts)
            pairs[name] = (known.filter(used), texts.filter(used))
    return ReplacedIdentifiers(columns, pairs, distinct)


def identifiers(columns: Sequence[pa.Array], unknown: Sequence[str]) -> pa.Array:
    """The distinct identifiers of some columns, in code-point order."""
    values = pa.chunked_array([column.unique() for column in columns], pa.large_string()).unique()
    names = values.filter(pa.array(~silent_cells(values, unknown)))
    return names.take(pc.sort_indices(names))


def _replace_known_identifiers(cells: pa.Array, known: pa.Array, texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The cells with their new texts, and which identifiers occur in them."""
    index = pc.index_in(cells, value_set=known)
    used = np.zeros(len(known), bool)
    used[index.drop_null().to_numpy()] = True
    return pc.coalesce(texts.take(index), cells), pa.array(used)
