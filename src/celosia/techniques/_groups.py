"""Groups of at least k near records inside each cell of a table, whatever the number of threads.

Knows numbers and the cell of each row (its stratum, and which of its columns hold numbers). Ignores text and settings.
Rows come in the canonical order, which breaks every tie. One column is cut optimally; several go through MDAV, exact
up to EXACT_ROWS rows in a cell, beyond that inside the blocks of a k-d partition, a function of the rows alone.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

EXACT_ROWS = 100_000  # rows of a cell up to which MDAV looks at the whole cell
BLOCK_ROWS = 10_000  # rows of a block beyond that
_TASK_ROWS = 20_000  # rows that one thread takes at a time


@dataclass(frozen=True, slots=True)
class Grouping:
    """The group of each row, numbered from 0, and how many blocks were grouped apart."""

    label: Longs
    sizes: Longs
    blocks: int

    def starts(self) -> Longs:
        """Where each group begins when rows are in the order of their groups."""
        return np.concatenate(([0], np.cumsum(self.sizes)))


def grouped(values: Floats, cells: Longs, k: int, block: int | None) -> Grouping:
    """Groups of k rows or more inside each cell; `values` has a row per row, a column per column."""
    several = values.shape[1] > 1
    order = np.argsort(cells, kind="stable") if several else np.lexsort((values[:, 0], cells))
    starts = np.concatenate(([0], np.cumsum(np.bincount(cells)))).astype(np.int64)
    found = _mdav(values, order, starts, k, block) if several else _optimal(values[order], starts, k)
    label = np.empty(len(order), np.int64)
    label[order] = found[0]
    sizes = np.bincount(label, minlength=len(label))
    number = np.cumsum(sizes > 0) - 1
    return Grouping(number[label], sizes[sizes > 0], found[1])


def _optimal(values: Floats, starts: Longs, k: int) -> tuple[Longs, int]:
    from celosia.kernels import groups, mdav

    label = np.empty(len(values), np.int64)
    groups.optimal_segments(mdav.standard_scores(values, starts)[:, 0].copy(), starts, k, label)
    return label, len(starts) - 1


def _mdav(values: Floats, rows: Longs, starts: Longs, k: int, block: int | None) -> tuple[Longs, int]:
    from celosia.kernels import mdav

    scores = mdav.standard_scores(values[rows], starts)
    size = max(BLOCK_ROWS, 4 * k) if block is None else block
    order, blocks = mdav.split_segments(scores, starts, max(EXACT_ROWS, size) if block is None else size, size)
    label, within = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    scores = scores[order]
    _side_by_side(scores, blocks, k, within)
    label[order] = within
    return label, len(blocks) - 1


def _side_by_side(scores: Floats, blocks: Longs, k: int, label: Longs) -> None:
    """MDAV in every block; threads share the blocks out, and no block sees another."""
    from celosia.kernels import mdav

    shares = np.unique(np.searchsorted(blocks, np.arange(0, len(scores) + _TASK_ROWS, _TASK_ROWS)))
    shares = np.unique(np.append(np.minimum(shares, len(blocks) - 1), [0, len(blocks) - 1]))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        tasks = [
            pool.submit(mdav.mdav_segments, scores, blocks, int(first), int(last), k, label)
            for first, last in pairwise(shares)
        ]
        for task in tasks:
            task.result()
