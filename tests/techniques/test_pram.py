"""Post-randomisation keeps frequencies in expectation, and draws with the probabilities it says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.errors import RepeatedVariable
from celosia.model.value_errors import WrongParameter
from celosia.techniques.errors import MatrixIncomplete
from celosia.techniques.pram import through_matrix, through_two_stages
from tests.techniques.trials import cells, keeps_to_its_seed, table, treated

COUNTS = st.lists(st.integers(1, 500), min_size=1, max_size=8)
STAYS = st.floats(0.05, 0.95)
SCHOOLS = table(
    level=["basic"] * 12 + ["middle"] * 8 + ["higher"] * 3 + ["", "*"],
    zone=(["a", "b"] * 13)[:25],
)
MATRIX = {
    "basic": {"basic": 0.9, "middle": 0.1},
    "middle": {"basic": 0.2, "middle": 0.7, "higher": 0.1},
    "higher": {"higher": 0.6, "middle": 0.4},
}


def invariant_matrix(counts: np.ndarray, stay: float) -> np.ndarray:
    """R = P·Q for the categories of one stratum, spelt out; the cells are drawn without it."""
    many = len(counts)
    if many < 2:
        return np.ones((many, many))
    share = counts / counts.sum()
    first = np.full((many, many), (1 - stay) / (many - 1))
    np.fill_diagonal(first, stay)
    reverse = (share[:, None] * first).T
    reverse /= reverse.sum(axis=1, keepdims=True)
    return np.asarray((first[:, :, None] * reverse[None, :, :]).sum(axis=1))


@given(COUNTS, STAYS)
def test_the_invariant_matrix_keeps_the_frequencies(counts: list[int], stay: float) -> None:
    matrix = invariant_matrix(np.array(counts), stay)
    share = np.array(counts) / sum(counts)
    assert np.abs(share @ matrix - share).max() < 1e-12
    assert np.abs(matrix.sum(axis=1) - 1).max() < 1e-12
    assert (matrix >= 0).all()


@pytest.mark.parametrize("counts", [[7], [3, 3], [9, 1], [1, 5, 2], [8, 6, 4, 1, 1]])
@pytest.mark.parametrize("stay", [0.2, 0.8])
def test_cells_are_drawn_with_the_probabilities_of_the_matrix(counts: list[int], stay: float) -> None:
    """Every category meets every pair of draws of a fine grid, so that nothing is left to chance."""
    side = 150
    middle = (np.arange(side) + 0.5) / side
    grid = [part.reshape(-1) for part in np.meshgrid(middle, middle)]
    codes = np.repeat(np.arange(len(counts)), np.array(counts) * side**2)
    first, second = (np.tile(part, sum(counts)) for part in grid)
    change = through_two_stages(codes, np.zeros(len(codes), np.int64), len(counts), stay, (first, second))
    matrix = invariant_matrix(np.array(counts), stay)
    for code in range(len(counts)):
        found = np.bincount(change.codes[codes == code], minlength=len(counts)) / (counts[code] * side**2)
        assert np.abs(found - matrix[code]).max() < 2 / side
    share = np.array(counts) / sum(counts)
    assert change.diagonal == pytest.approx(np.diag(matrix).min())
    assert change.expected == pytest.approx(1 - share @ np.diag(matrix), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30), STAYS, st.integers(0, 2**32))
def test_strata_are_drawn_as_if_each_were_a_table(lines: list[tuple[int, int]], stay: float, seed: int) -> None:
    strata, codes = (np.array(column, np.int64) for column in zip(*lines, strict=True))
    chance = np.random.default_rng(seed).random((2, len(codes)))
    whole = through_two_stages(codes, strata, 4, stay, (chance[0], chance[1]))
    diagonals = []
    for stratum in range(3):
        own = strata == stratum
        alone = through_two_stages(codes[own], strata[own], 4, stay, (chance[0][own], chance[1][own]))
        assert whole.codes[own].tolist() == alone.codes.tolist()
        assert set(alone.codes.tolist()) <= set(codes[own].tolist())
        diagonals.append(alone.diagonal)
    assert whole.diagonal == pytest.approx(min(diagonals))


def test_the_largest_and_smallest_draws_stay_inside_the_categories() -> None:
    codes = np.array([0, 0, 0, 1, 2, 2])
    for extreme in (0.0, 1 - 2.0**-53):
        chance = np.full(6, extreme)
        change = through_two_stages(codes, np.zeros(6, np.int64), 3, 0.3, (chance, chance))
        assert set(change.codes.tolist()) <= {0, 1, 2}


def test_a_given_matrix_is_drawn_with_its_probabilities() -> None:
    side = 1000
    table_of = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.0, 0.0, 1.0]])
    codes = np.repeat([0, 1, 2], side)
    change = through_matrix(codes, table_of, np.tile((np.arange(side) + 0.5) / side, 3))
    for code in range(3):
        found = np.bincount(change.codes[codes == code], minlength=3) / side
        assert np.abs(found - table_of[code]).max() <= 1 / side
    assert change.expected == pytest.approx(0.2)
    assert change.diagonal == 0.5
    assert change.drift == pytest.approx(0.4 / 3)


def test_the_report_gives_the_expected_and_the_realised_share() -> None:
    told = treated(SCHOOLS, "pram", columns=["level"], stay="0.5").change.notes["pram"]["level"]
    matrix = invariant_matrix(np.array([12, 3, 8]), 0.5)
    assert told["cells"] == 23
    assert told["share_changed"] == told["changed"] / 23 > 0
    assert told["smallest_diagonal"] == pytest.approx(np.diag(matrix).min())
    assert told["share_expected"] == pytest.approx(1 - np.array([12, 3, 8]) / 23 @ np.diag(matrix))


def test_missing_and_masked_cells_stay_unless_they_are_listed() -> None:
    before = table(v=["a", "b", "", "*", "99"] * 30, id=[str(i) for i in range(150)])
    for kept, more in ((("", "*", "99"), {}), (("*",), {"include": ["", "99"]})):
        after = treated(before, "pram", columns=["v"], unknown=["99"], stay="0.1", **more)
        moved = {old for old, new in zip(cells(before, "v"), cells(after, "v"), strict=True) if old != new}
        assert moved == {"a", "b", "", "*", "99"} - set(kept)


@pytest.mark.parametrize("settings", [{"stay": "0.5"}, {"matrix": MATRIX}, {"stay": "0.5", "strata": ["zone"]}])
def test_the_seed_decides_and_the_order_of_the_rows_does_not(settings: dict[str, Any]) -> None:
    assert keeps_to_its_seed(SCHOOLS, "pram", columns=["level"], **settings)


@pytest.mark.parametrize("column", [[], ["a"], ["", ""], ["a", "a"]])
def test_no_rows_one_row_only_missing_cells_and_one_category_are_accepted(column: list[str]) -> None:
    after = treated(table(v=column), "pram", columns=["v"])
    assert cells(after, "v") == column
    assert after.change.notes["pram"]["v"]["smallest_diagonal"] == 1
    assert cells(treated(table(v=column), "pram", columns=["v"], matrix={"a": {"a": 1}}), "v") == column


def test_a_matrix_that_misses_categories_is_refused_with_their_count() -> None:
    short = {"basic": {"basic": 1}}
    with pytest.raises(MatrixIncomplete) as caught:
        treated(SCHOOLS, "pram", columns=["level"], matrix=short)
    assert (caught.value.values["categories"], caught.value.values["rows"]) == (2, 11)
    assert "middle" not in str(caught.value)


@pytest.mark.parametrize(
    "matrix",
    [
        {"basic": {"basic": 0.5, "middle": 0.4}, "middle": {"middle": 1}},
        {"basic": {"basic": 1.5, "middle": -0.5}, "middle": {"middle": 1}},
        {"basic": {"basic": "x"}},
        {"basic": {"basic": True}},
        {"basic": {"basic": "NaN"}},
        {"basic": {"elsewhere": 1}},
        {"basic": 1},
        [{"basic": 1}],
        {},
    ],
)
def test_a_matrix_that_is_none_is_refused(matrix: Any) -> None:
    with pytest.raises(WrongParameter):
        treated(SCHOOLS, "pram", columns=["level"], matrix=matrix)


@pytest.mark.parametrize("settings", [{"stay": 0}, {"stay": 1}, {"stay": "0.5", "matrix": MATRIX}, {"columns": []}])
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        treated(SCHOOLS, "pram", **{"columns": ["level"], **settings})


def test_a_column_cannot_be_its_own_stratum() -> None:
    with pytest.raises(RepeatedVariable):
        treated(SCHOOLS, "pram", columns=["level"], strata=["level"])
