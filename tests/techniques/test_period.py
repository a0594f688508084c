"""Dates to periods."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.value_errors import WrongParameter
from celosia.techniques import apply_to_frame
from celosia.techniques.errors import UnreadableCells, ZoneNeeded
from tests.techniques.small_tables import table_of


def grouped(cells: list[str], unit: str, **settings: Any) -> list[str]:
    done = apply_to_frame(table_of(d=cells), {"technique": "period", "columns": ["d"], "unit": unit, **settings}, b"")
    found: list[str] = done.table.column(0).to_pylist()
    return found


@pytest.mark.requirement("Y11")
@pytest.mark.parametrize(
    ("unit", "label"),
    [
        ("day", "2024-01-17"),
        ("week", "2024-W03"),
        ("month", "2024-01"),
        ("quarter", "2024-Q1"),
        ("semester", "2024-S1"),
        ("year", "2024"),
        ("span", "2020-2024"),
    ],
)
def test_the_date_of_the_rule_at_every_period(unit: str, label: str) -> None:
    assert grouped(["2024-01-17", "", "*", "9999"], unit, unknown=["9999"]) == [label, "", "*", "9999"]


@pytest.mark.requirement("Y13")
def test_a_year_becomes_a_range_of_years() -> None:
    assert grouped(["2022", "2019", "2025"], "span", formats=["yyyy"]) == ["2020-2024", "2015-2019", "2025-2029"]


def test_the_week_of_the_turn_of_the_year_is_the_one_of_iso_8601() -> None:
    assert grouped(["2021-01-03", "2021-01-04", "2024-12-30"], "week") == ["2020-W53", "2021-W01", "2025-W01"]


@pytest.mark.requirement("Y11")
def test_an_instant_is_counted_in_the_stated_zone_and_a_time_without_offset_is_already_in_it() -> None:
    cells = [
        "2024-02-01T02:59:59Z",
        "2024-02-01T03:00:00Z",
        "2024-01-31T23:30:00-03:00",
        "2024-02-01 00:10",
        "2024-01-31",
    ]
    assert grouped(cells, "month", zone="America/Asuncion") == ["2024-01", "2024-02", "2024-01", "2024-02", "2024-01"]


@given(
    st.datetimes(datetime(1950, 1, 1), datetime(2030, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from(["America/Santiago", "America/Bogota", "America/Asuncion", "UTC"]),
)
def test_the_day_of_an_instant_is_that_of_its_local_time(moment: datetime, offset: int, zone: str) -> None:
    instant = moment.replace(tzinfo=timezone(timedelta(minutes=offset)))
    expected = instant.astimezone(ZoneInfo(zone)).date().isoformat()
    assert grouped([instant.isoformat()], "day", zone=zone) == [expected]


@given(st.lists(st.dates(date(1, 1, 1), date(9999, 12, 31)), max_size=8))
def test_periods_nest(days: list[date]) -> None:
    cells = [day.isoformat() for day in days]
    assert grouped(cells, "day") == cells
    assert grouped(cells, "month") == [cell[:7] for cell in cells]
    assert grouped(cells, "year") == [cell[:4] for cell in cells]
    assert grouped(cells, "quarter") == [f"{d.year:04d}-Q{(d.month - 1) // 3 + 1}" for d in days]
    assert grouped(cells, "semester") == [f"{d.year:04d}-S{(d.month - 1) // 6 + 1}" for d in days]


@pytest.mark.requirement("Y11")
def test_what_is_no_date_or_lacks_a_zone_is_refused_with_its_count() -> None:
    with pytest.raises(UnreadableCells) as bad:
        grouped(["17/01/2024", "2024-02-30", "2024-01-17T25:00", "ayer", "2024-01-17"], "month")
    assert bad.value.values["rows"] == 4
    assert "ayer" not in str(bad.value)
    with pytest.raises(ZoneNeeded) as lost:
        grouped(["2024-01-17T10:00:00Z", "2024-01-17T10:00:00+00", "2024-01-17"], "month")
    assert lost.value.values["rows"] == 2
    with pytest.raises(UnreadableCells):
        grouped(["0001-01-01T00:00:00+14:00"], "day", zone="UTC")  # before the calendar begins


@pytest.mark.parametrize(
    "settings",
    [
        {"unit": "month", "formats": ["yyyy"]},
        {"unit": "week", "formats": ["yyyy-mm"]},
        {"unit": "decade"},
        {"unit": "day", "zone": "America/Macondo"},
        {"unit": "day", "zone": "../etc/passwd"},
    ],
)
def test_a_period_finer_than_the_data_and_an_unknown_zone_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        grouped(["2024"], **settings)


@given(
    st.lists(st.datetimes(datetime(1890, 1, 1), datetime(2037, 12, 31)), min_size=1, max_size=30),
    st.sampled_from(["America/Santiago", "America/Bogota", "Africa/Monrovia", "Asia/Kathmandu", "UTC"]),
    st.integers(-14 * 60, 14 * 60),
)
def test_the_day_in_a_zone_is_the_one_that_zoneinfo_gives_each_instant(moments, zone, minutes):
    away = timezone(timedelta(minutes=minutes))
    instants = [moment.replace(microsecond=0, tzinfo=away) for moment in moments]
    days = [instant.astimezone(ZoneInfo(zone)).date().isoformat() for instant in instants]
    assert grouped([instant.isoformat() for instant in instants], "day", zone=zone) == days


@pytest.mark.parametrize(
    "cell",
    ["2023-02-29", "2024-13-01", "2024-00-10", "2024-01-00", "0000-01-01", "2024-01-01T24:00", "2024-01-01T10:60",
     "2024-01-01T10:00+24:00", "9999-12-31T23:00-14:00", "2024-01-01\n", "٢٠٢٤-01-01"],
)  # fmt: skip
def test_what_no_calendar_holds_is_refused_with_its_count_and_never_shown(cell):
    with pytest.raises(UnreadableCells) as told:
        grouped(["2024-01-01", cell, cell], "day", zone="UTC")
    assert told.value.values["rows"] == 2
    assert cell not in str(told.value)
