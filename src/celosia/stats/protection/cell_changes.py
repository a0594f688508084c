"""What earlier publications forbid of a version's cells, one by one.

Knows versions and what was published of their cells before. Ignores protection and databases. The change of a cell
between two publications may not be of 1 to k-1 persons or rows; and rows, sums or means that changed need k persons
more or fewer, or they would disclose what one of them did.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.stats.declaration.declaration import StatsTable
from celosia.stats.protection.version import EarlierPublication, Key, Version, amounts, history_keys
from celosia.tables.grid import Flags, Values


def earlier_values(keys: Sequence[Key], earlier: EarlierPublication, measure: str) -> NDArray[np.float64]:
    """What an earlier publication showed of a measure, cell by cell; not a number where it showed nothing."""
    return np.array([earlier.values.get((measure, key), np.nan) for key in keys], np.float64)


def persons_measure(table: StatsTable) -> str | None:
    """The measure that counts persons, if the table shows one."""
    return next((measure.name for measure in table.measures if measure.kind == "persons"), None)


def close_to_earlier(version: Version, k: int) -> tuple[Flags, Values]:
    """Cells that an earlier publication forbids, and the persons published then (-1 where none were).

    The difference between two publications of a cell may not be of 1 to k-1 persons or rows, in either direction; and
    a sum or mean that changed needs k persons more or fewer, or it would disclose what one of them did.
    """
    size = len(version.cells.persons)
    flags, before = np.zeros(size, bool), np.full(size, -1, np.int64)
    if not version.earlier:
        return flags, before
    name = persons_measure(version.table) or ""
    now, keys = {"persons": version.cells.persons, "rows": version.cells.rows}, history_keys(version)
    for earlier in version.earlier:
        for measure in (measure for measure in version.table.measures if measure.kind in now):
            values = earlier_values(keys, earlier, measure.name)
            change = np.abs(now[measure.kind] - np.trunc(values))
            close = (change > 0) & (change < min(k, earlier.k))
            if measure.kind == "rows":
                came = np.abs(version.cells.persons - earlier_values(keys, earlier, name))
                close |= (change > 0) & (came < min(k, earlier.k))
            flags |= close
            if measure.kind == "persons":
                before[close] = values[close].astype(np.int64)
    return flags | _sums_close_to_earlier(version, k), before


def already_published(version: Version, k: int) -> Flags:
    """Cells published before for the readers of this k, with as many persons as there are now."""
    flags = np.zeros(len(version.cells.persons), bool)
    name = persons_measure(version.table)
    seen = [earlier for earlier in version.earlier if name and earlier.k >= k]
    keys = history_keys(version) if seen else []
    for earlier in seen:
        flags |= earlier_values(keys, earlier, str(name)) == version.cells.persons
    return flags & version.cells.offered


def _sums_close_to_earlier(version: Version, k: int) -> Flags:
    """Cells whose sum or mean changed since an earlier publication while fewer than k persons came or went."""
    persons, keys = version.cells.persons, history_keys(version)
    flags = np.zeros(len(persons), bool)
    name = persons_measure(version.table) or ""
    for measure in version.table.measures:
        if measure.kind not in ("sum", "mean") or measure.name not in version.cells.sums:
            continue
        values = amounts(version, measure)
        for earlier in version.earlier:
            published, before = (earlier_values(keys, earlier, column) for column in (measure.name, name))
            changed = ~np.isnan(published) & ~np.isclose(published, values, rtol=1e-12, atol=0)
            came_or_went = np.abs(persons - np.trunc(np.where(np.isnan(before), persons, before)))
            flags |= changed & (came_or_went < min(k, earlier.k))
    return flags
