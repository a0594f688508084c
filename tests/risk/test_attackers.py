"""Prosecutor, journalist and marketer on small tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.risk.attackers import journalist, marketer, prosecutor
from celosia.risk.population_levels import matched_sizes
from tests.risk.rows import tuples_of

SIZES = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 400)), min_size=1, max_size=12)


@pytest.mark.requirement("P22")
def test_the_prosecutor_finds_one_of_the_class() -> None:
    found = prosecutor(np.array([1, 3, 6]))
    assert found.highest == 1.0
    assert found.mean == pytest.approx(3 / 10)
    assert found.above[Fraction(1, 5)] == 0.4
    assert found.above[Fraction(1, 20)] == 1.0


def test_one_in_three_is_above_33_hundredths_and_one_in_eleven_above_9() -> None:
    assert prosecutor(np.array([3])).above[Fraction(33, 100)] == 1.0
    assert prosecutor(np.array([11])).above[Fraction(9, 100)] == 1.0
    assert prosecutor(np.array([12])).above[Fraction(9, 100)] == 0.0
    assert prosecutor(np.array([5])).above[Fraction(1, 5)] == 0.0


@given(SIZES)
def test_figures_equal_those_of_the_records_one_by_one(pairs) -> None:
    sizes, population = (np.array(part) for part in zip(*pairs, strict=True))
    records = [Fraction(1, max(f, p)) for f, p in pairs for _ in range(f)]
    found = journalist(sizes, population)
    assert found.highest == pytest.approx(float(max(records)))
    assert found.mean == marketer(sizes, population) == pytest.approx(float(sum(records)) / len(records))
    for limit, share in found.above.items():
        assert share == sum(risk > limit for risk in records) / len(records)
    assert found.short == sum(p < f for f, p in pairs)


@given(SIZES)
def test_a_population_never_raises_the_risk(pairs) -> None:
    sizes, population = (np.array(part) for part in zip(*pairs, strict=True))
    assert journalist(sizes, population).mean <= prosecutor(sizes).mean


def test_an_empty_file_exposes_nobody() -> None:
    nobody = prosecutor(np.zeros(0, np.int64))
    assert nobody.highest is nobody.mean is marketer(np.zeros(0, np.int64)) is None


def test_the_population_is_matched_by_text_whatever_the_order_of_columns() -> None:
    file = tuples_of([("a", "1"), ("b", "2"), ("b", "2")], ["x", "y"])
    people = tuples_of([("1", "a"), ("1", "a"), ("2", "b"), ("2", "z"), ("9", "a")], ["y", "x"])
    assert matched_sizes(file, people).tolist() == [2, 1]
