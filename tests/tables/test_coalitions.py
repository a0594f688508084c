"""Whoever is alone in a cell knows it: with that, the bounds and the statuses, no other cell is narrowed to one value.

The judge lists every filling of the whole table in whole numbers, with that person's cell known.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.tables.audit import audit
from celosia.tables.errors import TableUnprotectable
from celosia.tables.exact_disclosure import label_equal_cells
from celosia.tables.grid import Bounds, Grid, drop_statuses, threshold_bounds
from celosia.tables.primary import below_threshold, combine_rules
from celosia.tables.protect import Protection, levels, protect, protect_sums
from tests.tables.fillings import fillings, table

K = 5
CEILING = 60


def protected(counts: NDArray[np.int64]) -> tuple[Grid, Protection]:
    grid = table(counts)
    primary, reasons = combine_rules([below_threshold(grid.values, K)], grid.size)
    fixed = grid.values == 0
    return grid, protect(grid, primary, reasons, k=K, fixed=fixed, singletons=grid.values == 1)


def bounds_of(protection: Protection, *, marked: bool) -> Bounds:
    """What readers know of hidden cells: that there is somebody and, where cells are marked, which are below k."""
    known = threshold_bounds(protection.status, K)
    return known if marked else drop_statuses(known, protection.status)


def narrowed(grid: Grid, protection: Protection) -> set[tuple[int, int]]:
    """Pairs of a cell of one person and a primary cell of others that they know exactly, among all fillings."""
    hidden, bounds = protection.hidden, bounds_of(protection, marked=False)
    people, pairs = label_equal_cells(grid, hidden), set()
    for single in np.flatnonzero(hidden & (grid.values == 1)).tolist():
        unknown = hidden.copy()
        unknown[single] = False
        every = fillings(grid, unknown, bounds.low, np.minimum(bounds.high, CEILING), CEILING)
        if every is None:  # too many to list: these have room
            continue
        others = np.flatnonzero((protection.status == 1) & (people != people[single]))
        pairs |= {(single, cell) for cell in others.tolist() if len(set(every[:, cell].tolist())) < 2}
    return pairs


def narrowed_by_audit(grid: Grid, protection: Protection, *, marked: bool) -> set[tuple[int, int]]:
    """The same by the audit, for tables with too many fillings."""
    bounds, pairs = bounds_of(protection, marked=marked), set()
    for single in np.flatnonzero(protection.hidden & (grid.values == 1)).tolist():
        known = np.arange(grid.size) == single
        found = audit(grid, protection.hidden & ~known, bounds, cells=(protection.status == 1) & ~known)
        pairs |= {(single, int(cell)) for cell in np.flatnonzero(found.disclosed)}
    return pairs


@pytest.mark.requirement("Y21")
@pytest.mark.parametrize("counts", [[[2, 23], [1, 4]], [[1, 2], [3, 30]], [[1, 1], [4, 20]]], ids=str)
def test_whoever_is_alone_in_a_cell_computes_no_other(counts: list[list[int]]) -> None:
    assert narrowed_by_audit(*protected(np.array(counts)), marked=False) == set()


@pytest.mark.requirement("Y21")
def test_statuses_do_not_help_whoever_is_alone_where_something_is_left_to_hide() -> None:
    counts = np.array([[2, 23, 14, 9], [1, 4, 17, 8], [12, 30, 6, 11]])
    assert narrowed_by_audit(*protected(counts), marked=True) == set()


@pytest.mark.slow
@pytest.mark.requirement("Y21")
@given(st.lists(st.integers(0, 9), min_size=6, max_size=9))
@settings(max_examples=60, deadline=None)
def test_no_single_person_of_any_small_table_computes_another_cell(counts: list[int]) -> None:
    try:
        grid, protection = protected(np.array(counts[: len(counts) // 3 * 3]).reshape(-1, 3))
    except TableUnprotectable:
        assume(False)
    assert narrowed(grid, protection) == set()


@pytest.mark.requirement("Y21", "Y23")
def test_whoever_paid_alone_does_not_estimate_the_sums_of_others() -> None:
    # Without the first amount the second is what remains of 110, give or take 20; with it, 100 exactly.
    grid = table(np.array([[10, 100, 900], [40, 300, 700], [500, 600, 800]]))
    primary = np.isin(np.arange(grid.size), np.flatnonzero(np.isin(grid.values, [10, 100])))
    alone = grid.values == 10
    reasons = np.full(grid.size, None, object)
    found = protect_sums(grid, primary, reasons, levels(grid.values.astype(float), 20), singletons=alone)
    known = Bounds(np.zeros(grid.size), np.full(grid.size, np.inf))
    asked = primary & ~alone
    needed = levels(grid.values.astype(float), 20)
    assert audit(grid, found.hidden & ~alone, known, cells=asked, width=needed, whole=False).safe
