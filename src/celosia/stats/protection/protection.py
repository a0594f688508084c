"""Protection of counted cells: linked versions of tables become one grid, and the grid is protected.

Knows cell tables, audiences and what was published before. Ignores databases. Versions for several audiences are
nested: the lowest k is protected first, over everything that will be published, and what it hides stays hidden for
stricter audiences; so all versions together disclose no more than the version with the lowest k. Tables are linked when
they are made from the same PERSONAL block; a dimension is the same when columns and rule are, whatever its borders.
Source: YAPÓ 3; Hundepool et al., Statistical Disclosure Control (2012), chapter 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.model.reports.tables import Reason
from celosia.stats.counting.dependent_columns import Dependency, join_cells
from celosia.stats.counting.linked_breakdowns import list_empty_cells
from celosia.stats.declaration.declaration import Dimension, Measure, StatsTable, stats_name
from celosia.stats.errors import AuditUnfinished
from celosia.tables.cells import CellTable, beneath_small
from celosia.tables.cells import Dimension as Tree
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

Key = tuple[str | None, ...]  # the categories of a cell, in the order of the table's dimensions
Share = Callable[[float], None] | None
_NONE: Mapping[str, Any] = MappingProxyType({})
BORDERS = frozenset(("bands", "width", "end", "borders", "by", "years", "start"))  # where a dimension is cut
DEFAULT_P = 10  # percent: the rule for sums and means that declare none (Y23 asks for one)


@dataclass(frozen=True, slots=True)
class EarlierPublication:
    """What an earlier run published of the cells of a version, in any table of its origin."""

    values: Mapping[tuple[str, Key], float]  # measure and cell, as the version calls them
    k: int  # differences of fewer persons are disclosure; below the version's k where others read it


@dataclass(frozen=True, slots=True)
class Version:
    """A STATS table before publication, as one audience will see it."""

    table: StatsTable
    audience: str
    k: int
    cells: CellTable
    others: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=lambda: _NONE)  # label, members
    suppressed: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)  # nothing left to merge with
    earlier: tuple[EarlierPublication, ...] = ()
    scale: Mapping[str, int] = field(default_factory=lambda: _NONE)  # units of a sum that make one
    meanings: Mapping[str, str] = field(default_factory=lambda: _NONE)  # dimension -> its name in all linked tables
    names: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NONE)  # … -> category -> its name there
    origin: str = ""  # who is counted
    dependencies: tuple[Dependency, ...] = ()  # between its columns and others
    beside: CellTable | None = None  # by dimensions that follow from its own, under shared names; never offered


@dataclass(frozen=True, slots=True)
class ProtectedVersion:
    """A version with the status of each of its cells."""

    version: Version
    status: NDArray[np.int8]  # 0 published, 1 primary, 2 secondary
    reasons: NDArray[np.object_]

    @property
    def hidden(self) -> Flags:
        """Offered cells that are not shown."""
        flags: Flags = (self.status > 0) & self.version.cells.offered
        return flags


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
    protection = _protect_persons(level, k, options)
    while (more := _remainders_to_withhold(level, protection.status, k)).any():
        level = replace(level, hidden=protection.hidden & ~level.primary, reasons=protection.reason)
        level = _withhold(level, more)
        protection = _protect_persons(level, k, options)
    _refuse_unfinished(protection, versions, level.numbers, budget_seconds)
    level = replace(level, hidden=protection.hidden & ~level.primary)
    marks = np.where(aside.primary, 1, np.where(aside.hidden, 2, protection.status)).astype(np.int8)
    reasons = np.where(aside.primary | aside.hidden, aside.reasons, protection.reason)
    status, reason = _hide_sums(level, marks, reasons, budget_seconds)
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


def _withhold(level: _Level, more: Flags) -> _Level:
    """The level with further cells withheld because of earlier publications."""
    reasons = level.reasons.copy()
    reasons[more] = Reason.OVER_TIME
    return replace(level, primary=level.primary | more, hidden=level.hidden & ~more, reasons=reasons)


def _remainders_to_withhold(level: _Level, status: NDArray[np.int8], k: int) -> Flags:
    """Published cells to withhold because a total less its published parts changed by 1 to k-1 persons since before.

    The sum of the hidden parts of a total is known. Of the published parts that changed the cheapest is withheld, so
    that its change is added to theirs; where none changed, the total itself.
    """
    more = np.zeros(level.grid.size, bool)
    shown = (status == 0) & level.grid.offered
    for version, cells in zip(level.versions, level.numbers, strict=True):
        name = _persons_measure(version.table)
        keys = history_keys(version) if version.earlier and name else []
        for earlier in version.earlier if name else ():
            before = np.full(level.grid.size, -1, np.int64)
            before[cells] = np.nan_to_num(_earlier_values(keys, earlier, str(name)), nan=-1).astype(np.int64)
            more |= _remainders_since(level.grid, shown, before, min(k, earlier.k))
    return more


def _remainders_since(grid: Grid, shown: Flags, before: Values, k: int) -> Flags:
    more = np.zeros(grid.size, bool)
    known, change = shown & (before >= 0), grid.values - before
    for number in np.flatnonzero(grid.additive & known[grid.totals]):
        whole, parts = grid.relation(int(number))
        published_parts = parts[known[parts]]
        rest = int(change[whole]) - int(change[published_parts].sum())
        if len(published_parts) < len(parts) and 0 < abs(rest) < k:
            moved = published_parts[change[published_parts] != 0]
            more[moved[np.argmin(grid.cost[moved])] if len(moved) else whole] = True
    return more


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
        close, published = _close_to_earlier(version, k)
        flags, why = _primary(version, k, close)
        new = flags & ~primary[cells]
        reasons[cells[new]], primary[cells[new]] = why[new], True
        earlier[cells[new]] = np.where([reason is Reason.OVER_TIME for reason in why[new]], published[new], -1)
        known[cells] |= _already_published(version, k)
        hidden[cells] |= _suppressed_categories(version) if version.k == k else False
        hidden[cells] |= False if flags_before is None else flags_before
        if version.table.zeros == "show":
            nonempty[cells] |= (version.cells.persons > 0) & ~beneath_small(version.cells, k)
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
        primary, hidden = np.zeros(grid.size, bool), np.zeros(grid.size, bool)
        why = np.full(grid.size, None, object)
        for at, cells in zip(chosen, numbers, strict=True):
            own = level.numbers[at]
            primary[cells], hidden[cells], why[cells] = status[own] == 1, status[own] == 2, reason[own]
        protection = protect_sums(
            grid,
            primary,
            why,
            levels(grid.values.astype(np.float64), percent),
            negative=bool((grid.values < 0).any()),
            hidden=hidden & ~primary,
            fixed=grid.values == 0,
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
    return any(measure.kind in ("rows", "sum", "mean") for measure in table.measures)


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


def keys_of(cells: CellTable) -> list[Key]:
    """The categories of every cell."""
    words = [np.array([*dimension.labels, None], object) for dimension in cells.dimensions]
    columns = [word[cells.codes[:, at]] for at, word in enumerate(words)]
    return list(zip(*columns, strict=True)) if columns else [()] * len(cells.codes)


def _earlier_values(keys: Sequence[Key], earlier: EarlierPublication, measure: str) -> NDArray[np.float64]:
    """What an earlier publication showed of a measure, cell by cell; not a number where it showed nothing."""
    return np.array([earlier.values.get((measure, key), np.nan) for key in keys], np.float64)


def _persons_measure(table: StatsTable) -> str | None:
    return next((measure.name for measure in table.measures if measure.kind == "persons"), None)


def _close_to_earlier(version: Version, k: int) -> tuple[Flags, Values]:
    """Cells that an earlier publication forbids, and the persons published then (-1 where none were).

    The difference between two publications of a cell may not be of 1 to k-1 persons or rows, in either direction; and
    a sum or mean that changed needs k persons more or fewer, or it would disclose what one of them did.
    """
    size = len(version.cells.persons)
    flags, before = np.zeros(size, bool), np.full(size, -1, np.int64)
    if not version.earlier:
        return flags, before
    now, keys = {"persons": version.cells.persons, "rows": version.cells.rows}, history_keys(version)
    for earlier in version.earlier:
        for measure in (measure for measure in version.table.measures if measure.kind in now):
            values = _earlier_values(keys, earlier, measure.name)
            change = np.abs(now[measure.kind] - np.trunc(values))
            close = (change > 0) & (change < min(k, earlier.k))
            flags |= close
            if measure.kind == "persons":
                before[close] = values[close].astype(np.int64)
    return flags | _sums_close_to_earlier(version, k), before


def _already_published(version: Version, k: int) -> Flags:
    """Cells published before for the readers of this k, with as many persons as there are now."""
    flags = np.zeros(len(version.cells.persons), bool)
    name = _persons_measure(version.table)
    seen = [earlier for earlier in version.earlier if name and earlier.k >= k]
    keys = history_keys(version) if seen else []
    for earlier in seen:
        flags |= _earlier_values(keys, earlier, str(name)) == version.cells.persons
    return flags & version.cells.offered


def _sums_close_to_earlier(version: Version, k: int) -> Flags:
    """Cells whose sum or mean changed since an earlier publication while fewer than k persons came or went."""
    persons, keys = version.cells.persons, history_keys(version)
    flags = np.zeros(len(persons), bool)
    name = _persons_measure(version.table) or ""
    for measure in version.table.measures:
        if measure.kind not in ("sum", "mean") or measure.name not in version.cells.sums:
            continue
        values = amounts(version, measure)
        for earlier in version.earlier:
            published, before = (_earlier_values(keys, earlier, column) for column in (measure.name, name))
            changed = ~np.isnan(published) & ~np.isclose(published, values, rtol=1e-12, atol=0)
            came_or_went = np.abs(persons - np.trunc(np.where(np.isnan(before), persons, before)))
            flags |= changed & (came_or_went < min(k, earlier.k))
    return flags


def amounts(version: Version, measure: Measure) -> NDArray[np.float64]:
    """The sum or mean of every cell in its own unit; the mean of an empty cell is not a number."""
    sums = version.cells.sums[measure.name].astype(np.float64) / version.scale.get(measure.name, 1)
    if measure.kind == "sum":
        return sums
    counts = version.cells.sums[f"{measure.name}:rows"].astype(np.float64)
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)


def history_keys(version: Version) -> list[Key]:
    """The categories of every cell as the history names them: the merged one by its members."""
    names = [version.others.get(dimension.name, ("", ())) for dimension in version.table.dimensions]
    return [
        tuple(
            merged_name(word, members) if members and word == label else word
            for word, (label, members) in zip(key, names, strict=True)
        )
        for key in keys_of(version.cells)
    ]


def linkable(version: Version) -> CellTable:
    """The cells with names that mean the same in every table: dimension by rule and columns, Otros by its members."""
    trees = []
    for dimension, tree in zip(version.table.dimensions, version.cells.dimensions, strict=True):
        meaning = version.meanings.get(dimension.name) or _shared_name(dimension)
        trees.append(Tree(meaning, _shared_labels(version, dimension.name, tree.labels), tree.parent))
    cells = join_cells(version.cells, version.beside)
    sums = {
        measure.column: cells.sums[measure.name]
        for measure in version.table.measures
        if measure.column is not None and measure.name in cells.sums
    }
    return replace(cells, dimensions=(*trees, *cells.dimensions[len(trees) :]), sums=sums)


def shared_tree(dimension: Dimension, tree: Tree, meaning: str, names: Mapping[str, str]) -> Tree:
    """A dimension with the names that linked tables share."""
    labels = tuple(names.get(label, label) for label in tree.labels)
    return Tree(meaning or _shared_name(dimension), labels, tree.parent)


def _shared_labels(version: Version, dimension: str, labels: Sequence[str]) -> tuple[str, ...]:
    """The categories under the names that linked tables share."""
    shared = version.names.get(dimension)
    if shared is not None:
        return tuple(shared.get(label, label) for label in labels)
    others, members = version.others.get(dimension, ("", ()))
    return tuple(merged_name(label, members) if label == others and members else label for label in labels)


def merged_name(label: str, members: Sequence[str]) -> str:
    """The merged category by its members: two of them are the same only if their members are."""
    return f"{label} ({' + '.join(members)})"


def _shared_name(dimension: Dimension) -> str:
    settings = sorted((key, str(value)) for key, value in dimension.settings.items() if key not in BORDERS)
    return "\x1f".join([dimension.rule, *dimension.columns, *(f"{key}={value}" for key, value in settings)])
