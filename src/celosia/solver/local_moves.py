"""Moves that make a local recoding cheaper, each undone where a class would fail by it.

A recoding gives each tuple levels or hides it (`*` in every variable, counted as suppressed). Two moves: a tuple
joins a class that already shows what it would show there, and a hidden tuple joins a class made coarser for it. Moves
are proposed together and judged together on the published text; those whose class fails are taken back, the least
useful first, until every class passes. Costs are the slope of the loss at the present recoding: the geometric mean
is concave in the logarithm, so what lowers the slope's sum lowers the loss.
Knows tuples, criteria and costs. Ignores where a recoding comes from. Source: own method; local search over classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.evaluation.objective import Objective, recoding_loss, variable_losses
from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.classes import fully_masked
from celosia.risk.criteria import Criterion
from celosia.solver.published import ClassCounter, LevelLabels, Mask, class_labels, judge_all, level_labels
from celosia.tuples.table import Tuples, group_codes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_WIDEST = 2**62
_ROUNDS = 8
_WORTHWHILE = 1e-4  # of the loss: below it another round is not worth its time
_MOST_PAIRS = 300_000_000  # hidden tuples × classes


@dataclass(frozen=True, slots=True)
class Recoding:
    """The levels of each tuple, and which tuples are hidden."""

    levels: Ints
    suppressed: Mask


def partial_keys(quasi: Tuples, hierarchies: Sequence[CompiledHierarchy]) -> tuple[Ints, Ints, Ints]:
    """Key part of each (variable, level) for each tuple, where each variable's levels begin, and its word."""
    rows: list[Ints] = []
    start: list[int] = []
    word: list[int] = []
    stride = 1
    for v, hierarchy in enumerate(hierarchies):
        start.append(len(rows))
        width = max(1, *(len(labels) for labels in hierarchy.labels))
        if stride > _WIDEST // width:
            stride = 1
        word.append(word[-1] + (stride == 1) if word else 0)
        rows += [hierarchy.maps[j][quasi.codes[:, v]].astype(np.int64) * stride for j in range(hierarchy.height + 1)]
        stride *= width
    return np.stack(rows), np.array(start, np.int64), np.array(word, np.int64)


def share_parts(quasi: Tuples, hierarchies: Sequence[CompiledHierarchy]) -> Floats:
    """Share of the leaves behind the label of each (variable, level), for each tuple."""
    parts = [
        hierarchy.shares[j][hierarchy.maps[j]][quasi.codes[:, v]]
        for v, hierarchy in enumerate(hierarchies)
        for j in range(hierarchy.height + 1)
    ]
    return np.stack(parts)


