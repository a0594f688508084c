"""Protected patterns judged by an integer programme of the reader's own, and by the list of all fillings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize

from celosia.model.reports.tables import Reason
from celosia.tables.audit import audit
from celosia.tables.errors import TableUnprotectable
from celosia.tables.grid import PRIMARY, PUBLISHED, SECONDARY, Bounds, Grid, threshold_bounds
from celosia.tables.protect import Protection, levels, protect, protect_sums
from tests.tables.fillings import fillings, numbers_of, table, table_of_persons

Flags = NDArray[np.bool_]


def small(grid: Grid, k: int) -> Flags:
    return (grid.values > 0) & (grid.values < k) & grid.offered


def why(primary: Flags, reason: Reason = Reason.THRESHOLD) -> NDArray[np.object_]:
    return np.array([reason if one else None for one in primary], object)


def protected(grid: Grid, k: int, **options: object) -> Protection:
    primary = small(grid, k)
    return protect(grid, primary, why(primary), k=k, **options)  # type: ignore[arg-type]


def reader_interval(grid: Grid, status: NDArray[np.int8], k: int, cell: int) -> tuple[float, float]:
    """The least and the greatest value of a hidden cell by integer programming over absolute values."""
    low = np.where(status == PUBLISHED, grid.values, np.where(status == PRIMARY, 1, k)).astype(float)
    high = np.where(status == PUBLISHED, grid.values, np.where(status == PRIMARY, k - 1, 10**6)).astype(float)
    low[~grid.offered], high[~grid.offered] = 0, 10**6
    rows, least, most = list[NDArray[np.float64]](), list[float](), list[float]()
    for number, (whole, parts) in enumerate(grid.relations()):
        row = np.zeros(grid.size)
        row[whole], row[parts] = 1, -1
        rows, least, most = [*rows, row], [*least, 0.0 if grid.additive[number] else -np.inf], [*most, 0.0]
        for part in () if grid.additive[number] else parts:
            row = np.zeros(grid.size)
            row[whole], row[part] = -1, 1
            rows, least, most = [*rows, row], [*least, -np.inf], [*most, 0.0]
    goal = np.zeros(grid.size)
    goal[cell] = 1
    rule = optimize.LinearConstraint(np.array(rows), least, most)
    ends = [
        optimize.milp(sign * goal, integrality=np.ones(grid.size), bounds=optimize.Bounds(low, high), constraints=rule)
        for sign in (1, -1)
    ]
    return round(ends[0].fun), -round(ends[1].fun)


@pytest.mark.requirement("Y21")
def test_one_small_cell_beside_a_total_takes_its_neighbour_with_it() -> None:
    found = protected(table([12, 3]), 5)
    assert found.status.tolist() == [SECONDARY, PRIMARY, PUBLISHED]
    assert found.reason.tolist() == [Reason.COMPLEMENT, Reason.THRESHOLD, None]
    assert found.audit is not None
    assert found.audit.safe


@pytest.mark.requirement("Y21")
@pytest.mark.parametrize("counts", [[4, 4], [4, 4, 4]])
def test_small_cells_that_only_one_split_explains_take_their_total_with_them(counts: list[int]) -> None:
    found = protected(table(counts), 5)
    assert found.reason[-1] is Reason.INTERVAL
    assert found.status[-1] == SECONDARY
    assert found.audit is not None
    assert found.audit.safe


def test_without_the_audit_only_exact_recovery_is_prevented() -> None:
    found = protected(table([4, 4]), 5, audit=False)
    assert found.audit is None
    assert found.status.tolist() == [PRIMARY, PRIMARY, PUBLISHED]


def test_a_total_that_must_stay_makes_the_table_unprotectable() -> None:
    with pytest.raises(TableUnprotectable):
        protected(table([4, 4]), 5, fixed=np.array([False, False, True]))


def test_a_threshold_whose_mark_tells_the_value_is_refused() -> None:
    with pytest.raises(TableUnprotectable):
        protected(table([1, 9, 9]), 2)


def test_cells_hidden_elsewhere_stay_hidden_and_say_so() -> None:
    hidden = np.array([True, False, False, False])
    found = protected(table([12, 20, 30]), 5, hidden=hidden)
    assert found.reason.tolist() == [Reason.LINKED, None, None, None]


@pytest.mark.requirement("Y18", "Y21")
def test_the_version_for_a_stricter_audience_shows_nothing_that_the_other_hides() -> None:
    grid = table(np.random.default_rng(3).integers(1, 40, (6, 5)))
    inside = protected(grid, 5)
    outside = protected(grid, 10, hidden=inside.hidden)
    assert not (inside.hidden & ~outside.hidden).any()
    assert outside.audit is not None
    assert outside.audit.safe


def test_what_the_public_knows_can_be_told_by_the_caller() -> None:
    grid = table([4, 4, 30])
    primary = small(grid, 5)

    def anything(status: NDArray[np.int8]) -> Bounds:
        return Bounds(np.zeros(len(status)), np.full(len(status), np.inf))

    assert not protect(grid, primary, why(primary), anything, k=5).hidden[2:].any()
    assert protected(grid, 5).hidden[2:].any()


def test_a_cell_near_its_earlier_value_keeps_its_interval() -> None:
    grid = table([20, 30, 50])
    primary = np.array([True, False, False, False])
    earlier = np.array([18, -1, -1, -1])
    reasons = why(primary, Reason.OVER_TIME)
    found = protect(grid, primary, reasons, lambda status: threshold_bounds(status, 5, earlier, reasons), k=5)
    assert found.status.tolist() == [PRIMARY, SECONDARY, PUBLISHED, PUBLISHED]
    assert found.reason[0] is Reason.OVER_TIME


# --- laws -------------------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn, largest: int = 9) -> Grid:
    shape = draw(st.sampled_from([(3,), (4,), (2, 2), (3, 2), (3, 3), (2, 2, 2)]))
    count = int(np.prod(shape))
    inner = draw(st.lists(st.integers(0, largest), min_size=count, max_size=count))
    size = len(numbers_of(shape))
    offered = draw(st.lists(st.sampled_from([True, True, True, True, True, False]), min_size=size, max_size=size))
    return table(np.array(inner).reshape(shape), offered=offered)


@st.composite
def person_tables(draw: st.DrawFn) -> Grid:
    shape = draw(st.sampled_from([(3,), (2, 2), (3, 2)]))
    persons, cells = draw(st.integers(4, 14)), int(np.prod(shape))
    one = st.lists(st.booleans(), min_size=cells, max_size=cells).filter(any)
    present = draw(st.lists(one, min_size=persons, max_size=persons))
    return table_of_persons(np.array(present, np.bool_).reshape(persons, *shape))


def judged(grid: Grid, k: int, width: int) -> None:
    try:
        found = protected(grid, k, width=width)
    except TableUnprotectable:
        everything = hideable(grid, k)
        bounds = threshold_bounds(marks(grid, everything, k), k)
        assert audit(grid, everything, bounds, width=width, cells=small(grid, k)).disclosed.any()
        return
    assert found.audit is not None
    assert found.audit.safe
    assert found.audit.proven.all()
    assert not found.hidden[~small(grid, k) & (grid.values == 0)].any()
    for cell in np.flatnonzero(small(grid, k)):
        low, high = reader_interval(grid, found.status, k, int(cell))
        assert high - low >= width


def hideable(grid: Grid, k: int) -> Flags:
    return (grid.values > 0) & grid.offered


def marks(grid: Grid, hidden: Flags, k: int) -> NDArray[np.int8]:
    return np.where(small(grid, k), PRIMARY, np.where(hidden, SECONDARY, PUBLISHED)).astype(np.int8)


@pytest.mark.requirement("Y21", "A26")
@settings(max_examples=60)
@given(tables(), st.integers(3, 6), st.integers(1, 2))
def test_a_reader_finds_at_least_two_values_for_every_small_cell(grid: Grid, k: int, width: int) -> None:
    assume(k >= width + 2)
    judged(grid, k, width)


@pytest.mark.requirement("Y15", "Y21")
@settings(max_examples=50)
@given(person_tables(), st.integers(3, 5))
def test_a_reader_finds_two_values_where_persons_stand_in_several_cells(grid: Grid, k: int) -> None:
    judged(grid, k, 1)


@settings(max_examples=60)
@given(tables(largest=6), st.integers(3, 5))
def test_every_small_cell_has_two_values_among_all_fillings(grid: Grid, k: int) -> None:
    try:
        found = protected(grid, k)
    except TableUnprotectable:
        return
    bounds = threshold_bounds(found.status, k)
    unknown = found.hidden | ~grid.offered
    every = fillings(grid, unknown, bounds.low, bounds.high, int(grid.values.max()) + 4)
    assume(every is not None)
    assert every is not None
    for cell in np.flatnonzero(small(grid, k)):
        assert len(np.unique(every[:, cell])) >= 2


@settings(max_examples=40)
@given(tables(), st.integers(3, 6))
def test_every_cell_hidden_for_an_interval_is_needed(grid: Grid, k: int) -> None:
    try:
        found = protected(grid, k)
    except TableUnprotectable:
        return
    for cell in np.flatnonzero(found.reason == Reason.INTERVAL):
        fewer = found.hidden.copy()
        fewer[cell] = False
        again = audit(grid, fewer, threshold_bounds(marks(grid, fewer, k), k), cells=small(grid, k))
        assert again.disclosed.any()


@settings(max_examples=30)
@given(tables(), st.integers(3, 6))
def test_the_same_table_gets_the_same_pattern(grid: Grid, k: int) -> None:
    try:
        first, second = protected(grid, k), protected(grid, k)
    except TableUnprotectable:
        return
    assert np.array_equal(first.status, second.status)
    assert first.reason.tolist() == second.reason.tolist()


def test_time_that_runs_out_is_told_and_never_taken_for_safety() -> None:
    grid = table(np.random.default_rng(1).integers(1, 9, (4, 4, 4)))
    ticks = itertools.count()
    found = protected(grid, 5, budget_seconds=0.5, clock=lambda: float(next(ticks)))
    assert found.audit is not None
    assert not found.audit.safe
    assert found.audit.disclosed[small(grid, 5)].all()


# --- sums -------------------------------------------------------------------------------------------


def test_a_dominated_sum_can_lie_far_enough_on_either_side() -> None:
    grid = table([[900_000, 30_000, 50_000], [700_000, 800_000, 20_000], [40_000, 600_000, 900_000]])
    primary = np.zeros(grid.size, np.bool_)
    primary[0] = True
    found = protect_sums(grid, primary, why(primary, Reason.P_PERCENT), levels(grid.values, 10))
    bounds = Bounds(np.zeros(grid.size), np.full(grid.size, np.inf))
    exact = audit(grid, found.hidden, bounds, cells=primary, whole=False, exact=True)
    assert exact.low[0] <= 810_000
    assert exact.high[0] >= 990_000
    assert found.audit is not None
    assert found.audit.safe


def test_sums_with_fractions_are_protected_too() -> None:
    whole = table([[90, 3, 5], [70, 80, 2], [4, 60, 90]])
    grid = Grid(whole.values / 8, *(getattr(whole, name) for name in Grid.__slots__[1:]))
    primary = np.zeros(grid.size, np.bool_)
    primary[0] = True
    found = protect_sums(grid, primary, why(primary, Reason.DOMINANCE), levels(grid.values, 15))
    assert found.audit is not None
    assert found.audit.safe
    assert found.hidden.sum() >= 4


def test_values_that_may_be_negative_need_no_more_than_exact_protection() -> None:
    grid = table([[900, 3], [4, 5]])
    primary = np.zeros(grid.size, np.bool_)
    primary[0] = True
    shielded = protect_sums(grid, primary, why(primary, Reason.P_PERCENT), levels(grid.values, 10), negative=True)
    assert shielded.hidden.sum() == 4
