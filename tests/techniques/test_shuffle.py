"""Shuffling: the same rows, in an order that owes nothing to the one they came in."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import spearmanr

from celosia.techniques import apply_to_frame
from tests.techniques.small_tables import rows_of, table_of, tables

STEP = {"technique": "shuffle"}


@given(tables(("a", "b")))
def test_the_rows_are_the_same(table):
    assert Counter(rows_of(apply_to_frame(table, STEP, b"x").table)) == Counter(rows_of(table))


@pytest.mark.requirement("M36")
def test_nothing_of_the_order_of_the_file_is_left():
    ids = [f"{i:05}" for i in range(5_000)]
    table = table_of(id=ids)
    backwards = table.take(np.arange(4_999, -1, -1))
    assert apply_to_frame(table, STEP, b"s").table.equals(apply_to_frame(backwards, STEP, b"s").table)
    after = [int(text) for text in apply_to_frame(table, STEP, b"s").table.column("id").to_pylist()]
    assert abs(spearmanr(range(5_000), after).statistic) < 0.06  # four standard deviations of chance


def test_another_seed_is_another_order_and_every_row_counts_as_touched():
    table = table_of(id=[str(i) for i in range(50)])
    one, other = (apply_to_frame(table, STEP, seed) for seed in (b"1", b"2"))
    assert not one.table.equals(other.table)
    assert one.change.rows_touched == 50


def test_all_orders_of_three_rows_are_about_as_likely():
    table = table_of(id=["a", "b", "c"])
    seen = Counter(
        tuple(apply_to_frame(table, STEP, str(seed).encode()).table.column("id").to_pylist()) for seed in range(600)
    )
    assert len(seen) == 6
    assert max(seen.values()) < 150  # expected 100, standard deviation 9
