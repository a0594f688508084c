"""Leaves in depth-first order, packed keys, and the lookups that take any table to any coarser node.

Every group of every level is a run of leaves and is named by its first leaf. Small variables share one lookup:
their bits lie side by side in the key, and a table over all patterns of a bit group gives the coarser bits and
the address at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.solver._problem import SearchProblem

Levels = tuple[int, ...]  # counted from the lowest allowed level of each variable
_GROUP_BITS = 11
_GROUP_CELLS = 2**20
WORD = 64
_LAST_CLASS = 2**30  # slots are 32 bits wide: start again in time


@dataclass(frozen=True, slots=True)
class Leaves:
    """One variable: its occurring values in depth-first order, and the first leaf and number of each group."""

    order: NDArray[np.int64]  # vocabulary code of each leaf
    rank: NDArray[np.int64]  # leaf of each vocabulary code, -1 when it does not occur
    rows: NDArray[np.int64]  # rows of each leaf
    leading: NDArray[np.int64]  # (levels, leaves)
    dense: NDArray[np.int64]  # (levels, leaves)


def leaves_of(counts: NDArray[np.int64], maps: list[NDArray[np.int32]]) -> Leaves:
    """Order the values of one column, given their rows, so that every group of every level is a run."""
    size = len(counts)
    occurring = np.flatnonzero(counts)
    order = occurring[np.lexsort([level[occurring] for level in maps])]
    rank = np.full(size, -1, np.int64)
    rank[order] = np.arange(len(order))
    starts = [np.r_[True, np.diff(level[order]) != 0] for level in maps]
    dense = np.stack([np.cumsum(start) - 1 for start in starts])
    leading = np.stack([np.flatnonzero(s)[d] for s, d in zip(starts, dense, strict=True)])
    return Leaves(order, rank, counts[order], leading, dense)


def bit_groups(bits: list[int], depths: list[int]) -> list[list[int]]:
    """Variables that share a lookup: widest first, each into the first group with room for it."""
    groups: list[list[int]] = []
    for variable in sorted(range(len(bits)), key=lambda v: -bits[v]):
        for group in groups:
            together = [*group, variable]
            width = sum(bits[v] for v in together)
            if width <= _GROUP_BITS and math.prod(depths[v] for v in together) << width <= _GROUP_CELLS:
                group.append(variable)
                break
        else:
            groups.append([variable])
    return groups


class Encoding:
    """Packed keys of a problem's tuples and its lookups."""

    def __init__(self, problem: SearchProblem) -> None:
        rows = problem.quasi.rows.astype(float)  # whole numbers below 2**53: their sums are exact
        self.leaves = [
            leaves_of(
                np.bincount(problem.quasi.codes[:, column], rows, problem.quasi.sizes[column]).astype(np.int64),
                list(problem.hierarchies[name].maps[low : high + 1]),
            )
            for column, (name, low, high) in enumerate(zip(problem.names, problem.lowest, problem.highest, strict=True))
        ]
        self.depths = np.array([len(leaf.leading) for leaf in self.leaves], np.int64)
        self.bits = [max(len(leaf.order) - 1, 0).bit_length() for leaf in self.leaves]
        self.wide = sum(self.bits) > WORD
        self.mask = np.array([(1 << bits) - 1 for bits in self.bits], np.uint64)
        self.groups = bit_groups(self.bits, [int(depth) for depth in self.depths])
        self.shift = self._places()
        self.codes = np.zeros((0, len(self.leaves)), np.int32)
        self.leading = self._padded([leaf.leading for leaf in self.leaves], np.int64)
        self.first_free = 1
        self._slots = np.zeros(0, np.int32)
        if not self.wide:
            self._make_lookups()

    def _places(self) -> NDArray[np.uint64]:
        shift = np.zeros(len(self.bits), np.uint64)
        place = 0
        for variable in (v for group in self.groups for v in group):
            shift[variable] = min(place, WORD - 1)
            place += self.bits[variable]
        return shift

    def slots(self, size: int) -> tuple[NDArray[np.int32], int]:
        """At least so many slots for a roll-up, and the number below which an entry is empty."""
        if len(self._slots) < size or self.first_free > _LAST_CLASS:
            self._slots = np.zeros(max(size, len(self._slots)), np.int32)
            self.first_free = 1
        return self._slots, self.first_free

    def _padded(self, parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:
        out = np.zeros((len(parts), max(map(len, parts)), max(part.shape[1] for part in parts)), kind)
        for variable, part in enumerate(parts):
            out[variable, : len(part), : part.shape[1]] = part
        return out

    def padded(self, parts: list[NDArray[Any]]) -> NDArray[np.int64]:
        """Per-variable tables (levels, leaves) in one array."""
        return self._padded(parts, np.int64)

    def keys(self, codes: NDArray[np.int32]) -> NDArray[np.uint64]:
        """One key per tuple; wide ones are row numbers into `codes`, which are kept."""
        if self.wide:
            ranked = [leaf.rank[codes[:, column]] for column, leaf in enumerate(self.leaves)]
            self.codes = np.stack(ranked, axis=1).astype(np.int32)
            return np.arange(len(codes), dtype=np.uint64)
        key = np.zeros(len(codes), np.uint64)
        for column, leaf in enumerate(self.leaves):
            key |= leaf.rank[codes[:, column]].astype(np.uint64) << self.shift[column]
        return key

    def _make_lookups(self) -> None:
        width = [sum(self.bits[v] for v in group) for group in self.groups]
        combos = [int(np.prod(self.depths[group])) for group in self.groups]
        self.group_shift = np.array([self.shift[group[0]] for group in self.groups], np.uint64)
        self.group_mask = np.array([(1 << bits) - 1 for bits in width], np.uint64)
        begin = np.cumsum([0] + [many << bits for many, bits in zip(combos, width, strict=True)])
        self.group_begin, self.group_size = begin[:-1], [1 << bits for bits in width]
        self.coarse = np.empty(begin[-1], np.uint64)
        self.address = np.empty(begin[-1], np.int32)
        self.filled: list[dict[tuple[int, ...], tuple[int, int]]] = [{} for _ in self.groups]

    def lookups(self, levels: Levels) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
        """Offsets of the lookups of a node, the stride of each bit group's address, and the whole domain."""
        offset = np.empty(len(self.groups), np.int64)
        stride = np.empty(len(self.groups), np.int64)
        domain = 1
        for g, group in enumerate(self.groups):
            wanted = tuple(levels[v] for v in group)
            place = self.filled[g].get(wanted) or self._fill(g, wanted)
            offset[g], stride[g] = place[0], min(domain, 2**62)
            domain *= place[1]
        return offset, stride, domain

    def _fill(self, g: int, wanted: tuple[int, ...]) -> tuple[int, int]:
        size = self.group_size[g]
        begin = int(self.group_begin[g]) + size * len(self.filled[g])
        pattern = np.arange(size, dtype=np.int64)
        coarse = np.zeros(size, np.uint64)
        address = np.zeros(size, np.int64)
        cells = 1
        first = int(self.shift[self.groups[g][0]])
        for variable, level in zip(self.groups[g], wanted, strict=True):
            leaf = self.leaves[variable]
            local = int(self.shift[variable]) - first
            at = np.minimum((pattern >> local) & int(self.mask[variable]), len(leaf.order) - 1)
            coarse |= leaf.leading[level][at].astype(np.uint64) << self.shift[variable]
            address += leaf.dense[level][at] * cells
            cells *= int(leaf.dense[level][-1]) + 1
        self.coarse[begin : begin + size] = coarse
        self.address[begin : begin + size] = address
        self.filled[g][wanted] = begin, cells
        return begin, cells
