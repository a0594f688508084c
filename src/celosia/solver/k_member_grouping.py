"""k-member grouping: every failing tuple joins the group that costs least, published with `*` where its tuples differ.

A group masks exactly the variables on which its tuples differ, so a mask is a partition of the tuples. Every failing
group joins the one that costs least; then groups are dissolved and tuples moved while that saves cells.
Source: own method, after k-member clustering (Byun et al. 2007), for any criteria.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.risk.criteria import Criterion, KAnonymity, Merging
from celosia.solver.published import ClassCounter, judge_all

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
_DIFFERS = -1
_FAR = np.iinfo(np.int64).max
_PARTNERS = 5  # partners tried, cheapest first, when not every one makes the group pass
_PASSES = 6


class Groups:
    """A partition of the tuples; each slot holds a group or nothing."""

    def __init__(self, counter: ClassCounter, criteria: Sequence[Criterion], weights: Ints):
        self._counter, self._criteria, self._weights = counter, criteria, weights
        quasi = counter.quasi
        self._rows = quasi.rows.astype(np.int64)
        self._codes = quasi.codes.astype(np.int64)
        self._rows_decide = bool(criteria) and counter.decides_by_rows(criteria)
        self._absorbing = all(_absorbs(c, counter) for c in criteria)
        self.values, self.rows = self._codes.copy(), self._rows.copy()
        self.cost = np.zeros(len(self.rows), np.int64)
        self.alive = np.ones(len(self.rows), bool)
        self.members: list[list[int]] = [[i] for i in range(len(self.rows))]
        self.passes_alone = self._tuples_passing_alone()

    def _tuples_passing_alone(self) -> Mask:
        """Tuples that pass as a class of their own."""
        label = np.arange(len(self.rows))
        return judge_all(self._criteria, self._counter.classes(label, len(label)))

    def passes(self, members: Sequence[int]) -> bool:
        """Whether these tuples pass as one class."""
        if self._rows_decide:
            return bool(self._rows[list(members)].sum() >= max(int(c.k) for c in self._criteria))
        index = np.sort(np.array(members, np.int64))
        part = self._counter.subset(index)
        return bool(judge_all(self._criteria, part.classes(np.zeros(len(index), np.int64), 1))[0])

    def mask(self) -> Mask:
        """The cells that this partition masks."""
        masked = np.zeros(self._codes.shape, bool)
        for slot in np.flatnonzero(self.alive):
            masked[self.members[slot]] = self.values[slot] == _DIFFERS
        return masked

    def total(self) -> int:
        """Weighted masked cells."""
        return int(self.cost[self.alive].sum())

    def adopt(self, label: Ints) -> None:
        """Start from given groups instead of single tuples."""
        self.alive[:] = False
        order = np.argsort(label, kind="stable")
        ends = np.cumsum(np.bincount(label))
        for slot, members in enumerate(np.split(order, ends[:-1])):
            self._assign(slot, members.tolist())

    def join_failing(self) -> bool:
        """Join every failing group to the cheapest one until all pass; False when even one group of all fails."""
        for slot in np.lexsort((np.arange(len(self.rows)), self.rows)):
            good = self.passes_alone[slot] or not self.alive[slot] or len(self.members[slot]) > 1
            while not (good or self.passes(self.members[slot])):
                partner = self._nearest_group(int(slot))
                if partner is None:
                    return False
                self._merge(int(slot), partner)
        return self._join_still_failing()

    def _join_still_failing(self) -> bool:
        """Groups that others joined pass too, or join further ones."""
        for slot in range(len(self.rows)):
            while self.alive[slot] and not self.passes_alone[slot] and not self.passes(self.members[slot]):
                partner = self._nearest_group(slot)
                if partner is None:
                    return False
                self._merge(slot, partner)
        return True

    def improve(self) -> None:
        """Dissolve groups and move tuples while that saves cells."""
        for _ in range(_PASSES):
            before = self.total()
            costly = np.flatnonzero(self.alive & (self.cost > 0))
            for slot in costly[np.argsort(-self.cost[costly], kind="stable")]:
                if self.alive[slot] and not self._dissolve(int(slot)):
                    self._move_some(int(slot))
            if self.total() == before:
                return

    def _nearest_group(self, slot: int) -> int | None:
        costs = self._join_costs(self.values[slot], int(self.rows[slot]))
        costs[slot] = _FAR
        partner = int(np.argmin(costs))
        return None if costs[partner] == _FAR else partner

    def _join_costs(self, values: Ints, rows: int) -> Ints:
        """By how much each group becomes dearer when these rows join it."""
        differs = (self.values != values) | (self.values == _DIFFERS)
        costs = (self.rows + rows) * (differs @ self._weights) - self.cost
        return np.where(self.alive, costs, _FAR)

    def _merge(self, slot: int, partner: int) -> None:
        differs = self.values[slot] != self.values[partner]
        self.values[slot][differs] = _DIFFERS
        self.rows[slot] += self.rows[partner]
        self.members[slot] = self.members[slot] + self.members[partner]
        self._update_cost(slot)
        self.alive[partner] = False

    def _update_cost(self, slot: int) -> None:
        self.cost[slot] = self.rows[slot] * int(self._weights[self.values[slot] == _DIFFERS].sum())

    def _assign(self, slot: int, members: list[int]) -> None:
        """Make the slot hold exactly these tuples."""
        codes = self._codes[members]
        self.values[slot] = np.where((codes == codes[0]).all(axis=0), codes[0], _DIFFERS)
        self.rows[slot] = int(self._rows[members].sum())
        self.members[slot] = members
        self.alive[slot] = True
        self._update_cost(slot)

    def _dissolve(self, slot: int) -> bool:
        """Move each tuple of a group to the group where it costs least, if all of that is cheaper."""
        members, before = self.members[slot], self.total()
        undo: dict[int, list[int]] = {slot: members}
        self.alive[slot] = False
        for member in sorted(members, key=lambda i: (-int(self._rows[i]), i)):
            if not self._insert(member, undo):
                break
        else:
            if self.total() < before:
                return True
        self._restore(undo)
        return False

    def _move_some(self, slot: int) -> None:
        """Move single tuples out of a group that passes without them, where that is cheaper."""
        for member in list(self.members[slot]):
            rest = [i for i in self.members[slot] if i != member]
            if not rest or not self.passes(rest):
                continue
            before = self.total()
            undo = {slot: self.members[slot]}
            self._assign(slot, rest)
            if not self._insert(member, undo, slot) or self.total() >= before:
                self._restore(undo)

    def _insert(self, member: int, undo: dict[int, list[int]], never: int = -1) -> bool:
        """Put a tuple alone if it passes alone, else into the group that it makes dearer by least."""
        if self.passes_alone[member]:
            slot = int(np.argmin(self.alive))
            undo.setdefault(slot, [])
            self._assign(slot, [member])
            return True
        costs = self._join_costs(self._codes[member], int(self._rows[member]))
        costs[never if never >= 0 else slice(0, 0)] = _FAR
        for partner in self._cheapest(costs):
            joined = [*self.members[partner], member]
            if self._absorbing or self.passes(joined):
                undo.setdefault(partner, self.members[partner])
                self._assign(partner, joined)
                return True
        return False

    def _cheapest(self, costs: Ints) -> list[int]:
        if self._absorbing:
            best = int(np.argmin(costs))
            return [best] if costs[best] < _FAR else []
        order = np.argsort(costs, kind="stable")[:_PARTNERS]
        return [int(slot) for slot in order if costs[slot] < _FAR]

    def _restore(self, undo: dict[int, list[int]]) -> None:
        for slot, members in undo.items():
            if members:
                self._assign(slot, members)
            else:
                self.alive[slot] = False


def _absorbs(criterion: Criterion, counter: ClassCounter) -> bool:
    """Whether joining never makes a passing group fail. Persons may: who lacked a value may bring it along."""
    if counter.quasi.persons is not None and not isinstance(criterion, KAnonymity):
        return False
    return criterion.merging(counter.domain(criterion.variable)) is Merging.ABSORBING
