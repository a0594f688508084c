"""Primary suppression: cells that are sensitive in themselves, whatever the others disclose about them.

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

from celosia.model.reports.tables import Reason
from celosia.tables.cells import ALL, CellTable
from celosia.tables.grid import Flags, Reasons, Values
from celosia.tuples.table import pack_keys

Amounts = NDArray[np.number]
RuleResult = tuple[Flags, Reason]


def below_threshold(persons: Values, k: int) -> RuleResult:
    """Cells of 1 to k-1 persons."""
    return (persons > 0) & (persons < k), Reason.THRESHOLD


def few_for_a_mean(contributors: Values, k: int) -> RuleResult:
    """Means and sums of fewer than k persons with a value, however large the cell."""
    return (contributors > 0) & (contributors < k), Reason.THRESHOLD


def exceeds_dominance(sums: Amounts, largest: Amounts, n: int, percent: int) -> RuleResult:
    """Sums of which the n largest contributions make more than `percent` %."""
    return 100 * largest[:, :n].sum(axis=1) > percent * sums, Reason.DOMINANCE


def within_p_percent(sums: Amounts, largest: Amounts, p: int) -> RuleResult:
    """Sums from which the second largest contributor would know the largest to within p %.

    What remains beside the two largest is the only error of the estimate; in a cell of one person it is zero.
    """
    first = largest[:, 0] if largest.shape[1] else np.zeros(len(sums), largest.dtype)
    second = largest[:, 1] if largest.shape[1] > 1 else np.zeros(len(sums), largest.dtype)
    return (first > 0) & (100 * (sums - first - second) < p * first), Reason.P_PERCENT


def empty_cells(persons: Values) -> RuleResult:
    """Empty cells, where a zero discloses something about everybody in their row and column."""
    return persons == 0, Reason.ZERO


def full_cells(table: CellTable) -> RuleResult:
    """Cells with everybody of a group that has several categories: group disclosure.

    A group with one possible category discloses nothing.
    """
    sizes = [len(dimension.labels) + 1 for dimension in table.dimensions]
    flags = np.zeros(len(table.codes), bool)
    for at, dimension in enumerate(table.dimensions):
        parents = np.array([*dimension.parent, ALL], np.int32)
        siblings = np.array([dimension.parent.count(parent) for parent in parents])
        wholes = table.codes.copy()
        wholes[:, at] = parents[table.codes[:, at]]
        keys = pack_keys(np.concatenate([table.codes, wholes]) + 1, sizes)
        whole_persons = _persons_at(keys[: len(flags)], table.persons, keys[len(flags) :])
        divided = (table.codes[:, at] != ALL) & (siblings[table.codes[:, at]] > 1)
        flags |= divided & (whole_persons > 0) & (whole_persons == table.persons)
    return flags, Reason.FULL


def _persons_at(keys: Values, persons: Values, wanted_keys: Values) -> Values:
    """The persons of the cells with these keys; 0 where the table has none."""
    order = np.argsort(keys, kind="stable")
    position = np.minimum(np.searchsorted(keys[order], wanted_keys), max(len(keys) - 1, 0))
    cell = order[position]
    return np.where(keys[cell] == wanted_keys, persons[cell], 0)


def combine_rules(rules: Sequence[RuleResult], size: int) -> tuple[Flags, Reasons]:
    """The cells that any rule hides, each with the reason of the first that does."""
    flags = np.zeros(size, bool)
    reasons = np.full(size, None, object)
    for hidden, reason in rules:
        reasons[hidden & ~flags] = reason
        flags |= hidden
    return flags, reasons
