"""Complementary suppression against exact disclosure: no protected cell follows from what is published.

Knows a grid and which of its cells are hidden. Ignores values, bounds and whole numbers (the audit knows them), and
relations that do not add up. A hidden cell follows exactly from the published ones when some weighting of the additive
relations leaves it alone among the hidden cells; equivalently, when it is zero in every filling of the hidden cells
that all relations map to zero. Such fillings are drawn by sparse elimination (`kernels.elimination`).

Exactness. The arithmetic is modulo a prime. A cell with a non-zero entry in a verified filling is proved not to
follow, modulo that prime; a zero entry by accident (one chance in 2^93) only hides more. A prime could call a cell
safe that is not safe in rational numbers only if it divides an elementary divisor of the relations. Peeled rows
contribute none but 1; and by Hadamard's bound on the largest minor no more than some hundreds of the fifty million
primes of this size can divide those of a table of 50,000 cells. Both primes of `GAPS` would have to be among them, for
what one of them calls recoverable is recoverable.

Minimality. `complete_suppression` first hides enough and then publishes again, highest cost first, what is not needed;
at the end every complementary cell is needed by some protected one.
Sources: Cox 1980 and Kelly, Golden and Assad 1992 (complementary suppression); Jewett 1993 (singletons).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from celosia.tables.errors import TableUnprotectable
from celosia.tables.grid import Cells, Flags, Grid

Residues = NDArray[np.int64]

_PRIME_BELOW = 1 << 31
_DRAWN = 3  # random fillings that distinguish hidden cells
_AT_ONCE = 256  # recoverable cells of one part that are treated together
_VECTORS = 128  # fillings that `_publish_needless` may use before the parts are eliminated anew


def recoverable(grid: Grid, hidden: Flags) -> Flags:
    """Hidden cells, and cells that nobody publishes, that follow exactly from the published ones."""
    from celosia.kernels.elimination import GAPS

    unknown, relations = np.flatnonzero(hidden | ~grid.offered), additive_relations(grid)
    known = np.zeros(grid.size, bool)
    for gap in GAPS:
        parts = _parts(relations, unknown, gap)
        known[parts.cells[~parts.fillings()[0].any(axis=1)]] = True
    return known


def complete_suppression(
    grid: Grid, primary: Flags, hidden: Flags | None = None, fixed: Flags | None = None, singletons: Flags | None = None
) -> Flags:
    """The cells to hide so that no primary cell follows from the rest, not even for the only person of a hidden cell.

    All of `primary`, `hidden` and the cells not offered are hidden; `fixed` cells and empty cells are not hidden
    beyond that. None of the cells added can be published again without disclosing a primary cell.
    """
    from celosia.kernels.elimination import GAPS

    task = _build_task(grid, primary, hidden, fixed, singletons)
    enough = _strengthen(task, _close_relations(task, task.hidden, np.flatnonzero(task.hidden)), GAPS[0])
    least = _publish_needless(task, enough, GAPS[0])
    # The second prime hides nothing more unless the first one divides an elementary divisor.
    return _strengthen(task, least, GAPS[1])


# --- the relations among unknown cells -----------------------------------------------------------


def additive_relations(grid: Grid) -> Any:
    """Relations that add up as a sparse matrix: 1 for the parts, -1 for the whole."""
    lengths = np.diff(grid.starts)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    entries = np.concatenate([np.ones(len(grid.parts), np.int64), np.full(len(lengths), -1, np.int64)])
    where = (np.concatenate([rows, np.arange(len(lengths))]), np.concatenate([grid.parts, grid.totals]))
    matrix = sparse.coo_array((entries, where), shape=(len(lengths), grid.size)).tocsr()
    matrix = matrix[np.flatnonzero(grid.additive)]
    matrix.eliminate_zeros()
    return matrix.tocsc()


@dataclass(frozen=True)
class _Parts:
    """Unknown cells and the relations that touch them, cut into connected parts, modulo a prime."""

    cells: Cells  # cell of each column, ordered by part
    rows: Cells  # relation of each row
    column_bounds: Cells
    row_bounds: Cells
    part: Cells  # part of each column
    system: Any  # by rows and by columns, as the kernels take it
    gap: int

    @property
    def prime(self) -> int:
        return _PRIME_BELOW - self.gap

    def eliminate(self, part: int) -> Any:
        """One part after elimination, ready to be solved."""
        from celosia.kernels.elimination import eliminate

        a, b, c, d = *self.row_bounds[part : part + 2], *self.column_bounds[part : part + 2]
        row_start, column, value, column_start, row, column_value = self.system
        e, f, g, h = row_start[a], row_start[b], column_start[c], column_start[d]
        by_row = (row_start[a : b + 1] - e, column[e:f] - c, value[e:f])
        return eliminate((*by_row, column_start[c : d + 1] - g, row[g:h] - a, column_value[g:h]), self.gap)

    def fillings(self) -> tuple[Residues, Residues]:
        """Entries per column that the relations map to zero, and weights per row that map every column to zero."""
        entries = np.zeros((len(self.cells), _DRAWN), np.int64)
        weights = np.zeros((len(self.rows), _DRAWN), np.int64)
        for part in range(len(self.row_bounds) - 1):
            a, b, c, d = *self.row_bounds[part : part + 2], *self.column_bounds[part : part + 2]
            alone = self.eliminate(part)
            entries[c:d], weights[a:b] = alone.fillings(_DRAWN, int(c)), alone.loose_weights(_DRAWN, int(a))
        return entries, weights


def _parts(relations: Any, unknown: Cells, gap: int) -> _Parts:
    touching = relations[:, unknown].tocsr()
    rows = np.flatnonzero(np.diff(touching.indptr))
    touching = touching[rows]
    links = sparse.block_array([[None, touching], [touching.T, None]]) if len(rows) else None
    count, label = (len(unknown), np.arange(len(unknown))) if links is None else connected_components(links, False)
    of_row, of_column = label[: len(rows)], label[len(rows) :]
    row_order, order = np.argsort(of_row, kind="stable"), np.argsort(of_column, kind="stable")
    numbers = np.arange(count + 1)
    return _Parts(
        unknown[order],
        rows[row_order],
        np.searchsorted(of_column[order], numbers),
        np.searchsorted(of_row[row_order], numbers),
        of_column[order],
        _modular_system(touching[row_order][:, order], _PRIME_BELOW - gap),
        gap,
    )


def _modular_system(matrix: Any, prime: int) -> tuple[NDArray[np.int64], ...]:
    by_row, by_column = matrix.tocsr(), matrix.tocsc()
    by_row.sort_indices()
    by_column.sort_indices()
    halves = [(half.indptr, half.indices, half.data % prime) for half in (by_row, by_column)]
    return tuple(np.ascontiguousarray(array, np.int64) for half in halves for array in half)


# --- the task ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Task:
    relations: Any
    system: Any  # all cells, for the local rule
    protected: Flags
    single: Flags
    twin: Cells  # cells with the same label have the same people: one of them is the only part of the other
    hidden: Flags  # hidden in any case
    able: Flags  # may be hidden in addition
    cost: NDArray[np.int64]


def _build_task(
    grid: Grid, primary: Flags, hidden: Flags | None, fixed: Flags | None, singletons: Flags | None
) -> _Task:
    none = np.zeros(grid.size, bool)
    hidden, fixed, singletons = (none if flags is None else flags for flags in (hidden, fixed, singletons))
    required = primary | hidden | ~grid.offered
    relations = additive_relations(grid)
    return _Task(
        relations,
        _modular_system(relations, _PRIME_BELOW - 1),
        primary.copy(),
        singletons.copy(),
        label_equal_cells(grid, required),
        required,
        ~required & ~fixed & (grid.values != 0),
        grid.cost.astype(np.int64),
    )


def label_equal_cells(grid: Grid, hidden: Flags) -> Cells:
    """A label per cell: a whole and its only part have the same people, so that who knows one knows the other.

    Empty parts do not count unless they are hidden: then an outsider cannot know that the other part is the only one.
    """
    filled = (grid.values[grid.parts] != 0) | hidden[grid.parts]
    before = np.concatenate([[0], np.cumsum(filled)])
    lone = np.flatnonzero(grid.additive & (before[grid.starts[1:]] - before[grid.starts[:-1]] == 1))
    only = grid.parts[np.flatnonzero(filled)[before[grid.starts[lone]]]]
    links = sparse.coo_array((np.ones(len(lone)), (grid.totals[lone], only)), shape=(grid.size, grid.size))
    return np.asarray(connected_components(links, False)[1], np.int64)


def _close_relations(task: _Task, hidden: Flags, changed: Cells) -> Flags:
    """Hide a second cell in every relation of the changed cells that has a single unknown cell."""
    from celosia.kernels.complements import close_rows

    more = hidden.copy()
    able, watched = task.able & ~hidden, task.protected | (hidden & ~task.hidden)
    rows = np.unique(task.relations[:, changed].indices).astype(np.int64)
    if len(rows):
        traits = (task.protected, task.single, task.twin)
        close_rows(task.system, more, able, watched, traits, task.cost, rows)
    return more


# --- hiding until no protected cell follows ------------------------------------------------------


@dataclass(frozen=True)
class _Leaks:
    """Combinations of columns that published cells disclose: a protected one, less `share` of a single person's."""

    column: Cells
    partner: Cells  # -1: anybody can compute it
    share: Residues


