"""Class sizes of one lattice node over the tuples not yet published, for local recoding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import inline, kernel

Longs = NDArray[np.int64]
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)


@inline
def _hash(key: Longs) -> np.uint64:
    mixed = np.uint64(0)
    for w in range(len(key)):
        mixed = (mixed ^ np.uint64(key[w])) * _GOLDEN
        mixed ^= mixed >> _FOLD
    return mixed


@inline
def _equal(first: Longs, second: Longs) -> bool:
    for w in range(len(first)):  # noqa: SIM110 - numba compiles the loop, not a generator
        if first[w] != second[w]:
            return False
    return True


@kernel
def label_node(
    partial: Longs, picked: Longs, word: Longs, weights: Longs, scratch: tuple[Any, ...], label: Longs, sizes: Longs
) -> int:
    """Group tuples of positive weight by their keys at a node; fill `label` and `sizes`, give the number of groups.

    A key is the sum of one partial key per variable, in as many 64-bit words as the codes need (`word[v]`).
    `scratch` holds slots, keys and homes of the groups. The slots are an open-address table of a power-of-two length
    with group + 1 or 0; they are clear again at the end.
    """
    slots, keys, homes = scratch
    mask = np.int64(len(slots) - 1)
    key = np.zeros(keys.shape[1], np.int64)
    groups = 0
    for i in range(len(weights)):
        if weights[i] == 0:
            label[i] = -1
            continue
        key[:] = 0
        for v in range(len(picked)):
            key[word[v]] += partial[picked[v], i]
        slot = np.int64(_hash(key) & np.uint64(mask))
        home = slot
        while True:
            number = slots[slot]
            if number == 0:
                slots[slot] = groups + 1
                keys[groups, :] = key
                homes[groups] = home
                sizes[groups] = weights[i]
                label[i] = groups
                groups += 1
                break
            if _equal(keys[number - 1], key):
                sizes[number - 1] += weights[i]
                label[i] = number - 1
                break
            slot = (slot + 1) & mask
    for group in range(groups):
        slot = homes[group]
        while slots[slot] != 0:
            slots[slot] = 0
            slot = (slot + 1) & mask
    return groups
