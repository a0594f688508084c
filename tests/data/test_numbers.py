"""Numbers and text: what is read back is what was written."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from celosia.data.numbers import number_column, number_texts

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE), st.sampled_from([".", ","]))
def test_a_written_number_reads_back_the_same_and_shows_no_exponent(values, mark):
    texts = number_texts(np.array(values, float), decimal=mark)
    assert all("e" not in text for text in texts.to_pylist())
    back = number_column(texts, mark)
    assert back.plain.all()
    assert back.values.tolist() == [value + 0.0 for value in values]


@given(st.lists(st.floats(-1e9, 1e9)), st.integers(0, 6))
def test_rounding_keeps_that_many_decimals(values, decimals):
    for text in number_texts(np.array(values, float), decimals).to_pylist():
        assert len(text.partition(".")[2]) <= decimals


def test_whole_numbers_have_no_point_and_zero_no_sign():
    assert number_texts(np.array([3.0, -0.0, 2.0**53, 1e22, 1e-7, -2.5])).to_pylist() == [
        "3", "0", "9007199254740992", "10000000000000000000000", "0.0000001", "-2.5",
    ]  # fmt: skip


def test_each_kind_of_cell_is_told_apart():
    cells = pa.array(["1,5", "", "**", "999", "x", " 7 ", "+3", "1e3", "inf"], pa.large_string())
    found = number_column(cells, ",", ["999"])
    assert found.plain.tolist() == [True, False, False, False, False, True, True, True, False]
    assert found.unreadable == 2
    assert [None if math.isnan(v) else v for v in found.values] == [1.5, None, None, None, None, 7, 3, 1000, None]