class LocalMoves:
    """What moves need: the tuples, their labels and shares at every level, and the criteria."""

    def __init__(
        self,
        counter: ClassCounter,
        hierarchies: Sequence[CompiledHierarchy],
        criteria: Sequence[Criterion],
        highest: Sequence[int],
        objective: Objective,
    ):
        self.counter, self.hierarchies, self.criteria, self.objective = counter, hierarchies, criteria, objective
        self.labels: LevelLabels = level_labels(hierarchies)
        self.rows = counter.quasi.rows.astype(np.int64)
        self.blank_in_source = fully_masked(counter.quasi.codes, counter.quasi.vocabularies)
        self._partial, self._start, self._word = partial_keys(counter.quasi, hierarchies)
        self._shares = share_parts(counter.quasi, hierarchies)
        self._top = np.array(highest, np.int64)
        self._rows_decide = bool(criteria) and counter.decides_by_rows(criteria)
        self._smallest = max([int(criterion.smallest_class) for criterion in criteria], default=1)

    def publish(self, levels: Ints) -> NDArray[np.int32]:
        """Published codes at these levels."""
        return self.labels.publish(self.counter.quasi.codes, levels)

    def loss(self, recoding: Recoding) -> float:
        """The loss by its definition."""
        return recoding_loss(self.counter.quasi, self.hierarchies, recoding.levels, recoding.suppressed, self.objective)

    def hidden_rows(self, recoding: Recoding) -> int:
        """Rows that are hidden."""
        return int(self.rows[recoding.suppressed].sum())

    def settle(self, recoding: Recoding) -> Recoding:
        """What shows nothing counts as hidden, and so does every class that fails."""
        published = self.publish(recoding.levels)
        blank = fully_masked(published, self.labels.vocabularies) & ~self.blank_in_source
        suppressed = recoding.suppressed | blank
        label, count = class_labels(published, self.labels.sizes)
        while True:
            fails = self._failing(np.where(suppressed, -1, label), count)
            if not fails.any():
                return Recoding(recoding.levels, suppressed)
            suppressed = suppressed | fails[label]

    def accept(self, before: Recoding, after: Recoding) -> Recoding:
        """As much of a change as leaves no class failing; what is taken back first gains least."""
        both = np.concatenate([self.publish(before.levels), self.publish(after.levels)])
        label, count = class_labels(both, self.labels.sizes)
        old, new = np.split(label, 2)
        old, new = np.where(before.suppressed, -1, old), np.where(after.suppressed, -1, new)
        gain = self._costs(before, before) - self._costs(after, before)
        moved = (before.levels != after.levels).any(axis=1) | (before.suppressed != after.suppressed)
        while moved.any():
            fails = self._failing(np.where(moved, new, old), count)
            if not fails.any():
                break
            joined = moved & (new >= 0) & fails[new]
            left = np.flatnonzero(moved & ~joined & (old >= 0) & fails[old])
            joined[_least_half(left, old[left], gain[left])] = True
            if not joined.any():  # a criterion on all classes together: no single move is at fault
                return before
            moved &= ~joined
        levels = np.where(moved[:, None], after.levels, before.levels)
        return Recoding(levels, np.where(moved, after.suppressed, before.suppressed))

    def improve(self, recoding: Recoding, allowed_rows: int) -> Recoding:
        """Moves until they gain nothing worth while; hidden tuples first, and whatever it costs above the limit."""
        loss = self.loss(recoding)
        for _ in range(_ROUNDS):
            recoding = self._join_classes(recoding)
            recoding = self._join_coarser_classes(recoding, self.hidden_rows(recoding) - allowed_rows)
            before, loss = loss, self.loss(recoding)
            if before - loss <= _WORTHWHILE * before:
                break
        return recoding

    def _failing(self, label: Ints, count: int) -> Mask:
        """Which classes have members and fail; tuples of label -1 are hidden."""
        visible = np.flatnonzero(label >= 0)
        inside = label[visible]
        rows = np.bincount(inside, self.rows[visible], count)
        fails = (rows > 0) & (rows < self._smallest)
        if self._rows_decide or len(visible) == 0:
            return fails
        part = self.counter.subset(visible)
        return (rows > 0) & ~judge_all(self.criteria, part.classes(inside, count))

    def _slopes(self, recoding: Recoding) -> Floats:
        """By how much the loss rises with a row's share in each variable."""
        quasi = self.counter.quasi
        losses = variable_losses(quasi, self.hierarchies, recoding.levels, recoding.suppressed)
        slopes = []
        for hierarchy, loss in zip(self.hierarchies, losses, strict=True):
            span = quasi.n_rows - quasi.n_rows / max(hierarchy.leaf_count, 1)
            slope = self.objective.weight(hierarchy.variable) / span if span > 0 else 0.0
            slopes.append(slope / (1 + loss) if self.objective.mean == "geometric" else slope)
        return np.array(slopes)

    def _cost_parts(self, slopes: Floats) -> Floats:
        """What a row of each tuple costs at each (variable, level)."""
        depth = [hierarchy.height + 1 for hierarchy in self.hierarchies]
        return np.ascontiguousarray(self._shares * np.repeat(slopes, depth)[:, None])

    def _costs(self, recoding: Recoding, at: Recoding) -> Floats:
        """What a row of each tuple costs, by the slopes at a recoding."""
        slopes = self._slopes(at)
        places = (self._start + recoding.levels).T
        cost = (self._shares[places, np.arange(len(self.rows))] * slopes[:, None]).sum(axis=0)
        return np.where(recoding.suppressed, slopes.sum(), cost)

    def _join_classes(self, recoding: Recoding) -> Recoding:
        """Each tuple to the cheapest class that already shows what it would show there."""
        from celosia.kernels.cover import cheapest_cover

        visible = np.flatnonzero(~recoding.suppressed)
        if len(visible) == 0:
            return recoding
        depth = [hierarchy.height + 1 for hierarchy in self.hierarchies]
        first, home_of_visible = group_codes(recoding.levels[visible], depth)
        nodes = recoding.levels[visible][first]
        home = np.full(len(self.rows), -1, np.int64)
        home[visible] = home_of_visible
        cost = self._cost_parts(self._slopes(recoding))
        now = self._costs(recoding, recoding)
        chosen = cheapest_cover((self._partial, self._word), cost, self._start + nodes, home, now)
        joins = chosen >= 0
        levels = np.where(joins[:, None], nodes[chosen], recoding.levels)
        return self.accept(recoding, Recoding(levels, recoding.suppressed & ~joins))

    def _join_coarser_classes(self, recoding: Recoding, anyhow: int) -> Recoding:
        """Each hidden tuple to the class that it makes dearer by least; `anyhow` rows whatever it costs."""
        from celosia.kernels.cover import join_coarser

        visible = np.flatnonzero(~recoding.suppressed)
        waiting = np.flatnonzero(recoding.suppressed & ~self.blank_in_source)
        if not len(visible) or not len(waiting):
            return recoding
        levels = recoding.levels[visible]
        sizes = [hierarchy.height + 1 for hierarchy in self.hierarchies]
        keys = np.column_stack([levels, self.publish(recoding.levels)[visible]])
        first, label = group_codes(keys, [*sizes, *self.labels.sizes])
        waiting = waiting[np.lexsort((waiting, -self.rows[waiting]))][: max(_MOST_PAIRS // len(first), 1)]
        slopes = self._slopes(recoding)
        size = np.bincount(label, self.rows[visible], len(first)).astype(np.int64)
        coarser = np.ascontiguousarray(levels[first])
        tables = (self._partial, self._start, self._top, self._cost_parts(slopes))
        joins = join_coarser(
            tables, (visible[first], coarser, size), waiting, self.rows, float(slopes.sum()), max(anyhow, 0)
        )
        new_levels, suppressed = recoding.levels.copy(), recoding.suppressed.copy()
        new_levels[visible] = coarser[label]
        new_levels[waiting[joins >= 0]] = coarser[joins[joins >= 0]]
        suppressed[waiting[joins >= 0]] = False
        return self.accept(recoding, Recoding(new_levels, suppressed))


def _least_half(index: Ints, group: Ints, gain: Floats) -> Ints:
    """Of each group the half that gains least, at least one."""
    order = np.lexsort((index, gain, group))
    ordered = group[order]
    _, first, count = np.unique(ordered, return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(first, count)
    return index[order[rank < np.repeat((count + 1) // 2, count)]]
