"""Class sizes of one lattice node over the tuples that are left, for local recoding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import compiled, inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(29)


@inlined
def _mixed(key: NDArray[np.int64]) -> np.uint64:
    mixed = np.uint64(0)
    for w in range(len(key)):
        mixed = (mixed ^ np.uint64(key[w])) * _GOLDEN
        mixed ^= mixed >> _FOLD
    return mixed


@inlined
def _equal(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    for w in range(len(one)):  # noqa: SIM110 - numba compiles the loop, not a generator
        if one[w] != other[w]:
            return False
    return True


@compiled
def label_node(
    partial: NDArray[np.int64],
    picked: NDArray[np.int64],
    word: NDArray[np.int64],
    weights: NDArray[np.int64],
    slots: NDArray[np.int64],
    keys: NDArray[np.int64],
    homes: NDArray[np.int64],
    label: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> int:
    """Group tuples of positive weight by their keys at a node; fill `label` and `sizes`, give the number of groups.

    A key is the sum of one partial key per variable, in as many 64-bit words as the codes need (`word[v]`).
    `slots` is an open-address table of a power-of-two length, holding group + 1 or 0; it is clear again at the end.
    """
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
        place = np.int64(_mixed(key) & np.uint64(mask))
        home = place
        while True:
            held = slots[place]
            if held == 0:
                slots[place] = groups + 1
                keys[groups, :] = key
                homes[groups] = home
                sizes[groups] = weights[i]
                label[i] = groups
                groups += 1
                break
            if _equal(keys[held - 1], key):
                sizes[held - 1] += weights[i]
                label[i] = held - 1
                break
            place = (place + 1) & mask
    for group in range(groups):
        place = homes[group]
        while slots[place] != 0:
            slots[place] = 0
            place = (place + 1) & mask
    return groups
