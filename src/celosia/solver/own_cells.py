"""Cell masks under the own reading, in which `*` is a value of its own: every published class passes every criterion.

Local recoding over the sets of variables to mask, cheapest first, serves tables of any size. Where few tuples fail,
its classes are rearranged and groups are also formed tuple by tuple; the cheapest result is returned. After each,
cells that are not needed are shown again. Good, not proved least.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from celosia.risk.criteria import Criterion
from celosia.solver.cell_table import CellTable, Ints, Mask, sets_by_cost
from celosia.solver.k_member_grouping import Groups
from celosia.solver.local import recode_over
from celosia.solver.published import class_labels, judge_all
from celosia.tuples.table import group_codes

_MOST_PAIRS = 3_000_000  # failing tuples × tuples, up to which groups are formed tuple by tuple


def mask_as_own_value(table: CellTable, criteria: Sequence[Criterion]) -> Mask | None:
    """Cells to mask so that every published class passes; None when none of the ways finds any."""
    nothing = np.zeros_like(table.starred)
    _, fails = failing_classes(table, criteria, nothing)
    if not fails.any():
        return nothing
    levels = recode_over(table.counter, table.hierarchies, criteria, sets_by_cost(table.weights))
    masks = [] if levels is None else [_show_needless(table, criteria, levels > 0)]
    if int(fails.sum()) * len(table.quasi.rows) <= _MOST_PAIRS:
        others = (
            *(_mask_by_rearranging(table, criteria, masked) for masked in masks),
            _mask_by_grouping(table, criteria),
        )
        masks += [_show_needless(table, criteria, masked) for masked in others if masked is not None]
    return min(masks, key=table.cost, default=None)


def failing_classes(table: CellTable, criteria: Sequence[Criterion], masked: Mask) -> tuple[Ints, Mask]:
    """The published class of each tuple, and which classes fail."""
    label, count = class_labels(table.publish(masked), table.sizes)
    return label, ~judge_all(criteria, table.counter.classes(label, count))


def _mask_by_rearranging(table: CellTable, criteria: Sequence[Criterion], masked: Mask) -> Mask | None:
    """A mask made cheaper by moving tuples between its classes."""
    groups = Groups(table.counter, criteria, table.weights)
    groups.adopt(failing_classes(table, criteria, masked)[0])
    return _mask_of_groups(table, criteria, groups)


def _mask_by_grouping(table: CellTable, criteria: Sequence[Criterion]) -> Mask | None:
    groups = Groups(table.counter, criteria, table.weights)
    return _mask_of_groups(table, criteria, groups) if groups.join_failing() else None


def _mask_of_groups(table: CellTable, criteria: Sequence[Criterion], groups: Groups) -> Mask | None:
    """The improved groups as a mask, if the published text bears them out: equal texts are one class."""
    groups.improve()
    masked = groups.mask()
    return None if failing_classes(table, criteria, masked)[1].any() else masked


def _show_needless(table: CellTable, criteria: Sequence[Criterion], masked: Mask) -> Mask:
    """Show masked cells again, most important variable first, as long as every class still passes."""
    order = np.argsort(-table.weights, kind="stable")
    while True:
        before = masked
        for v in order:
            trial = _show_variable(table, criteria, masked, int(v))
            if not failing_classes(table, criteria, trial)[1].any():
                masked = trial
        if (masked == before).all():
            return masked


def _show_variable(table: CellTable, criteria: Sequence[Criterion], masked: Mask, v: int) -> Mask:
    """Split classes by the hidden values of one variable: parts that pass are shown if what stays hidden passes."""
    hidden = masked[:, v]
    if not hidden.any():
        return masked
    class_of, _ = class_labels(table.publish(masked), table.sizes)
    first, part = group_codes(
        np.column_stack([class_of, table.quasi.codes[:, v]]), [len(class_of), table.quasi.sizes[v]]
    )
    part_rows = np.zeros(len(first), np.int64)
    np.add.at(part_rows, part, table.quasi.rows)
    moving = hidden.copy()
    trial = _replace_column(masked, v, hidden & ~moving)
    label, fails = failing_classes(table, criteria, trial)
    moving &= ~fails[label]
    while True:
        trial = _replace_column(masked, v, hidden & ~moving)
        label, fails = failing_classes(table, criteria, trial)
        broken = np.unique(class_of[hidden & ~moving & fails[label]])
        kept_back = _smallest_moving_parts(broken, class_of, part, part_rows, moving)
        if len(kept_back) == 0:
            return trial
        moving &= ~np.isin(part, kept_back)


def _smallest_moving_parts(broken: Ints, class_of: Ints, part: Ints, part_rows: Ints, moving: Mask) -> Ints:
    """Of each class whose hidden rest fails, the smallest part that was to be shown."""
    at = np.flatnonzero(moving & np.isin(class_of, broken))
    order = at[np.lexsort((part[at], part_rows[part[at]], class_of[at]))]
    _, first = np.unique(class_of[order], return_index=True)
    return part[order[first]]


def _replace_column(masked: Mask, v: int, column: Mask) -> Mask:
    changed = masked.copy()
    changed[:, v] = column
    return changed
