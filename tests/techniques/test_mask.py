"""Masking of digits from one end."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import UnreadableCells
from tests.techniques.small_tables import rows_of, table_of, tables


def mask(table: pa.Table, **settings: Any) -> Any:
    return apply_to_frame(table, {"technique": "mask", "columns": ["x"], **settings}, b"")


@pytest.mark.requirement("M17")
@pytest.mark.parametrize(("keep", "published"), [(5, "05302"), (3, "053**"), (2, "05***"), (0, "*****")])
def test_a_comuna_is_masked_from_the_right_and_completed_with_zeros_first(keep: int, published: str) -> None:
    done = mask(
        table_of(x=["05302", "5302", "99999", "88888", "", "*"]), keep=keep, width=5, unknown=["99999", "88888"]
    )
    assert done.table.column("x").to_pylist() == [published, published, "99999", "88888", "", "*"]


def test_steps_count_what_is_hidden_and_the_left_end_can_be_masked() -> None:
    cells = table_of(x=["12345", "12"])
    assert mask(cells, steps=3).table.column("x").to_pylist() == ["12***", "**"]
    assert mask(cells, steps=3, side="left").table.column("x").to_pylist() == ["***45", "**"]


def test_values_that_go_out_whole_are_counted() -> None:
    done = mask(table_of(x=["A09", "A09", "A090"]), keep=3)
    assert done.table.column("x").to_pylist() == ["A09", "A09", "A09*"]
    assert done.change.notes["rows_kept_whole"] == 2


@given(tables(["x", "y"]), st.integers(0, 6), st.sampled_from(["left", "right"]))
def test_what_stays_visible_is_the_end_of_the_value(table: pa.Table, keep: int, side: str) -> None:
    before = rows_of(table)
    done = mask(table, keep=keep, side=side)
    for (old, other), (new, same) in zip(before, rows_of(done.table), strict=True):
        hidden = max(len(old) - keep, 0) if old.strip("*") else 0
        expected = "*" * hidden + old[hidden:] if side == "left" else old[: len(old) - hidden] + "*" * hidden
        assert (new, same) == (expected, other)
    assert rows_of(table) == before


def test_a_code_of_another_width_is_refused_with_its_count() -> None:
    with pytest.raises(UnreadableCells) as fault:
        mask(table_of(x=["123456", "123456", "abc", "05302"]), keep=3, width=5)
    assert fault.value.values["rows"] == 3
    assert "123456" not in str(fault.value)


@pytest.mark.parametrize("settings", [{}, {"keep": 1, "steps": 1}, {"keep": -1}])
def test_how_much_to_mask_must_be_said_once(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        mask(table_of(x=["1"]), **settings)
