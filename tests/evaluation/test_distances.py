"""Distances, associations and the propensity score: against SciPy, and at their ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from celosia.evaluation.association import association, association_matrix
from celosia.evaluation.distances import distances
from celosia.evaluation.propensity import _independent_columns, _merge_equal_rows, fitted_shares, propensity_score
from celosia.evaluation.sample import sample_of

letters = st.lists(st.sampled_from("abc*"), min_size=1, max_size=30)
values = st.lists(st.integers(-50, 50), min_size=2, max_size=60)


def numbers(cells) -> object:
    """A sample of one number."""
    return sample_of({"x": [repr(float(cell)) for cell in cells]}, {"x"})


@given(letters)
def test_identical_distributions_are_at_no_distance(cells: list[str]) -> None:
    found = distances(sample_of({"x": cells}), sample_of({"x": cells[::-1]}), "x")
    assert (found.total_variation, found.hellinger) == (0.0, 0.0)


@given(letters, letters)
def test_categories_are_between_nothing_and_everything_and_symmetric(a: list[str], b: list[str]) -> None:
    first, second = sample_of({"x": a}), sample_of({"x": b})
    one, other = distances(first, second, "x"), distances(second, first, "x")
    assert one == other
    assert 0 <= one.hellinger**2 <= one.total_variation + 1e-12 <= 1 + 1e-12


def test_nothing_in_common_is_at_distance_one() -> None:
    found = distances(sample_of({"x": list("aab")}), sample_of({"x": list("***")}), "x")
    assert (found.total_variation, found.hellinger) == (1.0, 1.0)


@given(values, values)
def test_ordered_distances_equal_those_of_scipy(a: list[int], b: list[int]) -> None:
    found = distances(numbers(a), numbers(b), "x")
    assert found.kolmogorov_smirnov == pytest.approx(stats.ks_2samp(a, b, method="asymp").statistic, abs=1e-12)
    span = max(a) - min(a)
    if span:
        assert found.earth_mover == pytest.approx(stats.wasserstein_distance(a, b) / span, abs=1e-12)


def test_the_unit_of_money_does_not_change_a_distance() -> None:
    a, b = [1, 5, 9, 30], [2, 5, 8, 31]
    cents = distances(numbers([100 * v for v in a]), numbers([100 * v for v in b]), "x")
    assert distances(numbers(a), numbers(b), "x").earth_mover == pytest.approx(cents.earth_mover)


def test_associations_equal_those_of_scipy_and_numpy() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=200), rng.normal(size=200)
    a, b = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    y = y + x + a
    texts = {"x": [repr(float(v)) for v in x], "y": [repr(float(v)) for v in y]}
    sample = sample_of(texts | {"a": list(a.astype(str)), "b": list(b.astype(str))}, {"x", "y"})
    table = [[int(((a == i) & (b == j)).sum()) for j in range(4)] for i in range(3)]
    expected_v = stats.contingency.association(np.array(table), method="cramer")
    assert association(sample, "x", "y") == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert association(sample, "a", "b") == pytest.approx(expected_v)
    means = np.array([y[a == i].mean() for i in a])
    assert association(sample, "a", "y") == pytest.approx(np.sqrt(means.var() / y.var()))


def test_a_constant_goes_with_nothing() -> None:
    sample = sample_of({"a": list("xyxy"), "b": list("zzzz"), "n": ["1", "1", "1", "1"]}, {"n"})
    assert association_matrix(sample, ("a", "b", "n")).values[1] == (None, 1.0, None)


def test_the_logistic_fit_is_where_its_gradient_vanishes() -> None:
    rng = np.random.default_rng(1)
    design = np.concatenate([np.ones((300, 1)), rng.normal(size=(300, 3))], axis=1)
    outcome = (rng.random(300) < 1 / (1 + np.exp(-design @ np.array([0.2, 1.0, -0.5, 0.0])))).astype(float)
    guesses = fitted_shares(design, outcome, np.ones(300))
    assert np.abs(design.T @ (outcome - guesses)).max() < 1e-4


@given(values)
def test_identical_files_cannot_be_told_apart(cells: list[int]) -> None:
    sample = sample_of({"x": [str(c) for c in cells], "g": [str(c % 2) for c in cells]}, {"x"})
    assert propensity_score(sample, sample, ("x", "g")).pmse == pytest.approx(0, abs=1e-18)


def test_two_draws_of_one_process_are_as_far_apart_as_chance_and_a_masked_file_is_farther() -> None:
    rng = np.random.default_rng(8)
    ratios = []
    for _ in range(20):
        first, second = (
            sample_of(
                {"x": [repr(float(v)) for v in rng.normal(size=400)], "g": rng.integers(0, 4, 400).astype(str)}, {"x"}
            )
            for _ in range(2)
        )
        ratios.append(propensity_score(first, second, ("x", "g")).ratio)
    assert 1.4 < np.mean(ratios) < 2.6  # 1 ÷ (1 - c) for two samples of equal size drawn apart
    masked = sample_of({"x": ["*"] * 400, "g": ["*"] * 400}, {"x"})
    assert propensity_score(first, masked, ("x", "g")).pmse == pytest.approx(0.25, abs=1e-3)


def test_the_order_of_the_rows_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    x, g = rng.normal(size=50), rng.integers(0, 3, 50).astype(str)
    other = sample_of({"x": [repr(float(v)) for v in rng.normal(size=50)], "g": list(g)}, {"x"})
    order = rng.permutation(50)
    one = sample_of({"x": [repr(float(v)) for v in x], "g": list(g)}, {"x"})
    two = sample_of({"x": [repr(float(v)) for v in x[order]], "g": list(g[order])}, {"x"})
    assert propensity_score(one, other, ("x", "g")) == propensity_score(two, other, ("x", "g"))
    assert distances(one, other, "x") == distances(two, other, "x")


def test_columns_that_others_already_say_are_left_out_of_the_propensity_model() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.standard_normal((2, 500))
    flag = (a > 0).astype(float)
    design = np.stack([np.ones(500), flag, 1 - flag, a, b, 2 * a - 3 * b, np.zeros(500), b + 1e-3 * a**2], axis=1)
    kept = _independent_columns(design)
    assert np.array_equal(kept, design[:, [0, 1, 3, 4, 7]])
    assert np.linalg.matrix_rank(kept) == kept.shape[1] == np.linalg.matrix_rank(design)


def test_rows_that_say_the_same_are_put_together_and_the_fit_is_the_same() -> None:
    rng = np.random.default_rng(11)
    groups, ages = rng.integers(0, 3, 600), rng.integers(0, 5, 600) / 4
    design = np.stack([np.ones(600), groups == 1, groups == 2, ages], axis=1).astype(float)
    released, rows = rng.integers(0, 2, 600).astype(float), rng.integers(1, 9, 600).astype(float)
    alike, outcome, together = _merge_equal_rows(design, released, rows)
    assert len(alike) == 30 == len(np.unique(np.column_stack([alike, outcome]), axis=0))
    assert together.sum() == rows.sum()
    whole = dict(zip(map(bytes, design), fitted_shares(design, released, rows), strict=True))
    assert fitted_shares(alike, outcome, together) == pytest.approx([whole[bytes(line)] for line in alike], rel=1e-10)
