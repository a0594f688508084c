"""Birth date to completed years and to bands of ages."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import BirthAfterReference, UnreadableCells, ZoneNeeded
from tests.techniques.small_tables import table_of

BANDS = [18, 25, 35, 45]
DATES = st.dates(date(1880, 1, 1), date(2100, 12, 31))


def aged(births: list[str], **settings: Any) -> list[str]:
    done = apply_to_frame(table_of(birth=births), {"technique": "age", "columns": ["birth"], **settings}, b"")
    found: list[str] = done.table.column(0).to_pylist()
    return found


@pytest.mark.requirement("Y03")
def test_the_birth_date_of_the_rule_falls_in_its_band() -> None:
    step = {"technique": "age", "columns": ["birth"], "at": "2024-01-31", "cuts": BANDS, "into": "age_range"}
    done = apply_to_frame(table_of(birth=["1995-06-15"], sex=["F"]), step, b"")
    assert done.table.to_pydict() == {"age_range": ["25-34"], "sex": ["F"]}
    assert done.change.renamed == {"age_range": "birth"}


@pytest.mark.requirement("Y03")
@pytest.mark.parametrize(
    ("years", "below", "above"),
    [(18, "<18", "18-24"), (25, "18-24", "25-34"), (35, "25-34", "35-44"), (45, "35-44", "45+")],
)
def test_a_band_changes_on_the_birthday(years: int, below: str, above: str) -> None:
    year = 2024 - years
    births = [f"{year}-02-01", f"{year}-01-31", f"{year}-01-30"]
    assert aged(births, at="2024-01-31", cuts=BANDS) == [below, above, above]


@pytest.mark.requirement("Y03")
def test_bands_of_one_width_may_be_open_above() -> None:
    births = ["2024-01-31", "2014-01-31", "1934-01-31", "1920-05-05"]
    assert aged(births, at="2024-01-31", width=10) == ["0-9", "10-19", "90-99", "100-109"]
    assert aged(births, at="2024-01-31", width=5, end=90) == ["0-4", "10-14", "90+", "90+"]


def test_who_was_born_on_29_february_completes_the_year_on_1_march() -> None:
    ages = [aged(["2000-02-29"], at=day)[0] for day in ("2001-02-28", "2001-03-01", "2004-02-28", "2004-02-29")]
    assert ages == ["0", "1", "3", "4"]


@given(DATES, DATES)
def test_completed_years_are_the_birthdays_reached(birth: date, at: date) -> None:
    if birth > at:
        with pytest.raises(BirthAfterReference):
            aged([birth.isoformat()], at=at.isoformat())
        return
    reached = [
        y for y in range(birth.year + 1, at.year + 1) if (y, birth.month, birth.day) <= (at.year, at.month, at.day)
    ]
    assert aged([birth.isoformat()], at=at.isoformat()) == [str(len(reached))]


def test_the_reference_may_be_a_column_and_a_missing_one_leaves_the_age_missing() -> None:
    table = table_of(
        birth=["1990-05-01", "1990-05-01", "1990-05-01", "", "*"],
        event=["2020-04-30", "2020-05-01", "", "2020-05-01", ""],
    )
    done = apply_to_frame(table, {"technique": "age", "columns": ["birth"], "at_column": "event"}, b"")
    assert done.table.column("birth").to_pylist() == ["29", "30", "", "", "*"]
    assert done.table.column("event").to_pylist() == table.column("event").to_pylist()
    assert done.change.notes["rows_without_reference"] == 2


def test_declared_formats_are_read_and_one_that_reads_two_ways_is_refused() -> None:
    both = ["yyyy-mm-dd", "dd/mm/yyyy"]
    assert aged(["15/06/1995", "1995-06-15 00:00:00", "5/6/1995"], at="2024-01-31", formats=both) == ["28"] * 3
    with pytest.raises(UnreadableCells) as fault:
        aged(["03/04/1995", "13/04/1995", "03/03/1995"], at="2024-01-31", formats=["dd/mm/yyyy", "mm/dd/yyyy"])
    assert fault.value.values["rows"] == 1


def test_special_cells_and_tables_without_rows_stay() -> None:
    assert aged(["", "**", "19000101"], at="2024-01-31", unknown=["19000101"]) == ["", "**", "19000101"]
    assert aged([], at="2024-01-31", cuts=BANDS) == []


@pytest.mark.requirement("Y03")
def test_what_has_no_age_is_refused_with_its_count_and_no_cell() -> None:
    with pytest.raises(BirthAfterReference) as late:
        aged(["2025-01-01", "2025-01-01", "1990-01-01"], at="2024-01-31")
    assert late.value.values["rows"] == 2
    with pytest.raises(UnreadableCells) as bad:
        aged(["1995-02-30", "Juana", "1990-01-01"], at="2024-01-31")
    assert bad.value.values["rows"] == 2
    assert "Juana" not in str(bad.value)
    with pytest.raises(ZoneNeeded):
        aged(["1995-02-20T10:00:00Z"], at="2024-01-31")


@pytest.mark.parametrize(
    "settings",
    [{}, {"at": "2024"}, {"at": "2024-01-31", "at_column": "birth"}, {"at": "2024-01-31", "width": 5, "cuts": [1]}],
)
def test_the_reference_and_the_bands_must_be_said_once(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        aged(["1990-01-01"], **settings)
