"""A table of cells from what a database counted: codes become categories, and counts are added where they may be.

Knows numbered labels, levels of trees and arrays of counts. Ignores databases. Counts are added only over dimensions
in which each person has one label; the caller says which by the sets that it counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.stats.errors import LevelLabelsRepeat
from celosia.tables.cells import ALL, CellTable, Dimension

if TYPE_CHECKING:
    from celosia.stats.counting.sums import Amount

Request = tuple[int | None, ...]  # per dimension: the level of the breakdown, None where all are together
Integers = NDArray[np.int64]
Node = tuple[int, int]  # level and code
_SAME_AS_PARENT = -2  # in place of a category that has the name of its parent, where the cell is already


@dataclass(frozen=True, slots=True)
class Tree:
    """The labels of a dimension by level and code, and which codes lie under which.

    Levels that are not its `own` come from another table's cut of the same values: a category of theirs with the same
    values as another is left out.
    """

    labels: list[dict[int, str]]
    chains: list[tuple[int, ...]]
    own: tuple[bool, ...] = ()  # per level; all of them where nothing is said

    def upwards(self, fine: int, coarse: int) -> dict[int, int]:
        """For every code at a level, the code at a coarser one."""
        return {chain[fine]: chain[coarse] for chain in self.chains}

    def dimension(self, table: str, name: str) -> Dimension:
        """The categories level after level, each level in the order of its labels."""
        nodes = self.nodes()
        labels = [self.labels[level][code] for level, code in nodes]
        if len(set(labels)) < len(labels):
            raise LevelLabelsRepeat(table=table, dimension=name, labels=len(labels) - len(set(labels)))
        position = {node: number for number, node in enumerate(nodes)}
        upwards = self._parents()
        return Dimension(name, tuple(labels), tuple(_nearest_ancestor(node, upwards, position) for node in nodes))

    def nodes(self) -> list[Node]:
        """(level, code) of every category, in the order of the dimension."""
        levels = [sorted(words.items(), key=lambda item: item[1]) for words in self.labels]
        nodes = [(level, code) for level, words in enumerate(levels) for code, _ in words]
        left_out = self._same_as_parent() | self._redundant_nodes()
        return [node for node in nodes if node not in left_out]

    def _parents(self) -> dict[Node, Node]:
        """The category of the next coarser level that each lies under."""
        levels = range(1, len(self.labels))
        return {(at, fine): (at - 1, up) for at in levels for fine, up in self.upwards(at, at - 1).items()}

    def _own_levels(self) -> list[int]:
        return [level for level in range(len(self.labels)) if not self.own or self.own[level]]

    def _same_as_parent(self) -> set[Node]:
        """Categories that are their parent under the same name, like those of missing values: listed once."""
        above = {
            (fine, code): (coarse, up)
            for coarse, fine in pairwise(self._own_levels())
            for code, up in self.upwards(fine, coarse).items()
        }
        children = Counter(above.values())
        return {
            node
            for node, parent in above.items()
            if children[parent] == 1 and self.labels[node[0]][node[1]] == self.labels[parent[0]][parent[1]]
        }

    def _redundant_nodes(self) -> set[Node]:
        """Categories of other levels with the same values as an own one, or as a finer one of theirs."""
        own = set(self._own_levels())
        if len(own) == len(self.labels):
            return set()
        leaves: dict[Node, set[int]] = {}
        for chain in self.chains:
            for level, code in enumerate(chain):
                leaves.setdefault((level, code), set()).add(chain[-1])
        alike: dict[frozenset[int], list[Node]] = {}
        for node in sorted(leaves):
            alike.setdefault(frozenset(leaves[node]), []).append(node)
        needed = {node for nodes in alike.values() for node in ([n for n in nodes if n[0] in own] or nodes[-1:])}
        return leaves.keys() - needed


def _nearest_ancestor(node: Node, upwards: Mapping[Node, Node], position: Mapping[Node, int]) -> int:
    """Position of the nearest ancestor that is listed."""
    while (above := upwards.get(node)) is not None:
        if above in position:
            return position[above]
        node = above
    return ALL


@dataclass(frozen=True, slots=True)
class Counts:
    """Cells of one request with their figures."""

    request: Request
    codes: Integers  # (cells, dimensions), -1 = all together
    figures: Mapping[str, Integers]
    largest: Mapping[str, Integers]  # (rows, dimensions + 1): codes and one person's contribution

    @classmethod
    def empty(cls, request: Request, amounts: Sequence[Amount]) -> Counts:
        """No cell at all."""
        none = np.zeros(0, np.int64)
        names = ["persons", "rows", *(name for amount in amounts for name in amount.figures)]
        largest = {a.measure: np.zeros((0, len(request) + 1), np.int64) for a in amounts}
        return cls(request, np.zeros((0, len(request)), np.int64), dict.fromkeys(names, none), largest)

    @classmethod
    def of(
        cls, request: Request, rows: pa.Table, largest: Mapping[str, Integers], number: int, amounts: Sequence[Amount]
    ) -> Counts:
        """The part of a query's answer that belongs to one request."""
        selected = rows.column("g").to_numpy() == number

        def column(name: str) -> Integers:
            return rows.column(name).to_numpy()[selected].astype(np.int64)

        codes = np.stack([column(f"q{d}") for d in range(len(request))], axis=1)
        figures = {"persons": column("n"), "rows": column("r")}
        for amount in amounts:
            figures |= zip(
                amount.figures, map(column, (amount.total, amount.row_count, amount.person_count)), strict=True
            )
        return cls(request, codes, figures, {name: rows[rows[:, 0] == number][:, 1:] for name, rows in largest.items()})


