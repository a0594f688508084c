"""Masking of sensitive values: the norm's own example, and the criterion as an independent referee."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.techniques import apply_to_frame
from celosia.techniques.errors import SensitiveIsQuasi
from tests.techniques.small_tables import table_of, tables


def masked(table, **settings):
    return apply_to_frame(table, {"technique": "mask_sensitive", **settings}, b"")


@pytest.mark.requirement("M15")
def test_a_class_of_three_rows_all_b20_becomes_three_asterisks_and_the_count_is_reported():
    table = table_of(sexo=["H", "H", "M", "H", "M"], diag=["B20", "B20", "I10", "B20", "J45"])
    done = masked(table, columns=["sexo"], sensitive=["diag"])
    assert done.table.column("diag").to_pylist() == ["*", "*", "I10", "*", "J45"]
    assert done.change.cells_touched == {"diag": 3}
    assert done.change.notes == {"classes": 2, "classes_masked": {"diag": 1}, "values_masked": {"diag": 3}}


def test_missing_counts_as_one_value_unless_told_otherwise():
    table = table_of(sexo=["H", "H"], diag=["B20", ""])
    assert masked(table, columns=["sexo"], sensitive=["diag"]).table.column("diag").to_pylist() == ["B20", ""]
    told = masked(table, columns=["sexo"], sensitive=["diag"], empty_is_value=False)
    assert told.table.column("diag").to_pylist() == ["*", "*"]


def test_masked_values_are_no_values_and_a_class_that_shows_nothing_is_safe():
    table = table_of(sexo=["H", "H", "M", "M"], diag=["*", "B20", "**", "*"])
    done = masked(table, columns=["sexo"], sensitive=["diag"])
    assert done.table.column("diag").to_pylist() == ["*", "*", "**", "*"]
    assert done.change.notes["classes_masked"] == {"diag": 1}


def test_each_sensitive_column_is_judged_by_itself_or_all_together():
    table = table_of(sexo=["H", "H"], diag=["I10", "I11"], capitulo=["IX", "IX"])
    alone = masked(table, columns=["sexo"], sensitive=["diag", "capitulo"])
    assert alone.table.column("diag").to_pylist() == ["I10", "I11"]
    assert alone.table.column("capitulo").to_pylist() == ["*", "*"]
    both = masked(table, columns=["sexo"], sensitive=["diag", "capitulo"], together=True)
    assert both.table.column("diag").to_pylist() == ["*", "*"]


def test_a_column_is_not_both_sensitive_and_quasi():
    with pytest.raises(SensitiveIsQuasi):
        masked(table_of(a=["1"]), columns=["a"], sensitive=["a"])


@given(tables(("q", "r", "s")), st.integers(2, 3), st.booleans())
def test_afterwards_every_class_shows_l_values_or_none_and_only_poor_classes_lost_theirs(table, least, empty):
    done = masked(table, columns=["q", "r"], sensitive=["s"], l=least, empty_is_value=empty)
    before, after = defaultdict(list), defaultdict(list)
    for q, r, old, new in zip(*(c.to_pylist() for c in (*table.columns, done.table.column("s"))), strict=True):
        before[q, r].append(old)
        after[q, r].append(new)
    for key, new in after.items():
        old = before[key]
        shown = {value for value in old if value.strip("*") or value == ""}
        counted = {value for value in shown if value or empty}
        poor = bool(shown) and len(counted) < least
        assert new == (["*"] * len(old) if poor else old)
    assert done.table.select(["q", "r"]).equals(table.select(["q", "r"]))


@given(tables(("q", "s")))
def test_masking_twice_changes_nothing_more(table):
    once = masked(table, columns=["q"], sensitive=["s"])
    twice = masked(once.table, columns=["q"], sensitive=["s"])
    assert twice.table.equals(once.table)


@given(tables(("q", "s"), least=1), st.integers(2, 3))
def test_the_criterion_of_the_search_agrees_that_every_class_passes(table, least):
    import numpy as np

    from celosia.risk.criteria import DistinctL
    from celosia.solver.published import ClassCounter
    from celosia.techniques._columns import encode_values
    from celosia.tuples.table import Tuples, group_codes, project

    done = masked(table, columns=["q"], sensitive=["s"], l=least).table
    columns = [done.column(name).combine_chunks() for name in ("q", "s")]
    codes = np.stack([encode_values(column)[0] for column in columns], axis=1).astype(np.int32)
    vocabularies = tuple(tuple(sorted(set(column.to_pylist()))) for column in columns)
    first, label = group_codes(codes, [len(v) for v in vocabularies])
    both = Tuples(("q", "s"), vocabularies, codes[first], np.bincount(label).astype(np.int64))
    quasi = project(both, ["q"])[0]
    classes = ClassCounter(quasi, {"s": both}).classes(np.arange(len(quasi.rows)), len(quasi.rows))
    assert DistinctL(variable="s", l=least, unit="rows").judge(classes).all()
