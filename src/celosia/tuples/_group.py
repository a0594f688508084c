"""Grouping equal rows of an integer code matrix, exactly, at any width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer]
_LIMIT = 2**62


def pack_keys(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int64]:
    """One int64 key per row whose order is the lexicographic order of the rows.

    Where the product of the sizes would overflow, the key so far is replaced by its rank: wider tables
    cost a sort more, never a wrong answer.
    """
    key = np.zeros(len(codes), np.int64)
    span = 1
    for column, size in enumerate(sizes):
        width = max(size, 1)
        if span > _LIMIT // width:
            _, key = np.unique(key, return_inverse=True)
            span = int(key.max(initial=-1)) + 1
        key = key * width + codes[:, column]
        span *= width
    return key


def group_codes(codes: Codes, sizes: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First row and label of each group of equal rows; groups are in lexicographic order of their codes."""
    _, first, label = np.unique(pack_keys(codes, sizes), return_index=True, return_inverse=True)
    return first.astype(np.int64), label.reshape(-1).astype(np.int64)
