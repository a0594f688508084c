"""What follows from published cells is found exactly, and hidden cells are completed with no more than is needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from celosia.kernels import complements, elimination
from celosia.tables import exact_disclosure as _exact_disclosure
from celosia.tables.errors import TableUnprotectable
from celosia.tables.exact_disclosure import complete_suppression, recoverable
from celosia.tables.grid import Flags, Grid
from tests.tables.random_grids import FLAT, crossed, equations, flags, follows, gives_away, grids

often = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
PRIMES = [2**31 - gap for gap in elimination.GAPS]


def cells(grid: Grid, *numbers: int) -> Flags:
    """Flags of the named cells."""
    chosen = np.zeros(grid.size, bool)
    chosen[list(numbers)] = True
    return chosen


def one_way(*counts: int) -> Grid:
    """Categories and their total, which is the last cell."""
    return crossed([FLAT[len(counts)]], np.array(counts, np.int64))


def below(grid: Grid, k: int) -> Flags:
    """Cells of one to k - 1 persons."""
    return (grid.values > 0) & (grid.values < k)


# --- the two primes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("prime", PRIMES)
def test_the_moduli_are_primes_below_two_to_the_31(prime: int) -> None:
    assert prime < 2**31
    assert all(prime % divisor for divisor in range(2, int(prime**0.5) + 1))


@given(st.integers(0, 2**62 + 2**32), st.sampled_from(elimination.GAPS))
def test_folding_is_the_remainder(number: int, gap: int) -> None:
    assert elimination.fold(number, gap) == number % (2**31 - gap)


@given(st.integers(1, 2**31 - 20), st.sampled_from(elimination.GAPS))
def test_a_number_times_its_inverse_is_one(number: int, gap: int) -> None:
    assert number * elimination.inverse(number, gap) % (2**31 - gap) == 1


# --- any sparse system -------------------------------------------------------------------------------


@st.composite
def matrices(draw: st.DrawFn) -> np.ndarray:
    """Small whole matrices, many of them without a row that one column solves."""
    rows, columns = draw(st.integers(1, 9)), draw(st.integers(1, 12))
    size = rows * columns
    entries = st.lists(st.sampled_from([0, 0, 0, 1, 1, -1, 2]), min_size=size, max_size=size)
    return np.array(draw(entries)).reshape(rows, columns)


def system_of(matrix: np.ndarray, gap: int) -> elimination.Eliminated:
    from scipy import sparse

    return elimination.eliminate(_exact_disclosure._modular_system(sparse.csr_array(matrix), 2**31 - gap), gap)


@often
@given(matrices(), st.sampled_from(elimination.GAPS))
def test_fillings_vanish_in_every_row_and_are_zero_just_where_the_cell_follows(matrix: np.ndarray, gap: int) -> None:
    made = system_of(matrix, gap).fillings(3, 0)
    lines = [{int(c): int(row[c]) for c in np.flatnonzero(row)} for row in matrix]
    assert not (matrix @ made % (2**31 - gap)).any()
    assert set(np.flatnonzero(~made.any(axis=1)).tolist()) == follows(lines, set(range(matrix.shape[1])))


@often
@given(matrices(), st.sampled_from(elimination.GAPS), st.data())
def test_weights_make_any_combination_of_the_rows(matrix: np.ndarray, gap: int, data: st.DataObject) -> None:
    prime, rows = 2**31 - gap, len(matrix)
    mixed = np.array(data.draw(st.lists(st.integers(-5, 5), min_size=rows, max_size=rows)))
    wanted = (mixed @ matrix % prime)[:, None]
    assert (matrix.T @ system_of(matrix, gap).weights(wanted) % prime).tolist() == wanted.tolist()


@often
@given(matrices(), st.sampled_from(elimination.GAPS))
def test_loose_weights_vanish_and_reach_every_dependent_row(matrix: np.ndarray, gap: int) -> None:
    loose = system_of(matrix, gap).loose_weights(3, 0)
    assert not (matrix.T @ loose % (2**31 - gap)).any()
    assert loose.any() == (np.linalg.matrix_rank(matrix) < len(matrix))


def test_a_prime_that_divides_a_divisor_errs_and_the_other_one_does_not() -> None:
    grown = np.array([[1, 1], [1, 1 + PRIMES[0]]])  # its elementary divisors are 1 and the first prime
    assert system_of(grown, 1).fillings(3, 0).any()
    assert not system_of(grown, 19).fillings(3, 0).any()


def test_a_filling_that_does_not_vanish_counts_as_nothing_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "_follow", lambda *_: None)
    assert not system_of(np.array([[1, 1, 0], [0, 1, 1]]), 1).fillings(3, 0).any()


# --- what follows ------------------------------------------------------------------------------------


@often
@given(grids(), st.data())
def test_what_follows_is_what_fractions_say(grid: Grid, data: st.DataObject) -> None:
    hidden = data.draw(flags(grid.size))
    unknown = set(np.flatnonzero(hidden | ~grid.offered).tolist())
    assert set(np.flatnonzero(recoverable(grid, hidden)).tolist()) == follows(equations(grid), unknown)


def test_a_relation_that_does_not_add_up_gives_nothing_away() -> None:
    grid = one_way(12, 3)
    assert recoverable(grid, cells(grid, 1)).tolist() == [False, True, False]
    assert not recoverable(replace(grid, additive=np.array([False])), cells(grid, 1)).any()


def test_a_cell_that_nobody_publishes_is_found_too() -> None:
    grid = one_way(12, 3)
    assert recoverable(replace(grid, offered=~cells(grid, 1)), cells(grid)).tolist() == [False, True, False]


def test_nothing_hidden_and_no_relation_are_no_trouble() -> None:
    grid = one_way(12, 3)
    nothing = grid.totals[:0]
    bare = replace(grid, totals=nothing, starts=grid.starts[:1], parts=nothing, additive=grid.additive[:0])
    assert not recoverable(grid, cells(grid)).any()
    assert not recoverable(bare, cells(grid, 0, 1)).any()
    assert complete_suppression(bare, cells(grid, 1)).tolist() == [False, True, False]
    assert not complete_suppression(grid, cells(grid)).any()


# --- what to hide ------------------------------------------------------------------------------------


@pytest.mark.requirement("Y21")
def test_a_small_cell_beside_its_total_takes_the_other_one_with_it() -> None:
    grid = one_way(12, 3)
    assert recoverable(grid, cells(grid, 1)).tolist() == [False, True, False]
    hidden = complete_suppression(grid, cells(grid, 1))
    assert hidden.tolist() == [True, True, False]
    assert not recoverable(grid, hidden).any()


@pytest.mark.requirement("Y21", "A26")
@often
@given(grids(), st.data())
def test_no_primary_cell_follows_and_no_hidden_cell_is_needless(grid: Grid, data: st.DataObject) -> None:
    primary = data.draw(flags(grid.size, 4)) | below(grid, data.draw(st.integers(1, 4)))
    hidden, fixed = data.draw(flags(grid.size, 8)), data.draw(flags(grid.size, 8))
    single = (grid.values == 1) & data.draw(st.booleans())
    asked = primary | hidden | ~grid.offered
    able = ~asked & ~fixed & (grid.values != 0)
    try:
        found = complete_suppression(grid, primary, hidden, fixed, single)
    except TableUnprotectable:
        assert gives_away(grid, asked | able, primary, single, asked)
        return
    assert found[asked].all()
    assert not (found & ~asked & ~able).any()
    assert not gives_away(grid, found, primary, single, asked)
    for added in np.flatnonzero(found & ~asked):
        assert gives_away(grid, found & ~cells(grid, added), primary, single, asked)


@often
@given(grids(), st.data())
def test_the_pattern_does_not_depend_on_how_many_vectors_are_drawn_at_a_time(grid: Grid, data: st.DataObject) -> None:
    primary = data.draw(flags(grid.size, 5))
    single = primary & data.draw(flags(grid.size))
    try:
        found = complete_suppression(grid, primary, singletons=single)
    except TableUnprotectable:
        assume(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_exact_disclosure, "_VECTORS", complements.TESTED)
        patch.setattr(_exact_disclosure, "_AT_ONCE", 1_000)
        assert complete_suppression(grid, primary, singletons=single).tolist() == found.tolist()
    assert complete_suppression(grid, primary, singletons=single).tolist() == found.tolist()


def test_a_table_whose_other_cells_are_fixed_is_refused_and_says_how_many() -> None:
    grid = one_way(12, 3)
    with pytest.raises(TableUnprotectable) as refused:
        complete_suppression(grid, cells(grid, 1), fixed=cells(grid, 0, 2))
    assert refused.value.values["cells"] == 1


def test_cells_of_nobody_are_no_company() -> None:
    grid = one_way(12, 3, 0)
    assert complete_suppression(grid, cells(grid, 1)).tolist() == [True, True, False, False]


def test_who_is_alone_in_a_hidden_cell_does_not_see_the_other() -> None:
    grid = one_way(12, 3, 1, 30)
    assert complete_suppression(grid, cells(grid, 1, 2)).tolist() == [False, True, True, False, False]
    hidden = complete_suppression(grid, cells(grid, 1, 2), singletons=cells(grid, 2))
    assert hidden.tolist() == [True, True, True, False, False]


def test_a_total_of_the_same_single_person_is_not_another_secret() -> None:
    grid = one_way(1, 0)
    everything = cells(grid, 0, 2)
    assert complete_suppression(grid, everything, singletons=everything).tolist() == everything.tolist()


def test_a_bridge_between_two_closed_blocks_is_found_and_broken() -> None:
    grid = crossed([FLAT[5], FLAT[5]], np.full((5, 5), 20, np.int64))
    blocks = [(0, 0), (0, 1), (1, 0), (1, 1), (3, 3), (3, 4), (4, 3), (4, 4)]
    bridge = cells(grid, 1 * 6 + 3)
    hidden = cells(grid, *(6 * row + column for row, column in blocks)) | bridge
    assert recoverable(grid, hidden).tolist() == bridge.tolist()  # though every row and column holds two hidden cells
    found = complete_suppression(grid, hidden)
    assert not recoverable(grid, found).any()
    assert (found & ~hidden).sum() == 1


def test_the_dearer_of_two_cells_that_would_do_stays_published() -> None:
    grid = one_way(3, 40, 20)
    assert complete_suppression(grid, cells(grid, 0)).tolist() == [True, False, True, False]
    assert complete_suppression(replace(grid, cost=np.array([1, 1, 9, 9])), cells(grid, 0)).tolist() == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.requirement("Y18")
def test_the_stricter_version_hides_all_that_the_other_one_hides() -> None:
    rng = np.random.default_rng(7)
    grid = crossed([FLAT[5], FLAT[5]], rng.poisson(9, (5, 5)))
    internal = complete_suppression(grid, below(grid, 5))
    government = complete_suppression(grid, below(grid, 10), internal)
    assert (government >= internal).all()
    assert not recoverable(grid, government)[below(grid, 10)].any()
    assert not recoverable(grid, internal & government)[below(grid, 5)].any()


@pytest.mark.requirement("Y21")
def test_a_larger_cube_holds_against_dense_elimination_with_a_third_prime() -> None:
    rng = np.random.default_rng(11)
    shape = (9, 8, 7)
    trees = [{size: list(range(size))} for size in shape]
    grid = crossed(trees, rng.poisson(rng.gamma(2.0, 6.0, shape)))
    primary = below(grid, 5)
    before, hidden = dense_recoverable(grid, primary), complete_suppression(grid, primary)
    assert recoverable(grid, primary).tolist() == before.tolist()
    assert before[primary].any()
    assert not (dense_recoverable(grid, hidden) & primary).any()


def dense_recoverable(grid: Grid, hidden: Flags, prime: int = 998_244_353) -> Flags:
    """Gauss-Jordan on the whole table at once."""
    unknown = np.flatnonzero(hidden)
    place = {int(cell): column for column, cell in enumerate(unknown)}
    table = np.zeros((len(grid.totals), len(unknown)), np.int64)
    for row, line in enumerate(equations(grid)):
        for cell in line.keys() & place.keys():
            table[row, place[cell]] = line[cell] % prime
    rank = 0
    for column in range(len(unknown)):
        below_rank = np.flatnonzero(table[rank:, column])
        if not len(below_rank):
            continue
        table[[rank, rank + below_rank[0]]] = table[[rank + below_rank[0], rank]]
        table[rank] = table[rank] * pow(int(table[rank, column]), -1, prime) % prime
        others = np.flatnonzero(table[:, column])
        others = others[others != rank]
        table[others] = (table[others] - table[others, column][:, None] * table[rank]) % prime
        rank += 1
    alone = table[:rank][(table[:rank] != 0).sum(axis=1) == 1]
    return cells(grid, *unknown[(alone != 0).argmax(axis=1)])
