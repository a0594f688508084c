"""Local cell suppression: as few cells as it can become `*` until no combination of the columns is rare.

Knows combinations and their rows. `combinations`: every published combination, with `*` a value of its own, is
shared by at least k rows; rows that hide every column are one of them. `rare`: each column by itself, the values of
fewer than k rows are masked and missing cells stay. Never the reading in which a masked cell matches anything.
The search is the solver's; good, not proved least. Source: MINSAL, Definiciones; ATENEA guide 4.2.4 d.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.model.errors import UnknownVariable
from celosia.model.parameters import Many, Text, Whole
from celosia.risk.criteria import KAnonymity
from celosia.solver.cells import suppress_cells
from celosia.solver.published import ClassCounter
from celosia.techniques._columns import encode_values, mask_cells
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._identifiers import chosen_columns, silent_cells
from celosia.techniques._parameters import COLUMNS
from celosia.techniques.errors import TooFewRows
from celosia.tuples.table import Tuples, group_codes

NAME = "suppress_cells"
_HEAVIEST = 512.0  # how much more the last column of the order weighs than the first
Mask = NDArray[np.bool_]


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    find = _rare_values if settings["mode"] == "rare" else _rare_combinations
    masks, notes = find(given, settings)
    columns = {name: mask_cells(given.columns[name], mask) for name, mask in masks.items()}
    cells = {name: int(given.rows[mask].sum()) for name, mask in masks.items()}
    return StepOutcome(
        columns=columns,
        preserved=("rows", "other_values"),
        notes={"cells": sum(cells.values()), "cells_by_column": cells, **notes},
    )


def _rare_combinations(given: StepInput, settings: Settings) -> tuple[dict[str, Mask], dict[str, int]]:
    names, k = settings["columns"], settings["k"]
    importance = _importance(names, settings["order"])
    if given.lines == 0:
        return {name: np.zeros(0, bool) for name in names}, {"classes": 0, "fully_masked_rows": 0}
    tuples, label = _tuples(given, names)
    result = suppress_cells(ClassCounter(tuples, {}), [KAnonymity(k=k, unit="rows")], importance)
    if result is None:
        raise TooFewRows(technique=NAME, rows=tuples.n_rows, needed=k)
    masks = {name: result.masked[label, position] for position, name in enumerate(names)}
    return masks, {"classes": result.classes, "fully_masked_rows": result.fully_masked_rows}


def _importance(names: tuple[str, ...], order: tuple[str, ...]) -> list[float]:
    """Weight of a cell of each column: doubles from one column of the order to the next; the others weigh most."""
    for name in order:
        if name not in names:
            raise UnknownVariable(variable=name, known=", ".join(names))
    steps = max(len(order), 1)
    factor = min(2.0, _HEAVIEST ** (1 / steps))
    position_of = {name: position for position, name in enumerate(order)}
    return [factor ** position_of.get(name, len(order)) for name in names]


def _tuples(given: StepInput, names: tuple[str, ...]) -> tuple[Tuples, NDArray[np.int64]]:
    """The combinations of the columns in canonical order, and the combination of each line."""
    columns = [encode_values(given.columns[name]) for name in names]
    codes = np.stack([column for column, _ in columns], axis=1).astype(np.int32)
    first, label = group_codes(codes, [size for _, size in columns])
    rows = np.zeros(len(first), np.int64)
    np.add.at(rows, label, given.rows)
    vocabularies = tuple(tuple(sorted(given.columns[name].unique().to_pylist())) for name in names)
    return Tuples(names, vocabularies, codes[first], rows), label


def _rare_values(given: StepInput, settings: Settings) -> tuple[dict[str, Mask], dict[str, Mapping[str, int]]]:
    masks, values = {}, {}
    for name in settings["columns"]:
        codes, size = encode_values(given.columns[name])
        rows = np.zeros(size, np.int64)
        np.add.at(rows, codes, given.rows)
        mask = (rows < settings["k"])[codes] & ~silent_cells(given.columns[name]) if size else np.zeros(0, bool)
        masks[name], values[name] = mask, len(np.unique(codes[mask]))
    return masks, {"values_by_column": values}


TECHNIQUE = Technique(
    name=NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "k": Whole(default=3, minimum=2),
        "order": Many(Text(), default=()),
        "mode": Text(default="combinations", choices=("combinations", "rare")),
    },
    uses=chosen_columns,
    apply=_apply,
    refuses=("one_row",),
    norms=("M14", "M19"),
)