def roll_up(counts: Counts, trees: Sequence[Tree], request: Request) -> Counts:
    """The cells of a request from cells counted at least as finely, over dimensions where each person has one label."""
    codes = _generalise_codes(counts.codes, trees, counts.request, request)
    cells, cell = np.unique(codes, axis=0, return_inverse=True)
    figures = {name: _sum_by_cell(values, cell.reshape(-1), len(cells)) for name, values in counts.figures.items()}
    largest = {
        name: np.column_stack([_generalise_codes(rows[:, :-1], trees, counts.request, request), rows[:, -1]])
        for name, rows in counts.largest.items()
    }
    return Counts(request, cells, figures, largest)


def _sum_by_cell(values: Integers, cell: Integers, size: int) -> Integers:
    total = np.zeros(size, np.int64)
    np.add.at(total, cell, values)
    return total


def _generalise_codes(codes: Integers, trees: Sequence[Tree], counted: Request, request: Request) -> Integers:
    """Codes at the levels of the request."""
    lifted = np.full(codes.shape, ALL, np.int64)
    for dimension, (fine, coarse) in enumerate(zip(counted, request, strict=True)):
        if coarse is None or fine is None or not len(codes):
            continue
        lifted[:, dimension] = codes[:, dimension]
        if fine != coarse:
            lifted[:, dimension] = _replace_codes(codes[:, dimension], trees[dimension].upwards(fine, coarse))
    return lifted


def _replace_codes(codes: Integers, mapping: Mapping[int, int]) -> Integers:
    distinct, back = np.unique(codes, return_inverse=True)
    return np.array([mapping[int(code)] for code in distinct], np.int64)[back.reshape(-1)]


def cells_of(
    table: str,
    names: Sequence[str],
    trees: Sequence[Tree],
    parts: Sequence[tuple[Counts, bool]],
    contributors: Mapping[str, int],
) -> CellTable:
    """One table of cells from the sets that were counted, each offered or not; in a fixed order."""
    dimensions = tuple(tree.dimension(table, name) for tree, name in zip(trees, names, strict=True))
    sorted_parts = [(_sort_cells(part, _numbers(part, trees)), offered) for part, offered in parts]
    figures = {name: np.concatenate([p.figures[name] for p, _ in sorted_parts]) for name in sorted_parts[0][0].figures}
    largest = {
        name: np.concatenate([_largest_by_cell(p.largest[name], p.codes, width) for p, _ in sorted_parts])
        for name, width in contributors.items()
    }
    return CellTable(
        dimensions,
        np.concatenate([part.codes for part, _ in sorted_parts]).astype(np.int32),
        figures.pop("persons"),
        figures.pop("rows"),
        figures,
        np.concatenate([np.full(len(part.codes), offered) for part, offered in sorted_parts]),
        largest,
    )


def _numbers(part: Counts, trees: Sequence[Tree]) -> list[dict[int, int]]:
    """Per dimension, the position in the tree of each code at the level of the part."""
    return [
        {ALL: ALL}
        if level is None
        else dict.fromkeys(tree.labels[level], _SAME_AS_PARENT)
        | {code: number for number, (at, code) in enumerate(tree.nodes()) if at == level}
        for tree, level in zip(trees, part.request, strict=True)
    ]


def _sort_cells(part: Counts, numbers: Sequence[Mapping[int, int]]) -> Counts:
    """The part with positions in the trees instead of codes, in the order of those."""
    codes = _tree_positions(part.codes, numbers)
    order = np.lexsort(codes.T[::-1])
    order = order[(codes[order] != _SAME_AS_PARENT).all(axis=1)]
    return Counts(
        part.request,
        codes[order],
        {name: values[order] for name, values in part.figures.items()},
        {name: _contributions(rows, numbers) for name, rows in part.largest.items()},
    )


def _contributions(rows: Integers, numbers: Sequence[Mapping[int, int]]) -> Integers:
    codes = _tree_positions(rows[:, :-1], numbers)
    return np.column_stack([codes, rows[:, -1]])[(codes != _SAME_AS_PARENT).all(axis=1)]


def _tree_positions(codes: Integers, numbers: Sequence[Mapping[int, int]]) -> Integers:
    return (
        np.column_stack([_replace_codes(codes[:, d], mapping) for d, mapping in enumerate(numbers)])
        if len(codes)
        else codes
    )


def _largest_by_cell(rows: Integers, cells: Integers, width: int) -> Integers:
    """(cells, n) contributions, largest first, 0 where there are fewer persons; rows and cells in the same codes."""
    both, group = np.unique(np.concatenate([cells, rows[:, :-1]]), axis=0, return_inverse=True)
    group = group.reshape(-1)
    back = np.empty(len(both), np.int64)
    back[group[: len(cells)]] = np.arange(len(cells))
    cell, size = back[group[len(cells) :]], rows[:, -1]
    order = np.lexsort((-size, cell))
    cell, size = cell[order], size[order]
    rank = np.arange(len(cell)) - np.searchsorted(cell, cell)
    table = np.zeros((len(cells), width), np.int64)
    near = rank < width
    table[cell[near], rank[near]] = size[near]
    return table
