"""Individual, household and global risk from their definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from celosia.risk.frequencies import Frequencies
from celosia.risk.individual import global_risk, high_risk_limit, household_risk, individual_risk, violations


def risk(sample: float, population: float) -> float:
    """The risk of a single key."""
    return float(individual_risk(Frequencies(np.array([float(sample)]), np.array([float(population)])))[0])


def expectation(sample: float, population: float) -> float:
    """E(1/F | f) for the negative binomial, by numeric integration."""
    beyond = population / sample - 1
    far = math.log(beyond + 2)

    def integrand(x: float) -> float:
        return math.exp(-sample * x) / (1 + beyond * math.exp(-x))

    parts = (quad(integrand, low, high, epsabs=0, epsrel=1e-12)[0] for low, high in ((0, far), (far, far + 60)))
    return sum(parts)


@given(st.floats(1, 2), st.floats(1e-6, 1e5))
def test_up_to_two_the_risk_is_the_expectation_of_one_over_f(sample, beyond) -> None:
    population = sample * (1 + beyond)
    assert risk(sample, population) == pytest.approx(expectation(sample, population), rel=1e-6)


@given(st.floats(1.0001, 1.9999), st.floats(1.5, 1e4))
def test_between_one_and_two_the_risk_lies_between_both_closed_forms(sample, weight) -> None:
    assert risk(2, 2 * weight) < risk(sample, sample * weight) < risk(1, weight)


@given(st.floats(1, 50), st.floats(1, 1e6))
def test_a_risk_is_a_share_and_never_above_that_of_the_sample_alone(sample, weight) -> None:
    found = risk(sample, sample * weight)
    assert 0 < found <= 1 / sample + 1e-12


@pytest.mark.parametrize("sample", [1, 1.5, 2, 3, 17])
def test_weights_of_one_say_that_the_sample_is_the_population(sample) -> None:
    assert risk(sample, sample) == 1 / sample
    assert risk(sample, sample * 0.9) == 1 / sample
    assert risk(sample, sample * (1 + 1e-9)) == pytest.approx(1 / sample, rel=1e-6)


def test_rounding_of_alpha_does_not_change_the_formula() -> None:
    assert risk(2 + 4e-16, 80) == risk(2, 80)


def test_the_household_is_found_when_one_of_it_is() -> None:
    found = household_risk(np.array([0.5, 0.5, 0.1, 1.0]), np.array([0, 0, 1, 2]))
    assert found == pytest.approx([0.75, 0.1, 1.0])


def test_members_of_one_key_count_each() -> None:
    assert household_risk(np.array([0.1, 1.0]), np.array([0, 0]), np.array([3, 0])) == pytest.approx([1 - 0.9**3])


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 5)), min_size=1, max_size=20))
def test_the_limit_of_high_risk_is_that_of_the_rows(pairs) -> None:
    values, rows = np.array([p for p, _ in pairs]), np.array([r for _, r in pairs])
    each = np.repeat(values, rows)
    middle = np.median(each)
    assert high_risk_limit(values, rows) == pytest.approx(middle + 3 * 1.4826 * np.median(np.abs(each - middle)))
    whole = global_risk(values, rows)
    assert whole.expected == pytest.approx(each.sum())
    assert whole.rate == pytest.approx(each.mean())
    assert whole.high_rows == (each > max(high_risk_limit(values, rows), 0.1)).sum()


def test_violations_count_rows_below_k() -> None:
    found = Frequencies(np.array([1.0, 1.5, 2.0, 4.0, 5.0]), np.ones(5))
    assert violations(found, np.array([1, 1, 2, 4, 5])) == {2: 2, 3: 4, 5: 8}


def test_nobody_has_no_risk() -> None:
    nobody = global_risk(np.zeros(0))
    assert (nobody.expected, nobody.rate, nobody.high_rows) == (0.0, None, 0)
    assert len(household_risk(np.zeros(0), np.zeros(0, np.int64))) == 0
