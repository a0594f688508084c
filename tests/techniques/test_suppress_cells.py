"""Local cell suppression: judged on the published text, by hand and against the least possible."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import TooFewRows
from tests.techniques.small_tables import rows_of, table_of, tables

PEOPLE = table_of(
    sexo=["H", "H", "H", "M", "M", "M"],
    edad=["30", "30", "30", "30", "30", "41"],
    otra=["x", "y", "x", "y", "x", "y"],
)


def suppressed(table, **settings):
    return apply_to_frame(table, {"technique": "suppress_cells", **settings}, b"")


def test_no_published_combination_is_rarer_than_k_and_other_columns_are_left_alone():
    done = suppressed(PEOPLE, columns=["sexo", "edad"], k=3)
    counts = Counter(zip(*(done.table.column(n).to_pylist() for n in ("sexo", "edad")), strict=True))
    assert min(counts.values()) >= 3
    assert done.table.column("otra").equals(PEOPLE.column("otra"))
    assert done.table.column("edad").to_pylist() == ["30", "30", "30", "*", "*", "*"]
    assert done.change.notes["cells_by_column"] == {"sexo": 0, "edad": 3}
    assert done.change.cells_touched == {"sexo": 0, "edad": 3}


def test_a_masked_cell_is_a_value_of_its_own_and_never_fits_any_other():
    lone = table_of(a=["1", "1", "2"], b=["x", "x", "*"])  # (2, *) would match nothing either way: (*, *) neither
    done = suppressed(lone, columns=["a", "b"], k=2)
    assert min(Counter(rows_of(done.table)).values()) >= 2


def test_the_column_named_first_gives_way_first():
    table = table_of(a=["1", "1", "2", "2"], b=["x", "y", "x", "y"])
    first = suppressed(table, columns=["a", "b"], k=2, order=["a", "b"])
    assert first.change.notes["cells_by_column"] == {"a": 4, "b": 0}
    other = suppressed(table, columns=["a", "b"], k=2, order=["b"])
    assert other.change.notes["cells_by_column"] == {"a": 0, "b": 4}


def test_rare_values_of_each_column_are_masked_and_missing_ones_stay():
    table = table_of(a=["1", "1", "1", "2", "3", ""], b=["x", "x", "y", "y", "*", "z"])
    done = suppressed(table, columns=["a", "b"], k=2, mode="rare")
    assert done.table.column("a").to_pylist() == ["1", "1", "1", "*", "*", ""]
    assert done.table.column("b").to_pylist() == ["x", "x", "y", "y", "*", "*"]
    assert done.change.notes["values_by_column"] == {"a": 2, "b": 1}
    assert done.change.notes["cells"] == 3


def test_a_table_with_fewer_rows_than_k_is_refused_with_both_numbers():
    with pytest.raises(TooFewRows) as refused:
        suppressed(PEOPLE, columns=["sexo"], k=7)
    assert refused.value.values == {"technique": "suppress_cells", "rows": 6, "needed": 7}


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"columns": []}, NothingChosen),
        ({"columns": ["sexo", "sexo"]}, RepeatedVariable),
        ({"columns": ["sexo"], "order": ["edad"]}, UnknownVariable),
    ],
)
def test_columns_that_make_no_sense_are_refused_by_name(settings, error):
    with pytest.raises(error):
        suppressed(PEOPLE, **settings)


def least_cells(rows, k):
    """The true minimum: every way of masking, where equal rows are masked alike."""
    kinds = sorted(set(rows))
    masks = list(itertools.product((False, True), repeat=len(rows[0])))
    best = None
    for choice in itertools.product(masks, repeat=len(kinds)):
        shown = {
            kind: tuple("*" if hide else cell for hide, cell in zip(mask, kind, strict=True))
            for kind, mask in zip(kinds, choice, strict=True)
        }
        published = [shown[row] for row in rows]
        if min(Counter(published).values()) >= k:
            cells = sum(a != b for old, new in zip(rows, published, strict=True) for a, b in zip(old, new, strict=True))
            best = cells if best is None else min(best, cells)
    return best


@given(tables(("a", "b"), least=2, most=7), st.integers(2, 3))
def test_every_combination_is_shared_by_k_rows_with_hardly_more_cells_than_the_least(table, k):
    assume(table.num_rows >= k)
    assume(len(set(rows_of(table))) <= 5)
    done = suppressed(table, columns=["a", "b"], k=k)
    published = rows_of(done.table)
    assert min(Counter(published).values()) >= k
    changed = [
        new for old, row in zip(rows_of(table), published, strict=True) for was, new in zip(old, row, strict=True)
        if was != new
    ]  # fmt: skip
    assert set(changed) <= {"*"}
    assert len(changed) == done.change.notes["cells"]
    least = least_cells(rows_of(table), k)
    assert least <= len(changed) <= 2 * least
