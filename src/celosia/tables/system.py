"""The possible values of unknown cells as a linear system in displacements from the true filling.

Knows a grid, which cells are unknown and bounds of their values. Ignores why they are unknown. Every variable is the
displacement of a cell from its true value, so the true filling is the zero vector, an additive relation is homogeneous
and large values do not harm the arithmetic. A relation that does not add up gives `part ≤ whole` for each part and
`whole ≤ sum of the parts`.
Sources: Fischetti and Salazar 2000 (the attacker's problem); Savelsbergh 1994 (tightening bounds row by row).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse.csgraph import connected_components

from celosia.errors import InternalFault
from celosia.tables.grid import Bounds, Cells, Flags, Grid, Reals, Values

_ROUNDS = 60  # of tightening; more seldom gains anything and never changes an answer
_WITHIN = 1e-6  # a solver's tolerance
FAR = 1e7  # limit of an unbounded displacement


class Outcome(Enum):
    """Result of a search that found no point."""

    NONE = "none"  # there is none
    UNKNOWN = "unknown"  # it gave up


@dataclass(frozen=True)
class System:
    """Rows `row_low ≤ matrix · d ≤ row_high` and bounds `low ≤ d ≤ high` over the displacements of `cells`."""

    cells: Cells
    matrix: Any  # sparse rows of ±1
    row_low: Reals
    row_high: Reals
    low: Reals
    high: Reals

    @property
    def size(self) -> int:
        """How many unknown cells."""
        return len(self.cells)

    @cached_property
    def by_column(self) -> Any:
        """The matrix by columns."""
        return self.matrix.tocsc()

    def with_bounds(self, low: Reals, high: Reals) -> System:
        """The same rows with other bounds."""
        return System(self.cells, self.matrix, self.row_low, self.row_high, low, high)

    def in_units(self, unit: float) -> System:
        """The same system counted in another unit."""
        rows = self.row_low / unit, self.row_high / unit
        return System(self.cells, self.matrix, *rows, self.low / unit, self.high / unit)

    def part(self, columns: Cells) -> System:
        """Only these columns move; the others keep their true value."""
        narrow = self.by_column[:, columns].tocsr()
        rows = np.flatnonzero(np.diff(narrow.indptr))
        return System(
            self.cells[columns],
            narrow[rows],
            self.row_low[rows],
            self.row_high[rows],
            self.low[columns],
            self.high[columns],
        )

    def allows(self, move: Reals) -> bool:
        """Whether a displacement in whole numbers obeys everything, in exact arithmetic."""
        whole = move.astype(np.int64)
        if (whole < self.low).any() or (whole > self.high).any():
            return False
        rows = self.matrix @ whole
        return bool((rows >= self.row_low).all() and (rows <= self.row_high).all())

    def allow_many(self, columns: Sequence[Cells], moves: Sequence[Reals]) -> tuple[Flags, Flags]:
        """For many displacements, given by the columns that move: whether each is allowed, and its reverse."""
        number = np.repeat(np.arange(len(columns)), [len(some) for some in columns])
        where = np.concatenate([np.zeros(0, np.int64), *columns])
        step = np.concatenate([np.zeros(0), *moves]).astype(np.int64)
        together = sparse.csc_array((step, (where, number)), shape=(self.size, len(columns)))
        rows = sparse.csc_array(self.matrix.astype(np.int64) @ together)
        of = np.repeat(np.arange(len(columns)), np.diff(rows.indptr))
        allowed = []
        for sign in (1, -1):
            outside = (sign * step < self.low[where]) | (sign * step > self.high[where])
            broken = (sign * rows.data < self.row_low[rows.indices]) | (sign * rows.data > self.row_high[rows.indices])
            fine = np.ones(len(columns), np.bool_)
            fine[number[outside]] = False
            fine[of[broken]] = False
            allowed.append(fine)
        return allowed[0], allowed[1]


def system_of(grid: Grid, unknown: Flags, bounds: Bounds) -> System:
    """The system of the unknown cells; bounds that leave out a true value are taken back to it."""
    rows = _rows(grid)
    # Refuse values that do not satisfy their own relations: every result would be meaningless.
    slack = _WITHIN * max(1.0, float(np.abs(grid.values).max(initial=0))) if grid.values.dtype.kind == "f" else 0.0
    if (rows.low > slack).any() or (rows.high < -slack).any():
        raise InternalFault(where="tables.relations")
    loose = rows.high > rows.low
    low, high = np.where(loose, rows.low, 0.0), np.where(loose, np.maximum(rows.high, 0.0), 0.0)
    values = grid.values[unknown]
    below, above = bounds.low[unknown] - values, bounds.high[unknown] - values
    return _restrict(rows, unknown, low, high, np.minimum(below, 0.0), np.maximum(above, 0.0))


def possible_filling(grid: Grid, unknown: Flags, bounds: Bounds, *, seconds: float | None = None) -> Values | None:
    """Values in whole numbers for the unknown cells that agree with the known ones; None if none were found."""
    known = Grid(np.where(unknown, 0, grid.values), *(getattr(grid, name) for name in Grid.__slots__[1:]))
    rows = _rows(known)
    system = _restrict(rows, unknown, rows.low, rows.high, bounds.low[unknown], bounds.high[unknown])
    if not _agrees_where_known(rows, unknown):
        return None
    far = FAR + 4.0 * float(np.abs(known.values).sum())
    displacement = best_displacement(system, np.zeros(system.size), whole=True, far=far, seconds=seconds)
    if isinstance(displacement, Outcome) or not system.allows(np.rint(displacement)):
        return None
    values = known.values.copy()
    values[unknown] = np.rint(displacement).astype(np.int64)
    return values


def _agrees_where_known(rows: _Rows, unknown: Flags) -> bool:
    """Whether the rows without an unknown cell are satisfied."""
    settled = np.ones(len(rows.low), np.bool_)
    settled[rows.row[unknown[rows.column]]] = False
    return bool((rows.low[settled] <= 0).all() and (rows.high[settled] >= 0).all())


@dataclass(frozen=True, slots=True)
class _Rows:
    """Every relation as rows over all cells, entry by entry, and their slack at the values of the grid."""

    row: Cells
    column: Cells
    sign: NDArray[np.int64]
    low: Reals
    high: Reals


def _restrict(rows: _Rows, unknown: Flags, row_low: Reals, row_high: Reals, low: Reals, high: Reals) -> System:
    inside = unknown[rows.column]
    used, compact = np.unique(rows.row[inside], return_inverse=True)
    cells, column_of = np.flatnonzero(unknown), np.cumsum(unknown) - 1
    entries = (rows.sign[inside], (compact, column_of[rows.column[inside]]))
    matrix = sparse.coo_array(entries, shape=(len(used), len(cells))).tocsr()
    return System(cells, matrix, row_low[used], row_high[used], low, high)


def _rows(grid: Grid) -> _Rows:
    """A relation that adds up is one row, the other kind one more for each part."""
    relations, entries = len(grid.totals), len(grid.parts)
    relation = np.repeat(np.arange(relations), np.diff(grid.starts))
    loose = np.flatnonzero(~grid.additive[relation])
    of_parts, whole_of = relations + np.arange(len(loose)), grid.totals[relation[loose]]
    spare = np.bincount(relation, weights=grid.values[grid.parts], minlength=relations) - grid.values[grid.totals]
    below = (grid.values[whole_of] - grid.values[grid.parts[loose]]).astype(np.float64)
    return _Rows(
        np.concatenate([np.arange(relations), relation, of_parts, of_parts]),
        np.concatenate([grid.totals, grid.parts, grid.parts[loose], whole_of]),
        np.concatenate([_ones(relations), -_ones(entries), _ones(len(loose)), -_ones(len(loose))]),
        np.concatenate([np.where(grid.additive, spare, -np.inf), np.full(len(loose), -np.inf)]),
        np.concatenate([spare, below]),
    )


def _ones(count: int) -> NDArray[np.int64]:
    return np.ones(count, np.int64)


def tighten(system: System) -> System:
    """The same system with the bounds that follow from single rows, propagated repeatedly."""
    low, high = system.low.copy(), system.high.copy()
    row = np.repeat(np.arange(len(system.row_low)), np.diff(system.matrix.indptr))
    column, upward = system.matrix.indices, system.matrix.data > 0
    for _ in range(_ROUNDS):
        before = low.copy(), high.copy()
        least, most = np.where(upward, low[column], -high[column]), np.where(upward, high[column], -low[column])
        ceiling = system.row_high[row] - _sum_of_others(least, row, len(system.row_high))
        floor = system.row_low[row] - _sum_of_others(most, row, len(system.row_low))
        np.minimum.at(high, column, np.where(upward, ceiling, -floor))
        np.maximum.at(low, column, np.where(upward, floor, -ceiling))
        # The true filling is always possible, but rounding of floating sums could exclude it.
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
            break
    return system.with_bounds(low, high)


def _sum_of_others(terms: Reals, row: Cells, rows: int) -> Reals:
    """For each entry the sum of the other terms of its row; infinite if one of them is."""
    endless = np.isinf(terms)
    finite = np.where(endless, 0.0, terms)
    total, count = np.bincount(row, finite, rows), np.bincount(row, endless, rows)
    sign = terms[endless][0] if endless.any() else 0.0
    return np.where(count[row] - endless > 0, sign, total[row] - finite)


def components(system: System) -> list[Cells]:
    """Connected components of the columns that can move."""
    free = np.flatnonzero(system.low < system.high)
    narrow = system.by_column[:, free].tocsr()
    joined = sparse.block_array([[None, narrow], [narrow.T, None]], format="csr")
    _, labels = connected_components(joined, directed=False)
    labels = labels[narrow.shape[0] :]
    order = np.argsort(labels, kind="stable")
    edges = np.flatnonzero(np.diff(labels[order])) + 1
    return sorted((free[group] for group in np.split(order, edges) if len(group)), key=lambda group: int(group[0]))


def neighbourhood(system: System, column: int, most: int) -> Cells:
    """The columns nearest to one, relation by relation, up to `most` of them."""
    taken, rows_seen, edge = {column}, set[int](), [column]
    while edge and len(taken) < most:
        following: list[int] = []
        for reached in edge:
            _add_neighbours(system, reached, most, taken, rows_seen, following)
        edge = following
    return np.array(sorted(taken), np.int64)


def _add_neighbours(
    system: System, column: int, most: int, taken: set[int], rows_seen: set[int], following: list[int]
) -> None:
    columns = system.by_column
    for row in columns.indices[columns.indptr[column] : columns.indptr[column + 1]]:
        if int(row) in rows_seen or len(taken) >= most:
            continue
        rows_seen.add(int(row))
        for other in system.matrix.indices[system.matrix.indptr[row] : system.matrix.indptr[row + 1]]:
            if int(other) not in taken and system.low[other] < system.high[other]:
                taken.add(int(other))
                following.append(int(other))


def best_displacement(
    system: System,
    gain: Reals,
    *,
    whole: bool,
    finished: bool = False,
    nodes: int | None = None,
    seconds: float | None = None,
    far: float = FAR,
) -> Reals | Outcome:
    """The displacement of greatest gain; with `finished`, only if no limit stopped the solver."""
    if not system.size:
        return np.zeros(0)
    options: dict[str, Any] = {"mip_rel_gap": 0.0}
    options |= {} if nodes is None else {"node_limit": nodes}
    options |= {} if seconds is None else {"time_limit": max(seconds, 0.01)}
    answer = milp(
        -gain,
        integrality=np.full(system.size, int(whole)),
        bounds=Box(np.maximum(system.low, -far), np.minimum(system.high, far)),
        constraints=LinearConstraint(system.matrix, system.row_low, system.row_high) if len(system.row_low) else None,
        options=options,
    )
    if answer.x is not None and (answer.status == 0 or not finished):
        return np.asarray(answer.x, np.float64)
    return Outcome.NONE if answer.status == 2 else Outcome.UNKNOWN


def shortest_displacement(
    system: System, price: Reals, column: int, sense: float, span: tuple[float, float], seconds: float | None = None
) -> Reals | Outcome:
    """The displacement of least price times distance that moves one column up or down by something in the span."""
    up, down, twice = np.maximum(system.high, 0.0), np.maximum(-system.low, 0.0), 2 * system.size
    low, high = np.zeros(twice), np.concatenate([up, down])
    moving, still = (column, system.size + column) if sense > 0 else (system.size + column, column)
    if high[moving] < span[0]:
        return Outcome.NONE
    low[moving], high[moving], high[still] = span[0], min(high[moving], span[1]), 0.0
    matrix = sparse.hstack([system.matrix, -system.matrix], format="csr")
    cells = np.concatenate([system.cells, system.cells])
    both = System(cells, matrix, system.row_low, system.row_high, low, high)
    displacement = best_displacement(both, -np.concatenate([price, price]), whole=False, seconds=seconds)
    return (
        displacement if isinstance(displacement, Outcome) else displacement[: system.size] - displacement[system.size :]
    )


def integer_displacement(system: System, move: Reals) -> Reals | None:
    """The solver's displacement, or a small multiple of it, in whole numbers and verified; None if there is none."""
    for times in (1, 2, 3, 4):
        candidate = np.rint(move * times)
        if np.abs(candidate - move * times).max(initial=0.0) < 1e-4 and system.allows(candidate):
            return candidate
    return None
