"""What a level shows, told without any value, and true of the labels that the builder really makes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from celosia.hierarchy.registry import BUILDERS, build, level_detail

AGES = [str(age) for age in range(119)]
COMUNAS = ["05301", "05302", "13101", "01101"]
DAYS = [f"{year}-{month:02}-{day:02}" for year in range(2015, 2025) for month in (1, 4, 7, 12) for day in (3, 28)]
MASK: dict[str, Any] = {"builder": "mask", "steps": [2, 3, 5]}
DATES: dict[str, Any] = {"builder": "dates", "levels": ["month", "quarter", "semester", "year", "span"]}


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_intervals_are_as_wide_as_told(level: int) -> None:
    spec = {"builder": "intervals", "width": 10, "end": 118}
    detail = level_detail(spec, level)
    hierarchy = build(spec, AGES)
    lows = sorted(int(label.split(" a ")[0]) for label in hierarchy.labels[level])
    assert {high - low for low, high in pairwise(lows)} == {int(detail["size"])}


def test_cuts_of_ones_own_have_no_single_size() -> None:
    assert level_detail({"builder": "intervals", "cuts": [0, 18, 65]}, 1) == {"builder": "intervals"}
    coarser = {"builder": "intervals", "width": 10, "end": 40, "coarser": [[0, 20, 50]]}
    assert [level_detail(coarser, level).get("size") for level in (1, 2)] == ["10", None]


def test_decimal_widths_are_told_plainly() -> None:
    assert level_detail({"builder": "intervals", "width": 0.5, "end": 4, "whole": False}, 3)["size"] == "2"


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("level", [1, 2])
def test_a_mask_hides_as_many_characters_as_told(side: str, level: int) -> None:
    spec = {**MASK, "side": side}
    detail, hierarchy = level_detail(spec, level), build(spec, COMUNAS)
    assert detail["unit"] == side
    assert {label.count("*") for label in hierarchy.labels[level]} == {int(detail["size"])}
    assert all((label[-1] if side == "right" else label[0]) == "*" for label in hierarchy.labels[level])


def test_a_mask_without_steps_hides_one_more_at_each_level() -> None:
    assert [level_detail({"builder": "mask"}, level)["size"] for level in (1, 2, 3)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("level", "unit", "letters"), [(1, "month", 7), (2, "quarter", 7), (4, "year", 4), (5, "span", 9)]
)
def test_dates_show_the_unit_told(level: int, unit: str, letters: int) -> None:
    detail = level_detail(DATES, level)
    assert detail["unit"] == unit
    assert detail.get("size") == ("5" if unit == "span" else None)
    assert {len(label) for label in build(DATES, DAYS).labels[level]} == {letters}


def test_official_lists_show_the_group_told() -> None:
    assert [level_detail({"builder": "official", "list": "cl-cut"}, level)["unit"] for level in (1, 2)] == [
        "province",
        "region",
    ]
    home = {"builder": "official", "list": "countries", "home": "CL"}
    assert level_detail(home, 1)["unit"] == "home"


def test_neighbours_join_in_groups_of_the_size_told() -> None:
    spec = {"builder": "order", "order": ["a", "b", "c", "d", "e", "f"], "factor": 2, "label": "range"}
    made = build(spec, ["a", "b", "c", "d", "e", "f"])
    for level in (1, 2):
        first = [leaf for leaf in range(6) if made.maps[level][leaf] == made.maps[level][0]]
        assert len(first) == int(level_detail(spec, level)["size"])


def test_every_builder_and_a_file_can_be_told() -> None:
    needed = {
        "official": {"list": "icd10"},
        "intervals": {"width": 5, "end": 9},
        "frequency": {"minimums": [5]},
        "groups": {"levels": [{"A": ["a"]}]},
        "tree": {"tree": {"A": ["a"]}},
    }
    for builder in BUILDERS:
        assert level_detail({"builder": builder.name, **needed.get(builder.name, {})}, 1)["builder"] == builder.name
    assert level_detail({"file": "hierarchies/EDAD.csv"}, 2) == {"builder": "file"}
