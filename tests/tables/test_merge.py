"""Small categories become Otros, and Otros reaches k or nothing is shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.tables.merge import Merge, free_label, merge_small

People = dict[str, set[int]]


def merged(people: People, k: int) -> Merge:
    def recount(labels: Sequence[str]) -> int:
        return len(set().union(*(people[label] for label in labels)))

    return merge_small({label: len(persons) for label, persons in people.items()}, k, recount, "Otros")


def apart(**counts: int) -> People:
    return {label: {hash((label, n)) for n in range(count)} for label, count in counts.items()}


@pytest.mark.requirement("Y17")
def test_b_and_c_become_seven_others() -> None:
    assert merged(apart(A=12, B=3, C=4), 5) == Merge("Otros", ("B", "C"), 7)


@pytest.mark.requirement("Y17")
def test_where_only_others_would_be_left_both_are_hidden() -> None:
    assert merged(apart(A=12, B=3), 5) == Merge("Otros", suppressed=("B", "A"))


@pytest.mark.requirement("Y17")
def test_the_next_smallest_joins_until_others_reach_k() -> None:
    assert merged(apart(A=12, B=3, D=20), 5) == Merge("Otros", ("B", "A"), 15)


@pytest.mark.requirement("Y17")
def test_three_and_four_people_may_be_four() -> None:
    people = {"A": set(range(100, 112)), "B": {1, 2, 3}, "C": {1, 2, 3, 4}, "D": set(range(200, 230))}
    assert merged(people, 5) == Merge("Otros", ("B", "C", "A"), 16)


@pytest.mark.requirement("Y17")
def test_a_category_that_is_already_called_others_is_left_alone() -> None:
    made = merged(apart(Otros=12, B=3, C=4), 5)
    assert made == Merge("Otros (2)", ("B", "C"), 7)
    assert free_label("Otros", {"Otros", "Otros (2)"}) == "Otros (3)"


def test_nothing_small_nothing_merged_and_the_empty_stay() -> None:
    assert merged(apart(A=12, B=5) | {"Z": set()}, 5) == Merge("Otros")
    assert merged(apart(A=12, B=3, C=4) | {"Z": set()}, 5).joined == ("B", "C")


@given(st.dictionaries(st.sampled_from("ABCDEFG"), st.sets(st.integers(0, 12)), min_size=1), st.integers(2, 6))
def test_what_is_left_reaches_k_or_is_hidden(people: People, k: int) -> None:
    made = merged(people, k)
    left = [label for label in people if people[label] and label not in made.joined + made.suppressed]
    assert all(len(people[label]) >= k for label in left)
    if made.joined:
        assert made.persons == len(set().union(*(people[label] for label in made.joined))) >= k
        assert len(made.joined) > 1
        assert left


@pytest.mark.requirement("Y17")
def test_five_categories_of_one_person_are_not_merged_into_five() -> None:
    made = merged(apart(A=1, B=1, C=1, D=1, E=1, F=6, G=30), 5)
    assert made == Merge("Otros", ("A", "B", "C", "D", "E", "F"), 11)
    assert merged(apart(A=5, B=4, C=4), 5).suppressed == ("B", "C", "A")  # 8 would be 4 and 4


@pytest.mark.requirement("Y17")
@pytest.mark.parametrize(("k", "categories", "most"), [(3, 4, 6), (4, 3, 9), (4, 4, 6), (5, 3, 11)])
def test_who_knows_the_rule_cannot_tell_the_members_of_others(k: int, categories: int, most: int) -> None:
    """Every filling is merged; those that look alike must leave each small category two counts or more."""
    alike: dict[object, list[tuple[int, ...]]] = {}
    for counts in product(range(1, most + 1), repeat=categories):
        named = dict(zip("ABCDEF", counts, strict=False))
        made = merge_small(named, k, lambda labels, named=named: sum(named[label] for label in labels), "Otros")
        if made.joined:
            left = tuple((label, count) for label, count in named.items() if label not in made.joined)
            alike.setdefault((frozenset(made.joined), made.persons, left), []).append(counts)
    assert len(alike) > 20
    for fillings in alike.values():
        for column in zip(*fillings, strict=True):
            assert min(column) >= k or len(set(column)) > 1
