"""MINSAL's prioritised recipe, made sound: counted on the published tuples and repeated until it holds.

The printed recipe (Anexo II.2) counts K and L of each level over all rows, also those finally published at a finer
level, so that a lone '053**' may be published (REQUIREMENTS X1, M19). Here every failing tuple climbs one step per
round and all classes are counted again on what would be published. The steps: the first variable of the order climbs
all but its last level; then the next variable climbs one level and the first starts again; at last everything is at
its top. `literal_recipe` does what is printed, to show the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy import CompiledHierarchy
from celosia.risk.criteria import Criterion
from celosia.solver._published import ClassCounter, Levels, Mask, class_labels, judge_all, levels_of


@dataclass(frozen=True, slots=True)
class Cascade:
    """Where each tuple ended: its step on the ladder, and what is published for it."""

    steps: NDArray[np.int64]
    codes: NDArray[np.int32]
    vocabularies: tuple[tuple[str, ...], ...]
    topmost: Mask  # tuples on the last step, with every variable at its top
    failing: Mask  # tuples whose published class still breaks a criterion
    rounds: int


def ladder(order: Sequence[int], lowest: Sequence[int], highest: Sequence[int]) -> NDArray[np.int64]:
    """Levels of all variables at each step; `order` lists variables, the one that gives way first in front."""
    first, others = order[0], order[1:]
    levels = np.array(lowest, np.int64)
    steps = _climb(levels, first, highest)
    for variable in others:
        for level in range(lowest[variable] + 1, highest[variable] + 1):
            levels = levels.copy()
            levels[variable] = level
            steps += _climb(levels, first, highest)
    return np.array([*steps, list(highest)], np.int64)


def _climb(levels: NDArray[np.int64], variable: int, highest: Sequence[int]) -> list[NDArray[np.int64]]:
    """The levels with one variable at each of its levels but the last (or its only one)."""
    steps = []
    for level in range(int(levels[variable]), max(highest[variable], int(levels[variable]) + 1)):
        step = levels.copy()
        step[variable] = level
        steps.append(step)
    return steps


def sound_recipe(
    counter: ClassCounter, hierarchies: Sequence[CompiledHierarchy], criteria: Sequence[Criterion],
    steps: NDArray[np.int64],
) -> Cascade:  # fmt: skip
    """Raise every tuple whose published class fails by one step per round, until none fails or none can rise."""
    labels = levels_of(hierarchies)
    sizes = [len(vocabulary) for vocabulary in labels.vocabularies]
    step = np.zeros(len(counter.quasi.rows), np.int64)
    rounds = 0
    while True:
        codes = labels.publish(counter.quasi.codes, steps[step])
        label, count = class_labels(codes, sizes)
        failing = ~judge_all(criteria, counter.classes(label, count))[label]
        rising = failing & (step < len(steps) - 1)
        if not rising.any():
            topmost = (steps[step] == steps[-1]).all(axis=1)
            return Cascade(step, codes, labels.vocabularies, topmost, failing, rounds)
        step[rising] += 1
        rounds += 1


@dataclass(frozen=True, slots=True)
class LiteralRecipe:
    """What the printed recipe would have published, judged on the published tuples."""

    left_after: tuple[int, ...]  # rows still without a level after each pass
    violating_classes: int
    violating_rows: int
    unique_rows: int


def literal_recipe(
    counter: ClassCounter, hierarchies: Sequence[CompiledHierarchy], criteria: Sequence[Criterion],
    steps: NDArray[np.int64], first_levels: int,
) -> LiteralRecipe:  # fmt: skip
    """The recipe as printed; `first_levels` is how many steps one pass offers."""
    labels = levels_of(hierarchies)
    rows = counter.quasi.rows
    chosen = np.full(len(rows), -1, np.int64)
    left = []
    passes = (len(steps) - 1) // first_levels
    for number in range(passes):
        open_tuples = chosen < 0
        _choose(counter, labels, criteria, steps, number * first_levels, first_levels, chosen, open_tuples)
        left.append(int(rows[chosen < 0].sum()))
    chosen[chosen < 0] = len(steps) - 1
    return _judged(counter, labels, criteria, steps, chosen, tuple(left))


def _choose(
    counter: ClassCounter, labels: Levels, criteria: Sequence[Criterion], steps: NDArray[np.int64], start: int,
    offered: int, chosen: NDArray[np.int64], open_tuples: Mask,
) -> None:  # fmt: skip
    """Give each open tuple the finest step of this pass whose group, counted over all open tuples, passes."""
    sizes = [len(vocabulary) for vocabulary in labels.vocabularies]
    for step in range(start, start + offered):
        levels = np.broadcast_to(steps[step], counter.quasi.codes.shape)
        codes = labels.publish(counter.quasi.codes, levels)
        # Rows of earlier passes keep their unmasked values, so they never share a group with the open ones.
        apart = np.column_stack([codes, open_tuples.astype(np.int32)])
        label, count = class_labels(apart, [*sizes, 2])
        passes = judge_all(criteria, counter.classes(label, count))[label]
        chosen[(chosen < 0) & open_tuples & passes] = step


def _judged(
    counter: ClassCounter, labels: Levels, criteria: Sequence[Criterion], steps: NDArray[np.int64],
    chosen: NDArray[np.int64], left: tuple[int, ...],
) -> LiteralRecipe:  # fmt: skip
    codes = labels.publish(counter.quasi.codes, steps[chosen])
    label, count = class_labels(codes, [len(vocabulary) for vocabulary in labels.vocabularies])
    classes = counter.classes(label, count)
    kept = np.ones(count, bool)
    kept[label[chosen == len(steps) - 1]] = False  # fully masked rows form no class (REQUIREMENTS X6)
    failing = ~judge_all(criteria, classes) & kept
    unique = failing & (classes.rows == 1)
    return LiteralRecipe(left, int(failing.sum()), int(classes.rows[failing].sum()), int(classes.rows[unique].sum()))
