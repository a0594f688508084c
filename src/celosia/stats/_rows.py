"""The rows of a STATS table: categories as text, measures as numbers, NULL where hidden, and the status.

Knows a protected version. Ignores databases. Percentages are made from published cells only. The status does not tell
why a row is hidden. Rows are in a fixed order: inner cells first, then margins, each by its categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.model.stats import PUBLISHED, STATE, SUPPRESSED, TOTAL, Measure, StatsTable
from celosia.stats._protection import Key, Protected, Version, amounts, history_keys, keys_of

COUNTS = ("persons", "rows")
_DECIMALS = 2  # of a percentage

Column = Sequence[int | float | None]


def stats_rows(found: Protected) -> pa.Table:
    """The table as it is written."""
    version, table = found.version, found.version.table
    shown = _shown(found)
    keys = keys_of(version.cells)
    order = _order(keys, version.cells.offered)
    columns: dict[str, pa.Array] = {
        name: pa.array([keys[i][at] for i in order], pa.string()) for at, name in enumerate(table.dimension_names)
    }
    for measure in table.measures:
        values = measured(version, measure, shown)
        kind = pa.int64() if measure.kind in COUNTS else pa.float64()
        columns[measure.name] = pa.array([values[i] if shown[i] else None for i in order], kind)
    columns[STATE] = pa.array([PUBLISHED if shown[i] else SUPPRESSED for i in order], pa.string())
    return pa.table(columns)


def history_of(found: Protected) -> dict[tuple[str, Key], int | float | None]:
    """What is told, for the comparison with later runs: every measure of every cell, None where it is hidden."""
    version = found.version
    shown = _shown(found)
    keys = history_keys(version)
    told: dict[tuple[str, Key], int | float | None] = {}
    for measure in version.table.measures:
        values = measured(version, measure, shown)
        told |= {(measure.name, keys[i]): None for i in np.flatnonzero(found.hidden).tolist()}
        told |= {(measure.name, keys[i]): v for i in np.flatnonzero(shown).tolist() if (v := values[i]) is not None}
    return told


def measured(version: Version, measure: Measure, shown: NDArray[np.bool_]) -> Column:
    """The values of a measure, cell by cell; None where there is none to show."""
    cells = version.cells
    if measure.kind == "persons":
        return [int(value) for value in cells.persons]
    if measure.kind == "rows":
        return [int(value) for value in cells.rows]
    if measure.kind == "percent":
        return _percentages(version, measure, shown)
    return [None if np.isnan(value) else float(value) for value in amounts(version, measure)]


def _percentages(version: Version, measure: Measure, shown: NDArray[np.bool_]) -> Column:
    """Shares of published cells in published wholes; anything else is not told."""
    keys = keys_of(version.cells)
    place = {key: i for i, key in enumerate(keys) if shown[i]}
    wholes = [place.get(whole_of(version.table, measure, key)) for key in keys]
    persons = version.cells.persons
    return [
        None if whole is None or not persons[whole] else round(100 * int(persons[i]) / int(persons[whole]), _DECIMALS)
        for i, whole in enumerate(wholes)
    ]


def whole_of(table: StatsTable, measure: Measure, key: Key) -> Key:
    """The cell that a percentage is of: everything, or everything along one dimension."""
    if measure.of in (None, TOTAL):
        return (None,) * len(key)
    return tuple(None if name == measure.of else word for name, word in zip(table.dimension_names, key, strict=True))


def _shown(found: Protected) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = (found.status == 0) & found.version.cells.offered
    return flags


def _order(keys: Sequence[Key], offered: NDArray[np.bool_]) -> list[int]:
    def place(i: int) -> tuple[Any, ...]:
        kept = tuple(word is None for word in keys[i])
        return sum(kept), kept, tuple(word or "" for word in keys[i])

    return sorted((int(i) for i in np.flatnonzero(offered)), key=place)
