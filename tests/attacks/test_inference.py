"""A sensitive value guessed through the release: by its class, when sure, and by a model that remembers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from celosia.attacks.attack_input import AttackInput, PublishedColumn, Records, inverted_index, unchanged_column
from celosia.attacks.guesses import NaiveBayes, guess, training_data
from celosia.attacks.inference import inference, persons_in_homogeneous_classes
from celosia.kernels.queries import tally_values
from celosia.model.reports.attacks import Control, Estimate
from tests.attacks.made_people import chance, untreated


def by_name(found: tuple[Estimate, ...]) -> dict[str, Estimate]:
    """The estimates under the names of their attacks."""
    return {one.attack: one for one in found}


@settings(max_examples=40)
@given(st.integers(0, 10_000))
def test_the_values_of_a_class_are_counted_as_by_reading_every_record(seed: int) -> None:
    rng = chance(seed)
    codes, values, folds = rng.integers(0, 4, (24, 2)), rng.integers(-1, 3, 24), rng.integers(0, 3, 24)
    weight, sets = rng.integers(1, 5, 24).astype(float), [rng.random((5, 4)) < 0.5 for _ in range(2)]
    queries, left_out = rng.integers(-1, 5, (9, 2)), rng.integers(-1, 3, 9)
    index = inverted_index(codes, [sparse.csr_array(table) for table in sets])
    found = tally_values(index, queries, left_out, folds, values, weight, 3)
    for q, query in enumerate(queries):
        expected = np.zeros(3)
        for row in range(24):
            fits = all(code < 0 or sets[c][code, codes[row, c]] for c, code in enumerate(query))
            if fits and values[row] >= 0 and (left_out[q] < 0 or folds[row] != left_out[q]):
                expected[values[row]] += weight[row]
        assert found[q].tolist() == expected.tolist()


def test_the_model_is_naive_bayes_smoothed_by_one_person() -> None:
    rng = chance(3)
    codes, values = rng.integers(0, 3, (60, 2)), rng.integers(0, 2, 60)
    columns = (unchanged_column("a", 3), unchanged_column("b", 3))
    learnt = training_data(columns, Records(codes), values, np.zeros(60, np.int64), 2)
    model = NaiveBayes.of(learnt, [column.covers for column in columns], -1)
    by_hand = []
    for value in range(2):
        mine = codes[values == value]
        terms = [((mine[:, c] == 1).sum() + (codes[:, c] == 1).mean()) / (len(mine) + 1) for c in range(2)]
        by_hand.append(len(mine) * np.prod(terms))
    assert model.posterior(np.array([[1, 1]]))[0] == pytest.approx(np.array(by_hand) / sum(by_hand))


@pytest.mark.requirement("M28")
def test_a_class_of_one_mind_raises_inference() -> None:
    """Two places: in one everybody has the same diagnosis, in the other four in ten have another. Nobody is alone."""
    place = np.repeat([0, 1], [400, 600])
    cause = np.where(place == 0, 0, np.array([1, 1, 2, 3, 4])[np.arange(1000) % 5])
    records = Records(np.column_stack([place, cause]), np.arange(1000))
    columns = (unchanged_column("comuna", 2), unchanged_column("causa", 5))
    found = by_name(inference(AttackInput(columns, records, records), "causa", chance(1)))
    sure = found["homogeneous_class"]
    assert sure.rate == 1.0
    assert sure.works
    assert sure.detail["persons_in_homogeneous_classes"] == 400
    assert found["class_majority"].works
    assert not found["learned_model"].works  # nobody's own record tells more than the records of the others
    assert found["learned_model"].control is Control.WITHOUT_RECORD
    assert sure.remedy == "comuna"


@pytest.mark.requirement("M28")
def test_no_column_is_called_a_remedy_that_makes_no_difference() -> None:
    """A column of one value comes first; the place tells most; nobody's class is of one mind."""
    place, rare = np.repeat([0, 1], [400, 600]), np.arange(1000) % 10 == 0
    cause = np.where(place == 0, rare, 2 + rare)
    records = Records(np.column_stack([np.zeros(1000, np.int64), place, cause]), np.arange(1000))
    columns = (unchanged_column("año", 1), unchanged_column("comuna", 2), unchanged_column("causa", 4))
    found = by_name(inference(AttackInput(columns, records, records), "causa", chance(1)))
    assert found["class_majority"].works
    assert found["class_majority"].remedy == "comuna"
    assert found["homogeneous_class"].remedy is None


