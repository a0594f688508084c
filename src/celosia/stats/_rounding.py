"""Tables whose counts are rounded at random instead of hidden: nothing is suppressed, every figure is blurred.

Knows a version and the project's secret key. The same cell with the same count is rounded alike in every table and
every run, so that averaging over releases tells nothing more. Margins are rounded by themselves and need not add up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from celosia.stats._protection import Protected, Version, keys_of, linkable
from celosia.tables.rounding import round_randomly


def rounded(version: Version, key: bytes) -> Protected:
    """The version with its counts rounded to the table's base, and every cell published."""
    cells = linkable(version)
    names = [_name(cells.names, key_of_cell) for key_of_cell in keys_of(cells)]
    base = version.table.base or 1
    persons = round_randomly(cells.persons, base, key, names)
    rows = round_randomly(cells.rows, base, key, [f"rows\x1f{name}" for name in names])
    shown = replace(version.cells, persons=persons, rows=rows)
    size = len(persons)
    return Protected(replace(version, cells=shown), np.zeros(size, np.int8), np.full(size, None, object))


def _name(dimensions: tuple[str, ...], labels: tuple[str | None, ...]) -> str:
    """A cell by what it tells apart: the same in every table that has it."""
    told = sorted(f"{name}\x1e{label}" for name, label in zip(dimensions, labels, strict=True) if label is not None)
    return "\x1f".join(told)