def _strengthen(task: _Task, hidden: Flags, gap: int) -> Flags:
    """Hide more, by elimination, until no protected cell follows."""
    while True:
        parts = _parts(task.relations, np.flatnonzero(hidden), gap)
        entries, loose = parts.fillings()
        leaks = _leaks(task, parts, entries)
        if not len(leaks.column):
            return hidden
        chosen = _cells_breaking(task, parts, leaks, loose, np.flatnonzero(task.able & ~hidden))
        more = hidden.copy()
        more[chosen] = True
        hidden = _close_relations(task, more, chosen)


def _leaks(task: _Task, parts: _Parts, entries: Residues) -> _Leaks:
    """What follows exactly: for everybody, and for the only person of a cell."""
    protected, zero = task.protected[parts.cells], ~entries.any(axis=1)
    open_to_all = np.flatnonzero(protected & zero)
    members = np.flatnonzero((protected | task.single[parts.cells]) & ~zero)
    pairs = list(_pairs_by_direction(task, parts.cells[members], _directions(entries[members], parts.prime)))
    column, partner = members[[p for p, _ in pairs]], members[[s for _, s in pairs]]
    return _Leaks(
        np.concatenate([open_to_all, column]),
        np.concatenate([np.full(len(open_to_all), -1), partner]),
        np.concatenate([np.zeros(len(open_to_all), np.int64), _ratio(entries, column, partner, parts.prime)]),
    )


