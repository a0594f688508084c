"""Which cells to hide so that no protected cell can be computed, nor narrowed to fewer values than asked.

Knows a grid, the cells that are sensitive and what the public knows of hidden cells. Ignores labels and files. First
elimination hides what exact computation needs (`_elimination`), then the audit looks for cells that bounds and whole
numbers give away, and for each of them the cheapest displacement that would move it says what else to hide; this is
repeated until the audit finds nothing. Hiding more never helps the outsider, so what was safe stays safe. Cells
hidden by the audit that turn out not to be needed are published again, dearest first.
Sources: Fischetti and Salazar 2000 (attacker's problems as cuts); Castro 2007 (shortest displacements as heuristic).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.errors import InternalFault, TableUnprotectable
from celosia.model.tables import Reason
from celosia.tables._audit import Audit, Clock, Hint, Report, Width, audit
from celosia.tables._bounds import PRIMARY, PUBLISHED, SECONDARY, Bounds, Reals, Reasons, Status, threshold_bounds
from celosia.tables._grid import Flags, Grid
from celosia.tables._network import network_of
from celosia.tables._shield import Shield, shield_of
from celosia.tables._system import components, system_of

BoundsOf = Callable[[Status], Bounds]

_GIVEN_BACK = 200  # needless cells are looked for among at most so many,
_GIVING_BACK = 10_000_000  # and while so many times the hidden cells at most: half a minute
_IN_VAIN = 32  # cells found to need nothing, one by one, before all are looked at together


@dataclass(frozen=True, slots=True)
class Protection:
    """What becomes of every cell, why, and what an outsider can still compute (None: not looked at)."""

    status: Status
    reason: Reasons
    audit: Audit | None

    @property
    def hidden(self) -> Flags:
        """Cells that are not published."""
        return np.asarray(self.status != PUBLISHED)


def protect(
    grid: Grid,
    primary: Flags,
    reasons: Reasons,
    bounds_of: BoundsOf | None = None,
    *,
    k: int,
    width: Width = 1,
    hidden: Flags | None = None,
    fixed: Flags | None = None,
    singletons: Flags | None = None,
    audit: bool = True,
    budget_seconds: float | None = None,
    report: Report | None = None,
    clock: Clock = time.monotonic,
) -> Protection:
    """The pattern that keeps at least `width + 1` values possible for every primary count.

    `reasons` tells why each primary cell is one (and why each cell of `hidden` is, else it is linked); `bounds_of`
    tells what the public knows given the statuses. `fixed` cells and cells of nobody are not hidden to shield others.
    `TableUnprotectable` is raised when nothing is left to hide. Only when the time allowed runs out can a cell be left
    disclosed or unsettled; the audit flags it, so whoever sets a limit publishes only what is `audit.safe`.
    """
    known = bounds_of or (lambda status: threshold_bounds(status, k, reasons=reasons))
    deadline = math.inf if budget_seconds is None else clock() + budget_seconds
    needed = np.broadcast_to(np.asarray(width, np.float64), grid.size)
    task = _Task(grid, primary, _or_none(grid, hidden), _or_none(grid, fixed), known, needed, True, deadline, clock)
    return _protected(task, reasons, singletons, audit, report)


def protect_sums(
    grid: Grid,
    primary: Flags,
    reasons: Reasons,
    needed: Reals,
    *,
    negative: bool = False,
    hidden: Flags | None = None,
    fixed: Flags | None = None,
    singletons: Flags | None = None,
    audit: bool = True,
    budget_seconds: float | None = None,
    report: Report | None = None,
    clock: Clock = time.monotonic,
) -> Protection:
    """The pattern that lets every primary sum be `needed` above and below its value, as far as outsiders can tell.

    The values of the grid are sums, whole or not. The public knows nothing of a hidden sum but that it is not
    negative, or not even that (`negative`). For the p % rule `needed` is p % of the value (`levels`).
    """
    low, high = np.full(grid.size, -np.inf if negative else 0.0), np.full(grid.size, np.inf)
    deadline = math.inf if budget_seconds is None else clock() + budget_seconds
    known = Bounds(low, high)
    levels = np.broadcast_to(np.asarray(needed, np.float64), grid.size)
    none = _or_none(grid, hidden), _or_none(grid, fixed)
    task = _Task(grid, primary, *none, lambda _: known, levels, False, deadline, clock)
    return _protected(task, reasons, singletons, audit, report)


def levels(values: Reals, percent: int) -> Reals:
    """How far on either side a sum must be able to lie: a percentage of its value."""
    return np.abs(np.asarray(values, np.float64)) * percent / 100


@dataclass(frozen=True)
class _Task:
    """What is to be protected and under which knowledge."""

    grid: Grid
    primary: Flags
    linked: Flags
    fixed: Flags
    bounds_of: BoundsOf
    width: Reals
    whole: bool
    deadline: float
    clock: Clock

    def status(self, concealed: Flags) -> Status:
        """The mark of every cell when these are hidden."""
        marked = np.where(self.primary, PRIMARY, np.where(concealed, SECONDARY, PUBLISHED))
        return np.asarray(marked, np.int8)

    def left(self) -> float | None:
        """Seconds that remain; None without a limit."""
        return None if math.isinf(self.deadline) else max(self.deadline - self.clock(), 0.0)

    def audited(
        self,
        concealed: Flags,
        cells: Flags,
        report: Report | None = None,
        *,
        exact: bool = False,
        first_only: bool = False,
        near_only: bool = False,
        hints: Sequence[Hint] = (),
    ) -> Audit:
        """What an outsider can compute of these cells."""
        return audit(
            self.grid,
            concealed,
            self.bounds_of(self.status(concealed)),
            width=self.width,
            cells=cells,
            budget_seconds=self.left(),
            report=report,
            whole=self.whole,
            exact=exact,
            first_only=first_only,
            near_only=near_only,
            hints=hints,
            clock=self.clock,
        )


def _or_none(grid: Grid, flags: Flags | None) -> Flags:
    return np.zeros(grid.size, np.bool_) if flags is None else flags


def _protected(
    task: _Task, reasons: Reasons, singletons: Flags | None, with_audit: bool, report: Report | None
) -> Protection:
    from celosia.tables._elimination import complete

    asked = task.primary | task.linked
    if not len(task.grid.totals):
        return _unrelated(task, reasons, asked)
    base = asked | complete(task.grid, task.primary, task.linked, task.fixed, singletons) & task.grid.offered
    if not with_audit:
        return Protection(task.status(base), _reasons(task, reasons, base, base), None)
    _refuse_the_hopeless(task, base)
    concealed, found = _widened(task, base, report)
    concealed, found = _given_back(task, base, concealed, found)
    _confirm(task, concealed, found)
    return Protection(task.status(concealed), _reasons(task, reasons, base, concealed), found)


def _confirm(task: _Task, concealed: Flags, found: Audit) -> None:
    """Audit the finished pattern from nothing, where it needs no solving: a fault on the way here is not published."""
    known = task.bounds_of(task.status(concealed))
    network = network_of(system_of(task.grid, concealed | ~task.grid.offered, known)) if task.whole else None
    if network is None or not network.complete:
        return
    again = task.audited(concealed, task.primary & ~found.disclosed, near_only=True)
    if (again.disclosed & again.proven).any():
        raise InternalFault(where="tables.protection")


def _unrelated(task: _Task, reasons: Reasons, asked: Flags) -> Protection:
    """Nothing adds up to anything, as in a table without totals: the mark of a cell is all that tells of it."""
    _refuse_the_hopeless(task, asked)
    bounds, values = task.bounds_of(task.status(asked)), task.grid.values.astype(np.float64)
    low, high = np.where(asked, bounds.low, values), np.where(asked, bounds.high, values)
    found = Audit(low, high, np.zeros(len(values), np.bool_), np.ones(len(values), np.bool_))
    return Protection(task.status(asked), _reasons(task, reasons, asked, asked), found)


def _reasons(task: _Task, reasons: Reasons, base: Flags, concealed: Flags) -> Reasons:
    why = np.full(task.grid.size, None, object)
    why[concealed] = Reason.INTERVAL
    why[base] = Reason.COMPLEMENT
    why[task.linked] = Reason.LINKED
    told = task.primary | (task.linked & np.fromiter((one is not None for one in reasons), np.bool_, len(reasons)))
    why[told] = reasons[told]
    return why


def _refuse_the_hopeless(task: _Task, base: Flags) -> None:
    """Cells whose mark alone leaves too few values: no other cell can help them."""
    bounds = task.bounds_of(task.status(base))
    room = bounds.high - bounds.low if task.whole else np.full(task.grid.size, np.inf)
    hopeless = int((task.primary & (room < task.width)).sum())
    if hopeless:
        raise TableUnprotectable(cells=hopeless)


def _widened(task: _Task, base: Flags, report: Report | None) -> tuple[Flags, Audit]:
    """Hide more until no primary cell is disclosed, or until time is up."""
    concealed, todo, before = base, task.primary, -1
    overall = task.audited(concealed, todo, report, near_only=True)
    while overall.disclosed.any() and task.left() != 0.0:
        todo = overall.disclosed
        more, hints = _more(task, concealed, todo, overall)
        if not more.any() and int(todo.sum()) == before:
            more = _everything_linked(task, concealed, todo)
        before, concealed = int(todo.sum()), concealed | more
        latest = task.audited(concealed, todo, report, near_only=True, hints=hints)
        overall = _merged(overall, latest, todo)
    return concealed, overall


def _merged(before: Audit, latest: Audit, cells: Flags) -> Audit:
    """Earlier findings stand for the cells that were not looked at again."""
    pairs = ((before.low, latest.low), (before.high, latest.high))
    low, high = (np.where(cells, new, old) for old, new in pairs)
    disclosed, proven = before.disclosed.copy(), before.proven.copy()
    disclosed[cells], proven[cells] = latest.disclosed[cells], latest.proven[cells]
    rests_on = {cell: moves for cell, moves in before.rests_on.items() if not cells[cell]}
    return Audit(low, high, disclosed, proven, {**rests_on, **latest.rests_on})


def _candidates(task: _Task, concealed: Flags) -> Flags:
    return task.grid.offered & ~concealed & ~task.fixed & (task.grid.values != 0)


def _more(task: _Task, concealed: Flags, todo: Flags, found: Audit) -> tuple[Flags, list[Hint]]:
    """Cells to hide besides, and fillings that become possible with them."""
    candidates = _candidates(task, concealed)
    known = task.bounds_of(task.status(concealed | candidates))
    shield = shield_of(task.grid, concealed, candidates, known, task.whole, task.left)
    stuck = shield.stuck(todo)
    if stuck:
        raise TableUnprotectable(cells=stuck)
    if task.whole and (task.width[todo] > 1).any() and shield.network is None:  # how far they can move already
        found = task.audited(concealed, todo, exact=True)
    return _shielded(task, shield, todo, found)


def _shielded(task: _Task, shield: Shield, given_away: Flags, found: Audit) -> tuple[Flags, list[Hint]]:
    """What the cheapest displacement of each cell needs; what one has hidden is free for the next."""
    chosen, hopeless, todo = np.zeros(task.grid.size, np.bool_), 0, given_away.copy()
    one_value, hints, in_vain = task.width <= 1, list[Hint](), 0  # the first ask for no more than one displacement
    for cell in np.flatnonzero(given_away):
        if not todo[cell] or task.left() == 0.0:
            continue
        spread = _spread(task, shield, found, int(cell))
        if shield.network is not None and sum(spread) >= task.width[cell]:
            continue  # what was hidden for others is enough; in a network no value between is missing
        way = shield.cheapest(int(cell), float(task.width[cell]), spread)
        if way is None:
            hopeless += 1
            continue
        chosen[way.cells] = True
        shield.conceal(way.cells)
        todo[way.moved[one_value[way.moved]]] = False
        hints.append((way.moved, way.move))
        in_vain += not len(way.cells)
        if in_vain == _IN_VAIN:
            todo, in_vain = todo & ~(shield.free(todo) & one_value), 0
    if hopeless:
        raise TableUnprotectable(cells=hopeless)
    return chosen, hints


def _spread(task: _Task, shield: Shield, found: Audit, cell: int) -> tuple[float, float]:
    """How far above and below its value a cell can be already."""
    value, width = float(task.grid.values[cell]), int(task.width[cell])
    known = shield.spread(cell, width) if width > 1 else None
    return known or (float(found.high[cell]) - value, value - float(found.low[cell]))


def _everything_linked(task: _Task, concealed: Flags, given_away: Flags) -> Flags:
    """All that hangs together with what is given away; the table cannot be protected when nothing does."""
    candidates = _candidates(task, concealed)
    free = Bounds(np.full(task.grid.size, -np.inf), np.full(task.grid.size, np.inf))
    system = system_of(task.grid, concealed | candidates | ~task.grid.offered, free)
    linked = np.zeros(task.grid.size, np.bool_)
    for group in components(system):
        cells = system.cells[group]
        linked[cells] = given_away[cells].any()
    if not (linked & candidates).any():
        raise TableUnprotectable(cells=int(given_away.sum()))
    return linked & candidates


# --- giving back ------------------------------------------------------------------------------------


def _given_back(task: _Task, base: Flags, concealed: Flags, found: Audit) -> tuple[Flags, Audit]:
    """Publish again what the audit can spare, dearest first."""
    extra = np.flatnonzero(concealed & ~base)
    if not task.whole or len(extra) > min(_GIVEN_BACK, _GIVING_BACK // max(int(concealed.sum()), 1)):
        return concealed, found
    resting = _resting(found, concealed & ~base)
    for cell in extra[np.lexsort((extra, -task.grid.cost[extra]))].tolist():
        if task.left() == 0.0:
            break
        fewer, affected = concealed.copy(), np.zeros(task.grid.size, np.bool_)
        fewer[cell], affected[list(resting[cell])] = False, True
        latest = task.audited(fewer, affected, first_only=True)
        if not latest.disclosed[affected].any():
            concealed, found = fewer, _merged(found, latest, affected)
            resting = _resting(found, concealed & ~base)
    return concealed, found


def _resting(found: Audit, cells: Flags) -> dict[int, set[int]]:
    """Per cell the safe ones whose proof needs it to be hidden."""
    resting: dict[int, set[int]] = {int(cell): set() for cell in np.flatnonzero(cells)}
    for one, moves in found.rests_on.items():
        needed = np.concatenate(moves)
        for cell in needed[cells[needed]].tolist() if not found.disclosed[one] else ():
            resting[cell].add(one)
    return resting
