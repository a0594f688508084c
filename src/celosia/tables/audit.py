"""The audit of a protected table: what an outsider can still compute about each hidden cell.

Knows a grid, which cells are hidden and what the public knows of them beforehand. Ignores how they were chosen. A
count is safe when `width + 1` different values are shown to be possible, each by a filling of the whole grid in whole
numbers that is checked in exact arithmetic: a solver's rounding can make the audit too strict, never too lenient. One
filling serves every cell that moves in it, so few problems are solved for many cells. A sum is safe when it can be
`width` above and `width` below its true value (protection levels on either side). What time did not allow to settle
counts as disclosed and is marked as not proven.
Sources: Fischetti and Salazar 2000 (attacker's problems); Hundepool et al. 2012, section 4.3 (protection levels).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.tables.grid import Bounds, Cells, Flags, Grid, Reals
from celosia.tables.network import Network, cycles, far_cycles, furthest, network_of
from celosia.tables.system import (
    FAR,
    Outcome,
    System,
    best_displacement,
    components,
    integer_displacement,
    neighbourhood,
    shortest_displacement,
    system_of,
    tighten,
)

Width = NDArray[np.float64] | NDArray[np.int64] | int | float
Report = Callable[[int, int], None]
Hint = tuple[Cells, Reals]  # cells, and the displacement of each from its value in a filling that may be possible
Clock = Callable[[], float]

_NEAR = (150, 1200)  # cells of the surroundings in which a filling is sought before the whole component
_NODES = 2000  # of branching, the same on every machine; beyond it the question stays open
_FEW_NODES = 40
_LARGE = 3000  # cells of a component that is too large to be solved as a whole many times
_PATIENCE = 40  # cells in a row without a filling nearby before a large component is left unsettled
_SWEEPS = 8
_TIE = 1e-9  # relative; sums only


@dataclass(frozen=True, slots=True)
class Audit:
    """Per cell: possible values that were found, whether they are too few, and whether that is settled.

    `low` and `high` are both possible; they are the least and the greatest possible when exact ones were requested.
    """

    low: Reals
    high: Reals
    disclosed: Flags
    proven: Flags
    # Per safe count the cells that move in the fillings that prove it: its safety depends on their being hidden.
    rests_on: Mapping[int, Sequence[Cells]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def safe(self) -> bool:
        """Nothing disclosed; what was not settled counts as disclosed."""
        return not self.disclosed.any()


def audit(
    grid: Grid,
    hidden: Flags,
    bounds: Bounds,
    *,
    width: Width = 1,
    cells: Flags | None = None,
    budget_seconds: float | None = None,
    report: Report | None = None,
    whole: bool = True,
    exact: bool = False,
    first_only: bool = False,
    near_only: bool = False,
    hints: Sequence[Hint] = (),
    clock: Clock = time.monotonic,
) -> Audit:
    """Which of the hidden cells (all that are offered, or those in `cells`) an outsider narrows below the width.

    A cell that is not offered is unknown whether or not it is in `hidden`. For counts (`whole`) a width of 1 asks for
    two possible values; for sums it is the distance that must be possible on either side. With `first_only` the audit
    ends at the first disclosed cell, with `near_only` it does not search large components as a whole, and what is left
    counts as not settled. `hints` are fillings to try first.
    """
    unknown = hidden | ~grid.offered
    audited = (hidden & grid.offered if cells is None else cells) & unknown
    system = tighten(system_of(grid, unknown, bounds))
    needed = np.broadcast_to(np.asarray(width, np.float64), grid.size)[system.cells]
    deadline = math.inf if budget_seconds is None else clock() + budget_seconds
    attacker = _Attacker(system, audited[system.cells], needed, whole, exact, first_only, deadline, clock, report)
    attacker.near_only = near_only
    attacker.try_hints(hints)
    if whole:
        attacker.try_cycles()
    attacker.attack()
    return _result(grid, attacker)


def _result(grid: Grid, attacker: _Attacker) -> Audit:
    cells = attacker.system.cells
    low, high = grid.values.astype(np.float64), grid.values.astype(np.float64)
    disclosed, proven = np.zeros(grid.size, np.bool_), np.ones(grid.size, np.bool_)
    low[cells] += attacker.least
    high[cells] += attacker.most
    disclosed[cells] = attacker.narrow | attacker.open
    proven[cells] = ~(attacker.open | attacker.inexact)
    return Audit(low, high, disclosed, proven, attacker.rests_on)


@dataclass
class _Attacker:
    """State of the audit; every column is an unknown cell of the system."""

    system: System
    audited: Flags
    width: Reals
    whole: bool
    exact: bool
    first_only: bool
    deadline: float
    clock: Clock
    report: Report | None
    least: Reals = field(init=False)  # displacements found possible
    most: Reals = field(init=False)
    open: Flags = field(init=False)  # audited and not settled
    narrow: Flags = field(init=False)  # settled: too few values
    inexact: Flags = field(init=False)  # an extreme was requested and not found
    seen: dict[int, set[int]] = field(init=False)
    rests_on: dict[int, list[Cells]] = field(default_factory=dict)
    near_only: bool = False

    def __post_init__(self) -> None:
        size = self.system.size
        self.least, self.most = np.zeros(size), np.zeros(size)
        self.narrow = self.audited & self._are_too_narrow(self.system.low, self.system.high)
        self.open = self.audited & ~self.narrow
        self.inexact = np.zeros(size, np.bool_)
        self.seen = {int(column): {0} for column in np.flatnonzero(self.open)}
        # Cells of width 0 need no other value than the true one.
        self.open &= ~(self.width <= 0)

    def try_hints(self, hints: Sequence[Hint]) -> None:
        """Record fillings found elsewhere that prove to be possible here."""
        if not self.whole or not self.system.size:
            return
        known = [(np.searchsorted(self.system.cells, cells), cells, move) for cells, move in hints]
        here = [(columns, move) for columns, cells, move in known if self._has_cells(columns, cells)]
        forth, back = self.system.allow_many([columns for columns, _ in here], [move for _, move in here])
        for (columns, move), possible, reverse_possible in zip(here, forth, back, strict=True):
            if possible:
                self._widen(columns, move)
                if reverse_possible:
                    self._widen(columns, -move)

    def try_cycles(self) -> None:
        """Record cycles of cells that move by one, and by more where that is not enough and solving is expensive."""
        hints, fixed = cycles(self.system, self.open)
        self.try_hints(hints)
        self._mark_narrow(fixed)
        network = network_of(self.system) if self.system.size > _LARGE and self.open.any() else None
        if network is not None and network.complete:
            self._try_long_cycles(network)

    def _try_long_cycles(self, network: Network) -> None:
        """Record cycles that move by more than one, and then how far each cell still open can move."""
        most = int(np.ceil(self.width[self.open].max(initial=1.0)))
        for move in (sense * far for far in range(1, most + 1) for sense in (1, -1)):
            self.try_hints(far_cycles(self.system, network, self.open, move))
        hints, examined = list[Hint](), np.zeros(self.system.size, np.bool_)
        for column in np.flatnonzero(self.open & network.able).tolist():
            if self._is_over():
                break
            hints += furthest(self.system, network, column, int(np.ceil(self.width[column])))
            examined[column] = True
        self.try_hints(hints)
        self._mark_narrow(examined & self.open)

    def _mark_narrow(self, columns: Flags) -> None:
        self.narrow |= columns
        self.open &= ~columns

    def _has_cells(self, columns: Cells, cells: Cells) -> bool:
        return bool((columns < self.system.size).all()) and np.array_equal(self.system.cells[columns], cells)

    def attack(self) -> None:
        """Settle every open cell component by component, those with the tightest bounds first."""
        room = np.where(self.open, self.system.high - self.system.low, np.inf)
        groups = [group for group in components(self.system) if self.open[group].any() or self._needs_extremes(group)]
        for group in sorted(groups, key=lambda group: (float(room[group].min()), int(group[0]))):
            self._attack_component(group)
        self._report_progress()

    def _needs_extremes(self, group: Cells) -> bool:
        return self.exact and bool(self.audited[group].any())

    def _attack_component(self, group: Cells) -> None:
        part = self.system.part(group)
        if self.whole and part.size <= _LARGE:
            self._sweep(part, group)
        room, in_vain = part.high - part.low, 0
        patience = _PATIENCE if self.near_only and part.size > _LARGE else math.inf
        for position in np.lexsort((group, room)):
            if self._is_over() or in_vain >= patience:
                break
            if self.open[group[position]]:
                self._settle_cell(part, group, int(position))
                in_vain = in_vain + 1 if self.open[group[position]] else 0
            if self.exact and self.audited[group[position]]:
                self._find_extremes(part, group, int(position))
        if self.exact:
            self.inexact[group] |= self.audited[group] & self._is_over()

    # --- recording fillings -------------------------------------------------------------------------

    def _record(self, part: System, group: Cells, move: Reals) -> None:
        """Record a possible filling for every cell that moves in it."""
        self._widen(group, move)
        if self.whole and part.allows(-move):
            self._widen(group, -move)

    def _widen(self, group: Cells, move: Reals) -> None:
        self.least[group] = np.minimum(self.least[group], move)
        self.most[group] = np.maximum(self.most[group], move)
        moved = self.system.cells[group[move != 0]]
        if not self.whole:
            for column in group[self.open[group] & (move != 0)].tolist():
                self.rests_on.setdefault(int(self.system.cells[column]), []).append(moved)
            self.open[group] &= self._are_too_narrow(self.least[group], self.most[group], group)
            return
        for position in np.flatnonzero(self.open[group] & (move != 0)):
            column = int(group[position])
            values = self.seen[column]
            values.add(int(move[position]))
            self.rests_on.setdefault(int(self.system.cells[column]), []).append(moved)
            self.open[column] = len(values) <= self.width[column]

    def _are_too_narrow(self, low: Reals, high: Reals, columns: Cells | slice = slice(None)) -> Flags:
        width = self.width[columns]
        if self.whole:
            return np.asarray(high - low < width)
        reach = width * (1 - _TIE)
        return np.asarray((high < reach) | (-low < reach))

    # --- many cells at once -------------------------------------------------------------------------

    def _sweep(self, part: System, group: Cells) -> None:
        """Fillings in which as many open cells as possible move a little, some up and some down."""
        reach = float(self.width[group].max(initial=1.0))
        box = part.with_bounds(np.maximum(part.low, -reach), np.minimum(part.high, reach))
        for turn in range(_SWEEPS):
            before = int(self.open[group].sum())
            if before <= 1 or self._is_over():
                return
            gain = np.where(self.open[group], _sweep_directions(box, turn), 0.0)
            loose = best_displacement(box, gain, whole=False, seconds=self._seconds_left())
            move = None if isinstance(loose, Outcome) else integer_displacement(box, loose)
            if move is None:
                return
            self._record(part, group, move)
            if before - int(self.open[group].sum()) < max(1, before // 20):
                return
            self._report_progress()

    def _best_whole_move(self, part: System, gain: Reals, nodes: int, finished: bool = False) -> Reals | Outcome:
        """A filling in whole numbers: from the linear problem if its answer is whole, else by branching."""
        loose = best_displacement(part, gain, whole=False, seconds=self._seconds_left())
        if isinstance(loose, Outcome):
            return loose
        move = integer_displacement(part, loose)
        return self._branch(part, gain, nodes, finished) if move is None else move

    def _branch(self, part: System, gain: Reals, nodes: int, finished: bool = False) -> Reals | Outcome:
        nodes = min(nodes, _FEW_NODES) if part.size > _NEAR[-1] else nodes
        strict = best_displacement(part, gain, whole=True, finished=finished, nodes=nodes, seconds=self._seconds_left())
        if isinstance(strict, Outcome):
            return strict
        move = integer_displacement(part, strict)
        return Outcome.UNKNOWN if move is None else move

    # --- one cell -----------------------------------------------------------------------------------

    def _settle_cell(self, part: System, group: Cells, position: int) -> None:
        if self.whole:
            self._count_values(part, group, position)
        else:
            self._stretch(part, group, position)
        self._report_progress()

    def _count_values(self, part: System, group: Cells, position: int) -> None:
        """Search the gaps between values already seen for another one, until enough are seen or no gap is left."""
        column, barren = int(group[position]), set[tuple[float, float]]()
        while self.open[column] and not self._is_over():
            gaps = [
                gap for gap in _gaps(self.seen[column], part.low[position], part.high[position]) if gap not in barren
            ]
            if not gaps:
                self.open[column], self.narrow[column] = False, True
                return
            move = self._reach_gap(part, position, gaps[0])
            if move is Outcome.UNKNOWN:
                return
            if isinstance(move, Outcome):
                barren.add(gaps[0])
            else:
                self._record(part, group, move)

    def _reach_gap(self, part: System, position: int, gap: tuple[float, float]) -> Reals | Outcome:
        """A filling with the cell in the gap: sought among nearby cells first, where it is cheap, then everywhere."""
        for most in _NEAR:
            if part.size <= most:
                break
            columns = neighbourhood(part, position, most)
            move = self._reach_gap_within(part.part(columns), int(np.searchsorted(columns, position)), gap, 0)
            if not isinstance(move, Outcome):
                return _extend_move(move, columns, part.size)
        if self.near_only and part.size > _LARGE:
            return Outcome.UNKNOWN
        return self._reach_gap_within(part, position, gap, _NODES)

    def _reach_gap_within(self, part: System, position: int, gap: tuple[float, float], nodes: int) -> Reals | Outcome:
        """The shortest displacement into the gap if it is in whole numbers; else any, by branching if allowed."""
        sense, span = (1.0, gap) if gap[0] > 0 else (-1.0, (-gap[1], -gap[0]))
        loose = shortest_displacement(part, np.ones(part.size), position, sense, span, self._seconds_left())
        if isinstance(loose, Outcome):
            return loose
        move = integer_displacement(part, loose)
        if move is not None and gap[0] <= move[position] <= gap[1]:
            return move
        if not nodes:
            return Outcome.UNKNOWN
        low, high = part.low.copy(), part.high.copy()
        low[position], high[position] = max(low[position], gap[0]), min(high[position], gap[1])
        return self._branch(part.with_bounds(low, high), np.zeros(part.size), nodes)

    def _stretch(self, part: System, group: Cells, position: int) -> None:
        """Move a sum by its width, up and down."""
        column = int(group[position])
        for sense in (1.0, -1.0):
            move = self._furthest_move(part, position, sense, self.width[column])
            if isinstance(move, Outcome):
                return
            self._widen(group, move)
        self.narrow[column] = self.open[column]
        self.open[column] = False

    def _furthest_move(self, part: System, position: int, sense: float, limit: float) -> Reals | Outcome:
        """The displacement that moves one cell furthest, up to a limit; scaled to small numbers for the solver."""
        unit = next((size for size in (limit, -part.low[position], part.high[position]) if 0 < size < math.inf), 1.0)
        scaled = part.in_units(unit)
        low, high = scaled.low.copy(), scaled.high.copy()
        low[position], high[position] = max(low[position], -limit / unit), min(high[position], limit / unit)
        gain = np.zeros(part.size)
        gain[position] = sense
        move = best_displacement(scaled.with_bounds(low, high), gain, whole=False, seconds=self._seconds_left())
        return move if isinstance(move, Outcome) else move * unit

    # --- exact extremes -----------------------------------------------------------------------------

    def _find_extremes(self, part: System, group: Cells, position: int) -> None:
        column = int(group[position])
        for sense in (1.0, -1.0):
            outer = part.high[position] if sense > 0 else -part.low[position]
            inner = self.most[column] if sense > 0 else -self.least[column]
            if inner < outer:
                self._find_extreme(part, group, position, sense)

    def _find_extreme(self, part: System, group: Cells, position: int, sense: float) -> None:
        column, gain = int(group[position]), np.zeros(part.size)
        gain[position] = sense
        if self.whole:
            move = self._integer_extreme(part, gain, position)
        else:
            move = self._furthest_move(part, position, sense, math.inf)
        if isinstance(move, Outcome):
            self.inexact[column] = True
            return
        if not self.whole or abs(move[position]) < FAR * (1 - _TIE):
            self._widen(group, move)
        self.most[column] = max(self.most[column], _infinite_at_limit(move[position]))
        self.least[column] = min(self.least[column], _infinite_at_limit(move[position]))

    def _integer_extreme(self, part: System, gain: Reals, position: int) -> Reals | Outcome:
        loose = best_displacement(part, gain, whole=False, seconds=self._seconds_left())
        if not isinstance(loose, Outcome) and abs(loose[position]) >= FAR * (1 - _TIE):
            return loose
        return self._best_whole_move(part, gain, _NODES, finished=True)

    # --- time ---------------------------------------------------------------------------------------

    def _seconds_left(self) -> float | None:
        return None if math.isinf(self.deadline) else self.deadline - self.clock()

    def _is_over(self) -> bool:
        return self.clock() > self.deadline or (self.first_only and bool(self.narrow.any()))

    def _report_progress(self) -> None:
        if self.report is not None:
            total = int(self.audited.sum())
            self.report(total - int(self.open.sum()), total)


def _sweep_directions(part: System, turn: int) -> Reals:
    """A direction for each cell: the one it can move in, else pseudo-random by its number and the sweep."""
    scattered = (part.cells.astype(np.uint64) * np.uint64(2654435761)) >> np.uint64(9 + turn)
    sign = np.where(scattered & np.uint64(1), 1.0, -1.0)
    sign = np.where(part.high < 1, -1.0, sign)
    return np.where(part.low > -1, 1.0, sign)


def _gaps(seen: set[int], low: float, high: float) -> list[tuple[float, float]]:
    """Intervals of whole numbers without a value seen, those nearest to the true value first."""
    marks = sorted(seen)
    starts = [low, *(mark + 1.0 for mark in marks)]
    ends = [*(mark - 1.0 for mark in marks), high]
    gaps = [(start, end) for start, end in zip(starts, ends, strict=True) if start <= end]
    return sorted(gaps, key=lambda gap: (min(abs(gap[0]), abs(gap[1])), gap))


def _extend_move(move: Reals, columns: Cells, size: int) -> Reals:
    everywhere = np.zeros(size)
    everywhere[columns] = move
    return everywhere


def _infinite_at_limit(displacement: float) -> float:
    """A displacement at the limit given to the solver is infinite."""
    return math.copysign(math.inf, displacement) if abs(displacement) >= FAR * (1 - _TIE) else displacement
