"""Fillings that are found without solving anything: cycles of hidden cells that move by one.

Knows a system. Ignores which tables it comes from. Only cells that lie in at most two sums, and in no inequality, take
part; in a table of two variables with its totals these are all. What is found is a hint: the audit checks it.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from celosia.tables._bounds import Reals
from celosia.tables._grid import Cells, Flags
from celosia.tables._system import System

_MOST_SUMS = 2


def cycles(system: System, wanted: Flags) -> list[tuple[Cells, Reals]]:
    """For as many wanted columns as can be, the cells of a cycle and how each moves."""
    from celosia.kernels.cycles import find_cycles

    if not wanted.any():
        return []
    matrix, ground = system.by_column, system.matrix.shape[0]
    sums = system.row_low == system.row_high
    loose = np.asarray((~sums).astype(np.int64) @ abs(system.matrix)).reshape(-1) > 0
    count = np.diff(matrix.indptr)
    able = (count >= 1) & (count <= _MOST_SUMS) & ~loose
    ends, signs = np.full((system.size, 2), -1, np.int64), np.zeros((system.size, 2), np.int64)
    first = matrix.indptr[:-1][able]
    last = first + count[able] - 1
    ends[able, 0], signs[able, 0] = matrix.indices[first], matrix.data[first]
    ends[able, 1] = np.where(last > first, matrix.indices[last], ground)
    signs[able, 1] = np.where(last > first, matrix.data[last], 1)
    starts, columns, moves = find_cycles(
        *_by_row(ends, able, ground + 1), ends, signs, system.high >= 1, system.low <= -1, wanted & able
    )
    return [_hint(system, columns[a:b], moves[a:b]) for a, b in pairwise(starts)]


def _by_row(ends: Cells, able: Flags, rows: int) -> tuple[Cells, Cells]:
    """The able columns of every row, the ground last, in compressed rows."""
    columns = np.repeat(np.flatnonzero(able), 2)
    row = ends[able].reshape(-1)
    order = np.argsort(row, kind="stable")
    return np.searchsorted(row[order], np.arange(rows + 1)), columns[order]


def _hint(system: System, columns: Cells, moves: Cells) -> tuple[Cells, Reals]:
    order = np.argsort(columns, kind="stable")
    return system.cells[columns[order]], moves[order].astype(np.float64)
