"""What two or more publications of a table tell together."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.tables.over_time import (
    Publication,
    Relation,
    find_disclosed_groups,
    intervals,
)

FIRST, SECOND = "cl_deis_covid_deaths_2020-07-30.csv", "cl_deis_covid_deaths_2020-08-06.csv"
TOTAL = Relation("total", ("a", "b", "c"))


def deaths(path: Path) -> Counter[tuple[str, str, str]]:
    """Deaths by commune, sex and age."""
    with path.open(encoding="utf-8", newline="") as file:
        return Counter((row["comuna_código"], row["género"], row["edad"]) for row in csv.DictReader(file))


def shown(counts: Counter[tuple[str, str, str]], k: int) -> dict[tuple[str, str, str], int]:
    return {cell: count for cell, count in counts.items() if count >= k}


def small_changes(before: Mapping[Any, int], after: Mapping[Any, int], k: int) -> dict[Any, int]:
    """Change of each cell published twice that gained or lost 1 to k-1 persons."""
    changes = {key: after[key] - before[key] for key in before.keys() & after.keys()}
    return {key: change for key, change in changes.items() if 1 <= abs(change) < k}


@pytest.mark.requirement("Y22")
def test_two_weekly_releases_single_out_people_in_308_cells(shared: Path) -> None:
    before, after = (shown(deaths(shared / "data" / name), 5) for name in (FIRST, SECOND))
    assert len(before.keys() & after.keys()) == 744
    groups = find_disclosed_groups([Publication(before), Publication(after)], 5)
    changes = {group.keys[0]: group.low for group in groups}
    assert changes == small_changes(before, after, 5)
    assert len(changes) == 308
    assert sum(change > 0 for change in changes.values()) == 266
    assert sum(abs(change) == 1 for change in changes.values()) == 221
    assert sum(change == 1 for change in changes.values()) == 184


@pytest.mark.requirement("Y22")
def test_withholding_those_cells_leaves_nothing_to_compute(shared: Path) -> None:
    before, after = (shown(deaths(shared / "data" / name), 5) for name in (FIRST, SECOND))
    withheld = small_changes(before, after, 5)
    safe = {cell: None if cell in withheld else count for cell, count in after.items()}
    assert find_disclosed_groups([Publication(before), Publication(safe)], 5) == ()


@pytest.mark.requirement("Y22")
def test_every_earlier_publication_counts() -> None:
    values: list[dict[str, int | None]] = [{"a": 12}, {"a": 20}, {}, {"a": 14, "b": 7}]
    groups = find_disclosed_groups([Publication(publication) for publication in values], 5)
    assert [(group.keys, group.earlier, group.later, group.low) for group in groups] == [(("a",), 0, 3, 2)]


@pytest.mark.parametrize(
    ("before", "after", "disclosed"), [(12, 12, 0), (12, 13, 1), (13, 12, 1), (12, 16, 1), (12, 17, 0), (17, 12, 0)]
)
def test_a_difference_of_one_to_k_less_one_tells_either_way(before: int, after: int, disclosed: int) -> None:
    assert len(find_disclosed_groups([Publication({"a": before}), Publication({"a": after})], 5)) == disclosed


@given(
    st.dictionaries(st.integers(0, 8), st.integers(5, 40)),
    st.dictionaries(st.integers(0, 8), st.integers(5, 40)),
    st.integers(2, 10),
)
def test_without_hidden_cells_the_outsider_computes_the_small_differences(
    before: dict[int, int], after: dict[int, int], k: int
) -> None:
    learned = find_disclosed_groups([Publication(before), Publication(after)], k)
    assert {group.keys[0]: group.low for group in learned} == small_changes(before, after, k)


def test_a_hidden_cell_that_a_total_gives_away_is_found() -> None:
    table = Publication({"a": 20, "b": None, "c": 30, "total": 53}, [TOTAL])
    (learned,) = find_disclosed_groups([table], 5)
    assert (learned.keys, learned.earlier, learned.later, learned.low, learned.high) == (("b",), None, 0, 3, 3)


@pytest.mark.requirement("Y22")
def test_the_rest_of_a_total_is_found_when_it_changes_by_one() -> None:
    # Every published value changes by 5 or more, and yet a and b together gained one person.
    before = Publication({"a": None, "b": None, "c": 30, "total": 40}, [TOTAL])
    after = Publication({"a": None, "b": None, "c": 35, "total": 46}, [TOTAL])
    (learned,) = find_disclosed_groups([before, after], 5)
    assert (learned.keys, learned.low, learned.high) == (("a", "b"), 1, 1)


@pytest.mark.requirement("Y22")
def test_a_cell_hidden_in_one_release_is_computed_from_margins_and_compared() -> None:
    before = Publication({"a": 20, "b": 11, "c": 30, "total": 61}, [TOTAL])
    after = Publication({"a": 20, "b": None, "c": 30, "total": 62}, [TOTAL])
    learned = find_disclosed_groups([before, after], 5)
    assert {(one.keys, one.low) for one in learned} == {(("b",), 1), (("total",), 1)}


def test_bounds_make_intervals_and_intervals_may_tell_a_change() -> None:
    before = Publication({"a": 8}, [])
    after = Publication({"a": None}, [], {"a": (9, 11)})
    (learned,) = find_disclosed_groups([before, after], 5)
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
