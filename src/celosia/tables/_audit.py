"""What an outsider can still compute of each hidden cell: the audit of a protected table.

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

from celosia.tables._bounds import Bounds, Reals
from celosia.tables._cycles import cycles, far_cycles, furthest
from celosia.tables._grid import Cells, Flags, Grid
from celosia.tables._network import Network, network_of
from celosia.tables._system import (
    FAR,
    Outcome,
    System,
    best,
    components,
    neighbourhood,
    shortest,
    system_of,
    tightened,
    whole_move,
)

Width = NDArray[np.float64] | NDArray[np.int64] | int | float
Report = Callable[[int, int], None]
Hint = tuple[Cells, Reals]  # cells, and how far each stands from its value in a filling that may be possible
Clock = Callable[[], float]

_NEAR = (150, 1200)  # cells of the surroundings in which a filling is sought before the whole component
_NODES = 2000  # of branching, the same on every machine; beyond it the question stays open
_FEW_NODES = 40
_LARGE = 3000  # cells of a component that is too large to be solved as a whole many times
_PATIENCE = 40  # cells sought nearby in vain, one after the other, before a large component is left unsettled
_SWEEPS = 8
_TIE = 1e-9  # relative; sums only


@dataclass(frozen=True, slots=True)
class Audit:
    """Per cell: possible values that were found, whether too few are, and whether that is settled.

    `low` and `high` are both possible; they are the least and the greatest possible when exact ones were asked for.
    """

    low: Reals
    high: Reals
    disclosed: Flags
    proven: Flags
    # Per safe count the cells that move in the fillings that prove it: hiding these is what it rests on.
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
    asked = (hidden & grid.offered if cells is None else cells) & unknown
    system = tightened(system_of(grid, unknown, bounds))
    needed = np.broadcast_to(np.asarray(width, np.float64), grid.size)[system.cells]
    deadline = math.inf if budget_seconds is None else clock() + budget_seconds
    attacker = _Attacker(system, asked[system.cells], needed, whole, exact, first_only, deadline, clock, report)
    attacker.near_only = near_only
    attacker.take(hints)
    if whole:
        attacker.go_round()
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
    """What is known so far; every column is an unknown cell of the system."""

    system: System
    asked: Flags
    width: Reals
    whole: bool
    exact: bool
    first_only: bool
    deadline: float
    clock: Clock
    report: Report | None
    least: Reals = field(init=False)  # displacements found possible
    most: Reals = field(init=False)
    open: Flags = field(init=False)  # asked and not settled
    narrow: Flags = field(init=False)  # settled: too few values
    inexact: Flags = field(init=False)  # an extreme was asked for and not found
    seen: dict[int, set[int]] = field(init=False)
    rests_on: dict[int, list[Cells]] = field(default_factory=dict)
    near_only: bool = False

    def __post_init__(self) -> None:
        size = self.system.size
        self.least, self.most = np.zeros(size), np.zeros(size)
        self.narrow = self.asked & self._too_narrow(self.system.low, self.system.high)
        self.open = self.asked & ~self.narrow
        self.inexact = np.zeros(size, np.bool_)
        self.seen = {int(column): {0} for column in np.flatnonzero(self.open)}
        self._settle_width_zero()

    def take(self, hints: Sequence[Hint]) -> None:
        """Learn from fillings found elsewhere, after checking them here."""
        if not self.whole or not self.system.size:
            return
        known = [(np.searchsorted(self.system.cells, cells), cells, move) for cells, move in hints]
        here = [(columns, move) for columns, cells, move in known if self._are_here(columns, cells)]
        forth, back = self.system.allow([columns for columns, _ in here], [move for _, move in here])
        for (columns, move), there, again in zip(here, forth, back, strict=True):
            if there:
                self._widen(columns, move)
                if again:
                    self._widen(columns, -move)

    def go_round(self) -> None:
        """Learn from cycles of cells that move by one, and where that is not enough and solving is dear, by more."""
        hints, fixed = cycles(self.system, self.open)
        self.take(hints)
        self._give_up(fixed)
        network = network_of(self.system) if self.system.size > _LARGE and self.open.any() else None
        if network is not None and network.complete:
            self._go_far(network)

    def _go_far(self, network: Network) -> None:
        """Cycles that move by more than one; of the cells for which these are not enough, as far as each goes."""
        most = int(np.ceil(self.width[self.open].max(initial=1.0)))
        for move in (sense * far for far in range(1, most + 1) for sense in (1, -1)):
            self.take(far_cycles(self.system, network, self.open, move))
        hints, looked_at = list[Hint](), np.zeros(self.system.size, np.bool_)
        for column in np.flatnonzero(self.open & network.able).tolist():
            if self._stop():
                break
            hints += furthest(self.system, network, column, int(np.ceil(self.width[column])))
            looked_at[column] = True
        self.take(hints)
        self._give_up(looked_at & self.open)

    def _give_up(self, columns: Flags) -> None:
        self.narrow |= columns
        self.open &= ~columns

    def _are_here(self, columns: Cells, cells: Cells) -> bool:
        return bool((columns < self.system.size).all()) and np.array_equal(self.system.cells[columns], cells)

    def attack(self) -> None:
        """Settle every open cell, those with least room first, component by component."""
        room = np.where(self.open, self.system.high - self.system.low, np.inf)
        groups = [group for group in components(self.system) if self.open[group].any() or self._extremes_due(group)]
        for group in sorted(groups, key=lambda group: (float(room[group].min()), int(group[0]))):
            self._attack_component(group)
        self._tell()

    def _extremes_due(self, group: Cells) -> bool:
        return self.exact and bool(self.asked[group].any())

    def _attack_component(self, group: Cells) -> None:
        part = self.system.part(group)
        if self.whole and part.size <= _LARGE:
            self._sweep(part, group)
        room, in_vain = part.high - part.low, 0
        patience = _PATIENCE if self.near_only and part.size > _LARGE else math.inf
        for place in np.lexsort((group, room)):
            if self._stop() or in_vain >= patience:
                break
            if self.open[group[place]]:
                self._settle(part, group, int(place))
                in_vain = in_vain + 1 if self.open[group[place]] else 0
            if self.exact and self.asked[group[place]]:
                self._extremes(part, group, int(place))
        if self.exact:
            self.inexact[group] |= self.asked[group] & self._stop()

    # --- what a filling teaches ---------------------------------------------------------------------

    def _learn(self, part: System, group: Cells, move: Reals) -> None:
        """A possible filling widens what is known to be possible for every cell that moves in it."""
        self._widen(group, move)
        if self.whole and part.allows(-move):
            self._widen(group, -move)

    def _widen(self, group: Cells, move: Reals) -> None:
        self.least[group] = np.minimum(self.least[group], move)
        self.most[group] = np.maximum(self.most[group], move)
        if not self.whole:
            self.open[group] &= self._too_narrow(self.least[group], self.most[group], group)
            return
        moved = self.system.cells[group[move != 0]]
        for place in np.flatnonzero(self.open[group] & (move != 0)):
            column = int(group[place])
            values = self.seen[column]
            values.add(int(move[place]))
            self.rests_on.setdefault(int(self.system.cells[column]), []).append(moved)
            self.open[column] = len(values) <= self.width[column]

    def _too_narrow(self, low: Reals, high: Reals, columns: Cells | slice = slice(None)) -> Flags:
        width = self.width[columns]
        if self.whole:
            return np.asarray(high - low < width)
        reach = width * (1 - _TIE)
        return np.asarray((high < reach) | (-low < reach))

    def _settle_width_zero(self) -> None:
        """Nothing is asked of these: the true value alone is enough."""
        self.open &= ~(self.width <= 0)

    # --- many cells at once -------------------------------------------------------------------------

    def _sweep(self, part: System, group: Cells) -> None:
        """Fillings in which as many open cells as can be move a little, some up and some down."""
        reach = float(self.width[group].max(initial=1.0))
        box = part.with_bounds(np.maximum(part.low, -reach), np.minimum(part.high, reach))
        for turn in range(_SWEEPS):
            before = int(self.open[group].sum())
            if before <= 1 or self._stop():
                return
            gain = np.where(self.open[group], _leaning(box, turn), 0.0)
            loose = best(box, gain, whole=False, seconds=self._left())
            move = None if isinstance(loose, Outcome) else whole_move(box, loose)
            if move is None:
                return
            self._learn(part, group, move)
            if before - int(self.open[group].sum()) < max(1, before // 20):
                return
            self._tell()

    def _whole_best(self, part: System, gain: Reals, nodes: int, finished: bool = False) -> Reals | Outcome:
        """A filling in whole numbers: from the linear problem if its answer is whole, else by branching."""
        loose = best(part, gain, whole=False, seconds=self._left())
        if isinstance(loose, Outcome):
            return loose
        found = whole_move(part, loose)
        if found is not None:
            return found
        return self._branched(part, gain, nodes, finished)

    def _branched(self, part: System, gain: Reals, nodes: int, finished: bool = False) -> Reals | Outcome:
        nodes = min(nodes, _FEW_NODES) if part.size > _NEAR[-1] else nodes
        strict = best(part, gain, whole=True, finished=finished, nodes=nodes, seconds=self._left())
        if isinstance(strict, Outcome):
            return strict
        found = whole_move(part, strict)
        return Outcome.UNKNOWN if found is None else found

    # --- one cell -----------------------------------------------------------------------------------

    def _settle(self, part: System, group: Cells, place: int) -> None:
        if self.whole:
            self._count_values(part, group, place)
        else:
            self._stretch(part, group, place)
        self._tell()

    def _count_values(self, part: System, group: Cells, place: int) -> None:
        """Look for a value not seen yet in each gap between those seen, until enough or until no gap is left."""
        column, barren = int(group[place]), set[tuple[float, float]]()
        while self.open[column] and not self._stop():
            gaps = [gap for gap in _gaps(self.seen[column], part.low[place], part.high[place]) if gap not in barren]
            if not gaps:
                self.open[column], self.narrow[column] = False, True
                return
            found = self._reach(part, place, gaps[0])
            if found is Outcome.UNKNOWN:
                return
            if isinstance(found, Outcome):
                barren.add(gaps[0])
            else:
                self._learn(part, group, found)

    def _reach(self, part: System, place: int, gap: tuple[float, float]) -> Reals | Outcome:
        """A filling with the cell in the gap: sought nearby, where it is cheap, then everywhere."""
        for most in _NEAR:
            if part.size <= most:
                break
            columns = neighbourhood(part, place, most)
            found = self._reach_in(part.part(columns), int(np.searchsorted(columns, place)), gap, 0)
            if not isinstance(found, Outcome):
                return _embedded(found, columns, part.size)
        if self.near_only and part.size > _LARGE:
            return Outcome.UNKNOWN
        return self._reach_in(part, place, gap, _NODES)

    def _reach_in(self, part: System, place: int, gap: tuple[float, float], nodes: int) -> Reals | Outcome:
        """The shortest displacement into the gap if it is whole; else any, by branching if that is allowed."""
        sense, span = (1.0, gap) if gap[0] > 0 else (-1.0, (-gap[1], -gap[0]))
        loose = shortest(part, np.ones(part.size), place, sense, span, self._left())
        if isinstance(loose, Outcome):
            return loose
        found = whole_move(part, loose)
        if found is not None and gap[0] <= found[place] <= gap[1]:
            return found
        if not nodes:
            return Outcome.UNKNOWN
        low, high = part.low.copy(), part.high.copy()
        low[place], high[place] = max(low[place], gap[0]), min(high[place], gap[1])
        return self._branched(part.with_bounds(low, high), np.zeros(part.size), nodes)

    def _stretch(self, part: System, group: Cells, place: int) -> None:
        """Move a sum as far as is asked of it, up and down."""
        column = int(group[place])
        for sense in (1.0, -1.0):
            found = self._furthest(part, place, sense, self.width[column])
            if isinstance(found, Outcome):
                return
            self._widen(group, found)
        self.narrow[column] = self.open[column]
        self.open[column] = False

    def _furthest(self, part: System, place: int, sense: float, limit: float) -> Reals | Outcome:
        """The displacement that takes one cell furthest, up to a limit; the solver sees it in units of its size."""
        unit = next((size for size in (limit, -part.low[place], part.high[place]) if 0 < size < math.inf), 1.0)
        scaled = part.scaled(unit)
        low, high = scaled.low.copy(), scaled.high.copy()
        low[place], high[place] = max(low[place], -limit / unit), min(high[place], limit / unit)
        gain = np.zeros(part.size)
        gain[place] = sense
        found = best(scaled.with_bounds(low, high), gain, whole=False, seconds=self._left())
        return found if isinstance(found, Outcome) else found * unit

    # --- exact extremes -----------------------------------------------------------------------------

    def _extremes(self, part: System, group: Cells, place: int) -> None:
        column = int(group[place])
        for sense in (1.0, -1.0):
            outer = part.high[place] if sense > 0 else -part.low[place]
            inner = self.most[column] if sense > 0 else -self.least[column]
            if inner < outer:
                self._extreme(part, group, place, sense)

    def _extreme(self, part: System, group: Cells, place: int, sense: float) -> None:
        column, gain = int(group[place]), np.zeros(part.size)
        gain[place] = sense
        found = self._whole_extreme(part, gain, place) if self.whole else self._furthest(part, place, sense, math.inf)
        if isinstance(found, Outcome):
            self.inexact[column] = True
            return
        if not self.whole or abs(found[place]) < FAR * (1 - _TIE):
            self._widen(group, found)
        self.most[column] = max(self.most[column], _endless(found[place]))
        self.least[column] = min(self.least[column], _endless(found[place]))

    def _whole_extreme(self, part: System, gain: Reals, place: int) -> Reals | Outcome:
        loose = best(part, gain, whole=False, seconds=self._left())
        if not isinstance(loose, Outcome) and abs(loose[place]) >= FAR * (1 - _TIE):
            return loose
        return self._whole_best(part, gain, _NODES, finished=True)

    # --- time ---------------------------------------------------------------------------------------

    def _left(self) -> float | None:
        return None if math.isinf(self.deadline) else self.deadline - self.clock()

    def _stop(self) -> bool:
        return self.clock() > self.deadline or (self.first_only and bool(self.narrow.any()))

    def _tell(self) -> None:
        if self.report is not None:
            total = int(self.asked.sum())
            self.report(total - int(self.open.sum()), total)


def _leaning(part: System, turn: int) -> Reals:
    """A direction for each cell: where it has room, else scattered by its number and turned over in every sweep."""
    scattered = (part.cells.astype(np.uint64) * np.uint64(2654435761)) >> np.uint64(9 + turn)
    sign = np.where(scattered & np.uint64(1), 1.0, -1.0)
    sign = np.where(part.high < 1, -1.0, sign)
    return np.where(part.low > -1, 1.0, sign)


def _gaps(seen: set[int], low: float, high: float) -> list[tuple[float, float]]:
    """Stretches of whole numbers without a value seen, those nearest to the true value first."""
    marks = sorted(seen)
    starts = [low, *(mark + 1.0 for mark in marks)]
    ends = [*(mark - 1.0 for mark in marks), high]
    gaps = [(start, end) for start, end in zip(starts, ends, strict=True) if start <= end]
    return sorted(gaps, key=lambda gap: (min(abs(gap[0]), abs(gap[1])), gap))


def _embedded(move: Reals, columns: Cells, size: int) -> Reals:
    everywhere = np.zeros(size)
    everywhere[columns] = move
    return everywhere


def _endless(displacement: float) -> float:
    """A displacement as far as the solver may go has no end."""
    return math.copysign(math.inf, displacement) if abs(displacement) >= FAR * (1 - _TIE) else displacement
