"""Sums of hidden cells that two publications disclose: a total less its published parts, then and now.

Knows what was published of each cell before, what is shown now and true values. Ignores where figures come from. The
change of such a sum is known to every reader of both; what it may not be is said by the caller. Of the cells from which
it follows, the cheapest that changed is named, so that its change is added to theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.tables.grid import Cells, Flags, Grid

Known = NDArray[np.float64]  # per cell what readers have; not a number where they have nothing
IsSmall = Callable[[int, Cells, float], bool]  # relation, some of its parts, and the change of their sum


@dataclass(frozen=True, slots=True)
class MeasureChange:
    """What readers of two publications have of one measure, cell by cell."""

    grid: Grid
    before: Known
    now: Known

    def of(self, relation: int, rest: Cells) -> float:
        """The change of the sum of some parts of a relation; not a number where it does not follow."""
        if not self.grid.additive[relation]:
            return float("nan")
        whole, parts = self.grid.relation(relation)
        return _sum(whole, parts, rest, self.now) - _sum(whole, parts, rest, self.before)


def remainders_to_withhold(change: MeasureChange, is_small: IsSmall) -> Flags:
    """Published cells to withhold so that no sum of hidden cells is seen to change by too little."""
    more = np.zeros(change.grid.size, bool)
    for number in np.flatnonzero(change.grid.additive).tolist():
        for rest in _unknown_parts(change, number):
            moved = change.of(number, rest)
            if moved and not np.isnan(moved) and is_small(number, rest, moved):
                more[_cell_to_withhold(change, number, rest)] = True
    return more


def _unknown_parts(change: MeasureChange, relation: int) -> Iterator[Cells]:
    """The parts unknown before, those unknown now, and both together, each once."""
    _, parts = change.grid.relation(relation)
    then, later = np.isnan(change.before[parts]), np.isnan(change.now[parts])
    groups = {flags.tobytes(): flags for flags in (then, later, then | later)}
    return (parts[flags] for flags in groups.values() if flags.any())


def _sum(whole: int, parts: Cells, rest: Cells, known: Known) -> float:
    """The sum of some parts where it follows, from themselves or from the whole and the others; else not a number."""
    own = float(known[rest].sum())
    if not np.isnan(own):
        return own
    return float(known[whole] - known[np.setdiff1d(parts, rest)].sum())


def _cell_to_withhold(change: MeasureChange, relation: int, rest: Cells) -> int:
    """The cheapest shown part that changed; where none did, the whole or, if it is not shown, a shown part."""
    whole, parts = change.grid.relation(relation)
    among = np.setdiff1d(parts, rest) if np.isnan(change.now[rest]).any() else rest
    shown = among[~np.isnan(change.now[among])]
    moved = shown[change.now[shown] != change.before[shown]]
    if not len(moved) and (among is not rest or not len(shown)):
        return whole
    moved = moved if len(moved) else shown
    return int(moved[np.argmin(change.grid.cost[moved])])
