"""The cheapest cells to hide so that one given cell can move.

Knows the grid with every cell that may be hidden taken as unknown, and what hiding each costs. Ignores who asks. A
displacement that moves the cell and costs least (cost of a cell times how far it moves) tells what to hide: the
published cells in it. When it is in whole numbers, hiding them makes the cell safe beyond doubt. It is the answer of a
linear problem; in a table of two variables that is too large to solve one for each cell, it is a cheapest cycle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from celosia.tables._bounds import Bounds, Reals
from celosia.tables._grid import Cells, Flags, Grid
from celosia.tables._network import Network, network_of
from celosia.tables._system import Outcome, System, best, neighbourhood, shortest, system_of, tightened, whole_move

_NEAR = 3000  # cells around one in which a displacement is sought first
_NODES = 20
_BRANCHED = 400  # cells; branching over more of them takes too long to be worth it
_DEARER = (0.0, 0.3, 3.0)  # the more every step costs, the shorter the displacement and the likelier in whole numbers
_MOVED = 1e-6
_LITTLE = 1e-3  # price of moving a cell that is hidden already: displacements stay short


@dataclass(frozen=True, slots=True)
class Way:
    """Cells to hide, and the displacement in whole numbers that they allow, if it is one: cells and how far."""

    cells: Cells
    moved: Cells
    move: Reals


@dataclass
class Shield:
    """Prices of moving cells; hiding makes a cell nearly free."""

    system: System
    price: Reals  # per column
    cost: Reals  # per column: of hiding it, 0 if hidden
    whole: bool
    left: Callable[[], float | None]  # seconds that remain
    usual: float  # cost of hiding a cell
    network: Network | None  # of a large table of counts whose cells are all arcs

    def conceal(self, cells: Cells) -> None:
        """These are hidden now."""
        columns = np.searchsorted(self.system.cells, cells)
        self.price[columns] = _LITTLE
        self.cost[columns] = 0.0

    def cheapest(self, cell: int, width: float, spread: tuple[float, float]) -> Way | None:
        """What to hide so that a cell can move; None if nothing helps. `spread`: the room above and below it has.

        A count gets one value more, in the cheaper direction; a sum needs the whole width on both sides.
        """
        steps = (spread[0] + 1, spread[1] + 1) if self.whole else (width, width)
        found = list[Way]()
        for sense, step in zip((1.0, -1.0), steps, strict=True):
            way = self._way(cell, sense, step)
            found += [] if way is None else [way]
            if self.whole and way is not None and len(way.moved) and not len(way.cells):
                return way  # nothing is to be hidden: the other direction cannot be cheaper
        if self.whole:
            return min(found, key=self._rank, default=None)
        if len(found) < 2:
            return None
        return Way(np.union1d(found[0].cells, found[1].cells), found[0].moved, found[0].move)

    def stuck(self, cells: Flags) -> int:
        """How many of these no cell can help, as far as that is known beforehand."""
        return 0 if self.network is None else int((cells & ~self._moving(self.network, cells)).sum())

    def free(self, cells: Flags) -> Flags:
        """Which of these can move by one already, as far as that is known without solving."""
        if self.network is None:
            return np.zeros(len(cells), np.bool_)
        return self._moving(self._hidden(self.network), cells)

    def spread(self, cell: int, most: int) -> tuple[float, float] | None:
        """How far up and down a cell can move already, up to a limit; None where that is not known without solving."""
        if self.network is None:
            return None
        place = int(np.searchsorted(self.system.cells, cell))
        above, below = (int(self._hidden(self.network).push(place, way)[place]) for way in (most, -most))
        return float(above), float(-below)

    def _hidden(self, network: Network) -> Network:
        """Only what is hidden already may move."""
        return replace(network, able=network.able & (self.cost == 0))

    def _moving(self, network: Network, cells: Flags) -> Flags:
        """Cells that lie on a cycle with one of these; whichever of these lies on one is among them."""
        flags = np.zeros(len(cells), np.bool_)
        flags[self.system.cells[network.cycles(cells[self.system.cells])[1]]] = True
        return flags

    def _rank(self, way: Way) -> tuple[bool, float, int, list[int]]:
        columns = np.searchsorted(self.system.cells, way.cells)
        return not len(way.moved), float(self.cost[columns].sum()), len(way.cells), way.cells.tolist()

    def _way(self, cell: int, sense: float, step: float) -> Way | None:
        """The cheapest displacement that takes a cell a step up or down."""
        place = int(np.searchsorted(self.system.cells, cell))
        if self.network is not None:
            return self._round(self.network, place, int(sense * step))
        for most in (_NEAR, self.system.size):
            everything = self.system.size <= most
            columns = np.arange(self.system.size) if everything else neighbourhood(self.system, place, most)
            part, target = self.system.part(columns), int(np.searchsorted(columns, place))
            move = self._move(part, self.price[columns], target, sense, step)
            if move is not None:
                return self._way_of(columns, move, step)
            if everything:
                break
        return None

    def _round(self, network: Network, place: int, move: int) -> Way | None:
        """Cycles along which a column moves so far: the cheapest one for each unit."""
        moved = network.push(place, move, self.price)
        columns = np.flatnonzero(moved)
        return self._way_of(columns, moved[columns].astype(np.float64), 1.0) if moved[place] == move else None

    def _way_of(self, columns: Cells, move: Reals, step: float) -> Way:
        moved = np.abs(move) > _MOVED * step
        sure = self.whole and bool((move == np.rint(move)).all())
        cells = self.system.cells[columns]
        shown = moved & sure
        return Way(cells[moved & (self.cost[columns] > 0)], cells[shown], move[shown])

    def _move(self, part: System, price: Reals, target: int, sense: float, step: float) -> Reals | None:
        unit = 1.0 if self.whole else step
        scaled, first = part.scaled(unit), None
        for dearer in _DEARER if self.whole else _DEARER[:1]:
            priced = price + dearer * self.usual
            move = shortest(scaled, priced, target, sense, (step / unit, math.inf))
            if isinstance(move, Outcome):
                return None
            found = whole_move(part, move) if self.whole else move
            if found is not None:
                return found
            first = move if first is None else first
        return None if first is None else self._in_whole_numbers(part, price, target, first)

    def _in_whole_numbers(self, part: System, price: Reals, target: int, loose: Reals) -> Reals:
        """A displacement of cells that move in the loose one or are hidden, by branching; else the loose one."""
        columns, seconds = np.flatnonzero((np.abs(loose) > _MOVED) | (price <= _LITTLE)), self.left()
        if len(columns) > _BRANCHED or seconds == 0.0:
            return loose
        narrow, place = part.part(columns), int(np.searchsorted(columns, target))
        low, high = narrow.low.copy(), narrow.high.copy()
        low[place], high[place] = (loose[target], high[place]) if loose[target] > 0 else (low[place], loose[target])
        strict = best(narrow.with_bounds(low, high), np.zeros(len(columns)), whole=True, nodes=_NODES, seconds=seconds)
        if isinstance(strict, Outcome):
            return loose
        move = np.zeros(part.size)
        move[columns] = np.rint(strict)
        return move if part.allows(move) else loose


def shield_of(
    grid: Grid, hidden: Flags, candidates: Flags, known: Bounds, whole: bool, left: Callable[[], float | None]
) -> Shield:
    """The system in which candidates may move too, at the price of hiding them; ties go to the lower number."""
    system = tightened(system_of(grid, hidden | candidates | ~grid.offered, known))
    free = ~candidates[system.cells]
    cost = np.where(free, 0.0, np.maximum(grid.cost[system.cells], 1).astype(np.float64))
    price = np.where(free, _LITTLE, cost * (1 + 1e-6 * system.cells / max(grid.size, 1)))
    usual = float(np.median(cost[~free])) if (~free).any() else 1.0
    network = network_of(system) if whole and system.size > _NEAR else None
    return Shield(system, price, cost, whole, left, usual, network if network and network.complete else None)
