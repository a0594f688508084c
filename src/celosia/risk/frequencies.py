"""fk and Fk: how many rows of the file, and how many of the population they stand for, share a row's keys.

Knows distinct keys as codes, their rows and the sum of their sampling weights. Ignores files and what risk means.
A missing key is a value of its own, or may be any value. In the second reading two keys are compatible when each
position is equal or missing in one of them, and a compatible row counts
- 1 when its keys are the very same, or when it is complete and the row asking is not;
- alpha when it is incomplete (alpha = 1 by default; 0 lets nobody hide behind another's gaps);
- 1 for a row without any key: it may be anybody, so fk = n.
Works on pairs of patterns of missing positions, projected on the positions both hold; never on pairs of rows.
Source: Templ, Kowarik, Meindl 2015; Capobianchi, Polettini, Lucarelli 2001 (weights).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.model.values import MISSING
from celosia.tuples.table import Tuples, group_codes, pack_keys

Codes = NDArray[np.integer]
Counts = NDArray[np.int64]
Weights = NDArray[np.float64]
Mask = NDArray[np.bool_]
_ADDRESSED = 8  # codes of a projection per key up to which they are addressed directly


@dataclass(frozen=True, slots=True)
class Frequencies:
    """fk and Fk of each key, or of each row."""

    sample: Weights  # fk: rows of the file; whole numbers unless 0 < alpha < 1
    population: Weights  # Fk: sum of the weights; equal to fk without weights

    def of(self, label: Counts) -> Frequencies:
        """The frequencies of rows, from the key of each."""
        return Frequencies(self.sample[label], self.population[label])


def frequencies(tuples: Tuples, weights: Weights | None = None, alpha: float | None = None) -> Frequencies:
    """fk and Fk of each tuple; `weights` sums the rows' weights per tuple, `alpha` reads missing as any value."""
    empty = None if alpha is None else empty_positions(tuples.codes, tuples.vocabularies)
    return key_frequencies(tuples.codes, tuples.sizes, tuples.rows, weights, empty, alpha or 0.0)


def row_frequencies(
    codes: Codes, weights: Weights | None = None, empty: Mask | None = None, alpha: float = 1.0
) -> Frequencies:
    """fk and Fk of each row of a code matrix; `empty` marks missing keys that may be any value."""
    keys = codes if empty is None else np.where(empty, codes.max(initial=-1) + 1, codes)
    sizes = [int(column.max(initial=0)) + 1 for column in keys.T]
    first, label = group_codes(keys, sizes)
    rows = np.bincount(label, minlength=len(first)).astype(np.int64)
    sums = None if weights is None else np.bincount(label, weights, len(first)).astype(np.float64, copy=False)
    gaps = None if empty is None else empty[first]
    return key_frequencies(keys[first], sizes, rows, sums, gaps, alpha).of(label)


def key_frequencies(
    codes: Codes, sizes: Sequence[int], rows: Counts, weights: Weights | None, empty: Mask | None, alpha: float
) -> Frequencies:
    """fk and Fk of distinct keys."""
    counted = rows.astype(np.float64)
    if empty is None or not empty.any():
        return Frequencies(counted, counted if weights is None else weights)
    amounts = np.stack([counted] if weights is None else [counted, weights], axis=1)
    sums = _compatible_sums(codes, sizes, amounts, empty, alpha)
    return Frequencies(sums[:, 0], sums[:, -1])


def empty_positions(codes: Codes, vocabularies: Sequence[Sequence[str]]) -> Mask:
    """Which keys are missing."""
    empty = np.zeros(codes.shape, bool)
    for column, vocabulary in enumerate(vocabularies):
        if MISSING in vocabulary:
            empty[:, column] = codes[:, column] == vocabulary.index(MISSING)
    return empty


def _compatible_sums(codes: Codes, sizes: Sequence[int], amounts: Weights, empty: Mask, alpha: float) -> Weights:
    """For each key, its own amounts and those of compatible keys."""
    key = pack_keys(empty.astype(np.int64), [2] * empty.shape[1])
    order = np.argsort(key, kind="stable")
    _, start = np.unique(key[order], return_index=True)
    ends = np.append(start[1:], len(order))
    runs = [slice(int(low), int(high)) for low, high in zip(start, ends, strict=True)]  # keys of one pattern
    patterns = empty[order[start]]
    columns = np.ascontiguousarray(codes[order].T.astype(np.int64))
    own = np.ascontiguousarray(amounts[order].T)
    total = own.copy()
    for i, j in itertools.combinations(range(len(runs)), 2):
        common = np.flatnonzero(~(patterns[i] | patterns[j])).tolist()
        shares = (_share(patterns[i], patterns[j], alpha), _share(patterns[j], patterns[i], alpha))
        if any(shares):
            pair = (runs[i], runs[j])
            slots = _slots([columns[column] for column in common], [sizes[column] for column in common], pair)
            _add_matches(total, own, pair, slots, shares)
    sums = np.empty_like(amounts)
    sums[order] = total.T
    return sums


def _share(asking: Mask, other: Mask, alpha: float) -> float:
    """How much a compatible row of another pattern counts for one of this pattern."""
    return 1.0 if asking.all() or not other.any() else alpha


def _add_matches(
    total: Weights,
    own: Weights,
    pair: tuple[slice, slice],
    slots: tuple[Counts, Counts, int],
    shares: tuple[float, float],
) -> None:
    """Add to the keys of two patterns the amounts of keys of the other that agree on the common positions."""
    (first, second), (first_slot, second_slot, count) = pair, slots
    for keys, slot, others, other_slot, share in (
        (first, first_slot, second, second_slot, shares[0]),
        (second, second_slot, first, first_slot, shares[1]),
    ):
        for kind in range(len(own) if share else 0):
            sums = np.bincount(other_slot, weights=own[kind, others], minlength=count)
            total[kind, keys] += share * sums[slot]


def _slots(columns: Sequence[Counts], sizes: Sequence[int], pair: tuple[slice, slice]) -> tuple[Counts, Counts, int]:
    """A number for each projected key of two patterns, equal for equal ones, and how many numbers there are."""
    domain = math.prod(max(size, 1) for size in sizes)
    lengths = [run.stop - run.start for run in pair]
    if domain <= max(_ADDRESSED * sum(lengths), 1):
        first, second = (_pack(columns, sizes, run) for run in pair)
        return first, second, domain
    both = np.concatenate([np.arange(run.start, run.stop) for run in pair])
    key = pack_keys(np.stack([column[both] for column in columns], axis=1), sizes)
    # Only the shorter side is sorted; keys of the other that it lacks share the last slot, where it has nothing.
    known = np.unique(key[: lengths[0]] if lengths[0] <= lengths[1] else key[lengths[0] :])
    position = np.minimum(np.searchsorted(known, key), len(known) - 1)
    slot = np.where(known[position] == key, position, len(known))
    return slot[: lengths[0]], slot[lengths[0] :], len(known) + 1


def _pack(columns: Sequence[Counts], sizes: Sequence[int], run: slice) -> Counts:
    key = np.zeros(run.stop - run.start, np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key *= max(size, 1)
        key += column[run]
    return key
