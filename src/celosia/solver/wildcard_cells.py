"""Cell masks under the wildcard reading, in which a masked or missing cell is compatible with any value.

Two tuples are compatible when each variable is equal or empty in one of them; the frequency of a tuple is the rows
of all tuples compatible with it (METRICS, fk with alpha = 1). Only tuples that fail in the source are
considered: masking never makes two rows incompatible. Base frequencies are counted by patterns of empty cells, never by
pairs of rows. No tuple is masked beyond its own need: otherwise k - 1 fully masked rows would make every
row pass and protect none. This reading never decides a verdict (DESIGN §3).
Source: Templ, Kowarik, Meindl 2015, section 3.1; greedy cover of the missing rows, then re-choosing one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.solver.cell_table import CellTable, Ints, Mask, empty_cells, sets_by_cost
from celosia.tuples.table import pack_keys

_ANY = -1
_MOST_WEIGHED = 60_000  # failing tuples² × sets of variables, up to which every choice is weighed each time
_SETS_WEIGHED = 64
_MOST_TRIED = 20_000  # failing tuples × sets, up to which every cheaper set is tried for each tuple
_MOST_FREQUENCIES = 20_000_000  # failing tuples × sets whose frequencies are held
_FEWEST_SETS, _MANY_SETS = 256, 1024
_ALTERNATIVES = 8
_PASSES = 6


def mask_as_wildcard(table: CellTable, k: int) -> Mask | None:
    """Cells to mask so that every row is compatible with at least k rows; None when there are fewer than k rows."""
    if 0 < table.quasi.n_rows < k:
        return None
    masked = np.zeros_like(table.starred)
    base = BaseFrequencies(table)
    everyone = np.arange(len(table.quasi.rows))
    short = everyone[base.of(everyone, np.zeros(len(table.sizes), bool)) < k]
    if len(short):
        masked[short] = _Cover(table, base, short, k).solve()
    return masked & ~base.empty


class BaseFrequencies:
    """Frequencies of tuples against the source, when some of their own cells are masked as well."""

    def __init__(self, table: CellTable):
        self._codes, self._sizes, self._rows = table.quasi.codes, table.quasi.sizes, table.quasi.rows
        self.empty = empty_cells(table.quasi)
        self._pattern, self._members = _distinct_patterns(self.empty)

    def of(self, tuples: Ints, also_masked: Mask) -> Ints:
        """Rows compatible with each of these tuples once the named variables are masked in it."""
        total = np.zeros(len(tuples), np.int64)
        patterns, members_of = _distinct_patterns(self.empty[tuples] | also_masked)
        for pattern, at in zip(patterns, members_of, strict=True):
            for other, members in zip(self._pattern, self._members, strict=True):
                visible = np.flatnonzero(~(pattern | other))
                total[at] += self._matching(tuples[at], members, visible)
        return total

    def _matching(self, tuples: Ints, members: Ints, visible: Ints) -> Ints:
        """Rows of the members that agree with each tuple on the variables visible."""
        both = np.concatenate([tuples, members])
        key = pack_keys(self._codes[np.ix_(both, visible)], [self._sizes[v] for v in visible])
        known, slot = np.unique(key[: len(tuples)], return_inverse=True)
        at = np.minimum(np.searchsorted(known, key[len(tuples) :]), len(known) - 1)
        matches = known[at] == key[len(tuples) :]
        rows = np.zeros(len(known), np.int64)
        np.add.at(rows, at[matches], self._rows[members[matches]])
        return rows[slot.reshape(-1)]


def _distinct_patterns(empty: Mask) -> tuple[Mask, list[Ints]]:
    """The distinct rows of a matrix of truths, and where each is."""
    patterns, label = np.unique(empty, axis=0, return_inverse=True)
    label = label.reshape(-1)
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label, minlength=len(patterns)))
    return patterns, np.split(order, ends[:-1]) if len(ends) else []


class _Cover:
    """The tuples below k, the masks chosen for them so far, and the frequencies these give."""

    def __init__(self, table: CellTable, base: BaseFrequencies, short: Ints, k: int):
        self._k = k
        self._codes = table.quasi.codes[short]
        self._rows = table.quasi.rows[short].astype(np.int64)
        self._empty = base.empty[short]
        self._weights = table.weights
        most = min(max(_MOST_FREQUENCIES // len(short), _FEWEST_SETS), _MANY_SETS)
        sets = sets_by_cost(table.weights, most).astype(bool)
        self._sets, self._base = _needed_sets(base, short, sets, table.weights, k)
        self._price = self._sets @ table.weights
        self._own = np.argmax(self._base >= k, axis=0)  # the cheapest set that suffices whatever the others do
        self._by_size = sorted(range(len(table.sizes)), key=lambda v: -table.sizes[v])
        self._source = [np.where(self._empty[:, v], _ANY, self._codes[:, v]) for v in range(len(table.sizes))]
        self._small = len(short) * len(self._sets) <= _MOST_TRIED
        self._restart()

    def _restart(self) -> None:
        self._chosen = np.zeros(len(self._rows), np.int64)  # the set of variables masked in each tuple
        self._now = [column.copy() for column in self._source]
        self._frequency = self._base[0].copy()

    def solve(self) -> Mask:
        """A set of variables for each failing tuple."""
        starts = [self._dearest_first]
        if len(self._rows) ** 2 * len(self._sets) <= _MOST_WEIGHED and len(self._sets) <= _SETS_WEIGHED:
            starts.append(self._best_cover_first)
        solutions: list[tuple[int, int, Ints]] = []
        for number, start in enumerate(starts):
            self._restart()
            start()
            self._choose_again()
            solutions.append((self._total(), number, self._chosen))
        return self._sets[min(solutions, key=lambda entry: entry[:2])[2]]

    def _total(self) -> int:
        fresh = self._sets[self._chosen] & ~self._empty
        return int(((fresh @ self._weights) * self._rows).sum())

    def _fits(self, failing: int) -> Mask:
        """The sets that mask nothing that is empty already."""
        return ~(self._sets & self._empty[failing]).any(axis=1)

    def _compatible(self, failing: int, chosen: int, columns: list[NDArray[np.int32]]) -> Ints:
        """Which failing tuples are compatible with one of them, masked so, when theirs are these columns."""
        hidden = self._empty[failing] | self._sets[chosen]
        left = None
        for v in self._by_size:
            if not hidden[v]:
                cells = columns[v] if left is None else columns[v][left]
                agrees = np.flatnonzero((cells == self._codes[failing, v]) | (cells == _ANY))
                left = agrees if left is None else left[agrees]
        return np.arange(len(self._rows)) if left is None else left

    def _compatible_rows_under(self, failing: int, chosen: int) -> int:
        """Rows compatible with a tuple under a choice, given the choices of the others."""
        now, before = (self._compatible(failing, chosen, columns) for columns in (self._now, self._source))
        return int(self._base[chosen, failing] + self._rows[now].sum() - self._rows[before].sum())

    def _compatible_changes(self, failing: int, chosen: int) -> tuple[Ints, Ints]:
        """The other tuples that become, and that cease to be, compatible with one when its choice changes to this."""
        before = self._compatible(failing, int(self._chosen[failing]), self._now)
        after = self._compatible(failing, chosen, self._now)
        return np.setdiff1d(after, before, True), np.setdiff1d(before, after, True)

    def _choose(self, failing: int, chosen: int) -> None:
        gain, lose = self._compatible_changes(failing, chosen)
        self._frequency[gain] += self._rows[failing]
        self._frequency[lose] -= self._rows[failing]
        self._chosen[failing] = chosen
        for v, column in enumerate(self._now):
            column[failing] = _ANY if self._sets[chosen, v] else self._source[v][failing]
        self._frequency[failing] = self._compatible_rows_under(failing, chosen)

    def _dearest_first(self) -> None:
        """Tuples that need the dearest masks first: these cannot be spared and serve the others."""
        for failing in np.lexsort((np.arange(len(self._own)), self._rows, -self._price[self._own])).tolist():
            if self._frequency[failing] < self._k:
                chosen = self._cheapest(failing) if self._small else None
                self._choose(failing, self._most_useful_set(failing) if chosen is None else chosen)

    def _cheapest(self, failing: int) -> int | None:
        """The cheapest set that suffices thanks to the others, below what suffices without them."""
        for chosen in np.flatnonzero(self._fits(failing) & (self._price < self._price[self._own[failing]])).tolist():
            if self._compatible_rows_under(failing, chosen) >= self._k:
                return int(chosen)
        return None

    def _most_useful_set(self, failing: int) -> int:
        """Of the sets that suffice at the same price, the one that helps most rows in need."""
        same = self._price == self._price[self._own[failing]]
        suffices = same & (self._base[:, failing] >= self._k) & self._fits(failing)
        suffices[self._own[failing]] = True
        alternatives = np.flatnonzero(suffices)[:_ALTERNATIVES]
        helped = [self._rows_helped(failing, chosen) for chosen in alternatives.tolist()]
        return int(alternatives[int(np.argmax(helped))])

    def _rows_helped(self, failing: int, chosen: int) -> int:
        """Missing rows that a choice brings to the others."""
        need = np.maximum(self._k - self._frequency, 0)
        gain, _ = self._compatible_changes(failing, chosen)
        return int((np.minimum(need[gain], self._rows[failing]) * self._rows[gain]).sum())

    def _best_cover_first(self) -> None:
        """Again and again the choice that brings most missing rows for its price."""
        while (self._frequency < self._k).any():
            _, failing, chosen = max(
                (self._rows_gained(failing, chosen), -failing, -chosen)
                for failing in np.flatnonzero(self._frequency < self._k).tolist()
                for chosen in self._allowed_sets(failing)
            )
            self._choose(-failing, -chosen)

    def _allowed_sets(self, failing: int) -> list[int]:
        """Dearer sets within a tuple's own need; the one that suffices by itself is always among them."""
        price, most = self._price[self._chosen[failing]], self._price[self._own[failing]]
        allowed = (self._price > price) & (self._price <= most) & self._fits(failing)
        allowed[self._own[failing]] = True
        return [int(chosen) for chosen in np.flatnonzero(allowed)]

    def _rows_gained(self, failing: int, chosen: int) -> float:
        rows, has = int(self._rows[failing]), int(self._frequency[failing])
        dearer = int(self._price[chosen] - self._price[self._chosen[failing]]) * rows
        own = min(self._k - has, self._compatible_rows_under(failing, chosen) - has) * rows
        return (own + self._rows_helped(failing, chosen)) / max(dearer, 1)

    def _choose_again(self) -> None:
        """Give each masked tuple a cheaper choice where nobody falls below k by it."""
        for _ in range(_PASSES):
            before = self._total()
            masked = np.flatnonzero(self._chosen)
            for failing in masked[np.argsort(-self._price[self._chosen[masked]], kind="stable")].tolist():
                self._try_cheaper_set(failing)
            if self._total() == before:
                return

    def _try_cheaper_set(self, failing: int) -> None:
        current = self._sets[self._chosen[failing]]
        cheaper = (self._price < self._price[self._chosen[failing]]) & self._fits(failing)
        if not self._small:
            cheaper &= ~(self._sets & ~current).any(axis=1)
        for chosen in np.flatnonzero(cheaper).tolist():
            _, lose = self._compatible_changes(failing, chosen)
            hold = bool((self._frequency[lose[lose != failing]] - self._rows[failing] >= self._k).all())
            if hold and self._compatible_rows_under(failing, chosen) >= self._k:
                self._choose(failing, chosen)
                return


def _needed_sets(base: BaseFrequencies, short: Ints, sets: Mask, weights: Ints, k: int) -> tuple[Mask, Ints]:
    """The sets up to the price at which every failing tuple reaches k by itself, and the frequencies they give."""
    price = sets @ weights
    frequencies: list[Ints] = []
    reached = np.zeros(len(short), bool)
    for number, chosen in enumerate(sets):
        if reached.all() and price[number] > price[number - 1]:
            break
        frequencies.append(base.of(short, chosen))
        reached |= frequencies[-1] >= k
    return sets[: len(frequencies)], np.stack(frequencies)