def _directions(entries: Residues, prime: int) -> NDArray[np.int64]:
    """A number for each direction: entries that are proportional have the same."""
    if not len(entries):
        return np.empty(0, np.int64)
    lead = np.take_along_axis(entries, (entries != 0).argmax(axis=1)[:, None], axis=1)
    scaled = entries * _inverses(lead, prime) % prime
    return np.unique(scaled, axis=0, return_inverse=True)[1].reshape(-1)


def _pairs_by_direction(task: _Task, cells: Cells, direction: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """(protected, single person's) pairs of one direction, by position: who knows the second computes the first."""
    lone: dict[int, dict[int, int]] = {}
    twin, direction_of = task.twin[cells].tolist(), direction.tolist()
    for position in np.flatnonzero(task.single[cells]).tolist():
        lone.setdefault(direction_of[position], {}).setdefault(twin[position], position)
    for position in np.flatnonzero(task.protected[cells]).tolist():
        others = list(lone.get(direction_of[position], {}).items())[:2]
        others = [(label, single) for label, single in others if label != twin[position]]
        if others:
            yield position, others[0][1]


def _ratio(entries: Residues, above: Cells, below: Cells, prime: int) -> Residues:
    lead = (entries[below] != 0).argmax(axis=1) if len(below) else np.empty(0, np.int64)
    return entries[above, lead] * _inverses(entries[below, lead], prime) % prime


def _inverses(numbers: Residues, prime: int) -> Residues:
    """Inverses modulo the prime (Fermat)."""
    result, base, power = np.ones_like(numbers), numbers, prime - 2
    while power:
        if power & 1:
            result = result * base % prime
        base, power = base * base % prime, power >> 1
    return result


def _cells_breaking(task: _Task, parts: _Parts, leaks: _Leaks, loose: Residues, able: Cells) -> Cells:
    """Cells whose hiding breaks the leaks, part by part."""
    columns = task.relations[:, able]
    alone = _in_hidden_span(parts, loose, columns)
    chosen: list[NDArray[np.int64]] = []
    of_leak = parts.part[leaks.column]
    for part in np.unique(of_leak).tolist():
        among = np.flatnonzero(of_leak == part)[:_AT_ONCE]
        weights = parts.eliminate(part).weights(_leak_targets(parts, part, leaks, among))
        rows = parts.rows[parts.row_bounds[part] : parts.row_bounds[part + 1]]
        broken = columns[rows].T.tocsr() @ weights % parts.prime != 0
        if not broken.any(axis=0).all():
            raise TableUnprotectable(cells=_count_hopeless(task, parts.gap))
        chosen.append(able[_cover(broken, alone, task.cost[able])])
    return np.unique(np.concatenate(chosen))


def _leak_targets(parts: _Parts, part: int, leaks: _Leaks, among: Cells) -> Residues:
    """The combinations that leak, one per column, over the columns of a part."""
    first, last = parts.column_bounds[part], parts.column_bounds[part + 1]
    targets = np.zeros((last - first, len(among)), np.int64)
    targets[leaks.column[among] - first, np.arange(len(among))] = 1
    paired = np.flatnonzero(leaks.partner[among] >= 0)
    targets[leaks.partner[among[paired]] - first, paired] = parts.prime - leaks.share[among[paired]]
    return targets


def _in_hidden_span(parts: _Parts, loose: Residues, columns: Any) -> Flags:
    """Cells that break a leak without a second one: their column is a combination of the hidden ones."""
    untouched = np.ones(columns.shape[0], np.int64)
    untouched[parts.rows] = 0
    outside = abs(columns).T.tocsr() @ untouched
    left: Residues = columns[parts.rows].T.tocsr() @ loose % parts.prime
    return (outside == 0) & ~left.any(axis=1)


def _cover(broken: Flags, alone: Flags, cost: NDArray[np.int64]) -> Cells:
    """Candidates that break every leak: least cost per leak broken, those that need no second cell first."""
    open_leaks, chosen = np.ones(broken.shape[1], bool), []
    for allowed in (alone, np.ones(len(broken), bool)):
        gain = np.where(allowed, broken[:, open_leaks].sum(axis=1), 0)
        while gain.any():
            price = np.where(gain > 0, cost / np.maximum(gain, 1), np.inf)
            best = int(price.argmin())
            chosen.append(best)
            closed = open_leaks & broken[best]
            gain = np.where(allowed, gain - broken[:, closed].sum(axis=1), 0)
            open_leaks &= ~closed
    return np.array(chosen, np.int64)


def _count_hopeless(task: _Task, gap: int) -> int:
    """Protected cells that follow even when everything that may be hidden is."""
    parts = _parts(task.relations, np.flatnonzero(task.hidden | task.able), gap)
    return len(np.unique(_leaks(task, parts, parts.fillings()[0]).column))


# --- publishing again ----------------------------------------------------------------------------


def _publish_needless(task: _Task, hidden: Flags, gap: int) -> Flags:
    """Publish again the cells that no protected cell needs, highest cost first."""
    hidden, undecided = hidden.copy(), hidden & ~task.hidden
    while undecided.any():
        cells, published = _decide(task, _parts(task.relations, np.flatnonzero(hidden), gap), undecided)
        undecided[cells] = False
        hidden[cells[published]] = False
    return hidden


def _decide(task: _Task, parts: _Parts, undecided: Flags) -> tuple[Cells, Flags]:
    """The cells decided upon, and whether each may be published."""
    from celosia.kernels.complements import PUBLISH, UNDECIDED

    members, flags = _watched_columns(task, parts)
    candidates = np.flatnonzero(undecided[parts.cells])
    candidates = candidates[np.lexsort((parts.cells[candidates], -task.cost[parts.cells[candidates]]))]
    candidates = candidates[np.argsort(parts.part[candidates], kind="stable")]
    verdicts = np.zeros(len(candidates), np.int8)
    for part, cells, watched in _slices_by_part(parts, candidates, members):
        verdicts[cells] = _verdicts(parts, part, candidates[cells], members[watched], flags)
    decided = verdicts != UNDECIDED
    return parts.cells[candidates[decided]], verdicts[decided] == PUBLISH


def _slices_by_part(parts: _Parts, *columns: Cells) -> Iterator[tuple[Any, ...]]:
    """Each part with a column of the first list, and the slices of all lists (sorted by part) that belong to it."""
    numbers = np.unique(parts.part[columns[0]])
    first = [np.searchsorted(parts.part[listed], numbers) for listed in columns]
    last = [np.searchsorted(parts.part[listed], numbers, "right") for listed in columns]
    for position, part in enumerate(numbers.tolist()):
        yield part, *(slice(a[position], b[position]) for a, b in zip(first, last, strict=True))


def _verdicts(parts: _Parts, part: int, candidates: Cells, members: Cells, flags: Flags) -> NDArray[np.int8]:
    """Which candidates of one part may be published, in their order, as far as the vectors reach."""
    from celosia.kernels.complements import TESTED, give_back

    start = int(parts.column_bounds[part])
    width = min(_VECTORS, len(candidates) + TESTED)
    entries = parts.eliminate(part).fillings(width, start)
    chosen = np.ascontiguousarray(entries[np.concatenate([members, candidates]) - start].T)
    protected, single = np.ascontiguousarray(flags[:, members])
    verdicts: NDArray[np.int8] = give_back(chosen, protected, single, bool(single.any()), parts.gap)
    return verdicts


def _watched_columns(task: _Task, parts: _Parts) -> tuple[Cells, Flags]:
    """Columns to watch, one per group of twins, and per column whether it is protected or a single person's."""
    flags = np.stack([task.protected[parts.cells], task.single[parts.cells]])
    watched = np.flatnonzero(flags.any(axis=0))
    _, first, group = np.unique(task.twin[parts.cells[watched]], return_index=True, return_inverse=True)
    members = watched[first]
    for flag in flags:
        flag[members] = np.bincount(group, flag[watched], len(first)) > 0
    return np.sort(members), flags
