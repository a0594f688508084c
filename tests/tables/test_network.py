"""Two-way tables as networks: what cycles certify, against linear problems that share no code with the room."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import lil_array

from celosia.errors import InternalFault
from celosia.model.reports.tables import Reason
from celosia.tables.audit import Audit, audit
from celosia.tables.complementary_cells import build_complement_search
from celosia.tables.errors import TableUnprotectable
from celosia.tables.grid import PRIMARY, PUBLISHED, SECONDARY, Bounds, Flags, Grid, threshold_bounds
from celosia.tables.network import Network, cycles, far_cycles, furthest, network_of
from celosia.tables.protect import protect
from celosia.tables.system import System, system_of, tighten
from tests.tables.fillings import numbers_of, table

K = 5
FAR = 10**6
Draw = tuple[Grid, Flags, Bounds]


@st.composite
def hidden_tables(draw: st.DrawFn, most: int = 5) -> Draw:
    """A table of two variables with totals, cells hidden anywhere in it, and what the public knows of these."""
    shape = draw(st.tuples(st.integers(1, most), st.integers(2, most)))
    size = shape[0] * shape[1]
    grid = table(np.array(draw(st.lists(st.integers(0, 7), min_size=size, max_size=size))).reshape(shape))
    inner = np.array([-1 not in at for at in numbers_of(shape)])
    often, seldom = (st.lists(st.sampled_from(bag), min_size=grid.size, max_size=grid.size) for bag in ("1110", "1000"))
    marks = np.where(inner, draw(often), draw(seldom)) == "1"
    return grid, marks, known(grid, marks)


def known(grid: Grid, hidden: Flags) -> Bounds:
    small = hidden & (grid.values < K)
    status = np.where(small, PRIMARY, np.where(hidden, SECONDARY, PUBLISHED)).astype(np.int8)
    bounds = threshold_bounds(status, K)
    return Bounds(np.minimum(bounds.low, grid.values), bounds.high)


def extremes(grid: Grid, hidden: Flags, bounds: Bounds, cell: int) -> tuple[float, float]:
    """The least and the greatest value of a cell, by HiGHS in whole numbers over the relations as they stand."""
    matrix = lil_array((len(grid.totals), grid.size))
    for line, (whole, parts) in enumerate(grid.relations()):
        matrix[line, parts] = 1
        matrix[line, [whole]] = -1
    low = np.where(hidden, bounds.low, grid.values)
    high = np.where(hidden, np.minimum(bounds.high, FAR), grid.values)
    goal = np.zeros(grid.size)
    goal[cell] = 1.0
    rules = LinearConstraint(matrix.tocsr(), 0, 0)
    ends = [milp(s * goal, constraints=rules, bounds=Box(low, high), integrality=np.ones(grid.size)) for s in (1, -1)]
    assert all(end.status == 0 for end in ends)
    return float(np.rint(ends[0].x[cell])), float(np.rint(ends[1].x[cell]))


def seen_as(drawn: Draw) -> tuple[System, Network]:
    grid, hidden, bounds = drawn
    system = tighten(system_of(grid, hidden, bounds))
    network = network_of(system)
    assert network is not None
    assert network.complete
    return system, network


@settings(max_examples=40, deadline=None)
@given(hidden_tables())
def test_a_certified_cell_is_never_one_that_an_exact_solver_determines(drawn: Draw) -> None:
    grid, hidden, bounds = drawn
    system, _ = seen_as(drawn)
    found, fixed = cycles(system, np.ones(system.size, np.bool_))
    certified = {int(cell) for cells, _ in found for cell in cells}
    assert certified.isdisjoint(system.cells[fixed].tolist())
    assert certified | set(system.cells[fixed].tolist()) == set(system.cells.tolist())
    for cell in np.flatnonzero(hidden).tolist():
        low, high = extremes(grid, hidden, bounds, cell)
        assert (low < high) == (cell in certified)


@settings(max_examples=40, deadline=None)
@given(hidden_tables(), st.integers(1, 3))
def test_a_cell_is_pushed_exactly_as_far_as_a_solver_takes_it(drawn: Draw, most: int) -> None:
    grid, hidden, bounds = drawn
    system, network = seen_as(drawn)
    for column, cell in enumerate(system.cells.tolist()):
        low, high = extremes(grid, hidden, bounds, cell)
        up, down = network.push(column, most), network.push(column, -most)
        assert system.allows(up)
        assert system.allows(down)
        assert up[column] == min(most, high - grid.values[cell])
        assert -down[column] == min(most, grid.values[cell] - low)
        values = {int(move[cells == cell][0]) for cells, move in furthest(system, network, column, most)}
        assert len(values) == min(most, high - low)


@settings(max_examples=40, deadline=None)
@given(hidden_tables(), st.sampled_from([-2, -1, 1, 2, 3]))
def test_far_cycles_move_what_they_were_asked_to_and_keep_every_sum(drawn: Draw, move: int) -> None:
    system, network = seen_as(drawn)
    for cells, moves in far_cycles(system, network, np.ones(system.size, np.bool_), move):
        displaced = np.zeros(system.size)
        displaced[np.searchsorted(system.cells, cells)] = moves
        assert move in moves
        assert set(np.abs(moves)) == {abs(move)}
        assert system.allows(displaced)


@settings(max_examples=25, deadline=None)
@given(hidden_tables(), st.integers(1, 3))
def test_a_large_table_is_audited_with_the_same_verdict_as_a_small_one(drawn: Draw, width: int) -> None:
    grid, hidden, bounds = drawn
    usual = audit(grid, hidden, bounds, width=width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("celosia.tables.audit._LARGE", 0)
        large = audit(grid, hidden, bounds, width=width, near_only=True)
    assert large.disclosed.tolist() == usual.disclosed.tolist()
    assert large.proven.all()
    for cell in np.flatnonzero(hidden).tolist():
        low, high = extremes(grid, hidden, bounds, cell)
        assert large.disclosed[cell] == (high - low < width)


@settings(max_examples=40, deadline=None)
@given(hidden_tables(4))
def test_a_cheapest_cycle_costs_what_the_linear_problem_says(drawn: Draw) -> None:
    grid, hidden, _ = drawn
    candidates = ~hidden & (grid.values != 0)
    bounds = known(grid, hidden | candidates)
    solved = build_complement_search(grid, hidden, candidates, bounds, True, lambda: None)
    walked = replace(solved, network=network_of(solved.system))
    assert walked.network is not None
    for cell in np.flatnonzero(hidden).tolist():
        one, other = (shield.cheapest(cell, 1.0, (0.0, 0.0)) for shield in (solved, walked))
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert grid.cost[other.cells].sum() == grid.cost[one.cells].sum()
            assert cell in other.moved
    nothing_helps = [cell for cell in np.flatnonzero(hidden) if solved.cheapest(int(cell), 1.0, (0.0, 0.0)) is None]
    assert walked.count_unprotectable(hidden) == len(nothing_helps)


def protected(grid: Grid, width: int = 1) -> tuple[Flags, Flags] | int:
    """Primary and hidden cells; or how many cells stand in the way."""
    primary = (grid.values > 0) & (grid.values < K)
    reasons = np.full(grid.size, None, object)
    reasons[primary] = Reason.THRESHOLD
    try:
        made = protect(grid, primary, reasons, k=K, width=width, singletons=grid.values == 1)
    except TableUnprotectable as error:
        return int(error.values["cells"])
    return primary, made.hidden


@settings(max_examples=20, deadline=None)
@given(hidden_tables(), st.integers(1, 2))
def test_the_way_of_large_tables_protects_small_ones_too(drawn: Draw, width: int) -> None:
    grid = drawn[0]
    usual = protected(grid, width)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("celosia.tables.audit._LARGE", 0)
        patch.setattr("celosia.tables.complementary_cells._NEAR", 0)
        made = protected(grid, width)
    assert isinstance(made, int) == isinstance(usual, int)
    if isinstance(made, int):
        assert width > 1 or made == usual
        return
    primary, hidden = made
    bounds = known(grid, hidden)
    bounds.low[primary] = 1.0
    for cell in np.flatnonzero(primary).tolist():
        low, high = extremes(grid, hidden, bounds, cell)
        assert high - low >= width


def sparse_table(rows: int, columns: int, seed: int) -> Grid:
    """Uneven counts of which nearly all are small or nobody's, beside one large row and one large column."""
    rng = np.random.default_rng(seed)
    expected = np.outer(rng.gamma(0.6, 1.5, rows), rng.gamma(0.6, 1.5, columns))
    counts = np.full((rows, columns), 20)
    counts[1:, 1:] = rng.poisson(expected)[1:, 1:]
    return table(counts)


