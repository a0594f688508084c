"""Roll-ups against plain NumPy, whichever way the classes are found."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.kernels import judge, lattice, rollup


def source(rows: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Keys of two variables of three and four bits, and rows."""
    rng = np.random.default_rng(3)
    return rng.integers(0, 128, rows).astype(np.uint64), rng.integers(1, 9, rows)


COARSE = np.array([0, 0, 0, 3, 3, 5, 5, 5]), np.arange(16) // 4 * 4  # first leaf of each group
DENSE = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.arange(16) // 4


def places() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets, shifts and masks of the two lookups."""
    return np.array([0, 8]), np.array([0, 3], np.uint64), np.array([7, 15], np.uint64)


def roll_up_by(way: str, keys: np.ndarray, rows: np.ndarray, slot: np.ndarray, start: int) -> tuple:
    """One roll-up by each of the kernels."""
    buffers = np.empty(len(keys), np.uint64), np.empty(len(keys), np.int64)
    if way == "direct":
        address = np.concatenate(DENSE).astype(np.int32)
        return rollup.roll_direct(keys, rows, address, *places(), np.array([1, 3]), True, *buffers, slot, start)
    if way == "hash":
        leading = np.concatenate([COARSE[0], COARSE[1] << 3]).astype(np.uint64)
        address = np.concatenate(DENSE).astype(np.int32)
        return rollup.roll_hash(keys, rows, leading, address, *places(), 3, True, *buffers, slot, start)
    codes = np.stack([keys & np.uint64(7), keys >> np.uint64(3)], axis=1).astype(np.int32)
    leading = np.zeros((2, 1, 16), np.int64)
    leading[0, 0, :8], leading[1, 0] = COARSE
    numbers = np.arange(len(keys), dtype=np.uint64)
    return rollup.roll_wide(numbers, rows, codes, leading, np.zeros(2, np.int64), 11, *buffers, slot, start)


@pytest.mark.parametrize("way", ["direct", "hash", "wide"])
def test_classes_and_rows_are_those_of_plain_grouping(way: str) -> None:
    keys, rows = source()
    first, second = keys & np.uint64(7), keys >> np.uint64(3)
    expected = DENSE[0][first.astype(int)] * 4 + DENSE[1][second.astype(int)]
    label, out_keys, out_rows = roll_up_by(way, keys, rows, np.zeros(4096, np.int32), 1)
    pairs = {(int(a), int(b)) for a, b in zip(label, expected, strict=True)}
    assert len(pairs) == len(out_keys) == len(set(expected.tolist()))
    assert np.array_equal(np.bincount(label, rows).astype(int), out_rows)


@pytest.mark.parametrize("way", ["direct", "hash", "wide"])
def test_slots_left_by_an_earlier_call_count_as_empty(way: str) -> None:
    keys, rows = source()
    slot = np.zeros(4096, np.int32)
    once = roll_up_by(way, keys, rows, slot, 1)
    again = roll_up_by(way, keys[::-1].copy(), rows[::-1].copy(), slot, 1 + len(once[1]))
    assert sorted(once[2]) == sorted(again[2])


@pytest.mark.parametrize("followed", [True, False], ids=["followed", "densely"])
def test_value_counts_are_those_of_plain_counting(followed: bool) -> None:
    rng = np.random.default_rng(4)
    label = rng.integers(0, 7, 60).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 5, 60))])
    values = rng.integers(0, 9, offsets[-1]).astype(np.int32)
    counts = rng.integers(1, 4, offsets[-1])
    where = np.empty(len(values) if followed else 0, np.int32)
    out_offsets, out_values, out_counts = rollup.roll_values(label, 7, offsets, values, counts, 9, where)
    owner = np.repeat(label, np.diff(offsets))
    for c in range(7):
        mine = slice(out_offsets[c], out_offsets[c + 1])
        expected = np.bincount(values[owner == c], counts[owner == c], 9)
        counted = np.zeros(9)
        counted[out_values[mine]] = out_counts[mine]
        assert np.array_equal(counted, expected)
    if followed:
        assert np.array_equal(out_values[where], values)


def test_keys_hold_the_leaf_of_each_code() -> None:
    codes = np.array([[0, 2], [1, 0], [1, 1]], np.int32)
    leaf, begin = np.array([1, 0, 5, 6, 7]), np.array([0, 2, 5])
    keys = rollup.pack_keys(codes, leaf, begin, np.array([3, 0], np.uint64))
    assert keys.tolist() == [(1 << 3) + 7, 5, 6]
    assert rollup.count_codes(codes, np.array([4, 2, 1]), begin).tolist() == [4, 3, 2, 1, 4]


def test_a_lookup_gives_the_first_leaf_and_the_address_of_each_pattern() -> None:
    leading, dense = np.zeros((2, 1, 16), np.int64), np.zeros((2, 1, 16), np.int64)
    leading[0, 0, :8], leading[1, 0] = COARSE
    dense[0, 0, :8], dense[1, 0] = DENSE
    coarse, address = np.empty(128, np.uint64), np.empty(128, np.int32)
    shift, mask = np.array([0, 3], np.uint64), np.array([7, 15], np.uint64)
    variables, levels = np.array([0, 1]), np.zeros(2, np.int64)
    cells = rollup.fill_lookup(coarse, address, 0, variables, levels, (leading, dense, np.array([8, 16]), shift, mask))
    pattern = np.arange(128)
    assert cells == 12
    assert np.array_equal(coarse, COARSE[0][pattern & 7] | COARSE[1][pattern >> 3] << 3)
    assert np.array_equal(address, DENSE[0][pattern & 7] * 4 + DENSE[1][pattern >> 3])


def test_the_smallest_source_is_nowhere_above_the_node() -> None:
    levels, sizes = np.array([[0, 0], [1, 0], [0, 2], [1, 1]]), np.array([9, 4, 1, 3])
    chosen = [rollup.smallest_source(levels, sizes, 4, np.array(node)) for node in ([0, 0], [1, 1], [0, 1], [2, 2])]
    assert chosen == [0, 3, 0, 2]
    assert rollup.smallest_source(levels, sizes, 0, np.array([2, 2])) == -1


def test_totals_by_size_are_those_of_classes_lost_entirely() -> None:
    rows = np.random.default_rng(5).integers(1, 9, 50)
    passes, totals = lattice.totals_by_size(rows, rows - 1, 4, 5)
    assert np.array_equal(passes, rows > 4)
    assert totals == lattice.class_totals(rows, passes, np.where(passes, 0, rows), 5)


def test_a_product_of_wide_numbers_is_compared_exactly() -> None:
    from celosia.kernels._jit import kernel

    @kernel
    def at_most(a: int, b: int, c: int, d: int) -> bool:
        return judge.product_at_most(a, b, c, d)

    big = 2**62 - 57
    for a, b, c, d in [
        (big, big, big, big),
        (big, big, big - 1, big + 1),
        (big - 1, big + 1, big, big),
        (0, big, 1, 0),
    ]:
        assert at_most(a, b, c, d) == (a * b <= c * d)


def test_a_box_is_raised_and_nothing_else() -> None:
    bound = np.zeros(3 * 4)
    terms = np.array([[1.0, 2.0, 3.0, 0.0], [10.0, 20.0, 30.0, 40.0]])
    lattice.raise_box(bound, np.array([1, 0]), np.array([2, 2]), np.array([4, 1]), terms)
    assert bound.reshape(3, 4).tolist() == [[0] * 4, [12, 22, 32, 0], [13, 23, 33, 0]]


def test_the_cheapest_rows_are_taken_first() -> None:
    knots = np.array([[[0.0, 4.0, 10.0]]])
    costs = np.array([[[0.0, 4.0, 22.0]]])
    filled = np.array([[3]])
    costs_of = [lattice.cheapest_rows(knots, costs, filled, rows)[0, 0] for rows in (0, 2, 4, 6, 10)]
    assert costs_of == [0, 2, 4, 10, 22]
