"""Top and bottom coding by value and by quantile."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.data.numbers import number_column
from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import NotNumeric, TechniqueRefuses
from celosia.techniques.top_bottom import quantile
from tests.techniques.small_tables import table_of

WHOLES = st.lists(st.integers(-50, 50), min_size=1, max_size=30)


def coded(cells: list[str], **settings: Any) -> list[str]:
    done = apply_to_frame(table_of(x=cells), {"technique": "top_bottom", "columns": ["x"], **settings}, b"")
    found: list[str] = done.table.column("x").to_pylist()
    return found


def test_values_beyond_a_bound_become_the_bound_and_special_cells_stay() -> None:
    cells = ["1", "2.5", "100", "100.0", "1000", "", "*", "99999"]
    assert coded(cells, top=100, bottom="1.5", unknown=["99999"]) == [
        "1.5",
        "2.5",
        "100",
        "100.0",
        "100",
        "",
        "*",
        "99999",
    ]


@pytest.mark.requirement("Y09")
def test_the_tail_may_carry_a_label_which_includes_the_bound() -> None:
    assert coded(["99", "100", "500"], top=100, **{"as": "label"}) == ["99", "≥ 100", "≥ 100"]
    assert coded(["99", "100", "500"], top=100, top_label="{bound}+", **{"as": "label"}) == ["99", "100+", "100+"]
    assert coded(["1", "2,5", "3"], bottom="2.5", decimal=",", **{"as": "label"}) == ["≤ 2,5", "≤ 2,5", "3"]


@given(WHOLES, st.integers(-60, 60), st.integers(0, 60))
def test_top_coding_by_value_is_idempotent_and_clips(values: list[int], bottom: int, above: int) -> None:
    cells = [str(value) for value in values]
    once = coded(cells, bottom=bottom, top=bottom + above)
    assert [int(cell) for cell in once] == [min(max(value, bottom), bottom + above) for value in values]
    assert coded(once, bottom=bottom, top=bottom + above) == once


@given(WHOLES, st.fractions(Fraction(1, 100), Fraction(99, 100)))
def test_a_quantile_is_the_smallest_value_that_enough_rows_do_not_exceed(values: list[int], share: Fraction) -> None:
    column = number_column(pa.array([str(value) for value in values], pa.large_string()))
    expected = min(v for v in values if sum(other <= v for other in values) >= share * len(values))
    assert quantile(column, np.ones(len(values), np.int64), share) == expected
    distinct, counts = np.unique(values, return_counts=True)
    grouped = number_column(pa.array([str(value) for value in distinct], pa.large_string()))
    assert quantile(grouped, counts.astype(np.int64), share) == expected


def test_a_quantile_counts_rows_and_treats_equal_values_alike() -> None:
    assert coded(["1", "2", "2", "2", "9", "10"], top_quantile="0.5") == ["1", "2", "2", "2", "2", "2"]
    assert coded([str(n) for n in range(1, 11)], top_quantile="0.9", bottom_quantile="0.1")[-2:] == ["9", "9"]


@given(WHOLES, st.integers(-50, 50))
def test_the_mean_of_the_tail_keeps_the_total(values: list[int], top: int) -> None:
    found = coded([str(value) for value in values], top=top, tail=1, **{"as": "mean"})
    assert sum(float(cell) for cell in found) == pytest.approx(sum(values), abs=1e-9)
    assert len({cell for cell, value in zip(found, values, strict=True) if value >= top}) <= 1


def test_the_mean_of_a_short_tail_would_show_its_rows_and_is_refused() -> None:
    with pytest.raises(TechniqueRefuses) as fault:
        coded(["1", "2", "900"], top=100, **{"as": "mean"})
    assert "900" not in str(fault.value)
    assert coded(["1", "200", "300", "401"], top=100, decimals=1, **{"as": "mean"}) == ["1", "300.3", "300.3", "300.3"]
    assert coded(["1", "2"], top=100, **{"as": "mean"}) == ["1", "2"]


def test_the_report_counts_the_rows_of_each_tail() -> None:
    step = {"technique": "top_bottom", "columns": ["x"], "top": 3, "bottom": 1, "as": "mean", "tail": 2, "into": "y"}
    done = apply_to_frame(table_of(x=["1", "1", "2", "3", "5"]), step, b"")
    assert done.table.to_pydict() == {"y": ["1", "1", "2", "4", "4"]}
    assert done.change.notes == {"y": {"rows_bottom": 2, "rows_top": 2}}
    assert done.change.preserved == ("total",)


@pytest.mark.parametrize("cells", [[], ["", "*"], ["7"]])
def test_no_rows_only_missing_cells_and_one_row_are_accepted(cells: list[str]) -> None:
    assert coded(cells, top_quantile="0.5") == cells
    assert coded(cells, top=10) == cells


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"top": 5, "top_quantile": "0.5"},
        {"top": 1, "bottom": 2},
        {"top": 2, "bottom": 2, "as": "label"},
        {"top_quantile": 1},
        {"top_quantile": 95},
        {"top_quantile": "0.2", "bottom_quantile": "0.9"},
        {"top": 5, "as": "label", "top_label": "muchos"},
    ],
)
def test_bounds_that_do_not_fit_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        coded(["1", "2", "3"], **settings)


def test_text_is_refused_with_its_count() -> None:
    with pytest.raises(NotNumeric) as fault:
        coded(["alto", "alto", "3"], top=2)
    assert fault.value.values["rows"] == 2
