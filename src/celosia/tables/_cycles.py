"""Fillings that are found without solving anything: cycles of hidden cells that move by one, or by a few.

Knows a system. Ignores which tables it comes from. Only cells that lie in at most two sums, and in no inequality, take
part; in a table of two variables with its totals these are all. What is found is a hint: the audit checks it. Where the
cells make up a network all cycles are found at once, and a cell on none is known to have one value; elsewhere they are
sought one by one, and a cell without one may still move.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from celosia.tables._bounds import Reals
from celosia.tables._grid import Cells, Flags
from celosia.tables._network import Network, ends_of, network_of
from celosia.tables._system import System

Moves = list[tuple[Cells, Reals]]


def cycles(system: System, wanted: Flags) -> tuple[Moves, Flags]:
    """For as many wanted columns as can be, the cells of a cycle and how each moves; and columns that cannot move."""
    none = np.zeros(system.size, np.bool_)
    if not wanted.any():
        return [], none
    network = network_of(system)
    if network is None:
        return _one_by_one(system, wanted), none
    starts, columns, moves = network.cycles(wanted)
    fixed = wanted & network.able if network.complete else none
    fixed[columns] = False
    return _hints(system, starts, columns, moves), fixed


def far_cycles(system: System, network: Network, wanted: Flags, move: int) -> Moves:
    """For as many wanted columns as can be, a cycle on which each moves so far and all others as far."""
    return _hints(system, *network.cycles(wanted, move))


def furthest(system: System, network: Network, column: int, most: int) -> Moves:
    """Displacements that take a column by 1, 2, … up and down, until `most` in all or as far as it goes."""
    found: Moves = []
    for sense in (1, -1):
        for far in range(1, most + 1):
            moved = network.push(column, sense * far)
            if abs(moved[column]) < far:
                break
            columns = np.flatnonzero(moved)
            found.append((system.cells[columns], moved[columns].astype(np.float64)))
            if len(found) == most:
                return found
    return found


def _one_by_one(system: System, wanted: Flags) -> Moves:
    from celosia.kernels.cycles import find_cycles

    ends = ends_of(system)
    able = system.high >= 1, system.low <= -1, wanted & ends.able
    return _hints(system, *find_cycles(ends.starts, ends.columns, ends.rows, ends.signs, *able))


def _hints(system: System, starts: Cells, columns: Cells, moves: Cells) -> Moves:
    return [_hint(system, columns[a:b], moves[a:b]) for a, b in pairwise(starts)]


def _hint(system: System, columns: Cells, moves: Cells) -> tuple[Cells, Reals]:
    order = np.argsort(columns, kind="stable")
    return system.cells[columns[order]], moves[order].astype(np.float64)
