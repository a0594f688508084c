"""Complementary suppression: hide cells until no primary cell can be computed, nor narrowed to too few values.

Knows a grid, the cells that are sensitive and what the public knows of hidden cells. Ignores labels and files. First
elimination hides what exact computation needs (`_exact_disclosure`), then the audit looks for cells that bounds and
whole numbers disclose, and for each of them the cheapest displacement that would move it says what else to hide; this
is repeated until the audit finds nothing. Hiding more never helps the outsider, so what was safe stays safe. Cells
hidden by the audit that turn out not to be needed are published again, highest cost first.
Sources: Fischetti and Salazar 2000 (attacker's problems as cuts); Castro 2007 (shortest displacements as heuristic).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from celosia.errors import InternalFault
from celosia.model.reports.tables import Reason
from celosia.tables.audit import Audit, Clock, Hint, Report, Width, audit
from celosia.tables.complementary_cells import ComplementSearch, build_complement_search
from celosia.tables.errors import TableUnprotectable
from celosia.tables.grid import (
    PRIMARY,
    PUBLISHED,
    SECONDARY,
    Bounds,
    Flags,
    Grid,
    Reals,
    Reasons,
    Status,
    drop_statuses,
    threshold_bounds,
)
from celosia.tables.network import network_of
from celosia.tables.system import components, system_of

BoundsOf = Callable[[Status], Bounds]

# Needless cells are looked for among at most so many, and while cells times hidden cells stay below a product (half a
# minute).
_MOST_EXTRA = 200
_MOST_EXTRA_TIMES_HIDDEN = 10_000_000
_MOST_IN_VAIN = 32  # cells found one by one to need nothing before all are examined together


@dataclass(frozen=True, slots=True)
class Protection:
    """Status of every cell, its reason, and what an outsider can still compute (None: not audited)."""

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
    """The suppression pattern that keeps at least `width + 1` values possible for every primary count.

    `reasons` says why each primary cell is one (and why each cell of `hidden` is, else it is linked); `bounds_of`
    gives what the public knows for given statuses. Whoever is alone in a cell (`singletons`) knows it: two values must
    remain for them too, given the statuses where anything can be hidden that achieves it, else without them. `fixed`
    cells and empty cells are not hidden as complements. `TableUnprotectable` is raised when nothing is left to hide.
    Only when the time allowed runs out can a cell be left disclosed or unsettled; the audit flags it, so whoever sets a
    limit publishes only what is `audit.safe`.
    """
    known = bounds_of or (lambda status: threshold_bounds(status, k, reasons=reasons))
    deadline = math.inf if budget_seconds is None else clock() + budget_seconds
    needed = np.broadcast_to(np.asarray(width, np.float64), grid.size)
    task = _Task(
        grid, primary, _flags_or_none(grid, hidden), _flags_or_none(grid, fixed), known, needed, True, deadline, clock
    )
    return _suppress(task, reasons, singletons, audit, report)


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
    """The suppression pattern that leaves every primary sum possible `needed` above and below its value.

    The values of the grid are sums, whole or not. The public knows nothing of a hidden sum but that it is not
    negative, or not even that (`negative`). For the p % rule `needed` is p % of the value (`levels`).
    """
    low, high = np.full(grid.size, -np.inf if negative else 0.0), np.full(grid.size, np.inf)
    deadline = math.inf if budget_seconds is None else clock() + budget_seconds
    known = Bounds(low, high)
    levels = np.broadcast_to(np.asarray(needed, np.float64), grid.size)
    none = _flags_or_none(grid, hidden), _flags_or_none(grid, fixed)
    task = _Task(grid, primary, *none, lambda _: known, levels, False, deadline, clock)
    return _suppress(task, reasons, singletons, audit, report)


def levels(values: Reals, percent: int) -> Reals:
    """Protection level of a sum on either side: a percentage of its value."""
    return np.abs(np.asarray(values, np.float64)) * percent / 100


@dataclass(frozen=True)
class _Task:
    """What to protect, and what the public knows."""

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

    def seconds_left(self) -> float | None:
        """Seconds that remain; None without a limit."""
        return None if math.isinf(self.deadline) else max(self.deadline - self.clock(), 0.0)

    def audit_cells(self, concealed: Flags, cells: Flags, report: Report | None = None, **options: Any) -> Audit:
        """What an outsider can compute of these cells; options as in `audit`."""
        bounds = self.bounds_of(self.status(concealed))
        common: dict[str, Any] = {
            "width": self.width,
            "whole": self.whole,
            "budget_seconds": self.seconds_left(),
            "clock": self.clock,
        }
        return audit(self.grid, concealed, bounds, cells=cells, report=report, **common, **options)


def _flags_or_none(grid: Grid, flags: Flags | None) -> Flags:
    return np.zeros(grid.size, np.bool_) if flags is None else flags


def _suppress(
    task: _Task, reasons: Reasons, singletons: Flags | None, with_audit: bool, report: Report | None
) -> Protection:
    from celosia.tables.exact_disclosure import complete_suppression

    requested = task.primary | task.linked
    if not len(task.grid.totals):
        return _protect_without_relations(task, reasons, requested)
    base = (
        requested
        | complete_suppression(task.grid, task.primary, task.linked, task.fixed, singletons) & task.grid.offered
    )
    if not with_audit:
        return Protection(task.status(base), _reasons(task, reasons, base, base), None)
    _refuse_hopeless(task, base)
    concealed, result = _hide_until_safe(task, base, report)
    concealed, result = _publish_needless(task, base, concealed, result)
    concealed, result = _hide_from_singles(task, singletons, concealed, result)
    _confirm(task, concealed, result)
    return Protection(task.status(concealed), _reasons(task, reasons, base, concealed), result)


def _hide_from_singles(task: _Task, singletons: Flags | None, concealed: Flags, result: Audit) -> tuple[Flags, Audit]:
    """Hide more until nobody who is alone in a hidden cell narrows another too far; hiding more discloses no other."""
    from celosia.tables.coalitions import find_exposures
    from celosia.tables.exact_disclosure import label_equal_cells

    singles = concealed & _flags_or_none(task.grid, singletons)
    if not singles.any():
        return concealed, result
    people = label_equal_cells(task.grid, concealed | ~task.grid.offered)

    def audit_knowing(known: Flags, cells: Flags) -> Audit:
        return task.audit_cells(concealed & ~known, cells, near_only=True)

    exposed = find_exposures(result, singles, people, task.width, task.whole, audit_knowing)
    open_cells, hidden = np.zeros(task.grid.size, np.bool_), concealed
    for single, cells in exposed.items():
        hidden, unsettled = _hide_from_single(task, single, cells, hidden)
        open_cells |= unsettled
    settled = replace(result, disclosed=result.disclosed | open_cells, proven=result.proven & ~open_cells)
    return hidden, settled


def _hide_from_single(task: _Task, single: int, cells: Flags, concealed: Flags) -> tuple[Flags, Flags]:
    """What to hide so that whoever is alone in one cell does not narrow these; and which the time left unsettled.

    A cell «below k» in a row of two, beside one's own, has no second value for whoever is told which cells are below
    k. Then the statuses are not taken into account: nothing that is published for readers shows them.
    """
    alone = np.zeros(task.grid.size, np.bool_)
    alone[single] = True
    knowing = replace(task, fixed=task.fixed | alone)
    unmarked = replace(knowing, bounds_of=lambda status: drop_statuses(task.bounds_of(status), status))
    for cell in np.flatnonzero(cells).tolist():
        asked = np.zeros(task.grid.size, np.bool_)
        asked[cell] = True
        try:
            concealed, unsettled = _hide_until_unknown(knowing, alone, asked, concealed)
        except TableUnprotectable:
            concealed, unsettled = _hide_until_unknown(unmarked, alone, asked, concealed)
        cells = cells & (~asked | unsettled)
    return concealed, cells


def _hide_until_unknown(task: _Task, alone: Flags, cells: Flags, concealed: Flags) -> tuple[Flags, Flags]:
    """What to hide so that these cells are not narrowed by who knows another; and which are left unsettled."""
    before = -1
    while True:
        result = task.audit_cells(concealed & ~alone, cells, near_only=True)
        todo = result.disclosed & cells
        if not todo.any() or task.seconds_left() == 0.0:
            return concealed, todo
        more, _ = _more_to_hide(task, concealed & ~alone, todo, result)
        if not more.any() and int(todo.sum()) == before:
            more = _all_connected(task, concealed & ~alone, todo)
        before, concealed = int(todo.sum()), concealed | more


def _confirm(task: _Task, concealed: Flags, result: Audit) -> None:
    """Audit the finished pattern from scratch where that needs no solving, so that no fault here is published."""
    known = task.bounds_of(task.status(concealed))
    network = network_of(system_of(task.grid, concealed | ~task.grid.offered, known)) if task.whole else None
    if network is None or not network.complete:
        return
    again = task.audit_cells(concealed, task.primary & ~result.disclosed, near_only=True)
    if (again.disclosed & again.proven).any():
        raise InternalFault(where="tables.protection")


def _protect_without_relations(task: _Task, reasons: Reasons, requested: Flags) -> Protection:
    """A table without totals: the mark of a cell is all that is known of it."""
    _refuse_hopeless(task, requested)
    bounds, values = task.bounds_of(task.status(requested)), task.grid.values.astype(np.float64)
    low, high = np.where(requested, bounds.low, values), np.where(requested, bounds.high, values)
    result = Audit(low, high, np.zeros(len(values), np.bool_), np.ones(len(values), np.bool_))
    return Protection(task.status(requested), _reasons(task, reasons, requested, requested), result)


def _reasons(task: _Task, reasons: Reasons, base: Flags, concealed: Flags) -> Reasons:
    final = np.full(task.grid.size, None, object)
    final[concealed] = Reason.INTERVAL
    final[base] = Reason.COMPLEMENT
    final[task.linked] = Reason.LINKED
    stated_reason = task.primary | (
        task.linked & np.fromiter((reason is not None for reason in reasons), np.bool_, len(reasons))
    )
    final[stated_reason] = reasons[stated_reason]
    return final


def _refuse_hopeless(task: _Task, base: Flags) -> None:
    """Refuse cells whose mark alone leaves too few values: no complement can protect them."""
    bounds = task.bounds_of(task.status(base))
    room = bounds.high - bounds.low if task.whole else np.full(task.grid.size, np.inf)
    hopeless = int((task.primary & (room < task.width)).sum())
    if hopeless:
        raise TableUnprotectable(cells=hopeless)


def _hide_until_safe(task: _Task, base: Flags, report: Report | None) -> tuple[Flags, Audit]:
    """Hide more until no primary cell is disclosed, or until the time is over."""
    concealed, todo, before = base, task.primary, -1
    overall = task.audit_cells(concealed, todo, report, near_only=True)
    while overall.disclosed.any() and task.seconds_left() != 0.0:
        todo = overall.disclosed
        more, hints = _more_to_hide(task, concealed, todo, overall)
        if not more.any() and int(todo.sum()) == before:
            more = _all_connected(task, concealed, todo)
        before, concealed = int(todo.sum()), concealed | more
        latest = task.audit_cells(concealed, todo, report, near_only=True, hints=hints)
        overall = _merge_audits(overall, latest, todo)
    return concealed, overall


def _merge_audits(before: Audit, latest: Audit, cells: Flags) -> Audit:
    """The latest result for these cells, the earlier one for the others."""
    pairs = ((before.low, latest.low), (before.high, latest.high))
    low, high = (np.where(cells, new, old) for old, new in pairs)
    disclosed, proven = before.disclosed.copy(), before.proven.copy()
    disclosed[cells], proven[cells] = latest.disclosed[cells], latest.proven[cells]
    rests_on = {cell: moves for cell, moves in before.rests_on.items() if not cells[cell]}
    return Audit(low, high, disclosed, proven, {**rests_on, **latest.rests_on})


def _candidates(task: _Task, concealed: Flags) -> Flags:
    return task.grid.offered & ~concealed & ~task.fixed & (task.grid.values != 0)


def _more_to_hide(task: _Task, concealed: Flags, todo: Flags, result: Audit) -> tuple[Flags, list[Hint]]:
    """Cells to hide in addition, and fillings that become possible with them."""
    candidates = _candidates(task, concealed)
    known = task.bounds_of(task.status(concealed | candidates))
    search = build_complement_search(task.grid, concealed, candidates, known, task.whole, task.seconds_left)
    unprotectable = search.count_unprotectable(todo)
    if unprotectable:
        raise TableUnprotectable(cells=unprotectable)
    if task.whole and (task.width[todo] > 1).any() and search.network is None:
        # How far these cells can already move.
        result = task.audit_cells(concealed, todo, exact=True)
    return _hide_cheapest(task, search, todo, result)


def _hide_cheapest(task: _Task, search: ComplementSearch, disclosed: Flags, result: Audit) -> tuple[Flags, list[Hint]]:
    """What the cheapest displacement of each cell needs; cells hidden for one are free for the next."""
    chosen, hopeless, todo = np.zeros(task.grid.size, np.bool_), 0, disclosed.copy()
    needs_one, hints, in_vain = task.width <= 1, list[Hint](), 0  # the first ask for no more than one displacement
    for cell in np.flatnonzero(disclosed):
        if not todo[cell] or task.seconds_left() == 0.0:
            continue
        spread = _slack_of_cell(task, search, result, int(cell))
        if search.network is not None and sum(spread) >= task.width[cell]:
            # What was hidden for others is enough; in a network no value in between is missing.
            continue
        complement = search.cheapest(int(cell), float(task.width[cell]), spread)
        if complement is None:
            hopeless += 1
            continue
        chosen[complement.cells] = True
        search.hide(complement.cells)
        todo[complement.moved[needs_one[complement.moved]]] = False
        hints.append((complement.moved, complement.move))
        in_vain += not len(complement.cells)
        if in_vain == _MOST_IN_VAIN:
            todo, in_vain = todo & ~(search.movable_cells(todo) & needs_one), 0
    if hopeless:
        raise TableUnprotectable(cells=hopeless)
    return chosen, hints


def _slack_of_cell(task: _Task, search: ComplementSearch, result: Audit, cell: int) -> tuple[float, float]:
    """How far a cell can already lie above and below its value."""
    value, width = float(task.grid.values[cell]), int(task.width[cell])
    known = search.slack(cell, width) if width > 1 else None
    return known or (float(result.high[cell]) - value, value - float(result.low[cell]))


def _all_connected(task: _Task, concealed: Flags, disclosed: Flags) -> Flags:
    """All candidates connected with disclosed cells; without any the table cannot be protected."""
    candidates = _candidates(task, concealed)
    free = Bounds(np.full(task.grid.size, -np.inf), np.full(task.grid.size, np.inf))
    system = system_of(task.grid, concealed | candidates | ~task.grid.offered, free)
    linked = np.zeros(task.grid.size, np.bool_)
    for group in components(system):
        cells = system.cells[group]
        linked[cells] = disclosed[cells].any()
    if not (linked & candidates).any():
        raise TableUnprotectable(cells=int(disclosed.sum()))
    return linked & candidates


# --- publishing again -------------------------------------------------------------------------------


def _publish_needless(task: _Task, base: Flags, concealed: Flags, result: Audit) -> tuple[Flags, Audit]:
    """Publish again the complements that the audit does not need, highest cost first."""
    extra = np.flatnonzero(concealed & ~base)
    if not task.whole or len(extra) > min(_MOST_EXTRA, _MOST_EXTRA_TIMES_HIDDEN // max(int(concealed.sum()), 1)):
        return concealed, result
    resting = _cells_relying_on(result, concealed & ~base)
    for cell in extra[np.lexsort((extra, -task.grid.cost[extra]))].tolist():
        if task.seconds_left() == 0.0:
            break
        fewer, affected = concealed.copy(), np.zeros(task.grid.size, np.bool_)
        fewer[cell], affected[list(resting[cell])] = False, True
        latest = task.audit_cells(fewer, affected, first_only=True)
        if not latest.disclosed[affected].any():
            concealed, result = fewer, _merge_audits(result, latest, affected)
            resting = _cells_relying_on(result, concealed & ~base)
    return concealed, result


def _cells_relying_on(result: Audit, cells: Flags) -> dict[int, set[int]]:
    """For each of these cells, the safe cells whose proof needs it hidden."""
    resting: dict[int, set[int]] = {int(cell): set() for cell in np.flatnonzero(cells)}
    for safe_cell, moves in result.rests_on.items():
        needed = np.concatenate(moves)
        for cell in needed[cells[needed]].tolist() if not result.disclosed[safe_cell] else ():
            resting[cell].add(safe_cell)
    return resting
