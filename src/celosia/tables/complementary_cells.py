"""Complementary cells: the cheapest to hide so that a given cell can take another value.

Knows the grid with every cell that may be hidden taken as unknown, and the cost of hiding each. Ignores which cells
are sensitive. The displacement of least cost (cost of a cell times how far it moves) that moves the cell gives what to
hide: the published cells in it. When it is in whole numbers, hiding them makes the cell safe beyond doubt. It is the
answer of a linear problem; in a table of two variables that is too large to solve one for each cell, it is a cheapest
cycle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from celosia.tables.grid import Bounds, Cells, Flags, Grid, Reals
from celosia.tables.network import Network, network_of
from celosia.tables.system import (
    Outcome,
    System,
    best_displacement,
    integer_displacement,
    neighbourhood,
    shortest_displacement,
    system_of,
    tighten,
)

_NEAR = 3000  # cells around one in which a displacement is sought first
_NODES = 20
_BRANCHED = 400  # cells; branching over more of them takes too long to be worth it
_SURCHARGES = (0.0, 0.3, 3.0)  # added to every step: displacements become shorter and likelier in whole numbers
_MOVED = 1e-6
_LITTLE = 1e-3  # price of moving a cell that is hidden already: displacements stay short


@dataclass(frozen=True, slots=True)
class Complement:
    """Cells to hide, and the displacement that hiding them allows if it is in whole numbers: cells and moves."""

    cells: Cells
    moved: Cells
    move: Reals


@dataclass
class ComplementSearch:
    """Prices of moving each cell; those already hidden are nearly free."""

    system: System
    price: Reals  # per column
    cost: Reals  # per column: of hiding it, 0 if hidden
    whole: bool
    seconds_left: Callable[[], float | None]  # seconds that remain
    usual: float  # cost of hiding a cell
    network: Network | None  # of a large table of counts whose cells are all arcs

    def hide(self, cells: Cells) -> None:
        """Take these cells as hidden from now on."""
        columns = np.searchsorted(self.system.cells, cells)
        self.price[columns] = _LITTLE
        self.cost[columns] = 0.0

    def cheapest(self, cell: int, width: float, spread: tuple[float, float]) -> Complement | None:
        """What to hide so that a cell can move; None if nothing helps. `spread`: how far up and down it can already.

        A count gets one value more, in the cheaper direction; a sum needs the whole width on both sides.
        """
        steps = (spread[0] + 1, spread[1] + 1) if self.whole else (width, width)
        complements = list[Complement]()
        for sense, step in zip((1.0, -1.0), steps, strict=True):
            complement = self._complement(cell, sense, step)
            complements += [] if complement is None else [complement]
            if self.whole and complement is not None and len(complement.moved) and not len(complement.cells):
                # Nothing needs to be hidden: the other direction cannot be cheaper.
                return complement
        if self.whole:
            return min(complements, key=self._rank, default=None)
        if len(complements) < 2:
            return None
        return Complement(
            np.union1d(complements[0].cells, complements[1].cells), complements[0].moved, complements[0].move
        )

    def count_unprotectable(self, cells: Flags) -> int:
        """How many of these cells no complement can protect, as far as that is known without solving."""
        return 0 if self.network is None else int((cells & ~self._movable_cells(self.network, cells)).sum())

    def movable_cells(self, cells: Flags) -> Flags:
        """Which of these can move by one already, as far as that is known without solving."""
        if self.network is None:
            return np.zeros(len(cells), np.bool_)
        return self._movable_cells(self._hidden_network(self.network), cells)

    def slack(self, cell: int, most: int) -> tuple[float, float] | None:
        """How far up and down a cell can already move, up to a limit; None if that is not known without solving."""
        if self.network is None:
            return None
        column = int(np.searchsorted(self.system.cells, cell))
        above, below = (int(self._hidden_network(self.network).push(column, move)[column]) for move in (most, -most))
        return float(above), float(-below)

    def _hidden_network(self, network: Network) -> Network:
        """The network in which only hidden cells may move."""
        return replace(network, able=network.able & (self.cost == 0))

    def _movable_cells(self, network: Network, cells: Flags) -> Flags:
        """Cells on a cycle with one of these, including all of these that are on one."""
        flags = np.zeros(len(cells), np.bool_)
        flags[self.system.cells[network.cycles(cells[self.system.cells])[1]]] = True
        return flags

    def _rank(self, complement: Complement) -> tuple[bool, float, int, list[int]]:
        columns = np.searchsorted(self.system.cells, complement.cells)
        return (
            not len(complement.moved),
            float(self.cost[columns].sum()),
            len(complement.cells),
            complement.cells.tolist(),
        )

    def _complement(self, cell: int, sense: float, step: float) -> Complement | None:
        """The cheapest displacement that moves a cell a step up or down."""
        column = int(np.searchsorted(self.system.cells, cell))
        if self.network is not None:
            return self._cheapest_cycle(self.network, column, int(sense * step))
        for most in (_NEAR, self.system.size):
            everything = self.system.size <= most
            columns = np.arange(self.system.size) if everything else neighbourhood(self.system, column, most)
            part, target = self.system.part(columns), int(np.searchsorted(columns, column))
            move = self._cheapest_move(part, self.price[columns], target, sense, step)
            if move is not None:
                return self._complement_of(columns, move, step)
            if everything:
                break
        return None

    def _cheapest_cycle(self, network: Network, column: int, move: int) -> Complement | None:
        """Cycles that move a column so far: the cheapest one for each unit."""
        moved = network.push(column, move, self.price)
        columns = np.flatnonzero(moved)
        return self._complement_of(columns, moved[columns].astype(np.float64), 1.0) if moved[column] == move else None

    def _complement_of(self, columns: Cells, move: Reals, step: float) -> Complement:
        moved = np.abs(move) > _MOVED * step
        sure = self.whole and bool((move == np.rint(move)).all())
        cells = self.system.cells[columns]
        certain = moved & sure
        return Complement(cells[moved & (self.cost[columns] > 0)], cells[certain], move[certain])

    def _cheapest_move(self, part: System, price: Reals, target: int, sense: float, step: float) -> Reals | None:
        unit = 1.0 if self.whole else step
        scaled, first = part.in_units(unit), None
        for surcharge in _SURCHARGES if self.whole else _SURCHARGES[:1]:
            priced = price + surcharge * self.usual
            move = shortest_displacement(scaled, priced, target, sense, (step / unit, math.inf))
            if isinstance(move, Outcome):
                return None
            whole = integer_displacement(part, move) if self.whole else move
            if whole is not None:
                return whole
            first = move if first is None else first
        return None if first is None else self._integer_displacement_near(part, price, target, first)

    def _integer_displacement_near(self, part: System, price: Reals, target: int, loose: Reals) -> Reals:
        """A displacement in whole numbers of cells that move in the loose one or are hidden; else the loose one."""
        columns, seconds = np.flatnonzero((np.abs(loose) > _MOVED) | (price <= _LITTLE)), self.seconds_left()
        if len(columns) > _BRANCHED or seconds == 0.0:
            return loose
        narrow, position = part.part(columns), int(np.searchsorted(columns, target))
        low, high = narrow.low.copy(), narrow.high.copy()
        if loose[target] > 0:
            low[position] = loose[target]
        else:
            high[position] = loose[target]
        strict = best_displacement(
            narrow.with_bounds(low, high), np.zeros(len(columns)), whole=True, nodes=_NODES, seconds=seconds
        )
        if isinstance(strict, Outcome):
            return loose
        move = np.zeros(part.size)
        move[columns] = np.rint(strict)
        return move if part.allows(move) else loose


def build_complement_search(
    grid: Grid, hidden: Flags, candidates: Flags, known: Bounds, whole: bool, seconds_left: Callable[[], float | None]
) -> ComplementSearch:
    """The system in which candidates may move too, at the cost of hiding them; ties go to the lower number."""
    system = tighten(system_of(grid, hidden | candidates | ~grid.offered, known))
    free = ~candidates[system.cells]
    cost = np.where(free, 0.0, np.maximum(grid.cost[system.cells], 1).astype(np.float64))
    price = np.where(free, _LITTLE, cost * (1 + 1e-6 * system.cells / max(grid.size, 1)))
    usual = float(np.median(cost[~free])) if (~free).any() else 1.0
    network = network_of(system) if whole and system.size > _NEAR else None
    return ComplementSearch(
        system, price, cost, whole, seconds_left, usual, network if network and network.complete else None
    )
