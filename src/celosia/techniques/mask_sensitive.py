"""Masking of the sensitive value in equivalence classes that show too few of them, when l cannot be reached.

Knows classes (rows with the same values of the columns) and the values each shows. Masked values are no values and a
class that shows nothing is safe; missing is one value unless `empty_is_value` is off (REQUIREMENTS X3, X4). A masked
column may still be read from a dependent column: name both, with `together`.
Source: MINSAL, Definiciones, L-diversidad.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.model.errors import NothingChosen
from celosia.model.parameters import Flag, Many, Text, Whole
from celosia.model.values import MISSING, SUPPRESSED
from celosia.techniques._checks import refuse_repeated_names
from celosia.techniques._columns import encode_values, mask_cells, strata_of
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._identifiers import chosen_columns, silent_cells
from celosia.techniques._parameters import COLUMNS
from celosia.techniques.errors import SensitiveIsQuasi

Mask = NDArray[np.bool_]


def _uses(settings: Settings) -> tuple[str, ...]:
    for name in settings["sensitive"]:
        if name in settings["columns"]:
            raise SensitiveIsQuasi(variable=name)
    if not settings["sensitive"]:
        raise NothingChosen(option="sensitive")
    refuse_repeated_names(settings["sensitive"])
    return (*chosen_columns(settings), *settings["sensitive"])


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    label, count = strata_of(given, settings["columns"])
    poor = {name: _poor_classes(given.columns[name], label, count, settings) for name in settings["sensitive"]}
    if settings["together"]:
        any_poor: Mask = np.logical_or.reduce(list(poor.values()))
        poor = {name: any_poor for name in poor}  # noqa: C420 - typed, not Optional
    columns, values, classes = {}, {}, {}
    for name, fails in poor.items():
        cells = given.columns[name]
        mask = fails[label] & ~_equal(cells, SUPPRESSED)
        columns[name] = mask_cells(cells, mask)
        values[name], classes[name] = int(given.rows[mask].sum()), int(fails.sum())
    return StepOutcome(
        columns=columns,
        preserved=("rows", "class_sizes", "other_values"),
        notes={"classes": count, "classes_masked": classes, "values_masked": values},
    )


def _poor_classes(cells: pa.Array, label: NDArray[np.int64], count: int, settings: Settings) -> Mask:
    """Classes that show something, and fewer than l different values."""
    missing = _equal(cells, MISSING)
    visible = missing | ~silent_cells(cells)
    shows = np.bincount(label[visible], minlength=count) > 0
    counted = visible if settings["empty_is_value"] else visible & ~missing
    codes, size = encode_values(cells)
    pairs = np.unique(label[counted] * max(size, 1) + codes[counted])
    distinct = np.bincount(pairs // max(size, 1), minlength=count)
    return np.asarray(shows & (distinct < settings["l"]), bool)


def _equal(cells: pa.Array, text: str) -> Mask:
    return np.asarray(pc.equal(cells, text).to_numpy(zero_copy_only=False), bool)


TECHNIQUE = Technique(
    name="mask_sensitive",
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "sensitive": Many(Text(), required=True),
        "l": Whole(default=2, minimum=2),
        "empty_is_value": Flag(default=True),
        "together": Flag(default=False),
    },
    uses=_uses,
    apply=_apply,
    norms=("M15",),
)
