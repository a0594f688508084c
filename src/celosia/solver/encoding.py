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

from celosia.solver.problem import SearchProblem

Levels = tuple[int, ...]  # counted from the lowest allowed level of each variable
_GROUP_BITS = 12
_GROUP_CELLS = 2**20
WORD = 64
_FEWEST_SLOTS = 2**16
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
    """Variables that share a lookup: neighbours, so that addresses rise in the order of the tuples."""
    groups: list[list[int]] = []
    for variable in range(len(bits)):
        together = [*groups[-1], variable] if groups else []
        width = sum(bits[v] for v in together)
        if together and width <= _GROUP_BITS and math.prod(depths[v] for v in together) << width <= _GROUP_CELLS:
            groups[-1].append(variable)
        else:
            groups.append([variable])
    return groups


class Encoding:
    """Packed keys of a problem's tuples and its lookups."""

    def __init__(self, problem: SearchProblem) -> None:
        from celosia.kernels import rollup

        quasi = problem.quasi
        self.begin = np.concatenate([[0], np.cumsum(quasi.sizes)]).astype(np.int64)
        counts = rollup.count_codes(
            np.ascontiguousarray(quasi.codes), quasi.rows.astype(np.int64, copy=False), self.begin
        )
        ranges = zip(problem.names, problem.lowest, problem.highest, strict=True)
        self.leaves = [
            leaves_of(
                counts[self.begin[column] : self.begin[column + 1]],
                list(problem.hierarchies[name].maps[low : high + 1]),
            )
            for column, (name, low, high) in enumerate(ranges)
        ]
        self.depths = np.array([len(leaf.leading) for leaf in self.leaves], np.int64)
        self.bits = [max(len(leaf.order) - 1, 0).bit_length() for leaf in self.leaves]
        self.wide = sum(self.bits) > WORD
        self.mask = np.array([(1 << bits) - 1 for bits in self.bits], np.uint64)
        self.groups = bit_groups(self.bits, [int(depth) for depth in self.depths])
        self.shift = self._shifts()
        self.codes = np.zeros((0, len(self.leaves)), np.int32)
        self.leading = self.pad_levels([leaf.leading for leaf in self.leaves])
        self.dense = self.pad_levels([leaf.dense for leaf in self.leaves])
        self.leaf_count = np.array([len(leaf.order) for leaf in self.leaves], np.int64)
        self.first_free = 1
        self._slots = np.zeros(0, np.int32)
        self._out_keys, self._out_rows = np.empty(0, np.uint64), np.empty(0, np.int64)
        if not self.wide:
            self._make_lookups()

    def _shifts(self) -> NDArray[np.uint64]:
        shift = np.zeros(len(self.bits), np.uint64)
        position = 0
        for variable in (v for group in self.groups for v in group):
            shift[variable] = min(position, WORD - 1)
            position += self.bits[variable]
        return shift

    def output_arrays(
        self, entries: int, slots: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32], int]:
        """Arrays for the classes of a roll-up, its slots, and the number below which a slot is empty."""
        if len(self._out_rows) < entries:
            self._out_keys, self._out_rows = np.empty(entries, np.uint64), np.empty(entries, np.int64)
        if len(self._slots) < slots or self.first_free > _LAST_CLASS:
            self._slots = np.zeros(max(slots, len(self._slots), _FEWEST_SLOTS), np.int32)
            self.first_free = 1
        return self._out_keys, self._out_rows, self._slots, self.first_free

    @staticmethod
    def pad_levels(tables: list[NDArray[Any]]) -> NDArray[np.int64]:
        """Per-variable tables (levels, leaves) in one array."""
        out = np.zeros((len(tables), max(map(len, tables)), max(table.shape[1] for table in tables)), np.int64)
        for variable, table in enumerate(tables):
            out[variable, : len(table), : table.shape[1]] = table
        return out

    def keys(self, codes: NDArray[np.int32]) -> NDArray[np.uint64]:
        """One key per tuple; wide ones are row numbers into `codes`, which are kept."""
        from celosia.kernels import rollup

        if self.wide:
            ranked = [leaf.rank[codes[:, column]] for column, leaf in enumerate(self.leaves)]
            self.codes = np.stack(ranked, axis=1).astype(np.int32)
            return np.arange(len(codes), dtype=np.uint64)
        leaf = np.concatenate([leaf.rank for leaf in self.leaves])
        key: NDArray[np.uint64] = rollup.pack_keys(np.ascontiguousarray(codes), leaf, self.begin, self.shift)
        return key

    def values(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """For each key, a value of every variable that lies in its group."""
        if self.wide:
            leaf = self.codes[keys.astype(np.int64)]
        else:
            leaf = np.stack([(keys >> s) & m for s, m in zip(self.shift, self.mask, strict=True)], axis=1)
        ordered = [leaves.order[leaf[:, v].astype(np.int64)] for v, leaves in enumerate(self.leaves)]
        return np.stack(ordered, axis=1)

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
        for g in reversed(range(len(self.groups))):
            group = self.groups[g]
            own_levels = levels[group[0] : group[-1] + 1]
            begin, cells = self.filled[g].get(own_levels) or self._fill(g, own_levels)
            offset[g], stride[g] = begin, min(domain, 2**62)
            domain *= cells
        return offset, stride, domain

    def first_cells(self, levels: Levels) -> int:
        """Addresses of the first bit group at a node whose lookups are filled."""
        return self.filled[0][levels[: len(self.groups[0])]][1]

    def _fill(self, g: int, levels: tuple[int, ...]) -> tuple[int, int]:
        from celosia.kernels import rollup

        begin = int(self.group_begin[g]) + self.group_size[g] * len(self.filled[g])
        node = (np.array(self.groups[g], np.int64), np.array(levels, np.int64))
        encoding = (self.leading, self.dense, self.leaf_count, self.shift, self.mask)
        cells = rollup.fill_lookup(self.coarse, self.address, begin, *node, encoding)
        self.filled[g][levels] = begin, cells
        return begin, cells
