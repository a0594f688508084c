"""Groups of at least k near records inside each cell of a table, whatever the number of threads.

Knows numbers and the cell of each row (its stratum, and which of its columns hold numbers). Ignores text and settings.
Rows come in the canonical order, which breaks every tie. One column is cut optimally; several go through MDAV, exact
up to EXACT_ROWS rows in a cell, beyond that inside the blocks of a k-d partition, a function of the rows alone. Where
rows are of persons, groups of too few of them are joined with the nearest of their cell, which costs some nearness.
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


def group_records(values: Floats, cells: Longs, k: int, block: int | None) -> Grouping:
    """Groups of k rows or more inside each cell; `values` has a row per row, a column per column."""
    several = values.shape[1] > 1
    order = np.argsort(cells, kind="stable") if several else np.lexsort((values[:, 0], cells))
    starts = np.concatenate(([0], np.cumsum(np.bincount(cells)))).astype(np.int64)
    by_order, blocks = _mdav(values, order, starts, k, block) if several else _optimal(values[order], starts, k)
    label = np.empty(len(order), np.int64)
    label[order] = by_order
    sizes = np.bincount(label, minlength=len(label))
    number = np.cumsum(sizes > 0) - 1
    return Grouping(number[label], sizes[sizes > 0], blocks)


def distinct_by(label: Longs, person: Longs, many: int) -> Longs:
    """How many different persons each label has; -1 is a row whose person is not known, and counts for none."""
    label, person = label[person >= 0], person[person >= 0]
    people = int(person.max(initial=0)) + 1
    return np.bincount(np.unique(label * people + person) // people, minlength=many)


def join_small_groups(values: Floats, cells: Longs, grouping: Grouping, person: Longs, k: int) -> Grouping:
    """The groups, each of too few persons joined with the nearest of its cell, until all have k different persons.

    Every cell must have k persons: then a group of fewer is never alone in its cell, and each round leaves fewer.
    """
    from celosia.kernels import mdav

    order = np.argsort(cells, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(cells)))).astype(np.int64)
    scores = np.empty(values.shape)
    scores[order] = mdav.standard_scores(values[order], starts)
    label = grouping.label
    while True:
        many = int(label.max(initial=-1)) + 1
        short = distinct_by(label, person, many) < k
        if not short.any():
            return Grouping(label, np.bincount(label, minlength=many), grouping.blocks)
        label = _merged_numbers(scores, cells, label, short)[label]


def _merged_numbers(scores: Floats, cells: Longs, label: Longs, short: NDArray[np.bool_]) -> Longs:
    """A new number for each group: the same for a short one and the group of its cell whose centre is nearest."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    sizes = np.bincount(label)
    centres = np.stack([np.bincount(label, scores[:, axis]) / sizes for axis in range(scores.shape[1])], axis=1)
    cell = np.empty(len(sizes), np.int64)
    cell[label] = cells
    pairs = _nearest_groups(centres, cell, short)
    links = coo_array((np.ones(len(pairs[0]), bool), pairs), shape=(len(sizes), len(sizes)))
    number: Longs = connected_components(links, directed=False)[1].astype(np.int64)
    return number


def _nearest_groups(centres: Floats, cell: Longs, short: NDArray[np.bool_]) -> tuple[Longs, Longs]:
    """Each short group and the group of its cell that lies nearest."""
    from scipy.spatial import KDTree

    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(np.bincount(cell))
    small, nearest = [], []
    for number in np.unique(cell[short]).tolist():
        groups = order[ends[number - 1] if number else 0 : ends[number]]
        too_small = groups[short[groups]]
        near = groups[KDTree(centres[groups]).query(centres[too_small], k=2)[1]]
        small.append(too_small)
        nearest.append(np.where(near[:, 0] == too_small, near[:, 1], near[:, 0]))
    return np.concatenate(small), np.concatenate(nearest)


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
    _mdav_in_blocks(scores, blocks, k, within)
    label[order] = within
    return label, len(blocks) - 1


def _mdav_in_blocks(scores: Floats, blocks: Longs, k: int, label: Longs) -> None:
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
