"""The transformers of `celosia.sklearn`: scikit-learn's own checks, and what each promises."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from celosia.model.value_errors import ValueOutOfRange
from celosia.sklearn import (
    Generalization,
    Microaggregation,
    Noise,
    Pram,
    TopBottomCoding,
    invariant_matrix,
)

TRANSFORMERS = (Microaggregation(), Noise(), Pram(), TopBottomCoding(), Generalization())


def numbers(rows: int = 200, columns: int = 3) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(rows, columns)).round(2)


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda one: type(one).__name__)
def test_a_transformer_passes_the_checks_of_scikit_learn(transformer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(transformer, on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert sum(result["status"] == "passed" for result in results) > 30


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_comes_out_with_the_names_that_went_in(transformer, library):
    frame = pytest.importorskip(library).DataFrame({"edad": numbers()[:, 0], "ingreso": numbers()[:, 1]})
    treated = clone(transformer).set_output(transform=library).fit_transform(frame)
    assert type(treated) is type(frame)
    assert list(treated.columns) == ["edad", "ingreso"]
    assert list(clone(transformer).fit(frame).get_feature_names_out()) == ["edad", "ingreso"]


@pytest.mark.parametrize("k", [2, 3, 7])
def test_microaggregation_publishes_no_row_of_fewer_than_k(k):
    treated = Microaggregation(k=k).fit_transform(numbers())
    _, sizes = np.unique(treated, axis=0, return_counts=True)
    assert sizes.min() >= k
    assert len(sizes) > 5
    np.testing.assert_allclose(treated.mean(axis=0), numbers().mean(axis=0))


def test_a_row_is_treated_alike_alone_and_among_others():
    fitted = Microaggregation(k=3).fit(numbers())
    whole = fitted.transform(numbers())
    np.testing.assert_array_equal(fitted.transform(numbers()[7:8]), whole[7:8])


def test_noise_is_the_same_again_on_the_same_table_and_other_on_another():
    noise = Noise(level=0.5, random_state=3).fit(numbers())
    first = noise.transform(numbers())
    np.testing.assert_array_equal(first, noise.transform(numbers()))
    np.testing.assert_array_equal(first, clone(noise).fit_transform(numbers()))
    assert not np.array_equal(first, clone(noise).set_params(random_state=4).fit_transform(numbers()))
    changed = numbers()
    changed[0, 0] += 1
    assert not np.array_equal(first[1:], noise.transform(changed)[1:])
    moved = (first - numbers()).std(axis=0) / numbers().std(axis=0)
    np.testing.assert_allclose(moved, 0.5, rtol=0.2)


def test_noise_without_a_state_is_fresh_with_every_fit():
    assert not np.array_equal(Noise().fit_transform(numbers()), Noise().fit_transform(numbers()))


def test_pram_keeps_categories_and_frequencies_in_expectation():
    shares = np.array([0.6, 0.3, 0.1])
    np.testing.assert_allclose(shares @ invariant_matrix(shares, 0.7), shares)
    column = np.repeat([[1.0], [2.0], [30.0]], [6000, 3000, 1000], axis=0)
    treated = Pram(stay=0.7, random_state=1).fit_transform(column)
    assert set(np.unique(treated)) == {1.0, 2.0, 30.0}
    assert (treated != column).mean() > 0.1
    np.testing.assert_allclose(np.unique(treated, return_counts=True)[1] / 10_000, shares, atol=0.02)


def test_top_and_bottom_are_values_with_a_tail():
    column = np.arange(100.0)[:, None]
    treated = TopBottomCoding(bottom=0.0, top=1.0, tail=4).fit_transform(column)
    assert treated.min() == 3
    assert treated.max() == 96
    assert (treated == 3).sum() == (treated == 96).sum() == 4


@pytest.mark.parametrize("level", [0, 1, 3])
def test_every_interval_has_k_rows_and_a_level_joins_two(level):
    treated = Generalization(k=5, level=level).fit_transform(numbers()[:, :1])
    sizes = np.unique(treated, return_counts=True)[1]
    assert sizes.min() >= 5
    finest = len(np.unique(Generalization(k=5).fit_transform(numbers()[:, :1])))
    assert len(sizes) == -(-finest // 2**level)


@pytest.mark.parametrize("transformer", [Microaggregation(k=3), TopBottomCoding(), Generalization(k=5)])
def test_a_pickled_transformer_holds_no_row(transformer):
    values = np.random.default_rng(6).normal(size=(200, 3))
    fitted = pickle.loads(pickle.dumps(transformer.fit(values)))
    learned = [np.ravel(part) for part in vars(fitted).values() if isinstance(part, np.ndarray)]
    # A top and bottom coding holds the two bounds of each column, and no other value of a row.
    assert sum(np.isin(part, values).sum() for part in learned) <= 6


def test_a_transformer_stands_in_a_pipeline():
    made = make_pipeline(StandardScaler(), Microaggregation(k=4)).fit_transform(numbers())
    assert made.shape == (200, 3)


@pytest.mark.parametrize(
    "transformer", [Microaggregation(k=1), Noise(level=0), Pram(stay=1), TopBottomCoding(0.9, 0.1), Generalization(k=0)]
)
def test_a_parameter_out_of_range_is_our_own_error(transformer):
    with pytest.raises(ValueOutOfRange):
        transformer.fit(numbers())
