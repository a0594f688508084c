"""The partition tree lists every set once, and blocks of tuples give the same answer as all at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies

from celosia.kernels import suda
from celosia.risk import special_uniques
from celosia.tuples.table import Tuples, group_codes

shapes = st.tuples(st.integers(1, 60), st.integers(1, 5))
matrices = numpy_strategies.arrays(np.int32, shapes, elements=st.integers(0, 3))


def tuples_of(codes: np.ndarray) -> Tuples:
    """A compressed table whose third value is missing."""
    vocabulary = ("", "a", "b", "c")
    first, label = group_codes(codes, [4] * codes.shape[1])
    names = tuple(f"v{i}" for i in range(codes.shape[1]))
    return Tuples(names, (vocabulary,) * len(names), codes[first], np.bincount(label).astype(np.int64))


@given(matrices)
def test_unique_sets_are_listed_in_ascending_order_and_cover_every_unique_projection(codes: np.ndarray) -> None:
    tuples = tuples_of(codes)
    codes_shown = special_uniques.visible_codes(tuples)
    sizes = np.full(len(codes_shown), 4)
    owners, sets = suda.unique_sets(codes_shown, sizes, tuples.rows == 1, len(codes_shown))
    assert (np.diff(sets) >= 0).all()
    covered = {(int(o), m) for o, s in zip(owners, sets, strict=True) for m in range(s, s + (s & -s))}
    masks = range(1, 2 ** len(codes_shown))
    complete = {(o, m) for o, m in covered if (codes_shown[_variables(codes_shown, m), o] >= 0).all()}
    unique = {(o, m) for o in range(len(tuples.rows)) for m in masks if _unique(codes_shown, tuples.rows, o, m)}
    assert complete == unique


def _variables(shown: np.ndarray, mask: int) -> list[int]:
    """The variables whose bits are set in a mask."""
    return [v for v in range(len(shown)) if mask >> v & 1]


def _unique(shown: np.ndarray, rows: np.ndarray, owner: int, mask: int) -> bool:
    chosen = shown[_variables(shown, mask)]
    if (chosen[:, owner] < 0).any():
        return False
    return int(rows[(chosen == chosen[:, [owner]]).all(axis=0)].sum()) == 1


@given(matrices)
def test_small_blocks_give_the_same_scores(codes: np.ndarray) -> None:
    tuples = tuples_of(codes)
    whole = special_uniques.special_uniques(tuples)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(special_uniques, "_LEAST_BLOCK", 2)
        patch.setattr(special_uniques, "_BLOCK", 1)
        parts = special_uniques.special_uniques(tuples)
    assert (parts.by_size == whole.by_size).all()
    assert (parts.contribution == whole.contribution).all()


def test_the_sets_of_many_rows_outgrow_the_first_buffer() -> None:
    codes = np.stack([np.arange(3000), np.arange(3000)[::-1]]).astype(np.int32)
    owners, sets = suda.unique_sets(codes, np.array([3000, 3000]), np.ones(3000, bool), 2)
    assert len(owners) == len(sets) == 6000