def test_a_large_table_of_mostly_hidden_cells_is_protected_and_audited() -> None:
    grid = sparse_table(120, 300, 7)
    made = protected(grid)
    assert not isinstance(made, int)
    primary, hidden = made
    assert primary.sum() > 6_000
    bounds = known(grid, hidden)
    bounds.low[primary] = 1.0
    found = audit(grid, hidden, bounds, cells=primary)
    assert found.safe
    assert found.proven.all()
    assert (hidden & ~primary).any()
    bare = audit(grid, primary, bounds, cells=primary)
    assert bare.disclosed.sum() > 100  # the same audit finds what the small cells alone would give away


def test_a_large_table_that_nothing_can_help_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: NDArray[np.int64] = np.full((60, 60), 2)
    counts[0] = 0
    counts[0, :2] = 4  # the greatest that a small cell may be, twice: their total tells both
    grid = table(counts)
    primary = (grid.values > 0) & (grid.values < K)
    reasons = np.full(grid.size, None, object)
    reasons[primary] = Reason.THRESHOLD
    monkeypatch.setattr("celosia.tables.complementary_cells.ComplementSearch.cheapest", None)  # not one cell is tried
    with pytest.raises(TableUnprotectable) as refused:
        protect(grid, primary, reasons, k=K, fixed=np.ones(grid.size, np.bool_))
    assert refused.value.values["cells"] == 2


def test_a_pattern_that_is_not_safe_after_all_is_a_fault_and_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    def believes(task: object, base: Flags, report: object) -> tuple[Flags, Audit]:
        fine = np.zeros(len(base), np.bool_)
        return base, Audit(np.zeros(len(base)), np.zeros(len(base)), fine, ~fine)

    grid = table([[4, 4, 20], [30, 30, 30]])  # 8 less the rule leaves 4 and 4; elimination sees nothing in it
    monkeypatch.setattr("celosia.tables.protect._hide_until_safe", believes)
    with pytest.raises(InternalFault):
        protected(grid)
