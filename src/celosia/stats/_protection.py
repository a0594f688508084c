"""From counted cells to what may be shown: linked versions of tables become one grid, and the grid is protected.

Knows cell tables, audiences and what was published before. Ignores databases. Versions for several audiences are
nested: the lowest k is protected first, over everything that anybody will see, and what it hides stays hidden for
stricter audiences; so all versions together tell no more than the version with the lowest k. Tables are linked when
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

from celosia.errors import AuditUnfinished, TableUnprotectable
from celosia.model.stats import Dimension, Measure, StatsTable, stats_name
from celosia.model.tables import Reason
from celosia.stats._cuts import listed
from celosia.tables import (
    Bounds,
    CellTable,
    Flags,
    Grid,
    Protection,
    Values,
    below_threshold,
    beneath_small,
    dominated,
    empty,
    few_for_a_mean,
    grid_of,
    levels,
    protect,
    protect_sums,
    threshold_bounds,
    together,
    within_p_percent,
)
from celosia.tables import Dimension as Tree

Key = tuple[str | None, ...]  # the categories of a cell, in the order of the table's dimensions
Share = Callable[[float], None] | None
_NONE: Mapping[str, Any] = MappingProxyType({})
BORDERS = frozenset(("bands", "width", "end", "borders", "by", "years", "start"))  # where a dimension is cut
DEFAULT_P = 10  # percent: the rule for sums and means that declare none (Y23 asks for one)


@dataclass(frozen=True, slots=True)
class Earlier:
    """What an earlier run told of the cells of a version, in any table of its origin."""

    told: Mapping[tuple[str, Key], float]  # measure and cell, as the version calls them
    k: int  # groups of fewer may not be seen in the difference; less than the version's where others read it


@dataclass(frozen=True, slots=True)
class Version:
    """One STATS table to be: a table as one audience will see it."""

    table: StatsTable
    audience: str
    k: int
    cells: CellTable
    others: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=lambda: _NONE)  # label, members
    suppressed: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NONE)  # nothing left to merge with
    earlier: tuple[Earlier, ...] = ()
    scale: Mapping[str, int] = field(default_factory=lambda: _NONE)  # units of a sum that make one
    meanings: Mapping[str, str] = field(default_factory=lambda: _NONE)  # dimension -> its name in all linked tables
    names: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: _NONE)  # … -> category -> its name there
    origin: str = ""  # who is counted


@dataclass(frozen=True, slots=True)
class Protected:
    """A version with what happens to each of its cells."""

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
) -> list[Protected]:
    """Protect the versions of linked tables together, the lowest k first.

    Where the zeros that are shown would give something away (four people in four categories), those beneath small
    totals are listed and hidden too. When the time given runs out before every hidden cell is proved safe, nothing may
    be shown: `AuditUnfinished`.
    """
    try:
        return _protect_levels(versions, budget_seconds, share)
    except TableUnprotectable:
        most = max(version.k for version in versions)
        with_zeros = [replace(version, cells=listed(version.cells, most)) for version in versions]
    return _protect_levels(with_zeros, budget_seconds, share)


def _protect_levels(versions: Sequence[Version], budget_seconds: float | None, share: Share) -> list[Protected]:
    steps = sorted({version.k for version in versions})
    kept: dict[int, Flags] = {}
    done: dict[int, Protected] = {}
    for number, k in enumerate(steps):
        chosen = [place for place, version in enumerate(versions) if version.k >= k]
        found = _protect_level([versions[place] for place in chosen], k, [kept.get(p) for p in chosen], budget_seconds)
        for place, protected in zip(chosen, found, strict=True):
            kept[place] = protected.status > 0
            if versions[place].k == k:
                done[place] = protected
        if share:
            share((number + 1) / len(steps))
    return [done[place] for place in range(len(versions))]


def _protect_level(
    versions: Sequence[Version], k: int, before: Sequence[Flags | None], budget_seconds: float | None
) -> list[Protected]:
    """One grid for all versions that a reader at this level may see."""
    level, aside = _set_aside(_level(versions, k, before))
    given: dict[str, Any] = {"fixed": (level.grid.values == 0) | level.known, "budget_seconds": budget_seconds}
    if any(shows_more(version.table) for version in versions) and not level.grid.additive.all():
        level = _hide_rows(level, k, given)
    found = _protect_persons(level, k, given)
    while (more := _small_rests(level, found.status, k)).any():
        level = replace(level, hidden=found.hidden & ~level.primary, reasons=found.reason)
        level = _withheld_too(level, more)
        found = _protect_persons(level, k, given)
    _refuse_unfinished(found, versions, level.numbers, budget_seconds)
    level = replace(level, hidden=found.hidden & ~level.primary)
    marks = np.where(aside.primary, 1, np.where(aside.hidden, 2, found.status)).astype(np.int8)
    reasons = np.where(aside.primary | aside.hidden, aside.reasons, found.reason)
    status, reason = _hide_sums(level, marks, reasons, budget_seconds)
    return [
        Protected(version, status[place], reason[place]) for version, place in zip(versions, level.numbers, strict=True)
    ]


def _set_aside(level: _Level) -> tuple[_Level, _Level]:
    """The level as its readers have it, who know what was published before; and what of that is hidden all the same."""
    over_time = np.fromiter((one is Reason.OVER_TIME for one in level.reasons), bool, level.grid.size)
    known = level.known & ~(over_time & level.primary)
    reasons = np.where(known & level.hidden & (level.reasons == None), Reason.LINKED, level.reasons)  # noqa: E711
    aside = replace(level, primary=level.primary & known, hidden=level.hidden & known, reasons=reasons)
    rest = replace(level, primary=level.primary & ~known, hidden=level.hidden & ~known, known=known)
    return rest, aside


def _refuse_unfinished(
    found: Protection, versions: Sequence[Version], numbers: Sequence[NDArray[np.int64]], seconds: float | None
) -> None:
    """Stop where time ran out: what could not be measured counts as disclosed, and is not published around."""
    if found.audit is None or found.audit.safe:
        return
    open_cells = found.audit.disclosed
    tables = [
        stats_name(version.table.name, version.audience)
        for version, place in zip(versions, numbers, strict=True)
        if open_cells[place].any()
    ]
    raise AuditUnfinished(tables=", ".join(tables), cells=int(open_cells.sum()), seconds=f"{seconds or 0:g}")


def _protect_persons(level: _Level, k: int, given: Mapping[str, Any]) -> Protection:
    """The pattern for counts of persons. A cell withheld because of an earlier publication must stay so uncertain
    that nobody can tell its change to be of 1 to k-1 persons: k values must remain possible."""
    over_time = np.fromiter((one is Reason.OVER_TIME for one in level.reasons), bool, level.grid.size)
    return protect(
        level.grid, level.primary, level.reasons,
        lambda status: threshold_bounds(status, k, earlier=level.earlier, reasons=level.reasons).narrowed(
            level.somebody, 1, np.inf
        ),
        k=k, width=np.where(over_time & level.primary, max(k - 1, level.width), level.width), hidden=level.hidden,
        singletons=level.grid.values == 1, **given,
    )  # fmt: skip


def _withheld_too(level: _Level, more: Flags) -> _Level:
    """The level with further cells withheld because of earlier publications."""
    reasons = level.reasons.copy()
    reasons[more] = Reason.OVER_TIME
    return replace(level, primary=level.primary | more, hidden=level.hidden & ~more, reasons=reasons)


def _small_rests(level: _Level, status: NDArray[np.int8], k: int) -> Flags:
    """Published cells to withhold because a total less its published parts changed by 1 to k-1 persons since before.

    The hidden parts of a total are known together. Of the published parts that changed the cheapest is withheld, so
    that its change joins theirs; where none changed, the total itself.
    """
    more = np.zeros(level.grid.size, bool)
    shown = (status == 0) & level.grid.offered
    for version, place in zip(level.versions, level.numbers, strict=True):
        name = next((one.name for one in version.table.measures if one.kind == "persons"), None)
        keys = history_keys(version) if version.earlier and name else []
        for one in version.earlier if name else ():
            before = np.full(level.grid.size, -1, np.int64)
            before[place] = [int(one.told.get((str(name), key), -1)) for key in keys]
            more |= _small_rests_since(level.grid, shown, before, min(k, one.k))
    return more


def _small_rests_since(grid: Grid, shown: Flags, before: Values, k: int) -> Flags:
    more = np.zeros(grid.size, bool)
    both, change = shown & (before >= 0), grid.values - before
    for number in np.flatnonzero(grid.additive & both[grid.totals]):
        whole, parts = grid.relation(int(number))
        told = parts[both[parts]]
        rest = int(change[whole]) - int(change[told].sum())
        if len(told) < len(parts) and 0 < abs(rest) < k:
            moved = told[change[told] != 0]
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
    hidden: Flags  # hidden already, and not for what it is
    earlier: Values
    somebody: Flags  # cells that everybody knows not to be empty: who knows how this works knows where zeros are hidden
    width: int
    known: Flags  # published before with the value of now: hiding it would protect nothing


def _level(versions: Sequence[Version], k: int, before: Sequence[Flags | None]) -> _Level:
    tables = [linkable(version) for version in versions]
    grid, numbers = grid_of(tables)
    primary, reasons = np.zeros(grid.size, bool), np.full(grid.size, None, object)
    hidden, earlier = np.zeros(grid.size, bool), np.full(grid.size, -1, np.int64)
    somebody, known = np.zeros(grid.size, bool), np.zeros(grid.size, bool)
    for version, flags_before, place in zip(versions, before, numbers, strict=True):
        close, published = _close_to_before(version, k)
        flags, why = _primary(version, k, close)
        new = flags & ~primary[place]
        reasons[place[new]], primary[place[new]] = why[new], True
        earlier[place[new]] = np.where([one is Reason.OVER_TIME for one in why[new]], published[new], -1)
        known[place] |= _known_before(version, k)
        hidden[place] |= _hidden_as_a_whole(version) if version.k == k else False
        hidden[place] |= False if flags_before is None else flags_before
        if version.table.zeros == "show":
            somebody[place] |= (version.cells.persons > 0) & ~beneath_small(version.cells, k)
    width = max(version.table.width for version in versions)
    return _Level(versions, tables, grid, numbers, primary, reasons, hidden & ~primary, earlier, somebody, width, known)


def _hide_rows(level: _Level, k: int, given: Mapping[str, Any]) -> _Level:
    """What must be hidden because rows add up where persons do not; hiding more never tells more."""
    grid, _ = grid_of(level.tables, "rows")
    least = np.where((grid.values > 0).all() | level.somebody, 1.0, 0.0)  # a hidden zero may be anywhere else
    known = Bounds(least, np.full(grid.size, np.inf))
    alone = level.grid.values == 1
    found = protect(
        grid, level.primary, level.reasons, lambda _: known, k=k, width=level.width, hidden=level.hidden,
        singletons=alone, **given,
    )  # fmt: skip
    _refuse_unfinished(found, level.versions, level.numbers, given["budget_seconds"])
    return replace(level, hidden=found.hidden & ~level.primary, reasons=found.reason)


def _hide_sums(
    level: _Level, status: NDArray[np.int8], reason: NDArray[np.object_], budget_seconds: float | None
) -> tuple[NDArray[np.int8], NDArray[np.object_]]:
    """What must be hidden so that no hidden sum can be estimated to within its p %."""
    status, reason = status.copy(), reason.copy()
    for column, percent in _sum_columns(level.versions).items():
        chosen = [at for at, cells in enumerate(level.tables) if column in cells.sums]
        grid, places = grid_of([level.tables[at] for at in chosen], column)
        primary, hidden = np.zeros(grid.size, bool), np.zeros(grid.size, bool)
        why = np.full(grid.size, None, object)
        for at, place in zip(chosen, places, strict=True):
            own = level.numbers[at]
            primary[place], hidden[place], why[place] = status[own] == 1, status[own] == 2, reason[own]
        found = protect_sums(
            grid, primary, why, levels(grid.values.astype(np.float64), percent),
            negative=bool((grid.values < 0).any()), hidden=hidden & ~primary, fixed=grid.values == 0,
            budget_seconds=budget_seconds,
        )  # fmt: skip
        _refuse_unfinished(found, [level.versions[at] for at in chosen], places, budget_seconds)
        for at, place in zip(chosen, places, strict=True):
            new = (status[level.numbers[at]] == 0) & (found.status[place] > 0)
            status[level.numbers[at][new]] = 2
            reason[level.numbers[at][new]] = found.reason[place][new]
    return status, reason


def _sum_columns(versions: Sequence[Version]) -> dict[str, int]:
    """The columns that are added up, and the percentage within which no hidden sum may be known."""
    found: dict[str, int] = {}
    for version in versions:
        for measure in version.table.measures:
            if measure.kind in ("sum", "mean") and measure.column is not None:
                found[measure.column] = max(found.get(measure.column, 0), measure.p or DEFAULT_P)
    return found


def shows_more(table: StatsTable) -> bool:
    """Whether the table shows rows or sums beside persons: those always add up."""
    return any(measure.kind in ("rows", "sum", "mean") for measure in table.measures)


def _primary(version: Version, k: int, close: Flags) -> tuple[Flags, NDArray[np.object_]]:
    """The cells that may not be shown for what they are."""
    cells = version.cells
    rules = [below_threshold(cells.persons, k), empty(cells.persons)]  # zeros that are shown are not listed
    for measure in version.table.measures:
        if measure.kind in ("sum", "mean") and measure.column is not None and measure.name in cells.sums:
            sums, largest = cells.sums[measure.name], cells.largest[measure.name]
            rules.append(few_for_a_mean(cells.sums[f"{measure.name}:persons"].astype(np.int64), k))
            if measure.dominance is not None:
                rules.append(dominated(sums, largest, *measure.dominance))
            if measure.p is not None or measure.dominance is None:
                rules.append(within_p_percent(sums, largest, measure.p or DEFAULT_P))
    rules.append((close, Reason.OVER_TIME))
    flags, reasons = together(rules, len(cells.persons))
    return flags & cells.offered, reasons


def _hidden_as_a_whole(version: Version) -> Flags:
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


def _close_to_before(version: Version, k: int) -> tuple[Flags, Values]:
    """Cells that an earlier publication forbids, and the persons published then (-1 where none were).

    The difference between two publications of a cell may not be of 1 to k-1 persons or rows, in either direction; and
    a sum or mean that changed needs k persons more or fewer, or it would tell what one of them did.
    """
    flags, before = np.zeros(len(version.cells.persons), bool), np.full(len(version.cells.persons), -1, np.int64)
    if not version.earlier:
        return flags, before
    now = {"persons": version.cells.persons, "rows": version.cells.rows}
    counts = [(one.name, one.kind) for one in version.table.measures if one.kind in now]
    for place, key in enumerate(history_keys(version)):
        for one in version.earlier:
            for name, kind in counts:
                told = one.told.get((name, key))
                if told is not None and 0 < abs(int(now[kind][place]) - int(told)) < min(k, one.k):
                    flags[place] = True
                    before[place] = int(told) if kind == "persons" else before[place]
    return flags | _sums_close(version, k), before


def _known_before(version: Version, k: int) -> Flags:
    """Cells that the readers of this k were told before, with as many persons as there are now."""
    flags = np.zeros(len(version.cells.persons), bool)
    name = next((one.name for one in version.table.measures if one.kind == "persons"), None)
    seen = [one.told for one in version.earlier if one.k >= k] if name else []
    for place, key in enumerate(history_keys(version) if seen else ()):
        flags[place] = any(told.get((str(name), key)) == version.cells.persons[place] for told in seen)
    return flags & version.cells.offered


def _sums_close(version: Version, k: int) -> Flags:
    """Cells whose sum or mean changed since an earlier publication while fewer than k persons came or went."""
    flags = np.zeros(len(version.cells.persons), bool)
    persons = next((one.name for one in version.table.measures if one.kind == "persons"), "")
    for measure in version.table.measures:
        if measure.kind not in ("sum", "mean") or measure.name not in version.cells.sums:
            continue
        values = amounts(version, measure)
        for place, key in enumerate(history_keys(version)):
            for one in version.earlier:
                told = one.told.get((measure.name, key))
                if told is not None and not np.isclose(told, values[place], rtol=1e-12, atol=0):
                    before = int(one.told.get((persons, key), version.cells.persons[place]))
                    flags[place] |= abs(int(version.cells.persons[place]) - before) < min(k, one.k)
    return flags


def amounts(version: Version, measure: Measure) -> NDArray[np.float64]:
    """The sum or mean of every cell in its own unit; a mean of nobody is not a number."""
    sums = version.cells.sums[measure.name].astype(np.float64) / version.scale.get(measure.name, 1)
    if measure.kind == "sum":
        return sums
    counts = version.cells.sums[f"{measure.name}:rows"].astype(np.float64)
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)


def history_keys(version: Version) -> list[Key]:
    """The categories of every cell as the history knows them: the others by their members."""
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
        meaning = version.meanings.get(dimension.name) or _meaning(dimension)
        trees.append(Tree(meaning, _named(version, dimension.name, tree.labels), tree.parent))
    sums = {
        measure.column: version.cells.sums[measure.name]
        for measure in version.table.measures
        if measure.column is not None and measure.name in version.cells.sums
    }
    return replace(version.cells, dimensions=tuple(trees), sums=sums)


def _named(version: Version, dimension: str, labels: Sequence[str]) -> tuple[str, ...]:
    """The categories under the names that linked tables share."""
    shared = version.names.get(dimension)
    if shared is not None:
        return tuple(shared.get(label, label) for label in labels)
    others, members = version.others.get(dimension, ("", ()))
    return tuple(merged_name(label, members) if label == others and members else label for label in labels)


def merged_name(label: str, members: Sequence[str]) -> str:
    """The category of the others by what it holds: two of them are the same only if their members are."""
    return f"{label} ({' + '.join(members)})"


def _meaning(dimension: Dimension) -> str:
    settings = sorted((key, str(value)) for key, value in dimension.settings.items() if key not in BORDERS)
    return "\x1f".join([dimension.rule, *dimension.columns, *(f"{key}={value}" for key, value in settings)])
