"""Chance is an argument: known numbers for a known seed, the same everywhere and for ever."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.techniques import Draws

SEEDS = st.binary(max_size=40)
GOLDEN_RAW = [
    6_617_604_553_914_184_190,
    4_132_382_681_029_685_764,
    570_973_166_481_987_201,
    17_663_497_049_934_439_039,
]
GOLDEN_SECOND_STEP = [
    1_402_140_187_890_950_780,
    3_415_211_298_391_125_938,
]
GOLDEN_NORMAL = [
    -0.36182591718846147,
    -0.7586970064938652,
    -1.8669753176473134,
    1.7228270117691493,
]


def test_a_seed_gives_the_numbers_written_down_here() -> None:
    assert Draws(b"celosia", "1").raw(4).tolist() == GOLDEN_RAW


def test_another_step_of_the_same_seed_gives_the_numbers_written_down_here() -> None:
    assert Draws(b"celosia", "2").raw(2).tolist() == GOLDEN_SECOND_STEP


def test_uniform_numbers_are_the_upper_53_bits() -> None:
    expected = [(number >> 11) / 2**53 for number in GOLDEN_RAW]
    assert Draws(b"celosia", "1").uniform(4).tolist() == expected


def test_normal_numbers_are_the_ones_written_down_here() -> None:
    assert Draws(b"celosia", "1").normal(4) == pytest.approx(GOLDEN_NORMAL, rel=1e-14)


@given(SEEDS, st.integers(0, 200), st.integers(0, 200))
def test_numbers_come_one_after_the_other_however_they_are_asked_for(seed: bytes, first: int, second: int) -> None:
    draws = Draws(seed)
    pieces = np.concatenate([draws.raw(first), draws.raw(second)])
    assert pieces.tolist() == Draws(seed).raw(first + second).tolist()


@given(SEEDS, st.integers(0, 300))
def test_uniform_numbers_lie_from_zero_to_below_one(seed: bytes, count: int) -> None:
    found = Draws(seed).uniform(count)
    assert len(found) == count
    assert ((found >= 0) & (found < 1)).all()


@given(SEEDS, st.integers(0, 300))
def test_normal_numbers_are_finite(seed: bytes, count: int) -> None:
    assert np.isfinite(Draws(seed).normal(count)).all()


def test_the_smallest_and_largest_number_have_a_finite_normal() -> None:
    class Extreme(Draws):
        def raw(self, count: int) -> np.ndarray:
            return np.array([0, 2**64 - 1], np.uint64)

    found = Extreme(b"").normal(2)
    assert np.isfinite(found).all()
    assert found[0] == -found[1] < -8


@given(SEEDS, st.integers(0, 300))
def test_a_permutation_is_one(seed: bytes, count: int) -> None:
    assert sorted(Draws(seed).permutation(count).tolist()) == list(range(count))


@given(SEEDS, st.integers(1, 1000))
def test_whole_numbers_stay_below_their_limit(seed: bytes, limit: int) -> None:
    found = Draws(seed).below(limit, 50)
    assert ((found >= 0) & (found < limit)).all()


@given(SEEDS, st.text(max_size=5), st.text(max_size=5))
def test_parts_of_a_step_have_streams_of_their_own(seed: bytes, one: str, other: str) -> None:
    draws = Draws(seed)
    first, second = draws.split(one).raw(4).tolist(), draws.split(other).raw(4).tolist()
    assert (first == second) == (one == other)
    assert first != Draws(seed).raw(4).tolist()


def test_a_split_does_not_move_the_stream_it_comes_from() -> None:
    draws = Draws(b"celosia", "1")
    draws.split("a").raw(10)
    assert draws.raw(4).tolist() == GOLDEN_RAW
