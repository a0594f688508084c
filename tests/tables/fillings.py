"""Small grids, and the slow referee of the audit: every filling in whole numbers that the public cannot rule out.

Shares no code with the room: relations are read one by one and fillings are listed, not solved for.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.tables.grid import Grid

MOST = 60_000  # fillings held at once


def numbers_of(shape: Sequence[int]) -> dict[tuple[int, ...], int]:
    """Every cell of a table with all its margins, by coordinates; -1 is the total of a dimension."""
    return {at: number for number, at in enumerate(itertools.product(*([*range(size), -1] for size in shape)))}


def grid_from(
    values: dict[tuple[int, ...], int],
    shape: Sequence[int],
    additive: bool | None = None,
    offered: Sequence[bool] | None = None,
    cost: Sequence[int] | None = None,
) -> Grid:
    """A grid over a table with all margins; `additive` None decides for each kind of relation from the values."""
    numbers = numbers_of(shape)
    totals, starts, parts, kinds = list[int](), [0], list[int](), list[tuple[object, ...]]()
    for dimension, at in itertools.product(range(len(shape)), numbers):
        if at[dimension] == -1:
            totals.append(numbers[at])
            parts += [numbers[(*at[:dimension], one, *at[dimension + 1 :])] for one in range(shape[dimension])]
            starts.append(len(parts))
            kinds.append((dimension, tuple(code == -1 for code in at)))
    true = np.array([values[at] for at in numbers], np.int64)
    sums = np.array([true[parts[starts[one] : starts[one + 1]]].sum() for one in range(len(totals))])
    exact = dict.fromkeys(kinds, True)
    for kind, same in zip(kinds, sums == true[totals], strict=True):
        exact[kind] = exact[kind] and bool(same)
    adds = [exact[kind] for kind in kinds] if additive is None else [additive] * len(totals)
    return Grid(
        true,
        np.array(totals, np.int64),
        np.array(starts, np.int64),
        np.array(parts, np.int64),
        np.array(adds, np.bool_),
        true.copy() if cost is None else np.array(cost, np.int64),
        np.ones(len(true), np.bool_) if offered is None else np.array(offered, np.bool_),
    )


def table(inner: NDArray[np.int64] | Sequence[object], **options: object) -> Grid:
    """The grid of a table in which every person stands in one cell."""
    counts = np.asarray(inner, np.int64)
    values = {
        at: int(counts[tuple(slice(None) if code == -1 else code for code in at)].sum())
        for at in numbers_of(counts.shape)
    }
    return grid_from(values, counts.shape, **options)  # type: ignore[arg-type]


def table_of_persons(present: NDArray[np.bool_], **options: object) -> Grid:
    """The grid of distinct persons: `present` says for each person in which inner cells they stand."""
    shape = present.shape[1:]
    values = {}
    for at in numbers_of(shape):
        chosen = present[(slice(None), *(slice(None) if code == -1 else code for code in at))]
        values[at] = int(chosen.reshape(len(present), -1).any(axis=1).sum())
    return grid_from(values, shape, **options)  # type: ignore[arg-type]


def fillings(
    grid: Grid, unknown: NDArray[np.bool_], low: NDArray[np.float64], high: NDArray[np.float64], ceiling: int
) -> NDArray[np.int64] | None:
    """All possible fillings, one per line, wholes before their parts, no cell above `ceiling`; None if too many."""
    found = np.where(unknown, 0, grid.values)[None, :].astype(np.int64)
    settled = ~unknown
    for cell in sorted(np.flatnonzero(unknown), key=lambda cell: -int((grid.totals == cell).sum())):
        choices = np.arange(int(low[cell]), int(min(high[cell], ceiling)) + 1)
        if len(found) * len(choices) > MOST:
            return None
        found = np.repeat(found, len(choices), axis=0)
        found[:, cell] = np.tile(choices, len(found) // max(len(choices), 1))
        settled[cell] = True
        for relation in range(len(grid.totals)):
            if cell in (grid.totals[relation], *grid.relation(relation)[1]):
                found = found[_possible(grid, relation, found, settled)]
    return found


def _possible(grid: Grid, relation: int, found: NDArray[np.int64], settled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    whole, parts = grid.relation(relation)
    if not settled[whole]:
        return np.ones(len(found), np.bool_)
    known = parts[settled[parts]]
    total, so_far = found[:, whole], found[:, known].sum(axis=1)
    complete = len(known) == len(parts)
    if grid.additive[relation]:
        return (so_far == total) if complete else (so_far <= total)
    fits = (found[:, known] <= total[:, None]).all(axis=1)
    return fits & (total <= so_far) if complete else fits
