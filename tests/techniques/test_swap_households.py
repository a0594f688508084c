"""Households exchange their areas, and every area keeps its households, persons and matched variables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.model.errors import RepeatedVariable
from celosia.model.value_errors import WrongParameter
from celosia.techniques.errors import HouseholdMissing, HouseholdsApart, TechniqueRefuses
from celosia.techniques.swap_households import profiles
from tests.techniques.trials import cells, keeps_to_its_seed, rows, table, treated

GEOGRAPHY = ["region", "commune"]
STEP: dict[str, Any] = {"household": "home", "geography": GEOGRAPHY, "match": ["sex"], "risk": ["work"], "k": 2}
# A household: its commune, and the sex and work of each of its members.
HOUSEHOLDS = st.lists(
    st.tuples(
        st.sampled_from(["11", "12", "21", "22", "23"]),
        st.lists(st.tuples(st.sampled_from("mf"), st.sampled_from("xyz")), min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=25,
)
Homes = list[tuple[str, list[tuple[str, str]]]]


def census(homes: Homes) -> pa.Table:
    """One row per person."""
    people = [(str(i), commune, *who) for i, (commune, members) in enumerate(homes) for who in members]
    home, commune, sex, work = (list(column) for column in zip(*people, strict=True))
    return table(home=home, region=[area[0] for area in commune], commune=commune, sex=sex, work=work)


def homes_of(of: pa.Table) -> dict[str, tuple[set[str], tuple[str, ...]]]:
    """The areas and the matched members of each household."""
    found: dict[str, tuple[set[str], list[str]]] = {}
    for home, area, sex in zip(*(cells(of, name) for name in ("home", "commune", "sex")), strict=True):
        areas, members = found.setdefault(home, (set(), []))
        areas.add(area)
        members.append(sex)
    return {home: (areas, tuple(sorted(members))) for home, (areas, members) in found.items()}


@pytest.mark.requirement("A21")
@given(HOUSEHOLDS, st.sampled_from(["0.1", "0.5", "1"]), st.integers(2, 4), st.binary(max_size=4))
def test_every_area_keeps_its_households_persons_and_matched_variables(
    homes: Homes, rate: str, k: int, seed: bytes
) -> None:
    before = census(homes)
    after = treated(before, "swap_households", seed, **{**STEP, "rate": rate, "k": k}).table
    assert rows(after.select(["region", "commune", "sex"])) == rows(before.select(["region", "commune", "sex"]))
    was, now = homes_of(before), homes_of(after)
    assert all(len(areas) == 1 for areas, _ in now.values())
    profile_by_area = [Counter((min(a), members) for a, members in of.values()) for of in (was, now)]
    assert profile_by_area[0] == profile_by_area[1]
    assert after.select(["home", "sex", "work"]).equals(before.select(["home", "sex", "work"]))
    assert all(area[0] == region for area, region in zip(cells(after, "commune"), cells(after, "region"), strict=True))


@given(HOUSEHOLDS, st.binary(max_size=4))
def test_the_report_counts_what_moved_and_what_could_not(homes: Homes, seed: bytes) -> None:
    before = census(homes)
    done = treated(before, "swap_households", seed, **{**STEP, "rate": "0.2"})
    was, now = homes_of(before), homes_of(done.table)
    moved = {home for home in was if was[home] != now[home]}
    assert done.change.notes["households_moved"] == len(moved)
    people = Counter(zip(cells(before, "commune"), cells(before, "work"), strict=True))
    risky = {
        home
        for home, area, work in zip(*(cells(before, name) for name in ("home", "commune", "work")), strict=True)
        if people[area, work] < 2
    }
    assert done.change.notes["households_at_risk"] == len(risky)
    assert done.change.notes["households_at_risk_without_partner"] == len(risky - moved)
    left: Counter[tuple[str, ...]] = Counter()
    for home in risky - moved:  # whoever stayed found all others of the same profile taken or in his own area
        others = {min(was[o][0]) for o in was if o != home and was[o][1] == was[home][1] and o not in moved}
        left[home] = len(others - was[home][0])
    assert not any(left.values())


def test_households_at_risk_move_first_even_where_there_is_a_single_region() -> None:
    homes: Homes = [(area, [("m", "x"), ("f", "x")]) for area in ("11", "12") for _ in range(10)]
    homes[0] = ("11", [("m", "rare"), ("f", "x")])
    done = treated(census(homes), "swap_households", **{**STEP, "rate": "0.01"})
    assert done.change.notes["households_at_risk"] == 1
    assert homes_of(done.table)["0"][0] == {"12"}
    assert done.change.notes["households_moved"] == 2
    assert done.change.notes["households_at_risk_moved_within_their_area"] == 1


def test_chance_moves_the_share_asked_for() -> None:
    homes: Homes = [(area, [("m", "x")]) for area in ("11", "12", "21", "22") for _ in range(25)]
    done = treated(census(homes), "swap_households", **{**STEP, "rate": "0.3"})
    assert done.change.notes["households_moved"] == done.change.notes["households_wanted"] == 30
    assert done.change.cells_touched["commune"] == 30


def test_a_household_at_risk_in_its_region_leaves_the_region() -> None:
    homes: Homes = [(area, [("m", "x")]) for area in ("11", "12", "21", "22") for _ in range(5)]
    homes[0] = ("11", [("m", "rare")])
    done = treated(census(homes), "swap_households", **{**STEP, "rate": "0.01"})
    assert min(homes_of(done.table)["0"][0])[0] == "2"
    assert done.change.notes["households_at_risk_moved_within_their_area"] == 0


def test_a_household_at_risk_in_its_commune_alone_stays_in_the_region_if_it_can() -> None:
    homes: Homes = [(area, [("m", "x")]) for area in ("11", "12", "21", "22") for _ in range(5)]
    homes[0] = ("11", [("m", "rare")])
    homes[6] = ("12", [("m", "rare")])
    for seed in (b"1", b"2", b"3"):
        done = treated(census(homes), "swap_households", seed, **{**STEP, "rate": "0.01"})
        assert homes_of(done.table)["0"][0] == {"12"}


def test_a_household_without_partner_near_finds_one_far_away() -> None:
    homes: Homes = [("11", [("m", "rare")]), ("12", [("f", "rare")]), *[("21", [("m", "x")])] * 2]
    done = treated(census(homes), "swap_households", **{**STEP, "rate": "0.01"})
    assert homes_of(done.table)["0"][0] == {"21"}
    assert done.change.notes["households_at_risk_without_partner"] == 1


def test_households_of_an_unknown_area_stay() -> None:
    before = table(home=["1", "2", "3"], region=["A", "", "B"], commune=["A1", "*", "B1"])
    done = treated(before, "swap_households", household="home", geography=GEOGRAPHY, rate=1)
    assert cells(done, "commune") == ["B1", "*", "A1"]
    assert done.change.notes["households_without_area"] == 1


def test_profiles_are_sizes_and_multisets() -> None:
    household = np.array([0, 0, 1, 1, 2, 2, 3, 4, 4])
    member = np.array([5, 6, 6, 5, 5, 5, 5, 6, 5])
    found = profiles(household, member, 5).tolist()
    assert found[0] == found[1] == found[4]
    assert len(set(found)) == 3


def test_the_seed_decides_and_the_order_of_the_rows_does_not() -> None:
    homes: Homes = [(area, [("m", "xyz"[i % 3])]) for area in ("11", "12", "21", "22") for i in range(8)]
    assert keeps_to_its_seed(census(homes), "swap_households", **{**STEP, "rate": "0.5"})


def test_missing_households_are_refused_with_their_count() -> None:
    before = table(home=["1", "", "*", "2"], region=["A", "A", "A", "B"])
    with pytest.raises(HouseholdMissing, match="2 filas"):
        treated(before, "swap_households", household="home", geography=["region"])


def test_households_in_two_areas_are_refused_with_their_count() -> None:
    before = table(home=["1", "1", "2", "2", "3"], region=["A", "B", "A", "B", "A"])
    with pytest.raises(HouseholdsApart, match="2 hogares"):
        treated(before, "swap_households", household="home", geography=["region"])


def test_no_rows_and_one_row_are_accepted_and_only_missing_cells_are_not() -> None:
    for column in ([], ["1"]):
        before = table(home=column, region=column)
        done = treated(before, "swap_households", household="home", geography=["region"])
        assert done.table.equals(before)
        assert done.change.notes["households_moved"] == 0
    with pytest.raises(TechniqueRefuses, match="ningún valor"):
        treated(table(home=["", ""], region=["A", "B"]), "swap_households", household="home", geography=["region"])


@pytest.mark.parametrize("more", [{"rate": 0}, {"rate": "1.1"}, {"geography": []}, {"k": 1}])
def test_settings_that_do_not_fit_are_refused(more: dict[str, Any]) -> None:
    with pytest.raises(WrongParameter):
        treated(census([("11", [("m", "x")])]), "swap_households", **{**STEP, **more})


def test_areas_cannot_be_matched() -> None:
    with pytest.raises(RepeatedVariable):
        treated(census([("11", [("m", "x")])]), "swap_households", **{**STEP, "match": ["region"]})
