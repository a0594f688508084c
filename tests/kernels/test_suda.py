"""The partition tree lists every set once, and blocks of tuples give the same answer as all at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as made

from celosia.kernels import suda
from celosia.risk import special_uniques as room
from celosia.tuples import Tuples, group_codes

shapes = st.tuples(st.integers(1, 60), st.integers(1, 5))
matrices = made.arrays(np.int32, shapes, elements=st.integers(0, 3))


def tuples_of(codes: np.ndarray) -> Tuples:
    """A compressed table whose third value is missing."""
    vocabulary = ("", "a", "b", "c")
    first, label = group_codes(codes, [4] * codes.shape[1])
    names = tuple(f"v{i}" for i in range(codes.shape[1]))
    return Tuples(names, (vocabulary,) * len(names), codes[first], np.bincount(label).astype(np.int64))


@given(matrices)
def test_unique_sets_are_listed_in_ascending_order_and_cover_every_unique_projection(codes: np.ndarray) -> None:
    tuples = tuples_of(codes)
    shown = room.visible_codes(tuples)
    sizes = np.full(len(shown), 4)
    owners, sets = suda.unique_sets(shown, sizes, tuples.rows == 1, len(shown))
    assert (np.diff(sets) >= 0).all()
    covered = {(int(o), m) for o, s in zip(owners, sets, strict=True) for m in range(s, s + (s & -s))}
    assert {(o, m) for o, m in covered if (shown[[v for v in range(len(shown)) if m >> v & 1], o] >= 0).all()} == {
        (o, m) for o in range(len(tuples.rows)) for m in range(1, 2 ** len(shown)) if _unique(shown, tuples.rows, o, m)
    }


def _unique(shown: np.ndarray, rows: np.ndarray, owner: int, mask: int) -> bool:
    chosen = shown[[v for v in range(len(shown)) if mask >> v & 1]]
    if (chosen[:, owner] < 0).any():
        return False
    return int(rows[(chosen == chosen[:, [owner]]).all(axis=0)].sum()) == 1


@given(matrices)
def test_small_blocks_give_the_same_scores(codes: np.ndarray) -> None:
    tuples = tuples_of(codes)
    whole = room.special_uniques(tuples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "_LEAST_BLOCK", 2)
        patch.setattr(room, "_BLOCK", 1)
        parts = room.special_uniques(tuples)
    assert (parts.by_size == whole.by_size).all()
    assert (parts.contribution == whole.contribution).all()


def test_the_sets_of_many_rows_outgrow_the_first_room() -> None:
    codes = np.stack([np.arange(3000), np.arange(3000)[::-1]]).astype(np.int32)
    owners, sets = suda.unique_sets(codes, np.array([3000, 3000]), np.ones(3000, bool), 2)
    assert len(owners) == len(sets) == 6000
