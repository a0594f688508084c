"""fk and Fk equal the definition, row against row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.risk import frequencies as product
from celosia.risk.frequencies import frequencies, row_frequencies
from tests.risk import slow_frequencies
from tests.risk.rows import tuples_of

TABLES = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(st.tuples(*[st.sampled_from(["", "", "a", "b", "c"])] * width), st.integers(1, 900)),
        min_size=1,
        max_size=25,
    )
)
ALPHAS = st.sampled_from([None, 0.0, 0.3, 0.5, 1.0])


def coded(rows: list[tuple[str, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Codes and missing positions of rows."""
    codes = np.array([["abc".find(cell) if cell else 3 for cell in row] for row in rows], np.int64)
    return codes, np.array([[not cell for cell in row] for row in rows], bool)


@given(TABLES, ALPHAS)
def test_frequencies_equal_the_comparison_of_all_pairs_of_rows(table, alpha) -> None:
    rows, weights = [row for row, _ in table], [weight / 7 for _, weight in table]
    expected = np.array(slow_frequencies.frequencies(rows, weights, alpha))
    codes, empty = coded(rows)
    gaps = None if alpha is None else empty
    found = row_frequencies(codes, np.array(weights), gaps, 0.0 if alpha is None else alpha)
    assert found.sample == pytest.approx(expected[:, 0], abs=1e-9)
    assert found.population == pytest.approx(expected[:, 1], rel=1e-12)


@given(TABLES, ALPHAS)
def test_tuples_and_rows_give_the_same_and_without_weights_both_are_equal(table, alpha) -> None:
    rows = [row for row, _ in table]
    tuples = tuples_of(rows, [f"q{i}" for i in range(len(rows[0]))])
    found = frequencies(tuples, None, alpha)
    expected = dict(zip(rows, slow_frequencies.frequencies(rows, [1.0] * len(rows), alpha), strict=True))
    texts = [tuple(v[c] for v, c in zip(tuples.vocabularies, codes, strict=True)) for codes in tuples.codes]
    assert found.sample == pytest.approx([expected[text][0] for text in texts], abs=1e-9)
    assert found.population is found.sample or np.array_equal(found.population, found.sample)


@given(TABLES)
def test_wide_domains_are_counted_by_sorting_and_give_the_same(table) -> None:
    rows = [row for row, _ in table]
    codes, empty = coded(rows)
    expected = row_frequencies(codes, None, empty, 0.5).sample
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(product, "_ADDRESSED", 0)
        spread = codes * 1_000_003  # the same keys in a domain too large to be addressed
        assert np.array_equal(row_frequencies(spread, None, empty, 0.5).sample, expected)


def test_a_row_without_keys_may_be_anybody() -> None:
    codes, empty = coded([("", ""), ("a", "b"), ("b", "c"), ("a", "")])
    assert row_frequencies(codes, None, empty, 0.0).sample.tolist() == [4, 1, 1, 2]


def test_a_missing_key_of_its_own_hides_nobody() -> None:
    codes, _ = coded([("", "a"), ("", "a"), ("b", "a")])
    assert row_frequencies(codes).sample.tolist() == [2, 2, 1]


def test_no_rows_have_no_frequencies() -> None:
    found = row_frequencies(np.zeros((0, 3), np.int64), np.zeros(0), np.zeros((0, 3), bool), 1.0)
    assert len(found.sample) == len(found.population) == 0
