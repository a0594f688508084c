"""What two or more publications of a table tell together."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.tables.over_time import (
    Publication,
    Relation,
    intervals,
    near_earlier,
    revealing,
    what_outsider_computes,
)

FIRST, SECOND = "cl_deis_covid_deaths_2020-07-30.csv", "cl_deis_covid_deaths_2020-08-06.csv"
TOTAL = Relation("total", ("a", "b", "c"))


def deaths(path: Path) -> Counter[tuple[str, str, str]]:
    """Deaths by commune, sex and age."""
    with path.open(encoding="utf-8", newline="") as file:
        return Counter((row["comuna_código"], row["género"], row["edad"]) for row in csv.DictReader(file))


def shown(counts: Counter[tuple[str, str, str]], k: int) -> dict[tuple[str, str, str], int]:
    return {cell: count for cell, count in counts.items() if count >= k}


@pytest.mark.requirement("Y22")
def test_two_weekly_releases_single_out_people_in_308_cells(shared: Path) -> None:
    before, after = (shown(deaths(shared / "data" / name), 5) for name in (FIRST, SECOND))
    assert len(before.keys() & after.keys()) == 744
    found = revealing(before, after, 5)
    assert len(found) == 308
    assert sum(one.change > 0 for one in found) == 266
    assert sum(abs(one.change) == 1 for one in found) == 221
    assert sum(one.change == 1 for one in found) == 184


@pytest.mark.requirement("Y22")
def test_withholding_those_cells_leaves_nothing_to_compute(shared: Path) -> None:
    before, after = (shown(deaths(shared / "data" / name), 5) for name in (FIRST, SECOND))
    attack = what_outsider_computes([Publication(before), Publication(after)], 5)
    assert len(attack) == 308
    withheld = {one.key for one in revealing(before, after, 5)}
    safe = {cell: None if cell in withheld else count for cell, count in after.items()}
    assert what_outsider_computes([Publication(before), Publication(safe)], 5) == ()


@pytest.mark.requirement("Y22")
def test_every_earlier_publication_counts() -> None:
    found = revealing([{"a": 12}, {"a": 20}, {}], {"a": 14, "b": 7}, 5)
    assert [(one.key, one.publication, one.change) for one in found] == [("a", 0, 2)]


@pytest.mark.parametrize(
    ("before", "after", "told"), [(12, 12, 0), (12, 13, 1), (13, 12, 1), (12, 16, 1), (12, 17, 0), (17, 12, 0)]
)
def test_a_difference_of_one_to_k_less_one_tells_either_way(before: int, after: int, told: int) -> None:
    assert len(revealing({"a": before}, {"a": after}, 5)) == told


def test_what_is_known_of_a_withheld_cell_is_near_every_value_it_betrays() -> None:
    found = revealing([{"a": 12}, {"a": 15}], {"a": 14}, 5)
    assert near_earlier(found, 5) == {"a": (11, 16)}


@given(
    st.dictionaries(st.integers(0, 8), st.integers(5, 40)),
    st.dictionaries(st.integers(0, 8), st.integers(5, 40)),
    st.integers(2, 10),
)
def test_without_hidden_cells_the_outsider_computes_the_revealing_differences(
    before: dict[int, int], after: dict[int, int], k: int
) -> None:
    learned = what_outsider_computes([Publication(before), Publication(after)], k)
    found = revealing(before, after, k)
    assert {(one.keys[0], one.low) for one in learned} == {(one.key, one.change) for one in found}


def test_a_hidden_cell_that_a_total_gives_away_is_found() -> None:
    table = Publication({"a": 20, "b": None, "c": 30, "total": 53}, [TOTAL])
    (learned,) = what_outsider_computes([table], 5)
    assert (learned.keys, learned.earlier, learned.later, learned.low, learned.high) == (("b",), None, 0, 3, 3)


@pytest.mark.requirement("Y22")
def test_the_rest_of_a_total_is_found_when_it_changes_by_one() -> None:
    # Every published value changes by 5 or more, and yet a and b together gained one person.
    before = Publication({"a": None, "b": None, "c": 30, "total": 40}, [TOTAL])
    after = Publication({"a": None, "b": None, "c": 35, "total": 46}, [TOTAL])
    (learned,) = what_outsider_computes([before, after], 5)
    assert (learned.keys, learned.low, learned.high) == (("a", "b"), 1, 1)


@pytest.mark.requirement("Y22")
def test_a_cell_hidden_in_one_release_is_computed_from_margins_and_compared() -> None:
    before = Publication({"a": 20, "b": 11, "c": 30, "total": 61}, [TOTAL])
    after = Publication({"a": 20, "b": None, "c": 30, "total": 62}, [TOTAL])
    learned = what_outsider_computes([before, after], 5)
    assert {(one.keys, one.low) for one in learned} == {(("b",), 1), (("total",), 1)}


def test_bounds_make_intervals_and_intervals_may_tell_a_change() -> None:
    before = Publication({"a": 8}, [])
    after = Publication({"a": None}, [], {"a": (9, 11)})
    (learned,) = what_outsider_computes([before, after], 5)
    assert (learned.low, learned.high) == (1, 3)


def test_the_interval_of_a_hidden_cell_follows_from_the_margins() -> None:
    table = Publication({"a": None, "b": None, "c": 30, "total": 36}, [TOTAL])
    found = intervals(table)
    assert found["a"] == (1, 5)
    assert found["c"] == (30, 30)


def test_a_margin_that_is_not_a_sum_only_limits_its_parts() -> None:
    loose = Relation("total", ("a", "b"), additive=False)
    found = intervals(Publication({"a": None, "b": 4, "total": 9}, [loose]))
    assert found["a"] == (5, 9)


def test_tables_that_do_not_add_up_tell_nothing_through_their_totals() -> None:
    rounded = Publication({"a": 20, "b": None, "c": 30, "total": 45}, [TOTAL])
    assert intervals(rounded)["b"] == (1, np.inf)


def test_a_cell_that_nobody_lists_may_be_of_nobody() -> None:
    table = Publication({"a": 20, "b": 5, "total": 25}, [TOTAL])
    assert intervals(table)["c"] == (0, 0)
