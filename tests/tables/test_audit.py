"""The audit of hidden cells against every filling in whole numbers, listed one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.errors import InternalFault
from celosia.model.reports.tables import Reason
from celosia.tables.audit import audit
from celosia.tables.grid import PRIMARY, PUBLISHED, SECONDARY, Bounds, Grid, threshold_bounds
from celosia.tables.network import cycles
from celosia.tables.system import integer_displacement, system_of, tighten
from tests.tables.fillings import fillings, numbers_of, table, table_of_persons

CEILING = 14


def flags(grid: Grid, *cells: int) -> NDArray[np.bool_]:
    chosen = np.zeros(grid.size, np.bool_)
    chosen[list(cells)] = True
    return chosen


def status_of(grid: Grid, hidden: NDArray[np.bool_], k: int) -> NDArray[np.int8]:
    small = hidden & (grid.values > 0) & (grid.values < k)
    return np.where(small, PRIMARY, np.where(hidden, SECONDARY, PUBLISHED)).astype(np.int8)


def bounds_for(grid: Grid, hidden: NDArray[np.bool_], k: int) -> Bounds:
    """As the room makes them; a hidden zero is simply at least nothing."""
    bounds = threshold_bounds(status_of(grid, hidden, k), k)
    return Bounds(np.minimum(bounds.low, grid.values), bounds.high)


def possible_values(grid: Grid, unknown: NDArray[np.bool_], bounds: Bounds) -> list[set[int]] | None:
    every = fillings(grid, unknown, bounds.low, bounds.high, CEILING)
    if every is None:
        return None
    return [set(every[:, cell].tolist()) for cell in range(grid.size)]


def row_of(*counts: int) -> Grid:
    """Counts and their total, the last cell."""
    return table(counts)


@pytest.mark.requirement("Y21")
@pytest.mark.parametrize(
    ("counts", "known"),
    [((1, 1), True), ((4, 4), True), ((1, 2), False), ((3, 3), False), ((4, 3), False), ((4, 4, 4), True)],
)
def test_small_cells_with_a_known_total_are_disclosed_when_one_split_alone_fits(
    counts: tuple[int, ...], known: bool
) -> None:
    grid = row_of(*counts)
    hidden = flags(grid, *range(len(counts)))
    found = audit(grid, hidden, bounds_for(grid, hidden, 5))
    assert found.disclosed[hidden].tolist() == [known] * len(counts)
    assert found.proven.all()
    assert found.safe is not known


def test_the_exact_interval_is_the_least_and_the_greatest_possible_value() -> None:
    grid = row_of(4, 3, 20)
    hidden = flags(grid, 0, 1)
    found = audit(grid, hidden, bounds_for(grid, hidden, 5), exact=True)
    assert found.low.tolist() == [3, 3, 20, 27]
    assert found.high.tolist() == [4, 4, 20, 27]


def test_a_cell_with_no_upper_end_is_reported_as_endless() -> None:
    grid = row_of(4, 20)
    hidden = flags(grid, 1, 2)
    found = audit(grid, hidden, bounds_for(grid, hidden, 5), exact=True)
    assert found.low[1:].tolist() == [5, 9]
    assert np.isinf(found.high[1:]).all()


def test_a_width_asks_for_that_many_values_more_than_one() -> None:
    grid = row_of(4, 3)
    hidden = flags(grid, 0, 1)
    bounds = bounds_for(grid, hidden, 5)
    assert audit(grid, hidden, bounds, width=1).safe
    assert audit(grid, hidden, bounds, width=2).disclosed[hidden].all()


def test_a_hole_between_the_least_and_the_greatest_value_is_not_counted() -> None:
    # x = a + b and a = b: x is even, so it takes 2, 4 or 6 and never four values.
    grid = Grid(
        np.array([4, 2, 2, 10, 12, 12], np.int64),
        np.array([0, 4, 5], np.int64),
        np.array([0, 2, 4, 6], np.int64),
        np.array([1, 2, 1, 3, 2, 3], np.int64),
        np.ones(3, np.bool_),
        np.ones(6, np.int64),
        np.ones(6, np.bool_),
    )
    hidden = flags(grid, 0, 1, 2, 3)
    bounds = Bounds(np.array([2, 1, 1, 0, 0, 0.0]), np.array([6, 3, 3, 99, 99, 99.0]))
    assert not audit(grid, hidden, bounds, width=2).disclosed[0]
    assert audit(grid, hidden, bounds, width=3).disclosed[0]


def test_a_cell_nobody_publishes_is_unknown_without_being_hidden() -> None:
    grid = table([3, 4], offered=[True, True, False])
    hidden = flags(grid, 0)
    found = audit(grid, hidden, bounds_for(grid, hidden, 5), exact=True)
    assert (found.low[0], found.high[0]) == (1, 4)


def test_time_that_runs_out_leaves_cells_unproven_and_counted_as_disclosed() -> None:
    grid = table(np.full((3, 3, 3), 3))
    hidden = np.zeros(grid.size, np.bool_)
    hidden[[number for at, number in numbers_of((3, 3, 3)).items() if -1 not in at]] = True
    ticks = iter(range(1000))
    found = audit(grid, hidden, bounds_for(grid, hidden, 5), budget_seconds=0.5, clock=lambda: float(next(ticks)))
    assert not found.safe
    assert (found.disclosed & ~found.proven)[hidden].all()


@given(st.data())
def test_cycles_are_moves_that_keep_every_sum(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from([(3,), (5,), (3, 3), (4, 5)]))
    size = int(np.prod(shape))
    inner = np.array(data.draw(st.lists(st.integers(1, 6), min_size=size, max_size=size))).reshape(shape)
    grid = table(inner)
    hidden = np.array(data.draw(st.lists(st.booleans(), min_size=grid.size, max_size=grid.size)))
    system = tighten(system_of(grid, hidden, bounds_for(grid, hidden, 5)))
    for cells, move in cycles(system, np.ones(system.size, np.bool_))[0]:
        assert len(set(cells.tolist())) == len(cells)
        displaced = np.zeros(grid.size)
        displaced[cells] = move
        for whole, parts in grid.relations():
            assert displaced[whole] == displaced[parts].sum()


def test_a_square_of_hidden_cells_is_settled_without_solving(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = table(np.full((6, 6), 3))
    hidden = np.zeros(grid.size, np.bool_)
    hidden[[number for at, number in numbers_of((6, 6)).items() if -1 not in at]] = True
    monkeypatch.setattr("celosia.tables.audit.best_displacement", None)
    monkeypatch.setattr("celosia.tables.audit.shortest_displacement", None)
    assert audit(grid, hidden, bounds_for(grid, hidden, 5)).safe


def test_values_that_break_their_own_relation_stop_the_audit() -> None:
    good = row_of(4, 3)
    bad = Grid(good.values + np.array([0, 0, 1]), *(getattr(good, name) for name in Grid.__slots__[1:]))
    with pytest.raises(InternalFault):
        audit(bad, flags(bad, 0, 1), bounds_for(bad, flags(bad, 0, 1), 5))


def test_progress_ends_with_every_cell_settled() -> None:
    grid, told = row_of(4, 3), list[tuple[int, int]]()
    hidden = flags(grid, 0, 1)
    audit(grid, hidden, bounds_for(grid, hidden, 5), report=lambda done, total: told.append((done, total)))
    assert told[-1] == (2, 2)


# --- laws, against the list of all fillings ---------------------------------------------------------


@st.composite
def flat_tables(draw: st.DrawFn) -> tuple[Grid, NDArray[np.bool_], int]:
    shape = draw(st.sampled_from([(3,), (4,), (2, 2), (2, 3), (3, 3), (2, 2, 2)]))
    counts = draw(st.lists(st.integers(0, 7), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    size = len(numbers_of(shape))
    offered = draw(st.lists(st.sampled_from([True, True, True, True, False]), min_size=size, max_size=size))
    grid = table(np.array(counts).reshape(shape), offered=offered)
    return grid, draw(patterns(size)), draw(st.integers(3, 6))


@st.composite
def tables_of_persons(draw: st.DrawFn) -> tuple[Grid, NDArray[np.bool_], int]:
    shape = draw(st.sampled_from([(2,), (3,), (2, 2), (2, 3)]))
    persons, cells = draw(st.integers(1, 8)), int(np.prod(shape))
    present = draw(
        st.lists(st.lists(st.booleans(), min_size=cells, max_size=cells), min_size=persons, max_size=persons)
    )
    grid = table_of_persons(np.array(present, np.bool_).reshape(persons, *shape))
    return grid, draw(patterns(grid.size)), draw(st.integers(3, 6))


def patterns(size: int) -> st.SearchStrategy[NDArray[np.bool_]]:
    """Hidden cells: mostly few, so that all fillings can be listed."""
    return st.lists(st.sampled_from([True, False, False]), min_size=size, max_size=size).map(np.array)


def listable(grid: Grid, unknown: NDArray[np.bool_]) -> bool:
    return int(unknown.sum()) <= 12 and int(grid.values[unknown].max(initial=0)) < CEILING


def judged(case: tuple[Grid, NDArray[np.bool_], int], width: int) -> None:
    """The audit against the list; where the list was cut at the ceiling it can only miss values."""
    grid, hidden, k = case
    unknown = hidden | ~grid.offered
    assume(hidden.any() and listable(grid, unknown))
    bounds = bounds_for(grid, hidden, k)
    values = possible_values(grid, unknown, bounds)
    assume(values is not None)
    assert values is not None
    found = audit(grid, hidden, bounds, width=width)
    exact = audit(grid, hidden, bounds, width=width, exact=True)
    assert np.array_equal(found.disclosed, exact.disclosed)
    for cell in np.flatnonzero(hidden & grid.offered):
        cut = max(max(values[one]) for one in np.flatnonzero(unknown)) >= CEILING
        assert found.proven[cell]
        if not cut:
            assert found.disclosed[cell] == (len(values[cell]) < width + 1)
            assert (exact.low[cell], exact.high[cell]) == (min(values[cell]), max(values[cell]))
        elif len(values[cell]) >= width + 1:
            assert not found.disclosed[cell]
        assert found.low[cell] >= exact.low[cell]
        assert found.high[cell] <= exact.high[cell]


@pytest.mark.requirement("Y21")
@settings(max_examples=150)
@given(flat_tables(), st.integers(1, 3))
def test_the_audit_agrees_with_every_filling_of_tables_that_add_up(
    case: tuple[Grid, NDArray[np.bool_], int], width: int
) -> None:
    judged(case, width)


@pytest.mark.requirement("Y15", "Y21")
@settings(max_examples=150)
@given(tables_of_persons(), st.integers(1, 2))
def test_the_audit_agrees_with_every_filling_where_persons_stand_in_several_cells(
    case: tuple[Grid, NDArray[np.bool_], int], width: int
) -> None:
    judged(case, width)


@settings(max_examples=60)
@given(flat_tables(), st.integers(0, 26))
def test_hiding_one_cell_more_never_discloses_another(case: tuple[Grid, NDArray[np.bool_], int], more: int) -> None:
    grid, hidden, k = case
    more %= grid.size
    assume(hidden.any() and grid.values[more] >= k and grid.offered[more])
    wider = hidden | flags(grid, more)
    before = audit(grid, hidden, bounds_for(grid, hidden, k))
    after = audit(grid, wider, bounds_for(grid, wider, k), cells=hidden & grid.offered)
    assert not (after.disclosed & ~before.disclosed).any()


def test_a_large_component_is_settled_through_its_surroundings() -> None:
    rng = np.random.default_rng(7)
    grid = table(rng.integers(1, 12, (9, 9, 9)))
    hidden = (grid.values < 5) | ((grid.values < 12) & (np.arange(grid.size) % 3 == 0))
    found = audit(grid, hidden, bounds_for(grid, hidden, 5))
    assert found.proven.all()
    exact = audit(grid, hidden, bounds_for(grid, hidden, 5), cells=found.disclosed, exact=True)
    assert np.array_equal(exact.low[found.disclosed], exact.high[found.disclosed])


def test_a_filling_offered_from_outside_is_checked_before_it_counts() -> None:
    grid = row_of(4, 4)
    hidden = flags(grid, 0, 1)
    bounds = bounds_for(grid, hidden, 5)
    cells = np.array([0, 1])
    for move in ([1.0, -1.0], [-1.0, 0.0], [-1.0, -1.0]):  # above k-1; does not add up; does not add up
        assert audit(grid, hidden, bounds, hints=[(cells, np.array(move))]).disclosed[hidden].all()
    assert audit(grid, hidden, bounds, hints=[(np.array([0, 2]), np.array([-1.0, -1.0]))]).disclosed[hidden].all()


def test_a_displacement_must_obey_every_relation_and_bound_exactly() -> None:
    grid = table_of_persons(np.array([[1, 1], [1, 0], [0, 1], [1, 1]], np.bool_))  # 3 and 3 of 4 persons
    system = system_of(grid, np.ones(3, np.bool_), Bounds(np.zeros(3), np.full(3, 9.0)))
    assert system.allows(np.array([1.0, 0, 0]))
    assert not system.allows(np.array([2.0, 0, 0]))  # a part above its whole
    assert not system.allows(np.array([0.0, 0, 3]))  # a whole above the sum
    assert not system.allows(np.array([0.0, 0, -2]))
    assert not system.allows(np.array([-4.0, 0, 0]))  # below nothing


def test_a_fractional_answer_of_the_solver_is_never_taken_as_it_is() -> None:
    grid = row_of(4, 4)
    hidden = flags(grid, 0, 1)
    system = system_of(grid, hidden, Bounds(np.array([3.0, 3, 0]), np.array([5.0, 5, 9])))
    assert integer_displacement(system, np.array([0.5, -0.5])).tolist() == [1.0, -1.0]  # type: ignore[union-attr]
    assert integer_displacement(system, np.array([0.4, -0.4])) is None
    assert integer_displacement(system, np.array([0.5, 0.5])) is None


# --- what the public knows --------------------------------------------------------------------------


def test_bounds_follow_from_the_mark_and_the_reason() -> None:
    status = np.array([PUBLISHED, PRIMARY, SECONDARY, PRIMARY, PRIMARY], np.int8)
    reasons = np.array([None, Reason.THRESHOLD, Reason.COMPLEMENT, Reason.OVER_TIME, Reason.DOMINANCE], object)
    earlier = np.array([-1, -1, -1, 20, -1], np.int64)
    bounds = threshold_bounds(status, 5, earlier, reasons)
    assert bounds.low.tolist() == [0, 1, 5, 16, 5]
    assert bounds.high.tolist() == [np.inf, 4, np.inf, 24, np.inf]


def test_hidden_zeros_look_like_other_small_cells() -> None:
    status = np.array([PRIMARY, PRIMARY], np.int8)
    bounds = threshold_bounds(status, 5, reasons=np.array([Reason.ZERO, Reason.THRESHOLD], object))
    assert bounds.low.tolist() == [0, 0]
    assert bounds.high.tolist() == [4, 4]


def test_an_earlier_value_never_reaches_below_the_threshold() -> None:
    bounds = threshold_bounds(np.array([PRIMARY], np.int8), 5, np.array([6], np.int64))
    assert (bounds.low[0], bounds.high[0]) == (5, 10)


# --- sums -------------------------------------------------------------------------------------------


def test_a_sum_must_be_able_to_move_on_either_side() -> None:
    grid = row_of(1_000_000, 40_000, 9_000_000)
    hidden = flags(grid, 0, 1)
    bounds = Bounds(np.zeros(4), np.full(4, np.inf))
    tight = audit(grid, hidden, bounds, width=np.array([100_000.0, 4_000, 0, 0]), whole=False)
    assert tight.disclosed.tolist() == [True, False, False, False]  # no more than 40,000 above is possible
    loose = audit(grid, hidden, bounds, width=np.array([40_000.0, 4_000, 0, 0]), whole=False)
    assert loose.safe


def test_the_interval_of_a_sum_is_exact_when_asked() -> None:
    grid = row_of(1_000_000, 40_000, 9_000_000)
    hidden = flags(grid, 0, 1)
    bounds = Bounds(np.zeros(4), np.full(4, np.inf))
    found = audit(grid, hidden, bounds, whole=False, exact=True)
    assert found.low[:2] == pytest.approx([0, 0], abs=1e-3)
    assert found.high[:2] == pytest.approx([1_040_000, 1_040_000])
