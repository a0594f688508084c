"""Rows compatible with each tuple when an empty cell may stand for any value.

Two tuples are compatible when each position is equal, or empty in one of them (sdcMicro's fk, alpha = 1).
Works on pairs of patterns of empty positions, of which there are few, never on pairs of rows.
Source: Templ, Kowarik, Meindl 2015 (frequency counts with missing key values).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING
from celosia.tuples import pack_keys

Counts = NDArray[np.int64]


def compatible_rows(codes: NDArray[np.int32], vocabularies: Sequence[Sequence[str]], rows: Counts) -> Counts:
    """For each distinct tuple, the rows of all tuples compatible with it, its own included."""
    empty = _empty_positions(codes, vocabularies)
    patterns, label = _patterns(empty)
    members = [np.flatnonzero(label == pattern) for pattern in range(len(patterns))]
    total = rows.copy()  # tuples of one pattern are compatible only when equal, and tuples are distinct
    for one in range(len(patterns)):
        for other in range(one):
            common = np.flatnonzero(~(patterns[one] | patterns[other]))
            _add_matches(total, rows, codes, vocabularies, members[one], members[other], common)
    return total


def _empty_positions(codes: NDArray[np.int32], vocabularies: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
    empty = np.zeros(codes.shape, bool)
    for column, vocabulary in enumerate(vocabularies):
        if MISSING in vocabulary:
            empty[:, column] = codes[:, column] == vocabulary.index(MISSING)
    return empty


def _patterns(empty: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Counts]:
    key = pack_keys(empty.astype(np.int64), [2] * empty.shape[1])
    _, first, label = np.unique(key, return_index=True, return_inverse=True)
    return empty[first], label.reshape(-1).astype(np.int64)


def _add_matches(
    total: Counts,
    rows: Counts,
    codes: NDArray[np.int32],
    vocabularies: Sequence[Sequence[str]],
    one: Counts,
    other: Counts,
    common: Counts,
) -> None:
    """Add to each tuple of two patterns the rows of the other that agree on the common positions."""
    few, many = sorted((one, other), key=len)
    both = np.concatenate([few, many])
    key = pack_keys(codes[np.ix_(both, common)], [len(vocabularies[column]) for column in common])
    # Only the shorter side is sorted; the longer one is looked up in it.
    known, slot_few = np.unique(key[: len(few)], return_inverse=True)
    slot_many = np.minimum(np.searchsorted(known, key[len(few) :]), len(known) - 1)
    found = known[slot_many] == key[len(few) :]
    matched, slot = many[found], slot_many[found]
    total[matched] += _sums(slot_few.reshape(-1), rows[few], len(known))[slot]
    total[few] += _sums(slot, rows[matched], len(known))[slot_few.reshape(-1)]


def _sums(slot: NDArray[np.integer], rows: Counts, slots: int) -> Counts:
    return np.bincount(slot, weights=rows, minlength=slots).astype(np.int64)
