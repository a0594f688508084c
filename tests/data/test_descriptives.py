"""Descriptives from distinct values and their counts, against plain Python."""

from __future__ import annotations

import statistics

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.data import descriptives
from celosia.data.table import Frequencies


def frequencies_of(cells: list[str]) -> Frequencies:
    values = sorted(set(cells), key=lambda text: text.encode())
    return Frequencies(pa.array(values, pa.large_string()), np.array([cells.count(v) for v in values], np.int64))


numbers = st.lists(st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3)), min_size=2, max_size=40)


@pytest.mark.requirement("A07")
@given(numbers)
def test_totals_means_and_quantiles_equal_the_standard_library(values):
    found = descriptives.summarise_numbers(frequencies_of([repr(v) for v in values]), ".", ())
    assert found is not None
    assert found.total == pytest.approx(sum(values), rel=1e-9, abs=1e-9)
    assert found.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-9)
    assert found.variance == pytest.approx(statistics.variance(values), rel=1e-9, abs=1e-9)
    for p, quantile in found.quantiles.items():
        assert quantile == pytest.approx(float(np.quantile(values, float(p))), rel=1e-9, abs=1e-9)


@pytest.mark.requirement("A07")
def test_missing_masked_unknown_and_text_are_counted_apart_from_numbers():
    cells = ["1", "2", "", "", "*", "99", "dos"]
    found = descriptives.summarise_numbers(frequencies_of(cells), ".", ("99",))
    assert (found.count, found.total, found.not_numeric) == (2, 3.0, 1)
    assert descriptives.missing_rows(frequencies_of(cells)) == 2
    assert descriptives.masked_rows(frequencies_of(cells)) == 1
    assert descriptives.unknown_rows(frequencies_of(cells), ("99",)) == 1


def test_a_decimal_comma_is_read_when_declared():
    assert descriptives.summarise_numbers(frequencies_of(["1,5", "2,5"]), ",", ()).mean == 2.0


def test_a_column_without_numbers_has_no_summary_and_one_number_no_variance():
    assert descriptives.summarise_numbers(frequencies_of(["a", ""]), ".", ()) is None
    assert descriptives.summarise_numbers(frequencies_of(["7"]), ".", ()).variance is None


@pytest.mark.requirement("A08")
@given(st.lists(st.sampled_from(["a", "b", "", "*", "c"]), min_size=1, max_size=50))
def test_relative_frequencies_and_the_missing_share_sum_to_one(cells):
    frequencies = frequencies_of(cells)
    listed = descriptives.categories(frequencies, len(cells), at_most=10)
    assert "" not in [category.value for category in listed]
    missing = descriptives.missing_rows(frequencies) / len(cells)
    assert sum(category.share for category in listed) + missing == pytest.approx(1.0)


@given(st.lists(st.sampled_from(["a", "b", "", "*", "c"]), min_size=1, max_size=50), st.integers(0, 10))
def test_a_category_that_few_rows_hold_is_never_listed(cells, few):
    listed = descriptives.categories(frequencies_of(cells), len(cells), at_most=10, above=few)
    assert {c.value: c.rows for c in listed} == {v: cells.count(v) for v in set(cells) - {""} if cells.count(v) > few}


@pytest.mark.requirement("P19")
def test_rare_values_are_those_held_by_few_rows_and_never_missing_or_masked():
    rare = descriptives.rare_values(frequencies_of(["a"] * 5 + ["b"] * 2 + ["c", "", "*"]), 2)
    assert (rare.values, rare.rows) == (2, 3)
