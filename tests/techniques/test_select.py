"""Selection: rows by value and by period, and the columns the request asks for."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.errors import UnknownVariable
from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import UnreadableCells, ZoneNeeded
from tests.techniques.small_tables import TEXTS, rows_of, table_of, tables

EVENTS = table_of(
    region=["13", "05", "13", "", "*"],
    day=["2023-12-31", "2024-01-01", "2024-12-31", "2025-01-01", ""],
    sex=["1", "2", "1", "2", "1"],
)


def select(table: pa.Table, **settings: Any) -> Any:
    return apply_to_frame(table, {"technique": "select", **settings}, b"")


@pytest.mark.requirement("A01")
def test_a_period_includes_both_of_its_days_and_leaves_out_rows_without_a_date() -> None:
    done = select(EVENTS, dates="day", **{"from": "2024-01-01", "until": "2024-12-31"})
    assert done.table.column("day").to_pylist() == ["2024-01-01", "2024-12-31"]
    assert done.change.rows_dropped == 3
    assert done.change.notes["rows_without_date"] == 1


def test_rows_without_a_date_stay_where_the_request_says_so() -> None:
    done = select(EVENTS, dates="day", undated="keep", until="2023-12-31")
    assert done.table.column("day").to_pylist() == ["2023-12-31", ""]


def test_only_the_columns_asked_for_stay_in_their_order() -> None:
    done = select(EVENTS, columns=["sex", "region"])
    assert done.table.column_names == ["region", "sex"]
    assert done.change.removed == ("day",)
    assert done.table.num_rows == EVENTS.num_rows


def test_a_filter_may_use_a_column_that_leaves_and_counts_values_nobody_has() -> None:
    done = select(EVENTS, keep={"region": ["13", "5"]}, columns=["day"])
    assert done.table.to_pydict() == {"day": ["2023-12-31", "2024-12-31"]}
    assert done.change.notes == {"values_not_found": 1, "rows_kept": 2, "columns_kept": 1}


@given(tables(["a", "b"]), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4))
def test_the_rows_kept_are_exactly_those_with_the_values(table: pa.Table, values: list[str]) -> None:
    before = rows_of(table)
    done = select(table, keep={"a": values})
    assert rows_of(done.table) == [row for row in before if row[0] in values]
    assert rows_of(table) == before


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"dates": "day"},
        {"from": "2024-01-01"},
        {"dates": "day", "from": "2024-02-30"},
        {"dates": "day", "from": "2024-02-01", "until": "2024-01-01"},
        {"keep": {"region": "13"}},
        {"keep": {"region": [13]}},
    ],
)
def test_a_selection_that_cannot_be_understood_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        select(EVENTS, **settings)


def test_an_unknown_column_an_unreadable_date_and_an_instant_without_zone_are_refused() -> None:
    with pytest.raises(UnknownVariable):
        select(EVENTS, columns=["nombre"])
    with pytest.raises(UnreadableCells) as fault:
        select(EVENTS, dates="region", until="2024-01-01")
    assert fault.value.values["rows"] == 3
    with pytest.raises(ZoneNeeded):
        select(table_of(day=["2024-01-01T00:00Z"]), dates="day", until="2024-01-01")
