"""A system as a network (every sum is a node, every cell an arc between two of them), and displacements along cycles.

Knows a system. Ignores which tables it comes from. Cells in one sum or two, and in no inequality, are arcs; one in a
single sum ends at an outer node without balance. In a table of two variables with its totals these are all cells, and
signs can be given to the sums so that each cell enters one and leaves the other. Then what an outsider can compute is
known without solving anything: a cell on no cycle has one value, and a cheapest cycle is a cheapest displacement, both
in whole numbers. Where the cells are no network, cycles are sought one by one, and a cell without one may still move.
Displacements are hints: the audit checks them.
Source: Ahuja, Magnanti and Orlin, *Network Flows* (1993), sections 3.5 and 11.12; Cox 1980 for tables as networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from celosia.tables.grid import Cells, Flags, Reals
from celosia.tables.system import System

_MOST_SUMS = 2
Cycles = tuple[Cells, Cells, Cells]  # starts, columns, moves of many cycles
Moves = list[tuple[Cells, Reals]]  # per displacement: the cells that move, and by how much


@dataclass(frozen=True, slots=True)
class Ends:
    """The sums that contain each column, and their signs; the outer node is last. Columns that are no arcs have -1."""

    rows: Cells  # (columns, 2)
    signs: Cells  # (columns, 2)
    starts: Cells  # per row, where its columns begin in `columns`; one more at the end
    columns: Cells
    able: Flags


@dataclass(frozen=True, slots=True)
class Network:
    """The arcs of a system, and how far each may be moved up and down."""

    arcs: Any  # as the kernels take them: where the columns of each node begin, these columns, tails, heads
    able: Flags
    low: Reals
    high: Reals
    complete: bool  # whatever can move is an arc, so a cell on no cycle has one value

    def cycles(self, wanted: Flags, move: int | None = None) -> Cycles:
        """Per wanted column on a cycle, one that moves it by 1, up or down; or one on which all move so far."""
        from celosia.kernels.network import grow_tree, tree_cycles

        if move is not None and move < 0:
            # A move down is a move up in the same network with every arc reversed.
            starts, columns, moves = self._reverse_arcs().cycles(wanted, -move)
            return starts, columns, -moves
        step = 1 if move is None else move
        up, down = self.able & (self.high >= step), self.able & (self.low <= -step)
        part, roots = self._strong_parts(up, down)
        outward, inward = (grow_tree(self.arcs, up, down, part, roots, backward) for backward in (False, True))
        wanted = wanted & self.able
        starts, columns, moves = tree_cycles(self.arcs, up, down, part, (outward, inward), wanted, move is None)
        return starts, columns, moves * step

    def push(self, column: int, move: int, price: Reals | None = None) -> Cells:
        """A displacement that moves one column so far, or as far as possible; by one step it is the cheapest."""
        from celosia.kernels.network import push_flow

        if not self.able[column]:
            return np.zeros(len(self.able), np.int64)
        price = np.ones(len(self.able)) if price is None else price
        moved: Cells = push_flow(column, move, self.arcs, self.low, self.high, self.able, price)
        return moved

    def _reverse_arcs(self) -> Network:
        starts, columns, tail, head = self.arcs
        return Network((starts, columns, head, tail), self.able, -self.high, -self.low, self.complete)

    def _strong_parts(self, up: Flags, down: Flags) -> tuple[Cells, Cells]:
        """Strongly connected component of each node, and per component its node with most columns."""
        starts, _, tail, head = self.arcs
        nodes = len(starts) - 1
        ways = (np.concatenate([tail[up], head[down]]), np.concatenate([head[up], tail[down]]))
        arcs = sparse.coo_array((np.ones(len(ways[0]), np.int8), ways), shape=(nodes, nodes)).tocsr()
        _, part = connected_components(arcs, directed=True, connection="strong")
        order = np.lexsort((np.arange(nodes), -np.diff(starts), part))
        return part.astype(np.int64), order[np.flatnonzero(np.diff(part[order], prepend=-1))]


def network_of(system: System) -> Network | None:
    """The network of a system; None if signs for its sums cannot be found."""
    from celosia.kernels.network import orient_rows

    ends = ends_of(system)
    sign, balanced = orient_rows(ends.starts, ends.columns, ends.rows, ends.signs)
    if not balanced:
        return None
    adds = ends.signs[:, 0] * sign[ends.rows[:, 0]] > 0
    tail, head = np.where(adds, ends.rows[:, 1], ends.rows[:, 0]), np.where(adds, ends.rows[:, 0], ends.rows[:, 1])
    # A cell in no sum moves no other.
    still = (system.low == system.high) | (np.diff(system.by_column.indptr) == 0)
    complete = bool((ends.able | still).all())
    return Network((ends.starts, ends.columns, tail, head), ends.able, system.low, system.high, complete)


def ends_of(system: System) -> Ends:
    """The one or two sums in which each column of a system ends."""
    matrix, outer = system.by_column, system.matrix.shape[0]
    sums = system.row_low == system.row_high
    loose = np.asarray((~sums).astype(np.int64) @ abs(system.matrix)).reshape(-1) > 0
    count = np.diff(matrix.indptr)
    able = (count >= 1) & (count <= _MOST_SUMS) & ~loose
    rows, signs = np.full((system.size, 2), -1, np.int64), np.zeros((system.size, 2), np.int64)
    first = matrix.indptr[:-1][able]
    last = first + count[able] - 1
    rows[able, 0], signs[able, 0] = matrix.indices[first], matrix.data[first]
    rows[able, 1] = np.where(last > first, matrix.indices[last], outer)
    signs[able, 1] = np.where(last > first, matrix.data[last], 1)
    return Ends(rows, signs, *_columns_by_row(rows, able, outer + 1), able)


def _columns_by_row(ends: Cells, able: Flags, rows: int) -> tuple[Cells, Cells]:
    """The able columns of every row, the outer node last, in compressed rows."""
    columns = np.repeat(np.flatnonzero(able), 2)
    row = ends[able].reshape(-1)
    order = np.argsort(row, kind="stable")
    return np.searchsorted(row[order], np.arange(rows + 1)), columns[order]


# --- displacements along cycles -------------------------------------------------------------------


def cycles(system: System, wanted: Flags) -> tuple[Moves, Flags]:
    """Cycles through as many wanted columns as possible, with their moves; and the columns that cannot move."""
    none = np.zeros(system.size, np.bool_)
    if not wanted.any():
        return [], none
    network = network_of(system)
    if network is None:
        return _move_each_column(system, wanted), none
    starts, columns, moves = network.cycles(wanted)
    fixed = wanted & network.able if network.complete else none
    fixed[columns] = False
    return _moves_of(system, starts, columns, moves), fixed


def far_cycles(system: System, network: Network, wanted: Flags, move: int) -> Moves:
    """Cycles through as many wanted columns as possible on which every column moves so far."""
    return _moves_of(system, *network.cycles(wanted, move))


def furthest(system: System, network: Network, column: int, most: int) -> Moves:
    """Displacements that move a column by 1, 2, … up and down: `most` in all, or as far as possible."""
    moves: Moves = []
    for sense in (1, -1):
        for far in range(1, most + 1):
            moved = network.push(column, sense * far)
            if abs(moved[column]) < far:
                break
            columns = np.flatnonzero(moved)
            moves.append((system.cells[columns], moved[columns].astype(np.float64)))
            if len(moves) == most:
                return moves
    return moves


def _move_each_column(system: System, wanted: Flags) -> Moves:
    from celosia.kernels.cycles import find_cycles

    ends = ends_of(system)
    able = system.high >= 1, system.low <= -1, wanted & ends.able
    return _moves_of(system, *find_cycles(ends.starts, ends.columns, ends.rows, ends.signs, *able))


def _moves_of(system: System, starts: Cells, columns: Cells, moves: Cells) -> Moves:
    """Each cycle as cells in ascending order and their moves."""
    displacements = []
    for first, last in pairwise(starts):
        order = first + np.argsort(columns[first:last], kind="stable")
        displacements.append((system.cells[columns[order]], moves[order].astype(np.float64)))
    return displacements
