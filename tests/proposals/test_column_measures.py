"""Distinctness, separation, entropy and rare values of a column."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.proposals.facts import ColumnFacts, distinctness, entropy, rare_values, separation

CELLS = st.lists(st.sampled_from(["", "*", "a", "b", "c", "d"]), min_size=2, max_size=25)


@pytest.mark.requirement("A11")
def test_a_document_has_distinctness_one_and_sex_nearly_none() -> None:
    assert distinctness(ColumnFacts.of("documento", [str(i) for i in range(50)])) == 1.0
    assert distinctness(ColumnFacts.of("sexo", ["1", "2"] * 100)) == 0.01


@pytest.mark.requirement("A11")
@given(CELLS)
def test_separation_is_the_share_of_pairs_that_differ(cells: list[str]) -> None:
    pairs = list(combinations(cells, 2))
    assert separation(ColumnFacts.of("x", cells)) == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


@pytest.mark.requirement("A11")
@given(CELLS)
def test_entropy_is_shannons_in_bits(cells: list[str]) -> None:
    shares = [n / len(cells) for n in Counter(cells).values()]
    assert entropy(ColumnFacts.of("x", cells)) == pytest.approx(-sum(p * math.log2(p) for p in shares))


@pytest.mark.requirement("P19")
@given(CELLS, st.integers(1, 6))
def test_rare_values_are_those_with_few_rows_missing_and_masked_aside(cells: list[str], threshold: int) -> None:
    tally = Counter(c for c in cells if c not in ("", "*"))
    rare = sorted(v for v, n in tally.items() if n <= threshold)
    facts = ColumnFacts.of("x", cells)
    assert rare_values(facts, threshold) == len(rare)


def test_an_empty_column_has_all_measures_zero() -> None:
    nothing = ColumnFacts.of("x", [])
    assert (distinctness(nothing), separation(nothing), entropy(nothing), rare_values(nothing, 3)) == (0, 0, 0, 0)


def test_a_sample_of_a_key_measures_like_the_key() -> None:
    whole = ColumnFacts.of("id", [f"{i:05}" for i in range(1_000)])
    part = ColumnFacts("id", whole.values[::10], whole.counts[::10], 1_000, total_distinct=1_000)
    assert distinctness(part) == 1.0
    assert separation(part) == pytest.approx(1.0)
    assert entropy(part) == pytest.approx(entropy(whole))
    assert rare_values(part, 1) == 1_000


def test_values_out_of_order_are_our_own_fault() -> None:
    with pytest.raises(AssertionError):
        ColumnFacts("x", ["b", "a"], np.array([1, 1]), 2)
