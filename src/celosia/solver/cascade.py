"""MINSAL's prioritised recipe, made sound: counted on the published tuples and repeated until it holds.

The printed recipe (Anexo II.2) counts K and L of each level over all rows, also those finally published at a finer
level, so that a single '053**' may be published (REQUIREMENTS X1, M19). Here every failing tuple climbs one step per
round and all classes are counted again on what would be published. The steps: the first variable of the order climbs
all but its last level; then the next variable climbs one level and the first starts again; at last everything is at
its top. `literal_recipe` does what is printed, to show the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.hierarchy.model import CompiledHierarchy
from celosia.risk.criteria import Classes, Criterion
from celosia.solver.published import ClassCounter, LevelLabels, Mask, class_labels, judge_all, level_labels


@dataclass(frozen=True, slots=True)
class CascadeResult:
    """Where each tuple ended: its step on the ladder, and what is published for it."""

    steps: NDArray[np.int64]
    codes: NDArray[np.int32]
    vocabularies: tuple[tuple[str, ...], ...]
    topmost: Mask  # tuples on the last step, with every variable at its top
    failing: Mask  # tuples whose published class still breaks a criterion
    rounds: int


def ladder(order: Sequence[int], lowest: Sequence[int], highest: Sequence[int]) -> NDArray[np.int64]:
    """Levels of all variables at each step; `order` lists variables, the one that is generalised first in front."""
    first, others = order[0], order[1:]
    levels = np.array(lowest, np.int64)
    steps = _levels_upwards(levels, first, highest)
    for variable in others:
        for level in range(lowest[variable] + 1, highest[variable] + 1):
            levels = levels.copy()
            levels[variable] = level
            steps += _levels_upwards(levels, first, highest)
    return np.array([*steps, list(highest)], np.int64)


def _levels_upwards(levels: NDArray[np.int64], variable: int, highest: Sequence[int]) -> list[NDArray[np.int64]]:
    """The levels with one variable at each of its levels but the last (or its only one)."""
    lowest = int(levels[variable])
    own = np.arange(lowest, max(highest[variable], lowest + 1))
    steps = np.tile(levels, (len(own), 1))
    steps[:, variable] = own
    return list(steps)


@dataclass(frozen=True, slots=True)
class RecipeInput:
    """What both forms of the recipe work on: counted tuples, labels, criteria and the steps of the ladder."""

    counter: ClassCounter
    labels: LevelLabels
    criteria: Sequence[Criterion]
    steps: NDArray[np.int64]

    def publish(self, step: NDArray[np.int64]) -> NDArray[np.int32]:
        """Published codes when each tuple stands on its step."""
        return self.labels.publish(self.counter.quasi.codes, self.steps[step])

    def judge(self, codes: NDArray[np.int32], sizes: Sequence[int]) -> tuple[NDArray[np.int64], Classes, Mask]:
        """The class of each tuple by its codes, the classes, and which of them pass."""
        label, count = class_labels(codes, sizes)
        classes = self.counter.classes(label, count)
        return label, classes, judge_all(self.criteria, classes)


def sound_recipe(
    counter: ClassCounter,
    hierarchies: Sequence[CompiledHierarchy],
    criteria: Sequence[Criterion],
    steps: NDArray[np.int64],
) -> CascadeResult:
    """Raise every tuple whose published class fails by one step per round, until none fails or none can rise."""
    recipe = RecipeInput(counter, level_labels(hierarchies), criteria, steps)
    step = np.zeros(len(counter.quasi.rows), np.int64)
    rounds = 0
    while True:
        codes = recipe.publish(step)
        label, _, passes = recipe.judge(codes, recipe.labels.sizes)
        failing = ~passes[label]
        rising = failing & (step < len(steps) - 1)
        if not rising.any():
            topmost = (steps[step] == steps[-1]).all(axis=1)
            return CascadeResult(step, codes, recipe.labels.vocabularies, topmost, failing, rounds)
        step[rising] += 1
        rounds += 1


@dataclass(frozen=True, slots=True)
class LiteralRecipeResult:
    """What the printed recipe would have published, judged on the published tuples."""

    left_after: tuple[int, ...]  # rows still without a level after each pass
    violating_classes: int
    violating_rows: int
    unique_rows: int


def literal_recipe(
    counter: ClassCounter,
    hierarchies: Sequence[CompiledHierarchy],
    criteria: Sequence[Criterion],
    steps: NDArray[np.int64],
    first_levels: int,
) -> LiteralRecipeResult:
    """The recipe as printed; `first_levels` is how many steps one pass offers."""
    recipe = RecipeInput(counter, level_labels(hierarchies), criteria, steps)
    rows = counter.quasi.rows
    chosen = np.full(len(rows), -1, np.int64)
    left = []
    for number in range((len(steps) - 1) // first_levels):
        _choose_steps(recipe, range(number * first_levels, (number + 1) * first_levels), chosen)
        left.append(int(rows[chosen < 0].sum()))
    chosen[chosen < 0] = len(steps) - 1
    return _literal_outcome(recipe, chosen, tuple(left))


def _choose_steps(recipe: RecipeInput, offered: range, chosen: NDArray[np.int64]) -> None:
    """Give each open tuple the finest offered step whose group, counted over all open tuples, passes."""
    is_open = chosen < 0
    for step in offered:
        codes = recipe.publish(np.full(len(chosen), step))
        # Rows of earlier passes keep their unmasked values, so they never share a group with the open ones.
        apart = np.column_stack([codes, is_open.astype(np.int32)])
        label, _, passes = recipe.judge(apart, [*recipe.labels.sizes, 2])
        chosen[(chosen < 0) & is_open & passes[label]] = step


def _literal_outcome(recipe: RecipeInput, chosen: NDArray[np.int64], left: tuple[int, ...]) -> LiteralRecipeResult:
    label, classes, passes = recipe.judge(recipe.publish(chosen), recipe.labels.sizes)
    # Fully masked rows form no class (REQUIREMENTS X6).
    counted = np.ones(len(classes), bool)
    counted[label[chosen == len(recipe.steps) - 1]] = False
    failing = ~passes & counted
    unique = failing & (classes.rows == 1)
    rows = classes.rows
    return LiteralRecipeResult(left, int(failing.sum()), int(rows[failing].sum()), int(rows[unique].sum()))
