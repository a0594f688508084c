"""Masks that hold only if a masked or missing cell may stand for any value: enough compatible rows for every row.

Two tuples are compatible when each variable is equal or empty in one of them; the frequency of a tuple is the rows
of all tuples compatible with it (METRICS, fk with alpha = 1). Only tuples that fail in the source are ever looked
at: masking never takes a row away from anybody. Base frequencies are counted by patterns of empty cells, never by
pairs of rows. This reading never decides a verdict (DESIGN §3).
Source: Templ, Kowarik, Meindl 2015, section 3.1; greedy cover of the missing rows, then re-choosing one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.solver._cell_table import CellTable, Ints, Mask, empty_cells, sets_by_cost
from celosia.tuples import pack_keys

_MOST_COVERED = 2_000_000  # failing tuples² × sets of variables, up to which every choice is weighed each time
_MOST_RECHOSEN = 400_000_000  # failing tuples² × sets × variables, up to which choices are made again
_PASSES = 6


def mask_as_wildcard(table: CellTable, k: int) -> Mask | None:
    """Cells to mask so that every row is compatible with at least k rows; None when there are fewer than k rows."""
    if 0 < table.quasi.n_rows < k:
        return None
    masked = np.zeros(table.quasi.codes.shape, bool)
    base = BaseFrequencies(table)
    everyone = np.arange(len(table.quasi.rows))
    short = everyone[base.of(everyone, np.zeros(masked.shape[1], bool)) < k]
    if len(short):
        masked[short] = _Cover(table, base, short, k).solve()
    return masked & ~base.empty


class BaseFrequencies:
    """Frequencies of tuples against the source, when some of their own cells are masked as well."""

    def __init__(self, table: CellTable):
        self._codes, self._sizes, self._rows = table.quasi.codes, table.quasi.sizes, table.quasi.rows
        self.empty = empty_cells(table.quasi)
        self._pattern, self._members = _by_pattern(self.empty)

    def of(self, tuples: Ints, also_masked: Mask) -> Ints:
        """Rows compatible with each of these tuples once the named variables are masked in it."""
        total = np.zeros(len(tuples), np.int64)
        patterns, places = _by_pattern(self.empty[tuples] | also_masked)
        for pattern, place in zip(patterns, places, strict=True):
            for other, members in zip(self._pattern, self._members, strict=True):
                shown = np.flatnonzero(~(pattern | other))
                total[place] += self._matching(tuples[place], members, shown)
        return total

    def _matching(self, tuples: Ints, members: Ints, shown: Ints) -> Ints:
        """Rows of the members that agree with each tuple on the variables shown."""
        both = np.concatenate([tuples, members])
        key = pack_keys(self._codes[np.ix_(both, shown)], [self._sizes[v] for v in shown])
        known, slot = np.unique(key[: len(tuples)], return_inverse=True)
        place = np.minimum(np.searchsorted(known, key[len(tuples) :]), len(known) - 1)
        found = known[place] == key[len(tuples) :]
        rows = np.zeros(len(known), np.int64)
        np.add.at(rows, place[found], self._rows[members[found]])
        return rows[slot.reshape(-1)]


def _by_pattern(empty: Mask) -> tuple[Mask, list[Ints]]:
    """The distinct rows of a matrix of truths, and where each is."""
    patterns, label = np.unique(empty, axis=0, return_inverse=True)
    label = label.reshape(-1)
    order = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label, minlength=len(patterns)))
    return patterns, np.split(order, ends[:-1]) if len(ends) else []


class _Cover:
    """The tuples below k, the masks chosen for them so far, and the frequencies these give."""

    def __init__(self, table: CellTable, base: BaseFrequencies, short: Ints, k: int):
        self._k, self._short = k, short
        self._codes = table.quasi.codes[short]
        self._rows = table.quasi.rows[short].astype(np.int64)
        self._empty = base.empty[short]
        self._weights = table.weights
        self._sets, self._base = _needed_sets(base, short, sets_by_cost(table.weights).astype(bool), k)
        self._price = self._sets @ table.weights
        self._chosen = np.zeros(len(short), np.int64)  # position of the set of variables masked in each tuple
        self._size = len(short) ** 2 * len(self._sets)

    def solve(self) -> Mask:
        """A set of variables for each failing tuple."""
        starts = [self._largest_need_first]
        if self._size <= _MOST_COVERED:
            starts.append(self._best_cover_first)
        found: list[tuple[int, int, Ints]] = []
        for number, start in enumerate(starts):
            self._chosen = np.zeros(len(self._short), np.int64)
            start()
            self._choose_again()
            found.append((self._total(), number, self._chosen))
        return self._sets[min(found, key=lambda entry: entry[:2])[2]]

    def _total(self) -> int:
        fresh = self._sets[self._chosen] & ~self._empty
        return int(((fresh @ self._weights) * self._rows).sum())

    def _masks(self, one: int, chosen: int) -> Mask:
        return self._empty[one] | self._sets[chosen]

    def _compatible(self, one: int, mask: Mask, others: Mask) -> Mask:
        """Which of the failing tuples, masked as `others` says, are compatible with one of them masked so."""
        return ((self._codes == self._codes[one]) | others | mask).all(axis=1)

    def _frequency(self, one: int, chosen: int) -> int:
        """Rows compatible with a tuple under a choice, given the choices of the others."""
        mask = self._masks(one, chosen)
        now = self._compatible(one, mask, self._empty | self._sets[self._chosen])
        gained = now & ~self._compatible(one, mask, self._empty)
        gained[one] = False
        return int(self._base[chosen, one] + self._rows[gained].sum())

    def _frequencies(self) -> Ints:
        return np.array([self._frequency(i, int(self._chosen[i])) for i in range(len(self._short))], np.int64)

    def _gains(self, one: int, chosen: int) -> Mask:
        """The other tuples that become compatible with one when its choice changes to this."""
        others = self._empty | self._sets[self._chosen]
        before = self._compatible(one, self._masks(one, int(self._chosen[one])), others)
        return self._compatible(one, self._masks(one, chosen), others) & ~before

    def _cheapest(self, one: int, below: int) -> int | None:
        """The cheapest set, among those before a position, that gives a tuple its k rows."""
        for chosen in range(below):
            if not (self._sets[chosen] & self._empty[one]).any() and self._frequency(one, chosen) >= self._k:
                return chosen
        return None

    def _largest_need_first(self) -> None:
        """Tuples that need the dearest masks first: these cannot be spared and serve the others."""
        own = np.argmax(self._base >= self._k, axis=0)
        for one in np.lexsort((np.arange(len(own)), self._rows, -self._price[own])):
            if self._frequency(int(one), 0) >= self._k:
                continue
            alternatives = np.flatnonzero((self._price == self._price[own[one]]) & (self._base[:, one] >= self._k))
            found = self._cheapest(int(one), int(own[one])) if self._size * len(self._weights) < _MOST_RECHOSEN else None
            self._chosen[one] = self._most_useful(int(one), alternatives) if found is None else found

    def _most_useful(self, one: int, alternatives: Ints) -> int:
        """Of choices at the same price, the one that helps most other rows."""
        helped = [int(self._rows[self._gains(one, int(chosen))].sum()) for chosen in alternatives[:8]]
        return int(alternatives[int(np.argmax(helped))])

    def _best_cover_first(self) -> None:
        """Again and again the choice that brings most missing rows for its price."""
        frequency = self._frequencies()
        while (frequency < self._k).any():
            need = np.maximum(self._k - frequency, 0)
            best = max(
                (self._worth(one, chosen, need, frequency), -one, -chosen)
                for one in range(len(need))
                for chosen in range(int(self._chosen[one]) + 1, len(self._sets))
                if not (self._sets[chosen] & self._empty[one]).any()
            )
            self._chosen[-best[1]] = -best[2]
            frequency = self._frequencies()

    def _worth(self, one: int, chosen: int, need: Ints, frequency: Ints) -> float:
        dearer = int(self._price[chosen] - self._price[self._chosen[one]]) * int(self._rows[one])
        own = min(int(need[one]), self._frequency(one, chosen) - int(frequency[one])) * int(self._rows[one])
        gained = self._gains(one, chosen)
        helped = int((np.minimum(need, self._rows[one]) * self._rows)[gained].sum())
        return (own + helped) / dearer if dearer > 0 else 0.0

    def _choose_again(self) -> None:
        """Give each masked tuple a cheaper choice where nobody falls below k by it."""
        for _ in range(_PASSES):
            before = self._total()
            masked = np.flatnonzero(self._chosen)
            for one in masked[np.argsort(-self._price[self._chosen[masked]], kind="stable")]:
                self._cheaper(int(one))
            if self._total() == before:
                return

    def _cheaper(self, one: int) -> None:
        held = int(self._chosen[one])
        for chosen in self._candidates(one, held):
            if self._frequency(one, chosen) < self._k:
                continue
            self._chosen[one] = chosen
            if self._others_hold(one, held):
                return
            self._chosen[one] = held

    def _candidates(self, one: int, held: int) -> list[int]:
        """Cheaper sets; in a large table only those that show again what is masked."""
        cheaper = np.flatnonzero(self._price < self._price[held])
        fits = ~(self._sets[cheaper] & self._empty[one]).any(axis=1)
        if self._size * len(self._weights) >= _MOST_RECHOSEN:
            fits &= ~(self._sets[cheaper] & ~self._sets[held]).any(axis=1)
        return [int(chosen) for chosen in cheaper[fits]]

    def _others_hold(self, one: int, held: int) -> bool:
        """Whether those who lost this tuple as company still have k rows."""
        lost = self._compatible(one, self._masks(one, held), self._empty | self._sets[self._chosen])
        lost[one] = False
        return all(
            self._frequency(int(other), int(self._chosen[other])) >= self._k for other in np.flatnonzero(lost)
        )


def _needed_sets(
    base: BaseFrequencies, short: Ints, sets: Mask, k: int
) -> tuple[Mask, NDArray[np.int64]]:
    """The sets up to the price at which every failing tuple reaches k by itself, and the frequencies they give."""
    frequencies: list[Ints] = []
    reached = np.zeros(len(short), bool)
    for number, chosen in enumerate(sets):
        frequencies.append(base.of(short, chosen))
        reached |= frequencies[-1] >= k
        if reached.all():
            return sets[: number + 1], np.stack(frequencies)
    return sets, np.stack(frequencies)
