"""Random rounding: near, unbiased, and always alike for the same cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import ValueOutOfRange
from celosia.tables.rounding import round_randomly

KEY = bytes(range(32))
COUNTS = st.lists(st.integers(0, 10**12), min_size=1, max_size=30)


def names(count: int) -> list[str]:
    return [f"cell {number}" for number in range(count)]


@pytest.mark.requirement("Y21")
@given(COUNTS, st.integers(2, 1000), st.binary(min_size=16, max_size=40))
def test_a_rounded_count_is_a_multiple_of_the_base_less_than_one_base_away(
    counts: list[int], base: int, key: bytes
) -> None:
    values = np.array(counts)
    rounded = round_randomly(values, base, key, names(len(counts)))
    assert (rounded % base == 0).all()
    assert (np.abs(rounded - values) < base).all()
    assert (rounded >= 0).all()


@given(COUNTS, st.integers(2, 20), st.randoms(use_true_random=False))
def test_a_cell_is_rounded_alike_wherever_it_stands(counts: list[int], base: int, random: object) -> None:
    cells = names(len(counts))
    together = round_randomly(np.array(counts), base, KEY, cells)
    order = list(range(len(counts)))[::-1]
    apart = round_randomly(np.array(counts)[order], base, KEY, [cells[at] for at in order])
    assert together[order].tolist() == apart.tolist()


def test_multiples_of_the_base_stay() -> None:
    assert round_randomly(np.array([0, 5, 10, 1000]), 5, KEY, names(4)).tolist() == [0, 5, 10, 1000]


@pytest.mark.parametrize("value", [1, 2, 3, 4, 7, 23])
def test_the_mean_over_many_cells_is_the_true_value(value: int) -> None:
    trials = 20_000
    rounded = round_randomly(np.full(trials, value), 5, KEY, names(trials))
    rest = value % 5
    deviation = 5 * np.sqrt(rest / 5 * (1 - rest / 5) / trials)
    assert abs(rounded.mean() - value) < 4.5 * deviation


def test_another_key_or_another_value_is_another_draw() -> None:
    cells = names(400)
    first = round_randomly(np.full(400, 12), 5, KEY, cells)
    other_key = round_randomly(np.full(400, 12), 5, KEY[::-1], cells)
    other_value = round_randomly(np.full(400, 17), 5, KEY, cells) - 5
    assert 0 < (first != other_key).sum() < 400
    assert 0 < (first != other_value).sum() < 400


def test_margins_are_rounded_on_their_own() -> None:
    inner = round_randomly(np.full(50, 3), 5, KEY, names(50))
    margin = round_randomly(np.array([150 + 1]), 5, KEY, ["total"])
    assert margin[0] in (150, 155)
    assert inner.sum() != margin[0]


@pytest.mark.parametrize(("base", "key"), [(1, KEY), (0, KEY), (5, b"short")])
def test_a_base_that_rounds_nothing_and_a_short_key_are_refused(base: int, key: bytes) -> None:
    with pytest.raises(ValueOutOfRange):
        round_randomly(np.array([3]), base, key, ["cell"])