def test_a_homogeneous_class_is_held_against_people_held_out() -> None:
    found = by_name(inference(untreated(1, controls=300), "causa", chance(2)))
    assert {one.control for one in found.values()} == {Control.HELD_OUT}
    assert found["homogeneous_class"].rate == 1.0
    assert all(one.works for one in found.values())


@pytest.mark.requirement("M28")
def test_habits_that_people_share_are_no_disclosure() -> None:
    """The disease follows from the place, with exceptions, in large classes: others tell as much as oneself."""
    rng = chance(5)
    place = rng.integers(0, 10, 5_000)
    cause = np.where(rng.random(5_000) < 0.8, place % 4, rng.integers(0, 4, 5_000))
    records = Records(np.column_stack([place, cause]), np.arange(5_000))
    columns = (unchanged_column("comuna", 10), unchanged_column("causa", 4))
    model = by_name(inference(AttackInput(columns, records, records), "causa", rng))["learned_model"]
    assert model.control_rate is not None
    assert model.control_rate > 0.7
    assert not model.works


def test_who_is_alone_is_remembered_by_the_model() -> None:
    model = by_name(inference(untreated(4), "causa", chance(5)))["learned_model"]
    assert model.control is Control.WITHOUT_RECORD
    assert model.works


def test_a_label_right_for_everybody_is_never_a_guess() -> None:
    """Every sensitive value is masked: there is nothing to guess."""
    covers = sparse.csr_array(np.array([[1, 0], [0, 1], [1, 1]], bool))
    columns = (unchanged_column("comuna", 2), PublishedColumn("causa", covers))
    scene = AttackInput(columns, Records(np.full((9, 2), [0, 2])), Records(np.zeros((9, 2), np.int64)))
    assert {one.reason for one in inference(scene, "causa", chance(1))} == {"no_sensitive_value"}


def test_a_chapter_is_a_right_guess_for_its_diagnoses() -> None:
    """Diagnoses 0-1 are published as chapter 0, 2-3 as chapter 1; each place has one chapter."""
    covers = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool))
    place = np.arange(200) % 2
    original = np.column_stack([place, 2 * place + np.arange(200) // 2 % 2])
    scene = AttackInput(
        (unchanged_column("comuna", 2), PublishedColumn("causa", covers)),
        Records(np.column_stack([place, place])),
        Records(original),
    )
    assert by_name(inference(scene, "causa", chance(1)))["class_majority"].rate == 1.0


def test_a_target_is_found_through_generalised_labels() -> None:
    bands = sparse.csr_array(np.array([[1, 1, 0, 0], [0, 0, 1, 1]], bool))
    columns, codes = (PublishedColumn("edad", bands),), np.array([[0], [0], [1]])
    learnt = training_data(columns, Records(codes), np.array([0, 0, 1]), np.zeros(3, np.int64), 2)
    found = guess(learnt, np.array([[1], [3]]), np.array([-1, -1]))
    assert found.majority.tolist() == [0, 1]
    assert found.sure.all()


def test_many_records_of_one_person_count_once() -> None:
    """One person with three records does not outvote two persons."""
    codes = np.zeros((5, 1), np.int64)
    learnt = training_data(
        (unchanged_column("edad", 1),), Records(codes, np.array([0, 0, 0, 1, 2])), np.array([0, 0, 0, 1, 1]),
        np.zeros(5, np.int64), 2,
    )  # fmt: skip
    assert guess(learnt, np.zeros((1, 1), np.int64), np.array([-1])).majority.tolist() == [1]


def test_people_in_classes_of_one_mind_are_counted_as_persons() -> None:
    codes, values = np.array([[0], [0], [1], [1], [2]]), np.array([3, 3, 1, 2, -1])
    assert persons_in_homogeneous_classes(Records(codes, np.array([7, 7, 1, 2, 3])), values) == 1


def test_the_same_seed_gives_the_same_estimates() -> None:
    scene = untreated(2)
    assert inference(scene, "causa", chance(3)) == inference(scene, "causa", chance(3))


def test_without_the_persons_the_model_is_held_against_the_margins() -> None:
    scene = untreated(2)
    hidden = replace(scene, released=Records(scene.released.codes))
    assert by_name(inference(hidden, "causa", chance(3)))["learned_model"].control is Control.MARGINS


def test_with_nothing_known_nothing_is_tried() -> None:
    found = inference(untreated(1), "causa", chance(1), known=())
    assert {(one.rate, one.reason) for one in found} == {(None, "nothing_known")}
