"""The rows of a STATS table: categories as text, measures as numbers, NULL where hidden, and the status; and rounding.

Knows a protected version. Ignores databases. Percentages are made from published cells only. The status does not say
why a row is hidden. Rows are in a fixed order: inner cells first, then margins, each by its categories. A rounded
table hides nothing: every count is rounded at random with the project's secret key, the same cell with the same count
alike in every table and run, so that averaging over releases discloses nothing more; margins are rounded by
themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.stats.declaration.declaration import PUBLISHED, STATE, SUPPRESSED, TOTAL, Measure, StatsTable
from celosia.stats.protection.version import Key, ProtectedVersion, Version, amounts, history_keys, keys_of, linkable
from celosia.tables.rounding import round_randomly

COUNTS = ("persons", "rows")
_DECIMALS = 2  # of a percentage

Column = Sequence[int | float | None]


def stats_rows(protected: ProtectedVersion) -> pa.Table:
    """The table as it is written."""
    version, table = protected.version, protected.version.table
    shown = _published_cells(protected)
    keys = keys_of(version.cells)
    order = _order(keys, version.cells.offered)
    columns: dict[str, pa.Array] = {
        name: pa.array([keys[i][at] for i in order], pa.string()) for at, name in enumerate(table.dimension_names)
    }
    for measure in table.measures:
        values = measure_values(version, measure, shown)
        kind = pa.int64() if measure.kind in COUNTS else pa.float64()
        columns[measure.name] = pa.array([values[i] if shown[i] else None for i in order], kind)
    columns[STATE] = pa.array([PUBLISHED if shown[i] else SUPPRESSED for i in order], pa.string())
    return pa.table(columns)


def history_of(protected: ProtectedVersion) -> dict[tuple[str, Key], int | float | None]:
    """What is published, for the comparison with later runs: each measure of each cell, None where hidden."""
    version = protected.version
    shown = _published_cells(protected)
    keys = history_keys(version)
    history: dict[tuple[str, Key], int | float | None] = {}
    for measure in version.table.measures:
        values = measure_values(version, measure, shown)
        history |= {(measure.name, keys[i]): None for i in np.flatnonzero(protected.hidden).tolist()}
        history |= {(measure.name, keys[i]): v for i in np.flatnonzero(shown).tolist() if (v := values[i]) is not None}
    return history


def measure_values(version: Version, measure: Measure, shown: NDArray[np.bool_]) -> Column:
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
    """Shares of published cells in published wholes; None for any other."""
    keys = keys_of(version.cells)
    position = {key: i for i, key in enumerate(keys) if shown[i]}
    wholes = [position.get(base_cell_of(version.table, measure, key)) for key in keys]
    persons = version.cells.persons
    return [
        None if whole is None or not persons[whole] else round(100 * int(persons[i]) / int(persons[whole]), _DECIMALS)
        for i, whole in enumerate(wholes)
    ]


def base_cell_of(table: StatsTable, measure: Measure, key: Key) -> Key:
    """The cell that a percentage is of: everything, or everything along one dimension."""
    if measure.of in (None, TOTAL):
        return (None,) * len(key)
    return tuple(None if name == measure.of else word for name, word in zip(table.dimension_names, key, strict=True))


def _published_cells(protected: ProtectedVersion) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = (protected.status == 0) & protected.version.cells.offered
    return flags


def _order(keys: Sequence[Key], offered: NDArray[np.bool_]) -> list[int]:
    def place(i: int) -> tuple[Any, ...]:
        totals = tuple(word is None for word in keys[i])
        return sum(totals), totals, tuple(word or "" for word in keys[i])

    return sorted((int(i) for i in np.flatnonzero(offered)), key=place)


def round_version(version: Version, key: bytes) -> ProtectedVersion:
    """The version with its counts rounded to the table's base, and every cell published."""
    cells = linkable(version)
    names = [_name(cells.names, key_of_cell) for key_of_cell in keys_of(cells)]
    base = version.table.base or 1
    persons = round_randomly(cells.persons, base, key, names)
    rows = round_randomly(cells.rows, base, key, [f"rows\x1f{name}" for name in names])
    shown = replace(version.cells, persons=persons, rows=rows)
    size = len(persons)
    return ProtectedVersion(replace(version, cells=shown), np.zeros(size, np.int8), np.full(size, None, object))


def _name(dimensions: tuple[str, ...], labels: tuple[str | None, ...]) -> str:
    """The name of a cell by its categories: the same in every table that has it."""
    pairs = sorted(f"{name}\x1e{label}" for name, label in zip(dimensions, labels, strict=True) if label is not None)
    return "\x1f".join(pairs)
