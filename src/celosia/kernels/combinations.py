"""Counting many combinations of columns over one table.

Knows codes by column, strides and keys. Ignores what the codes mean.
A combination with few cells is counted in a full table, by address; one with many is numbered by hashing its keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import compiled

Array = Any
_BLOCK = 2048  # tuples whose addresses stay in the nearest cache
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@compiled
def address(codes: Array, chosen: Array, stride: Array) -> Array:
    """The cell of each tuple in the full table of the chosen columns; `codes` has a line per column."""
    out = np.zeros(codes.shape[1], np.int64)
    for v in range(len(chosen)):
        column = codes[chosen[v]]
        step = stride[v]
        for i in range(len(out)):
            out[i] += column[i] * step
    return out


@compiled
def count_cells(codes: Array, chosen: Array, stride: Array, rows: Array, cells: int) -> Array:
    """Rows of every cell of the full table of the chosen columns."""
    out = np.zeros(cells, np.int64)
    place = np.empty(_BLOCK, np.int64)
    for begin in range(0, codes.shape[1], _BLOCK):
        end = min(begin + _BLOCK, codes.shape[1])
        place[:] = 0
        for v in range(len(chosen)):
            column = codes[chosen[v], begin:end]
            step = stride[v]
            for i in range(end - begin):
                place[i] += column[i] * step
        for i in range(end - begin):
            out[place[i]] += rows[begin + i]
    return out


@compiled
def number_keys(keys: Array) -> tuple[Array, int]:
    """A number for each distinct key, in the order of first appearance, and how many there are."""
    bits = 4
    while 1 << bits < 2 * len(keys):
        bits += 1
    down = np.uint64(64 - bits)
    last = (1 << bits) - 1
    slot = np.full(1 << bits, -1, np.int64)
    first = np.empty(len(keys), np.int64)
    label = np.empty(len(keys), np.int64)
    found = 0
    for i in range(len(keys)):
        mixed = np.uint64(keys[i])
        mixed = (mixed ^ (mixed >> np.uint64(31))) * _GOLDEN
        at = np.int64(mixed >> down)
        while slot[at] >= 0 and first[slot[at]] != keys[i]:
            at = (at + 1) & last
        if slot[at] < 0:
            slot[at] = found
            first[found] = keys[i]
            found += 1
        label[i] = slot[at]
    return label, found
