"""Removal of records: refused without a reason and a confirmation, and its cost in totals told."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import NotNumeric, NumbersTooLarge, RemovalUnconfirmed
from tests.techniques.small_tables import TEXTS, rows_of, table_of, tables

PEOPLE = table_of(area=["1", "2", "2", "3"], sex=["F", "M", "F", "F"], income=["10", "20", "", "70"])
CONFIRMED = {"reason": "Área con un solo hogar", "confirmed": True}


def remove(table: pa.Table, **settings: Any) -> Any:
    return apply_to_frame(table, {"technique": "remove_records", **settings}, b"")


@pytest.mark.requirement("A24")
@pytest.mark.parametrize(
    "given_words", [{}, {"reason": "x"}, {"confirmed": True}, {"reason": "  ", "confirmed": True}, {"confirmed": False}]
)
def test_without_a_reason_and_a_confirmation_nothing_is_removed(given_words: dict[str, Any]) -> None:
    with pytest.raises(RemovalUnconfirmed) as fault:
        remove(PEOPLE, where={"area": ["2"]}, **given_words)
    assert fault.value.values["rows"] == 2
    assert fault.value.values["total"] == 4
    assert fault.value.exit_code == 1


@pytest.mark.requirement("A24")
def test_the_report_says_how_many_rows_left_and_how_totals_and_means_change() -> None:
    done = remove(PEOPLE, where={"area": ["3"]}, totals=["income"], **CONFIRMED)
    assert done.table.column("area").to_pylist() == ["1", "2", "2"]
    assert done.change.rows_dropped == 1
    assert done.change.notes["totals"]["income"] == {
        "total_before": 100.0,
        "mean_before": 100 / 3,
        "total_after": 30.0,
        "mean_after": 15.0,
    }


def test_columns_must_all_hold_and_of_several_tables_one_is_enough() -> None:
    both = remove(PEOPLE, where={"area": ["2"], "sex": ["F"]}, **CONFIRMED)
    assert both.table.column("income").to_pylist() == ["10", "20", "70"]
    either = remove(PEOPLE, where=[{"area": ["2"]}, {"sex": ["F"]}], totals=["income"], **CONFIRMED)
    assert either.table.num_rows == 0
    assert either.change.notes["totals"]["income"]["mean_after"] is None


@given(tables(["a", "b"]), st.sampled_from(TEXTS))
def test_the_rows_that_stay_are_those_that_do_not_match(table: pa.Table, value: str) -> None:
    done = remove(table, where={"b": [value]}, **CONFIRMED)
    assert rows_of(done.table) == [row for row in rows_of(table) if row[1] != value]


def test_text_and_numbers_beyond_any_total_are_refused_with_their_count() -> None:
    with pytest.raises(NotNumeric) as fault:
        remove(PEOPLE, where={"area": ["2"]}, totals=["sex"], **CONFIRMED)
    assert fault.value.values["rows"] == 4
    with pytest.raises(NumbersTooLarge):
        remove(table_of(a=["1e308", "1e308"]), where={"a": ["1"]}, totals=["a"], **CONFIRMED)
    with pytest.raises(WrongParameter):
        remove(PEOPLE, where={"area": []}, **CONFIRMED)
