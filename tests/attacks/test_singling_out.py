"""Predicates off the release that isolate one person of the original."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from celosia.attacks.attack_input import AttackInput, PublishedColumn, Records, inverted_index, unchanged_column
from celosia.attacks.singling_out import draw_labels, singling_out
from celosia.kernels.queries import sole_persons
from tests.attacks.made_people import banded_columns, chance, people, recoded, untreated


def _scene(released: list[list[int]], original: list[list[int]], columns: tuple[PublishedColumn, ...]) -> AttackInput:
    return AttackInput(columns, Records(np.array(released)), Records(np.array(original)))


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_the_only_person_of_a_query_is_found_as_by_reading_every_record(seed: int) -> None:
    rng = chance(seed)
    codes, persons = rng.integers(0, 5, (30, 3)), rng.integers(0, 20, 30)
    sets = [rng.random((6, 5)) < 0.4 for _ in range(3)]
    queries = rng.integers(-1, 6, (25, 3))
    found = sole_persons(inverted_index(codes, [sparse.csr_array(table) for table in sets]), queries, persons)
    for query, answer in zip(queries, found, strict=True):
        holding = [all(q < 0 or sets[c][q, codes[row, c]] for c, q in enumerate(query)) for row in range(30)]
        who = set(persons[holding].tolist())
        assert answer == (-1 if not who else who.pop() if len(who) == 1 else -2)


@pytest.mark.requirement("M28")
def test_a_unique_tuple_raises_singling_out() -> None:
    found = singling_out(untreated(1, controls=200), chance(2))
    assert (found.rate, found.control_rate) == (1.0, 0.0)
    assert found.works
    assert found.persons == found.detail["alone"]


def test_people_in_pairs_are_not_singled_out() -> None:
    scene = untreated(1, controls=200)
    twice = Records(np.repeat(scene.original.codes, 2, axis=0))
    found = singling_out(replace(scene, released=twice, original=twice), chance(2))
    assert not found.works
    assert found.persons == 0


def test_a_generalised_label_still_isolates_its_only_bearer() -> None:
    """Nobody but one is 90 or over; ages are published in bands."""
    bands = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool))  # labels: under and over 90
    columns = (PublishedColumn("edad", bands), unchanged_column("sexo", 2))
    original = [[0, 0], [1, 0], [0, 1], [1, 1], [3, 1]]
    released = [[0, 0], [0, 0], [0, 1], [0, 1], [1, 1]]
    tried = [singling_out(_scene(released, original, columns), chance(seed)) for seed in range(9)]
    assert {(found.attempts, found.successes) for found in tried} == {(0, 0), (1, 1)}  # attacked, or set apart


def test_a_label_alone_in_the_release_that_covers_two_people_isolates_nobody() -> None:
    masked = sparse.csr_array(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], bool))
    columns = (PublishedColumn("comuna", masked),)
    found = singling_out(_scene([[0], [0], [1], [1], [3]], [[0], [0], [1], [1], [2]], columns), chance(1))
    assert found.successes == 0


def test_several_records_of_one_person_are_one_person() -> None:
    columns = (unchanged_column("edad", 3), unchanged_column("sexo", 2))
    records = Records(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), np.array([0, 0, 1, 2]))
    tried = [singling_out(AttackInput(columns, records, records), chance(seed)) for seed in range(9)]
    assert {(found.attempts, found.successes) for found in tried} == {(0, 0), (1, 1)}  # attacked, or set apart
    assert {found.detail["alone"] for found in tried if found.measured} == {1}


def test_the_remedy_is_the_column_that_isolates() -> None:
    rng = chance(4)
    codes = np.column_stack([rng.integers(0, 2, 300), np.arange(300), rng.integers(0, 3, 300)])
    columns = (unchanged_column("sexo", 2), unchanged_column("hora", 300), unchanged_column("zona", 3))
    assert singling_out(AttackInput(columns, Records(codes), Records(codes)), rng).remedy == "hora"


def test_people_held_out_get_the_labels_that_the_release_uses() -> None:
    """Ages 0-1 are always published in a band, 2 sometimes, 3 never."""
    covers = sparse.csr_array(np.array([[1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1]], bool))
    original = np.repeat([0, 1, 2, 3], 300)
    released = np.where(original < 2, 0, np.where(original == 3, 2, np.arange(1200) % 2))
    drawn = draw_labels(covers, released, original, original, chance(1))
    assert set(drawn[original < 2]) == {0}
    assert set(drawn[original == 3]) == {2}
    assert set(drawn[original == 2]) == {0, 1}


def test_local_recoding_is_attacked_through_its_labels() -> None:
    rng = chance(3)
    original = people(500, rng)
    scene = AttackInput(banded_columns(), Records(recoded(original, rng)), Records(original), Records(people(300, rng)))
    found = singling_out(scene, rng)
    assert found.works
    assert found.successes > 0.5 * found.attempts


def test_the_same_seed_gives_the_same_estimate() -> None:
    scene = untreated(1, controls=200)
    assert singling_out(scene, chance(7), attempts=50) == singling_out(scene, chance(7), attempts=50)


@pytest.mark.parametrize(("rows", "reason"), [(0, "empty_release"), (40, "nobody_alone")])
def test_where_nothing_can_be_tried_the_reason_is_said(rows: int, reason: str) -> None:
    codes = np.zeros((rows, 1), np.int64)
    found = singling_out(AttackInput((unchanged_column("sexo", 2),), Records(codes), Records(codes)), chance(1))
    assert (found.rate, found.reason) == (None, reason)
