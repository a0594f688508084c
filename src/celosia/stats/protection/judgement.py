"""What counts as learnt of a hidden cell: one judgement, for the run before it writes and for the check afterwards.

Knows a grid, which of its cells are hidden and what every reader knows of those. Ignores databases and which cells were
hidden for themselves: STATS does not say, so every hidden cell is judged alike. Of persons, a cell counts that follows
exactly and is below k, or that keeps too few possible values of which one is below k: what is at least k was hidden to
protect another. Of rows, sums and means any hidden cell that follows exactly counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from celosia.tables.audit import audit
from celosia.tables.cells import CellTable
from celosia.tables.errors import TableUnprotectable
from celosia.tables.exact_disclosure import complete_suppression, recoverable
from celosia.tables.grid import Bounds, Cells, Flags, Grid
from celosia.tables.linking import grid_of


@dataclass(frozen=True, slots=True)
class Judgement:
    """Hidden cells known exactly, nearly known, and not settled in the time."""

    exact: Flags
    narrow: Flags
    unproven: Flags


def judge_amounts(grid: Grid, hidden: Flags) -> Judgement:
    """Rows, sums and means: whatever follows exactly, however large."""
    nothing = np.zeros(grid.size, bool)
    return Judgement(recoverable(grid, hidden) & hidden, nothing, nothing)


def judge_persons(
    grid: Grid, hidden: Flags, zeros: bool, k: int, width: int, budget_seconds: float | None = None
) -> Judgement:
    """Persons: what is below k, or may be, and has too few possible values. `zeros`: empty cells are hidden too."""
    exact = recoverable(grid, hidden) & hidden & (grid.values < k)
    known = prior_bounds(grid.size, hidden, zeros)
    result = audit(grid, hidden, known, width=width, budget_seconds=budget_seconds)
    small = result.disclosed & hidden & ~exact & (result.low < k)
    return Judgement(exact, small & result.proven, small & ~result.proven)


def prior_bounds(size: int, hidden: Flags, zeros: bool) -> Bounds:
    """What every reader knows of a hidden cell: it has persons, unless empty cells are hidden too."""
    return Bounds(np.where(hidden & (not zeros), 1.0, 0.0), np.full(size, np.inf))


def hide_what_follows(tables: Sequence[CellTable], own: Sequence[Cells], hidden: Flags, fixed: Flags) -> Flags:
    """The hidden cells and those to hide beside them so that of rows or amounts no hidden one follows exactly.

    `tables` show the same measure, `own` are the numbers of their cells in the grid of all tables. Where nothing is
    left to hide the cells stay as they are: the check will name what follows.
    """
    grid, numbers = grid_of(tables, additive=True)
    pairs = [(cells[: len(mine)], mine) for cells, mine in zip(numbers, own, strict=True)]
    concealed, unhidable = np.zeros(grid.size, bool), np.zeros(grid.size, bool)
    for cells, mine in pairs:
        concealed[cells], unhidable[cells] = hidden[mine], fixed[mine]
    if not judge_amounts(grid, concealed).exact.any():
        return hidden
    try:
        enough = complete_suppression(grid, concealed & grid.offered, None, unhidable) & grid.offered
    except TableUnprotectable:
        return hidden
    more = hidden.copy()
    for cells, mine in pairs:
        more[mine] |= enough[cells]
    return more
