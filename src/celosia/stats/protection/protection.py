"""Protection of counted cells: linked versions of tables become one grid, and the grid is protected.

Knows cell tables, audiences and what was published before. Ignores databases. Versions for several audiences are
nested: the lowest k is protected first, over everything that will be published, and what it hides stays hidden for
stricter audiences; so all versions together disclose no more than the version with the lowest k. Tables are linked when
they are made from the same PERSONAL block; a dimension is the same when columns and rule are, whatever its borders.
Source: YAPÓ 3; Hundepool et al., Statistical Disclosure Control (2012), chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.model.reports.tables import Reason
from celosia.stats.counting.linked_breakdowns import list_empty_cells
from celosia.stats.declaration.declaration import Measure, StatsTable, stats_name
from celosia.stats.errors import AuditUnfinished
from celosia.stats.protection.cell_changes import already_published, close_to_earlier, earlier_values, persons_measure
from celosia.stats.protection.judgement import hide_what_follows, judge_persons
from celosia.stats.protection.remainders import IsSmall, MeasureChange, remainders_to_withhold
from celosia.stats.protection.version import (
    EarlierPublication,
    Key,
    ProtectedVersion,
    Version,
    history_keys,
    linkable,
)
from celosia.tables.cells import CellTable, cells_inside_small
from celosia.tables.errors import TableUnprotectable
from celosia.tables.grid import Bounds, Flags, Grid, Values, threshold_bounds
from celosia.tables.linking import grid_of
from celosia.tables.primary import (
    below_threshold,
    combine_rules,
    empty_cells,
    exceeds_dominance,
    few_for_a_mean,
    within_p_percent,
)
from celosia.tables.protect import Protection, levels, protect, protect_sums

Share = Callable[[float], None] | None
COUNTS = ("persons", "rows")
DEFAULT_P = 10  # percent: the rule for sums and means that declare none (Y23 asks for one)


def protect_group(
    versions: Sequence[Version], *, budget_seconds: float | None = None, share: Share = None
) -> list[ProtectedVersion]:
    """Protect the versions of linked tables together, the lowest k first.

    Where published zeros would disclose something (four people in four categories), those beneath small totals are
    listed and hidden too. When the time runs out before every hidden cell is proved safe, nothing may be published:
    `AuditUnfinished`.
    """
    try:
        return _protect_levels(versions, budget_seconds, share)
    except TableUnprotectable:
        most = max(version.k for version in versions)
        with_zeros = [replace(version, cells=list_empty_cells(version.cells, most)) for version in versions]
    return _protect_levels(with_zeros, budget_seconds, share)


def _protect_levels(versions: Sequence[Version], budget_seconds: float | None, share: Share) -> list[ProtectedVersion]:
    steps = sorted({version.k for version in versions})
    hidden: dict[int, Flags] = {}
    protected_by_position: dict[int, ProtectedVersion] = {}
    for number, k in enumerate(steps):
        chosen = [position for position, version in enumerate(versions) if version.k >= k]
        protected_versions = _protect_level(
            [versions[position] for position in chosen], k, [hidden.get(p) for p in chosen], budget_seconds
        )
        for position, protected in zip(chosen, protected_versions, strict=True):
            hidden[position] = protected.status > 0
            if versions[position].k == k:
                protected_by_position[position] = protected
        if share:
            share((number + 1) / len(steps))
    return [protected_by_position[position] for position in range(len(versions))]


def _protect_level(
    versions: Sequence[Version], k: int, before: Sequence[Flags | None], budget_seconds: float | None
) -> list[ProtectedVersion]:
    """One grid for all versions that a reader at this level may see."""
    level, aside = _split_known(_build_level(versions, k, before))
    options: dict[str, Any] = {"fixed": (level.grid.values == 0) | level.known, "budget_seconds": budget_seconds}
    if any(shows_amounts(version.table) for version in versions) and not level.grid.additive.all():
        level = _hide_rows(level, k, options)
    while True:
        protection = _protect_persons(level, k, options)
        _refuse_unfinished(protection, versions, level.numbers, budget_seconds)
        done = replace(level, hidden=protection.hidden & ~level.primary)
        marks = np.where(aside.primary, 1, np.where(aside.hidden, 2, protection.status)).astype(np.int8)
        reasons = np.where(aside.primary | aside.hidden, aside.reasons, protection.reason)
        status, reason = _hide_sums(done, marks, reasons, budget_seconds)
        status, reason = _hide_what_check_would_find(level, status, reason)
        more = _remainders(level, status, k) & (status == 0)
        narrow = _narrow_cells(level, status, k, budget_seconds)
        if not (more | narrow).any():
            break
        level = _withhold(replace(done, reasons=protection.reason), more, Reason.OVER_TIME)
        level = _withhold(level, narrow, Reason.INTERVAL)
    return [
        ProtectedVersion(version, status[cells], reason[cells])
        for version, cells in zip(versions, level.numbers, strict=True)
    ]


def _split_known(level: _Level) -> tuple[_Level, _Level]:
    """The level for readers who know what was published before; and what of that is hidden all the same."""
    over_time = np.fromiter((reason is Reason.OVER_TIME for reason in level.reasons), bool, level.grid.size)
    known = level.known & ~(over_time & level.primary)
    reasons = np.where(known & level.hidden & (level.reasons == None), Reason.LINKED, level.reasons)  # noqa: E711
    aside = replace(level, primary=level.primary & known, hidden=level.hidden & known, reasons=reasons)
    rest = replace(level, primary=level.primary & ~known, hidden=level.hidden & ~known, known=known)
    return rest, aside


def _refuse_unfinished(
    protection: Protection, versions: Sequence[Version], numbers: Sequence[NDArray[np.int64]], seconds: float | None
) -> None:
    """Refuse an audit that ran out of time: cells that are not settled count as disclosed."""
    if protection.audit is None or protection.audit.safe:
        return
    open_cells = protection.audit.disclosed
    tables = [
        stats_name(version.table.name, version.audience)
        for version, cells in zip(versions, numbers, strict=True)
        if open_cells[cells].any()
    ]
    raise AuditUnfinished(tables=", ".join(tables), cells=int(open_cells.sum()), seconds=f"{seconds or 0:g}")


def _protect_persons(level: _Level, k: int, options: Mapping[str, Any]) -> Protection:
    """The suppression pattern for counts of persons.

    Of a cell withheld because of an earlier publication k values must remain possible, so that no outsider knows its
    change to be of 1 to k-1 persons.
    """
    over_time = np.fromiter((reason is Reason.OVER_TIME for reason in level.reasons), bool, level.grid.size)
    return protect(
        level.grid,
        level.primary,
        level.reasons,
        lambda status: threshold_bounds(status, k, earlier=level.earlier, reasons=level.reasons).intersect(
            level.nonempty, 1, np.inf
        ),
        k=k,
        width=np.where(over_time & level.primary, max(k - 1, level.width), level.width),
        hidden=level.hidden,
        singletons=level.grid.values == 1,
        **options,
    )


def _hide_what_check_would_find(
    level: _Level, status: NDArray[np.int8], reason: NDArray[np.object_]
) -> tuple[NDArray[np.int8], NDArray[np.object_]]:
    """Hide more until no hidden row count, sum or mean follows exactly, complements included.

    Readers are not told which cells were hidden for themselves, nor is the check.
    """
    hidden, before = status > 0, None
    fixed = (level.grid.values == 0) | level.known
    while before is None or (hidden != before).any():
        before = hidden
        for chosen in _tables_by_amount(level.versions):
            own = [level.numbers[at] for at in chosen]
            hidden = hide_what_follows([level.tables[at] for at in chosen], own, hidden, fixed)
    new = hidden & (status == 0)
    return np.where(new, 2, status).astype(np.int8), np.where(new, Reason.COMPLEMENT, reason)


def _tables_by_amount(versions: Sequence[Version]) -> list[tuple[int, ...]]:
    """For rows and for every column that is added up, which versions show them; each group once."""
    groups: dict[str, list[int]] = {}
    for at, version in enumerate(versions):
        shown = {m.kind if m.kind == "rows" else f"sum {m.column}" for m in version.table.measures if _adds_up(m)}
        for amount in shown:
            groups.setdefault(amount, []).append(at)
    return sorted({tuple(group) for group in groups.values()})


def _narrow_cells(level: _Level, status: NDArray[np.int8], k: int, budget_seconds: float | None) -> Flags:
    """Complements that may be small and keep too few values where more than two are asked for."""
    hidden = (status > 0) & level.grid.offered
    if level.width <= 1 or not hidden.any():
        return np.zeros(level.grid.size, bool)
    zeros = any(version.table.zeros == "hide" for version in level.versions)
    judged = judge_persons(level.grid, hidden, zeros, k, level.width, budget_seconds)
    return judged.narrow & ~level.primary & ~level.known


def _withhold(level: _Level, more: Flags, why: Reason) -> _Level:
    """The level with further cells that need protection themselves."""
    reasons = level.reasons.copy()
    reasons[more] = why
    return replace(level, primary=level.primary | more, hidden=level.hidden & ~more, reasons=reasons)


def _remainders(level: _Level, status: NDArray[np.int8], k: int) -> Flags:
    """Published cells to withhold because a sum of hidden cells changed by too little since an earlier publication.

    Of persons, by 1 to k-1; of rows, by so many or while fewer than k persons came or went; of amounts, at all while
    fewer than k persons did. Where the persons of these cells cannot be told, nobody is taken to have come.
    """
    more = np.zeros(level.grid.size, bool)
    grids = _grids_by_measure(level) if any(version.earlier for version in level.versions) else {}
    for at, version in enumerate(level.versions):
        keys = history_keys(version) if version.earlier else []
        for earlier in version.earlier:
            changes = {
                m.name: _measure_change(level, grids, at, m, keys, earlier, status) for m in version.table.measures
            }
            persons = changes.get(persons_measure(version.table) or "")
            for measure in version.table.measures:
                change = changes[measure.name]
                if change is not None:
                    more |= remainders_to_withhold(change, _is_small(measure, persons, min(k, earlier.k)))
    return more & level.grid.offered


def _is_small(measure: Measure, persons: MeasureChange | None, k: int) -> IsSmall:
    """Whether the change of a sum of hidden cells may not be known."""

    def is_small(relation: int, rest: NDArray[np.int64], change: float) -> bool:
        if measure.kind in COUNTS and abs(change) < k:
            return True
        if measure.kind == "persons" or (measure.kind == "rows" and persons is None):
            return False
        came = np.nan if persons is None else persons.of(relation, rest)
        return bool(np.isnan(came)) or abs(came) < k

    return is_small


def _grids_by_measure(level: _Level) -> dict[str, Grid]:
    """The level by persons, by rows and by every column that all of its tables add up, where figures are compared."""
    columns = set.intersection(*(set(table.sums) for table in level.tables))
    grids = {"persons": level.grid}
    if any(measure.kind == "rows" for version in level.versions for measure in version.table.measures):
        grids["rows"] = grid_of(level.tables, "rows")[0]
    return grids | {f"sum {column}": grid_of(level.tables, column)[0] for column in sorted(columns)}


def _measure_change(
    level: _Level,
    grids: Mapping[str, Grid],
    at: int,
    measure: Measure,
    keys: Sequence[Key],
    earlier: EarlierPublication,
    status: NDArray[np.int8],
) -> MeasureChange | None:
    """What readers of one version have of a measure, then and now, over the cells of all versions."""
    version, cells = level.versions[at], level.numbers[at]
    grid = grids.get(measure.kind if measure.kind in COUNTS else f"{measure.kind} {measure.column}")
    if grid is None:
        return None
    before = np.full(level.grid.size, np.nan)
    before[cells] = np.rint(earlier_values(keys, earlier, measure.name) * version.scale.get(measure.name, 1))
    values = grid.values.astype(np.float64)
    shown = ((status == 0) & level.grid.offered) | (level.known & (before == values))
    return MeasureChange(grid, before, np.where(shown, values, np.nan))


@dataclass(frozen=True, slots=True)
class _Level:
    """Everything that a reader at one k may see, as one grid."""

    versions: Sequence[Version]
    tables: list[CellTable]
    grid: Grid
    numbers: list[NDArray[np.int64]]
    primary: Flags
    reasons: NDArray[np.object_]
    hidden: Flags  # hidden already, as a complement
    earlier: Values
    nonempty: Flags  # known to have persons: whoever knows the method knows where zeros may be hidden
    width: int
    known: Flags  # published before with the present value: hiding it would protect nothing


def _build_level(versions: Sequence[Version], k: int, before: Sequence[Flags | None]) -> _Level:
    tables = [linkable(version) for version in versions]
    grid, numbers = grid_of(tables)
    numbers = _own_numbers(numbers, versions)
    primary, reasons = np.zeros(grid.size, bool), np.full(grid.size, None, object)
    hidden, earlier = np.zeros(grid.size, bool), np.full(grid.size, -1, np.int64)
    nonempty, known = np.zeros(grid.size, bool), np.zeros(grid.size, bool)
    for version, flags_before, cells in zip(versions, before, numbers, strict=True):
        close, published = close_to_earlier(version, k)
        flags, why = _primary(version, k, close)
        new = flags & ~primary[cells]
        reasons[cells[new]], primary[cells[new]] = why[new], True
        earlier[cells[new]] = np.where([reason is Reason.OVER_TIME for reason in why[new]], published[new], -1)
        known[cells] |= already_published(version, k)
        hidden[cells] |= _suppressed_categories(version) if version.k == k else False
        hidden[cells] |= False if flags_before is None else flags_before
        if version.table.zeros == "show":
            nonempty[cells] |= (version.cells.persons > 0) & ~cells_inside_small(version.cells, k)
    width = max(version.table.width for version in versions)
    return _Level(versions, tables, grid, numbers, primary, reasons, hidden & ~primary, earlier, nonempty, width, known)


def _own_numbers(numbers: Sequence[NDArray[np.int64]], versions: Sequence[Version]) -> list[NDArray[np.int64]]:
    """The numbers of the cells of each version itself."""
    return [cells[: len(version.cells.persons)] for cells, version in zip(numbers, versions, strict=True)]


def _hide_rows(level: _Level, k: int, options: Mapping[str, Any]) -> _Level:
    """Hide what rows would disclose where they add up and persons do not; hiding more never discloses more."""
    grid, _ = grid_of(level.tables, "rows")
    # Any other hidden cell may be a zero.
    least = np.where((grid.values > 0).all() | level.nonempty, 1.0, 0.0)
    known = Bounds(least, np.full(grid.size, np.inf))
    alone = level.grid.values == 1
    protection = protect(
        grid,
        level.primary,
        level.reasons,
        lambda _: known,
        k=k,
        width=level.width,
        hidden=level.hidden,
        singletons=alone,
        **options,
    )
    _refuse_unfinished(protection, level.versions, level.numbers, options["budget_seconds"])
    return replace(level, hidden=protection.hidden & ~level.primary, reasons=protection.reason)


def _hide_sums(
    level: _Level, status: NDArray[np.int8], reason: NDArray[np.object_], budget_seconds: float | None
) -> tuple[NDArray[np.int8], NDArray[np.object_]]:
    """Hide more until no hidden sum can be estimated to within its p %."""
    status, reason = status.copy(), reason.copy()
    for column, percent in _sum_columns(level.versions).items():
        chosen = [at for at, cells in enumerate(level.tables) if column in cells.sums]
        grid, numbers = grid_of([level.tables[at] for at in chosen], column)
        numbers = _own_numbers(numbers, [level.versions[at] for at in chosen])
        primary, hidden, alone = (np.zeros(grid.size, bool) for _ in range(3))
        why = np.full(grid.size, None, object)
        for at, cells in zip(chosen, numbers, strict=True):
            own = level.numbers[at]
            alone[cells] = level.grid.values[own] == 1
            primary[cells], hidden[cells], why[cells] = status[own] == 1, status[own] == 2, reason[own]
        protection = protect_sums(
            grid,
            primary,
            why,
            levels(grid.values.astype(np.float64), percent),
            negative=bool((grid.values < 0).any()),
            hidden=hidden & ~primary,
            fixed=grid.values == 0,
            singletons=alone,
            budget_seconds=budget_seconds,
        )
        _refuse_unfinished(protection, [level.versions[at] for at in chosen], numbers, budget_seconds)
        for at, cells in zip(chosen, numbers, strict=True):
            new = (status[level.numbers[at]] == 0) & (protection.status[cells] > 0)
            status[level.numbers[at][new]] = 2
            reason[level.numbers[at][new]] = protection.reason[cells][new]
    return status, reason


def _sum_columns(versions: Sequence[Version]) -> dict[str, int]:
    """The columns that are added up, and the percentage within which no hidden sum may be known."""
    percents: dict[str, int] = {}
    for version in versions:
        for measure in version.table.measures:
            if measure.kind in ("sum", "mean") and measure.column is not None:
                percents[measure.column] = max(percents.get(measure.column, 0), measure.p or DEFAULT_P)
    return percents


def shows_amounts(table: StatsTable) -> bool:
    """Whether the table shows rows or sums beside persons: those always add up."""
    return any(_adds_up(measure) for measure in table.measures)


def _adds_up(measure: Measure) -> bool:
    return measure.kind in ("rows", "sum", "mean")


def _primary(version: Version, k: int, close: Flags) -> tuple[Flags, NDArray[np.object_]]:
    """Primary cells and their reasons."""
    cells = version.cells
    rules = [below_threshold(cells.persons, k), empty_cells(cells.persons)]  # published zeros are not listed
    for measure in version.table.measures:
        if measure.kind in ("sum", "mean") and measure.column is not None and measure.name in cells.sums:
            sums, largest = cells.sums[measure.name], cells.largest[measure.name]
            rules.append(few_for_a_mean(cells.sums[f"{measure.name}:persons"].astype(np.int64), k))
            if measure.dominance is not None:
                rules.append(exceeds_dominance(sums, largest, *measure.dominance))
            if measure.p is not None or measure.dominance is None:
                rules.append(within_p_percent(sums, largest, measure.p or DEFAULT_P))
    rules.append((close, Reason.OVER_TIME))
    flags, reasons = combine_rules(rules, len(cells.persons))
    return flags & cells.offered, reasons


def _suppressed_categories(version: Version) -> Flags:
    """The cells of categories that are all hidden because merging them would leave a single one (Y17)."""
    flags = np.zeros(len(version.cells.persons), bool)
    for at, tree in enumerate(version.cells.dimensions):
        gone = version.suppressed.get(version.table.dimensions[at].name, ())
        flags |= np.array([*(label in gone for label in tree.labels), False])[version.cells.codes[:, at]]
    return flags & version.cells.offered
