"""MDAV over the tree equals MDAV by scanning, whatever the table; optimal cuts equal the best of all cuts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.kernels import groups, mdav

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]


def whole(points: Floats) -> Longs:
    """One segment: all the records."""
    return np.array([0, len(points)])


def by_tree(points: Floats, k: int) -> Longs:
    """Groups by the kernel."""
    label = np.empty(len(points), np.int64)
    mdav.mdav_segments(points, whole(points), 0, 1, k, label)
    return label


def distances(points: Floats, target: Floats) -> Floats:
    """Squared distances, added column by column."""
    total = np.zeros(len(points))
    for axis in range(points.shape[1]):
        total += (points[:, axis] - target[axis]) ** 2
    return total


def by_scanning(points: Floats, k: int) -> Longs:
    """MDAV as it is described: every round looks at every record left, lowest rank first."""
    label, left, group = np.full(len(points), -1), np.arange(len(points)), 0
    fixed = np.rint(points * 2.0**32).astype(np.int64)

    def farthest(target: Floats) -> int:
        return int(left[np.argmax(distances(points[left], target))])

    def group_nearest(around: int) -> Longs:
        nearest = left[np.argsort(distances(points[left], points[around]), kind="stable")[:k]]
        label[nearest] = group
        return left[label[left] < 0]

    while len(left) >= 2 * k:
        farthest_record = farthest(fixed[left].sum(axis=0) / (len(left) * 2.0**32))
        left, group = group_nearest(farthest_record), group + 1
        if len(left) >= 2 * k:
            left, group = group_nearest(farthest(points[farthest_record])), group + 1
    label[left] = group
    return label


@st.composite
def tables(draw: st.DrawFn) -> Floats:
    """Points in few or many places, some columns constant, from one record to a few hundred."""
    rows, columns = draw(st.integers(1, 300)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    places = draw(st.sampled_from((1, 2, 5, 30, 0)))
    points = rng.integers(0, places, (rows, columns)).astype(float) if places else rng.normal(size=(rows, columns))
    points[:, rng.random(columns) < 0.2] = 7.0
    return np.asarray(mdav.standard_scores(points, whole(points)))


@pytest.mark.requirement("A19")
@settings(max_examples=150)
@given(tables(), st.integers(2, 12))
def test_the_tree_gives_the_groups_of_a_scan(points: Floats, k: int) -> None:
    assert np.array_equal(by_tree(points, k), by_scanning(points, k))


def test_a_larger_table_with_many_equal_records_gives_the_groups_of_a_scan() -> None:
    raw = np.random.default_rng(8).integers(0, 4, (3000, 3)).astype(float)
    points = mdav.standard_scores(raw, whole(raw))
    assert np.array_equal(by_tree(points, 5), by_scanning(points, 5))


@given(tables(), st.integers(2, 8))
def test_groups_have_k_to_two_k_less_one_records(points: Floats, k: int) -> None:
    sizes = np.bincount(by_tree(points, k))
    assert len(points) < k or (sizes.min() >= k and sizes.max() < 2 * k)


@given(tables(), st.integers(4, 60))
def test_blocks_are_cut_at_the_median_and_keep_their_order(points: Floats, block: int) -> None:
    order, starts = mdav.split_segments(points, whole(points), block, block)
    assert sorted(order) == list(range(len(points)))
    sizes = np.diff(starts)
    assert sizes.max() <= block
    assert len(points) <= block or sizes.min() >= block // 2
    assert all(np.all(np.diff(order[a:b]) > 0) for a, b in pairwise(starts))


def test_segments_do_not_see_each_other() -> None:
    points = np.random.default_rng(3).normal(size=(90, 2))
    label = np.empty(90, np.int64)
    mdav.mdav_segments(points, np.array([0, 40, 90]), 0, 2, 3, label)
    assert np.array_equal(label[:40], by_tree(points[:40].copy(), 3))
    assert np.array_equal(label[40:] - 40, by_tree(points[40:].copy(), 3))


@pytest.mark.parametrize("size", [1e308, 1e-308, 5e-324])
def test_scores_of_the_largest_and_smallest_numbers_are_finite(size: float) -> None:
    values = np.array([[-1.0], [1.0], [1.0], [-1.0]]) * size
    assert mdav.standard_scores(values, whole(values))[:, 0].tolist() == [-1.0, 1.0, 1.0, -1.0]


def test_a_constant_column_has_score_zero_whatever_its_digits() -> None:
    values = np.full((7, 1), 0.1)
    assert not mdav.standard_scores(values, whole(values)).any()


def every_cut(rows: int, k: int) -> Iterator[list[int]]:
    """Sizes of consecutive groups, each of k rows or more."""
    if rows >= k:
        yield [rows]
    for first in range(k, rows - k + 1):
        for rest in every_cut(rows - first, k):
            yield [first, *rest]


def squared_error(values: Floats, sizes: list[int]) -> float:
    """Squared differences from the means of the groups."""
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return float(sum(((part - part.mean()) ** 2).sum() for part in parts))


@pytest.mark.requirement("A19")
@given(st.lists(st.integers(-20, 20), min_size=2, max_size=16), st.integers(2, 5))
def test_one_column_is_cut_as_well_as_any_partition(numbers: list[int], k: int) -> None:
    values = np.sort(np.array(numbers, float))
    if len(values) < k:
        return
    label = np.empty(len(values), np.int64)
    groups.optimal_segments(values, whole(values), k, label)
    sizes = np.unique(label, return_counts=True)[1]
    best = min(squared_error(values, cut) for cut in every_cut(len(values), k))
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert squared_error(values, sizes.tolist()) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("values", [[0.1] * 3, [1e308] * 5, [-1e308, 1e308, 1e308], [5e-324] * 3])
def test_a_mean_lies_within_its_group(values: list[float]) -> None:
    (mean,) = groups.group_means(np.array(values), np.array([0, len(values)]))
    assert min(values) <= mean <= max(values)


def test_median_and_mode_of_groups() -> None:
    values, starts = np.array([1.0, 2.0, 4.0, 9.0, 3.0, 5.0, 5.0, 5.5, 1e308, 1e308]), np.array([0, 4, 8, 10])
    assert groups.group_medians(values, starts).tolist() == [3.0, 5.0, 1e308]
    assert groups.group_modes(values, starts).tolist() == [1.0, 5.0, 1e308]
