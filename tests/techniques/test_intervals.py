"""Half-open intervals: amounts, salaries, ages."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import NotNumeric, OutsideIntervals, UnreadableCells
from tests.techniques.small_tables import table_of

YAPO: dict[str, Any] = {"cuts": [0, 100, 500, 1000], "open_high": True, "whole": False, "label": "{low}-{high}"}


def banded(cells: list[str], **settings: Any) -> list[str]:
    done = apply_to_frame(table_of(x=cells), {"technique": "intervals", "columns": ["x"], **settings}, b"")
    found: list[str] = done.table.column("x").to_pylist()
    return found


@pytest.mark.requirement("Y08", "Y09")
def test_amounts_fall_into_the_national_buckets() -> None:
    cells = ["0", "99.99", "99.999999999999999999", "100", "499.99", "500", "999.99", "1000", "", "*"]
    assert banded(cells, **YAPO) == [
        *["0-100"] * 3,
        *["100-500"] * 2,
        *["500-1000"] * 2,
        "1000+",
        "",
        "*",
    ]


@pytest.mark.requirement("Y08")
def test_a_negative_amount_is_refused_with_its_count_of_rows() -> None:
    with pytest.raises(OutsideIntervals) as fault:
        banded(["-0.01", "-0.01", "-5", "3"], **YAPO)
    assert fault.value.values["rows"] == 3
    with pytest.raises(OutsideIntervals):
        banded(["-1", "20"], width=10, start=0)


@pytest.mark.requirement("M16")
def test_whole_numbers_name_the_last_one_inside() -> None:
    assert banded(["37", "30", "39", "40", "0", " 8", "1e1", "30.0"], width=10) == [
        *["30 a 39"] * 3,
        "40 a 49",
        *["0 a 9"] * 2,
        "10 a 19",
        "30 a 39",
    ]
    assert banded(["17", "18", "64", "65"], cuts=[18, 65], open_low=True, open_high=True, label="{low}-{high}") == [
        "<18",
        "18-64",
        "18-64",
        "65+",
    ]


def test_a_decimal_comma_is_read_and_written() -> None:
    assert banded(["0,5", "1,49", "1,5"], width="0.5", whole=False, decimal=",", label="{low}-{high}") == [
        "0,5-1",
        "1-1,5",
        "1,5-2",
    ]


NUMBERS = st.decimals(-(10**6), 10**6, places=3)


@given(st.lists(NUMBERS, max_size=12), st.lists(NUMBERS, min_size=2, max_size=6, unique=True).map(sorted))
def test_every_number_is_in_the_interval_that_holds_it_exactly(values: list[Decimal], cuts: list[Decimal]) -> None:
    settings = {"open_low": True, "open_high": True, "whole": False, "label": "{low}|{high}"}
    found = banded([f"{v:f}" for v in values], cuts=[str(cut) for cut in cuts], **settings)
    for value, label in zip(values, found, strict=True):
        if value < cuts[0]:
            assert Decimal(label.removeprefix("<")) == cuts[0]
        elif value >= cuts[-1]:
            assert Decimal(label.removesuffix("+")) == cuts[-1]
        else:
            low, high = next(pair for pair in pairwise(cuts) if pair[0] <= value < pair[1])
            assert [Decimal(part) for part in label.split("|")] == [low, high]


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=12), st.integers(1, 60))
def test_a_label_depends_on_the_width_and_not_on_the_other_rows(values: list[int], width: int) -> None:
    together = banded([str(v) for v in values], width=width)
    alone = [banded([str(v)], width=width)[0] for v in values]
    low = [value // width * width for value in values]
    assert together == alone == [str(a) if width == 1 else f"{a} a {a + width - 1}" for a in low]


def test_numbers_that_binary_cannot_tell_from_a_limit_are_decided_as_decimals() -> None:
    below, at, above = "99.99999999999999999999", "100.00", "100.00000000000000000001"
    assert float(below) == float(at) == float(above)
    assert banded([below, at, above], **YAPO) == ["0-100", "100-500", "100-500"]
    with pytest.raises(OutsideIntervals) as fault:
        banded(["-0.00000000000000000000000000001", "500"], cuts=[0, 500], whole=False)
    assert fault.value.values["rows"] == 2


def test_no_rows_and_only_missing_cells_stay_as_they_are() -> None:
    assert banded([], width=10) == []
    assert banded(["", "*", "99"], width=10, unknown=["99"]) == ["", "*", "99"]


def test_text_fractions_and_wrong_limits_are_refused() -> None:
    with pytest.raises(NotNumeric) as text:
        banded(["Juana", "Juana", "3"], width=10)
    assert text.value.values["rows"] == 2
    with pytest.raises(UnreadableCells):
        banded(["3.5"], width=10)
    for settings in (
        {},
        {"width": 10, "cuts": [1, 2]},
        {"cuts": [2, 1]},
        {"width": 0},
        {"width": 10, "open_high": True},
    ):
        with pytest.raises(WrongParameter):
            banded(["3"], **settings)
    with pytest.raises(WrongParameter):
        banded(["-1e300", "1e300"], width=1)
