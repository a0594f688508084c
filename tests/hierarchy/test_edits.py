"""Trees changed by hand: whatever is done, each level joins whole groups of the level below."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.hierarchy.rows import (
    add_star_level,
    add_values,
    from_rows,
    insert_level,
    regroup_rows,
    remove_level,
    rename_group,
    split_groups,
)
from celosia.model.value_errors import WrongParameter

ROWS = [
    ("Salta", "Norte", "Interior"),
    ("Jujuy", "Norte", "Interior"),
    ("Tandil", "Sur", "Interior"),
    ("Bariloche", "Sur", "Interior"),
    ("Retiro", "Capital", "Capital"),
]
NAMES = st.sampled_from(["a", "b", "c", "d", "*", "Norte", "Capital"])


def sound(rows: list[tuple[str, ...]]) -> bool:
    return not any(split_groups(from_rows("x", rows)))


def test_a_moved_value_follows_its_new_group_upwards() -> None:
    rows = regroup_rows(ROWS, 1, {"Tandil"}, "Capital")
    assert rows[2] == ("Tandil", "Capital", "Capital")
    assert [row for row in rows if row[0] != "Tandil"] == [row for row in ROWS if row[0] != "Tandil"]


def test_members_of_two_groups_joined_under_a_new_name_go_one_way() -> None:
    rows = regroup_rows(ROWS, 1, {"Tandil", "Retiro"}, "Provincia")
    assert rows[2] == ("Tandil", "Provincia", "Interior")
    assert rows[4] == ("Retiro", "Provincia", "Interior")


def test_whole_groups_are_joined_at_the_level_above() -> None:
    rows = regroup_rows(ROWS, 2, {"Norte", "Capital"}, "Uno")
    assert [row[2] for row in rows] == ["Uno", "Uno", "Interior", "Interior", "Uno"]


def test_a_group_gets_another_name_and_joins_one_that_has_it() -> None:
    assert [row[1] for row in rename_group(ROWS, 1, "Sur", "Austral")] == [
        "Norte",
        "Norte",
        "Austral",
        "Austral",
        "Capital",
    ]
    assert rename_group(ROWS, 1, "Sur", "Capital")[3] == ("Bariloche", "Capital", "Capital")


def test_levels_come_and_go() -> None:
    assert insert_level(ROWS, 1)[0] == ("Salta", "Norte", "Norte", "Interior")
    assert remove_level(insert_level(ROWS, 1), 1) == ROWS
    assert add_star_level(ROWS)[4] == ("Retiro", "Capital", "Capital", "*")
    assert add_star_level(add_star_level(ROWS)) == add_star_level(ROWS)


def test_new_values_are_placed_in_a_group_and_under_the_top() -> None:
    assert add_values(ROWS, ["Esquel"], "Sur")[-1] == ("Esquel", "Sur", "Interior")
    assert add_values(add_star_level(ROWS), ["Lima"], "Otros")[-1] == ("Lima", "Otros", "Otros", "*")


@pytest.mark.parametrize("level", [0, 3, -1])
def test_a_level_that_is_not_there_is_refused(level: int) -> None:
    with pytest.raises(WrongParameter):
        regroup_rows(ROWS, level, {"Salta"}, "x")
    with pytest.raises(WrongParameter):
        remove_level(ROWS, level)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_group_needs_a_name(name: str) -> None:
    with pytest.raises(WrongParameter):
        regroup_rows(ROWS, 1, {"Salta"}, name)
    with pytest.raises(WrongParameter):
        add_values(ROWS, ["Lima"], name)


@given(st.data())
def test_no_change_ever_splits_a_group(data: st.DataObject) -> None:
    rows: list[tuple[str, ...]] = [(value, value, value) for value in "pqrstu"]
    for _ in range(data.draw(st.integers(1, 8))):
        height = len(rows[0]) - 1
        level = data.draw(st.integers(1, height))
        members = data.draw(st.sets(st.sampled_from([row[level - 1] for row in rows]), min_size=1))
        match data.draw(st.sampled_from(["group", "rename", "add", "place"])):
            case "group":
                rows = regroup_rows(rows, level, members, data.draw(NAMES))
            case "rename":
                rows = rename_group(rows, level, rows[0][level], data.draw(NAMES))
            case "add":
                rows = insert_level(rows, data.draw(st.integers(0, height)))
            case "place":
                rows = add_values(rows, [f"n{len(rows)}"], data.draw(NAMES))
        assert sound(rows)
        assert len({row[0] for row in rows}) == len(rows)
