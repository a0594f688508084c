"""Two partial views of people, joined through the release."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from celosia.attacks.attack_input import AttackInput, Records, inverted_index, unchanged_column
from celosia.attacks.linkability import Pseudonyms, halves, rows_together, two_views
from celosia.kernels.queries import group_weight, lineup_weight
from tests.attacks.made_people import chance, people, plain_columns, untreated


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_groups_that_fit_both_views_are_counted_as_by_reading_every_record(seed: int) -> None:
    rng = chance(seed)
    codes, group, weight = rng.integers(0, 4, (24, 3)), np.sort(rng.integers(0, 10, 24)), rng.integers(1, 5, 10)
    begins, members = np.searchsorted(group, np.arange(11)), np.arange(24)
    sets = [rng.random((5, 4)) < 0.5 for _ in range(3)]
    left, right = rng.integers(-1, 5, (8, 3)), rng.integers(-1, 5, (8, 3))
    lineups = rng.integers(0, 8, (8, 4))

    def fit(query: np.ndarray) -> set[int]:
        rows = [all(q < 0 or sets[c][q, codes[row, c]] for c, q in enumerate(query)) for row in range(24)]
        return set(group[rows].tolist())

    index = inverted_index(codes, [sparse.csr_array(table) for table in sets])
    both = lineup_weight(index, left, lineups, right, group, begins, members, weight)
    alone = group_weight(index, right, group, weight)
    for q in range(8):
        assert alone[q] == sum(weight[g] for g in fit(right[q]))
        for place in range(4):
            assert both[q, place] == sum(weight[g] for g in fit(left[q]) & fit(right[lineups[q, place]]))


@pytest.mark.requirement("M28")
def test_views_of_an_untreated_file_are_joined_and_those_of_outsiders_are_not() -> None:
    found = two_views(untreated(2, controls=300), chance(3))
    assert found.works
    assert found.rate is not None
    assert found.control_rate is not None
    assert found.rate > 0.5
    assert found.control_rate < 0.2  # one in ten by luck


def test_views_of_a_release_without_the_link_are_not_joined() -> None:
    scene = untreated(2, controls=300)
    codes = scene.released.codes.copy()
    codes[:, 2:] = chance(1).permutation(codes[:, 2:], axis=0)
    found = two_views(
        replace(scene, released=Records(codes)), chance(3), left=("edad", "comuna"), right=("ocupacion", "causa")
    )
    assert not found.works


def test_the_columns_are_split_in_two_views_of_like_strength() -> None:
    codes = np.column_stack([np.arange(60) % size for size in (2, 50, 40, 3)])
    columns = tuple(unchanged_column(name, 60) for name in "abcd")
    assert halves(AttackInput(columns, Records(codes), Records(codes))) == (("a", "b"), ("c", "d"))


def _visits(seed: int = 1) -> tuple[AttackInput, Pseudonyms]:
    """150 people with three records each, nothing alike between them, under one pseudonym."""
    persons = np.repeat(np.arange(150), 3)
    records = Records(people(450, chance(seed)), persons)
    return AttackInput(plain_columns(), records, records), Pseudonyms("clave", persons)


@pytest.mark.requirement("M28")
def test_a_repeated_pseudonym_raises_linkability() -> None:
    scene, names = _visits()
    with_name, without = two_views(scene, chance(2), pseudonyms=names), two_views(scene, chance(2))
    together = rows_together(scene, chance(2), names)
    assert together.works
    assert together.remedy == "clave"
    assert together.persons > 100
    assert with_name.works
    assert without.works


def test_a_new_pseudonym_on_every_record_joins_nothing() -> None:
    scene, names = _visits()
    found = rows_together(scene, chance(2), replace(names, codes=np.arange(450)))
    assert (found.rate, found.reason) == (None, "no_repeated_pseudonym")


def test_people_with_one_record_have_none_to_join() -> None:
    found = rows_together(untreated(1), chance(2), Pseudonyms("clave", np.zeros(400, np.int64)))
    assert found.reason == "one_record_each"


def test_one_column_is_not_two_views() -> None:
    scene = untreated(1).select_columns(["edad"])
    assert two_views(scene, chance(1)).reason == "one_view_only"


def test_one_person_makes_no_line_up() -> None:
    one = Records(np.zeros((1, 4), np.int64))
    found = two_views(AttackInput(plain_columns(), one, one), chance(1))
    assert (found.rate, found.reason) == (None, "too_few_people")


def test_the_same_seed_gives_the_same_estimate() -> None:
    scene = untreated(2, controls=100)
    assert two_views(scene, chance(3)) == two_views(scene, chance(3))
