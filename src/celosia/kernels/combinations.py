"""Counting many combinations of columns over one table.

Knows codes by column, strides and keys. Ignores what the codes mean.
A combination with few cells is counted in a full table, by address; one with many by the
numbers of its keys (`numbering`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from celosia.kernels._jit import kernel

Array = Any
_BLOCK = 2048  # tuples whose addresses stay in the nearest cache


@kernel
def address(codes: Array, chosen: Array, stride: Array) -> Array:
    """The cell of each tuple in the full table of the chosen columns; `codes` has a line per column."""
    out = np.zeros(codes.shape[1], np.int64)
    for v in range(len(chosen)):
        column = codes[chosen[v]]
        step = stride[v]
        for i in range(len(out)):
            out[i] += column[i] * step
    return out


@kernel
def count_cells(codes: Array, chosen: Array, stride: Array, rows: Array, cells: int) -> Array:
    """Rows of every cell of the full table of the chosen columns."""
    out = np.zeros(cells, np.int64)
    address = np.empty(_BLOCK, np.int64)
    for begin in range(0, codes.shape[1], _BLOCK):
        end = min(begin + _BLOCK, codes.shape[1])
        address[:] = 0
        for v in range(len(chosen)):
            column = codes[chosen[v], begin:end]
            step = stride[v]
            for i in range(end - begin):
                address[i] += column[i] * step
        for i in range(end - begin):
            out[address[i]] += rows[begin + i]
    return out
