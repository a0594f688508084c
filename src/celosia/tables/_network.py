"""A system seen as a network: every sum is a node, every cell an arc between two of them.

Knows a system. Ignores which tables it comes from and who asks. Cells in one sum or two, and in no inequality, are
arcs; one in a single sum ends at the ground, which takes and gives anything. In a table of two variables with its
totals these are all cells, and signs can be given to the sums so that each cell enters one and leaves the other. Then
what an outsider can compute is known without solving anything: a cell on no cycle has one value, and a cheapest cycle
is a cheapest displacement, both in whole numbers. What is found is shown as moves that the audit checks.
Source: Ahuja, Magnanti and Orlin, *Network Flows* (1993), sections 3.5 and 11.12; Cox 1980 for tables as networks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from celosia.tables._bounds import Reals
from celosia.tables._grid import Cells, Flags
from celosia.tables._system import System

_MOST_SUMS = 2
Found = tuple[Cells, Cells, Cells]  # starts, columns, moves of many cycles


@dataclass(frozen=True, slots=True)
class Ends:
    """The sums in which each column lies, and how; the ground is the last. Columns that are no arcs have -1."""

    rows: Cells  # (columns, 2)
    signs: Cells  # (columns, 2)
    starts: Cells  # per row, where its columns begin in `columns`; one more at the end
    columns: Cells
    able: Flags


@dataclass(frozen=True, slots=True)
class Network:
    """The arcs of a system, and how far each may be moved up and down."""

    arcs: Any  # as the kernels want them: where the columns of each node begin, these columns, tails, heads
    able: Flags
    low: Reals
    high: Reals
    complete: bool  # whatever can move is an arc, so what lies on no cycle is known

    def cycles(self, wanted: Flags, move: int | None = None) -> Found:
        """Per wanted column on a cycle, one that moves it by 1, up or down; or one on which all move so far."""
        from celosia.kernels.network import grow, tree_cycles

        if move is not None and move < 0:  # up in the same network with every arc turned round
            starts, columns, moves = self._turned().cycles(wanted, -move)
            return starts, columns, -moves
        step = 1 if move is None else move
        up, down = self.able & (self.high >= step), self.able & (self.low <= -step)
        part, roots = self._strong_parts(up, down)
        outward, inward = (grow(self.arcs, up, down, part, roots, backward) for backward in (False, True))
        wanted = wanted & self.able
        starts, columns, moves = tree_cycles(self.arcs, up, down, part, (outward, inward), wanted, move is None)
        return starts, columns, moves * step

    def push(self, column: int, move: int, price: Reals | None = None) -> Cells:
        """A displacement of all columns that takes one so far, or as far as it goes; by one step it is the cheapest."""
        from celosia.kernels.network import push

        if not self.able[column]:
            return np.zeros(len(self.able), np.int64)
        price = np.ones(len(self.able)) if price is None else price
        moved: Cells = push(column, move, self.arcs, self.low, self.high, self.able, price)
        return moved

    def _turned(self) -> Network:
        starts, columns, tail, head = self.arcs
        return Network((starts, columns, head, tail), self.able, -self.high, -self.low, self.complete)

    def _strong_parts(self, up: Flags, down: Flags) -> tuple[Cells, Cells]:
        """Per node the set of nodes that reach it and that it reaches, and per set its node with most columns."""
        starts, _, tail, head = self.arcs
        nodes = len(starts) - 1
        ways = (np.concatenate([tail[up], head[down]]), np.concatenate([head[up], tail[down]]))
        arcs = sparse.coo_array((np.ones(len(ways[0]), np.int8), ways), shape=(nodes, nodes)).tocsr()
        _, part = connected_components(arcs, directed=True, connection="strong")
        order = np.lexsort((np.arange(nodes), -np.diff(starts), part))
        return part.astype(np.int64), order[np.flatnonzero(np.diff(part[order], prepend=-1))]


def network_of(system: System) -> Network | None:
    """The network of a system; None if signs for its sums cannot be found."""
    from celosia.kernels.network import orient

    ends = ends_of(system)
    sign, balanced = orient(ends.starts, ends.columns, ends.rows, ends.signs)
    if not balanced:
        return None
    adds = ends.signs[:, 0] * sign[ends.rows[:, 0]] > 0
    tail, head = np.where(adds, ends.rows[:, 1], ends.rows[:, 0]), np.where(adds, ends.rows[:, 0], ends.rows[:, 1])
    still = (system.low == system.high) | (np.diff(system.by_column.indptr) == 0)  # what is in no sum moves no other
    complete = bool((ends.able | still).all())
    return Network((ends.starts, ends.columns, tail, head), ends.able, system.low, system.high, complete)


def ends_of(system: System) -> Ends:
    """Where the columns of a system end."""
    matrix, ground = system.by_column, system.matrix.shape[0]
    sums = system.row_low == system.row_high
    loose = np.asarray((~sums).astype(np.int64) @ abs(system.matrix)).reshape(-1) > 0
    count = np.diff(matrix.indptr)
    able = (count >= 1) & (count <= _MOST_SUMS) & ~loose
    rows, signs = np.full((system.size, 2), -1, np.int64), np.zeros((system.size, 2), np.int64)
    first = matrix.indptr[:-1][able]
    last = first + count[able] - 1
    rows[able, 0], signs[able, 0] = matrix.indices[first], matrix.data[first]
    rows[able, 1] = np.where(last > first, matrix.indices[last], ground)
    signs[able, 1] = np.where(last > first, matrix.data[last], 1)
    return Ends(rows, signs, *_by_row(rows, able, ground + 1), able)


def _by_row(ends: Cells, able: Flags, rows: int) -> tuple[Cells, Cells]:
    """The able columns of every row, the ground last, in compressed rows."""
    columns = np.repeat(np.flatnonzero(able), 2)
    row = ends[able].reshape(-1)
    order = np.argsort(row, kind="stable")
    return np.searchsorted(row[order], np.arange(rows + 1)), columns[order]
