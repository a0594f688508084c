"""Which cells may not be shown for what they are, before asking what the others tell about them.

Knows counts, sums and the largest contributions of a cell. Ignores labels and what is published beside it. All rules
are decided in whole numbers: percents are integers, and sums given in whole units (cents) compare exactly.
Contributions are per person and taken without sign.

Sources: Hundepool and others, *Statistical Disclosure Control* (2012), chapter 4: threshold, dominance (n, k) and
p % rules, group disclosure; YAPÓ guide 3 for the threshold in persons.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.model.tables import Reason
from celosia.tables._cells import ALL, CellTable
from celosia.tables._grid import Flags, Values
from celosia.tuples import pack_keys

Amounts = NDArray[np.number]
Primary = tuple[Flags, Reason]
Reasons = NDArray[np.object_]  # per cell: why it is hidden, None where it is not


def below_threshold(persons: Values, k: int) -> Primary:
    """Cells of somebody, and of fewer than k persons."""
    return (persons > 0) & (persons < k), Reason.THRESHOLD


def few_for_a_mean(contributors: Values, k: int) -> Primary:
    """Means and sums of fewer than k persons with a value, be the cell as large as it may."""
    return (contributors > 0) & (contributors < k), Reason.THRESHOLD


def dominated(sums: Amounts, largest: Amounts, n: int, percent: int) -> Primary:
    """Sums of which the n largest contributions make more than `percent` %."""
    return 100 * largest[:, :n].sum(axis=1) > percent * sums, Reason.DOMINANCE


def within_p_percent(sums: Amounts, largest: Amounts, p: int) -> Primary:
    """Sums from which the second largest contributor would know the largest to within p %.

    What remains beside the two largest is all that blurs the estimate; alone in a cell, nothing does.
    """
    first = largest[:, 0] if largest.shape[1] else np.zeros(len(sums), largest.dtype)
    second = largest[:, 1] if largest.shape[1] > 1 else np.zeros(len(sums), largest.dtype)
    return (first > 0) & (100 * (sums - first - second) < p * first), Reason.P_PERCENT


def empty(persons: Values) -> Primary:
    """Cells of nobody, where saying so tells something of everybody in their row and column."""
    return persons == 0, Reason.ZERO


def full(table: CellTable) -> Primary:
    """Cells that hold everybody of a group which several categories divide: the table would tell it of each.

    A group with one possible category tells nothing.
    """
    sizes = [len(dimension.labels) + 1 for dimension in table.dimensions]
    flags = np.zeros(len(table.codes), bool)
    for at, dimension in enumerate(table.dimensions):
        parents = np.array([*dimension.parent, ALL], np.int32)
        siblings = np.array([dimension.parent.count(parent) for parent in parents])
        wholes = table.codes.copy()
        wholes[:, at] = parents[table.codes[:, at]]
        keys = pack_keys(np.concatenate([table.codes, wholes]) + 1, sizes)
        held = _persons_at(keys[: len(flags)], table.persons, keys[len(flags) :])
        told = (table.codes[:, at] != ALL) & (siblings[table.codes[:, at]] > 1)
        flags |= told & (held > 0) & (held == table.persons)
    return flags, Reason.FULL


def _persons_at(keys: Values, persons: Values, asked: Values) -> Values:
    """The persons of the cells with these keys; 0 where the table has none."""
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys[order], asked), max(len(keys) - 1, 0))
    found = order[place]
    return np.where(keys[found] == asked, persons[found], 0)


def together(rules: Sequence[Primary], size: int) -> tuple[Flags, Reasons]:
    """The cells that any rule hides, each with the reason of the first that does."""
    flags = np.zeros(size, bool)
    reasons = np.full(size, None, object)
    for hidden, reason in rules:
        reasons[hidden & ~flags] = reason
        flags |= hidden
    return flags, reasons
