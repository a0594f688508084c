"""From what a database counted to a table of cells: codes to categories, and counts added where they may be.

Knows numbered labels, levels of trees and arrays of counts. Ignores databases. Counts are added only over dimensions
in which each person has one label; the caller says which by what it counted apart.
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

from celosia.errors import LevelLabelsRepeat
from celosia.tables import ALL, CellTable, Dimension

if TYPE_CHECKING:
    from celosia.stats._sums import Amount

Request = tuple[int | None, ...]  # per dimension: the level that is told apart, None where all are together
Integers = NDArray[np.int64]
Node = tuple[int, int]  # level and code
_TOLD_ABOVE = -2  # in place of a category that bears the name of its parent, where the cell stands already


@dataclass(frozen=True, slots=True)
class Tree:
    """The labels of a dimension by level and code, and which codes lie under which.

    Levels that are not its `own` were put between by another table's cut of the same values: a category of theirs that
    holds what another holds is left out.
    """

    words: list[dict[int, str]]
    chains: list[tuple[int, ...]]
    own: tuple[bool, ...] = ()  # per level; all of them where nothing is said

    def upwards(self, fine: int, coarse: int) -> dict[int, int]:
        """For every code at a level, the code at a coarser one."""
        return {chain[fine]: chain[coarse] for chain in self.chains}

    def dimension(self, table: str, name: str) -> Dimension:
        """The categories level after level, each level in the order of its labels."""
        nodes = self.nodes()
        labels = [self.words[level][code] for level, code in nodes]
        if len(set(labels)) < len(labels):
            raise LevelLabelsRepeat(table=table, dimension=name, labels=len(labels) - len(set(labels)))
        place = {node: number for number, node in enumerate(nodes)}
        upwards = self._all_upwards()
        return Dimension(name, tuple(labels), tuple(_nearest(node, upwards, place) for node in nodes))

    def nodes(self) -> list[Node]:
        """(level, code) of every category, in the order of the dimension."""
        levels = [sorted(words.items(), key=lambda item: item[1]) for words in self.words]
        found = [(level, code) for level, words in enumerate(levels) for code, _ in words]
        left_out = self._repeated() | self._put_in_vain()
        return [node for node in found if node not in left_out]

    def _all_upwards(self) -> dict[Node, Node]:
        """The category of the next coarser level that each lies under."""
        levels = range(1, len(self.words))
        return {(at, fine): (at - 1, up) for at in levels for fine, up in self.upwards(at, at - 1).items()}

    def _own_levels(self) -> list[int]:
        return [level for level in range(len(self.words)) if not self.own or self.own[level]]

    def _repeated(self) -> set[Node]:
        """Categories that are their parent under the same name, like those of who states nothing: told once."""
        above = {
            (fine, code): (coarse, up)
            for coarse, fine in pairwise(self._own_levels())
            for code, up in self.upwards(fine, coarse).items()
        }
        children = Counter(above.values())
        return {
            node
            for node, parent in above.items()
            if children[parent] == 1 and self.words[node[0]][node[1]] == self.words[parent[0]][parent[1]]
        }

    def _put_in_vain(self) -> set[Node]:
        """Categories of levels put between that hold what an own one, or a finer one of theirs, holds."""
        own = set(self._own_levels())
        if len(own) == len(self.words):
            return set()
        held: dict[Node, set[int]] = {}
        for chain in self.chains:
            for level, code in enumerate(chain):
                held.setdefault((level, code), set()).add(chain[-1])
        alike: dict[frozenset[int], list[Node]] = {}
        for node in sorted(held):
            alike.setdefault(frozenset(held[node]), []).append(node)
        kept = {node for nodes in alike.values() for node in ([n for n in nodes if n[0] in own] or nodes[-1:])}
        return held.keys() - kept


def _nearest(node: Node, upwards: Mapping[Node, Node], place: Mapping[Node, int]) -> int:
    """Where the first category above stands that is told."""
    while (above := upwards.get(node)) is not None:
        if above in place:
            return place[above]
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
        cls, request: Request, found: pa.Table, largest: Mapping[str, Integers], number: int, amounts: Sequence[Amount]
    ) -> Counts:
        """The part of a query's answer that belongs to one request."""
        mine = found.column("g").to_numpy() == number

        def column(name: str) -> Integers:
            return found.column(name).to_numpy()[mine].astype(np.int64)

        codes = np.stack([column(f"q{d}") for d in range(len(request))], axis=1)
        figures = {"persons": column("n"), "rows": column("r")}
        for amount in amounts:
            figures |= zip(amount.figures, map(column, (amount.total, amount.filled, amount.holders)), strict=True)
        return cls(request, codes, figures, {name: rows[rows[:, 0] == number][:, 1:] for name, rows in largest.items()})


def rolled_up(counts: Counts, trees: Sequence[Tree], request: Request) -> Counts:
    """The cells of a request from cells counted at least as finely, over dimensions where each person has one label."""
    codes = _lifted(counts.codes, trees, counts.request, request)
    cells, place = np.unique(codes, axis=0, return_inverse=True)
    figures = {name: _added(values, place.reshape(-1), len(cells)) for name, values in counts.figures.items()}
    largest = {
        name: np.column_stack([_lifted(rows[:, :-1], trees, counts.request, request), rows[:, -1]])
        for name, rows in counts.largest.items()
    }
    return Counts(request, cells, figures, largest)


def _added(values: Integers, place: Integers, size: int) -> Integers:
    total = np.zeros(size, np.int64)
    np.add.at(total, place, values)
    return total


def _lifted(codes: Integers, trees: Sequence[Tree], counted: Request, request: Request) -> Integers:
    """Codes at the levels of the request."""
    lifted = np.full(codes.shape, ALL, np.int64)
    for dimension, (fine, coarse) in enumerate(zip(counted, request, strict=True)):
        if coarse is None or fine is None or not len(codes):
            continue
        lifted[:, dimension] = codes[:, dimension]
        if fine != coarse:
            lifted[:, dimension] = _replaced(codes[:, dimension], trees[dimension].upwards(fine, coarse))
    return lifted


def _replaced(codes: Integers, way: Mapping[int, int]) -> Integers:
    found, back = np.unique(codes, return_inverse=True)
    return np.array([way[int(code)] for code in found], np.int64)[back.reshape(-1)]


def cells_of(
    table: str,
    names: Sequence[str],
    trees: Sequence[Tree],
    parts: Sequence[tuple[Counts, bool]],
    contributors: Mapping[str, int],
) -> CellTable:
    """One table of cells from the sets that were counted, each offered or not; in a fixed order."""
    dimensions = tuple(tree.dimension(table, name) for tree, name in zip(trees, names, strict=True))
    placed = [(_in_order(part, _numbers(part, trees)), offered) for part, offered in parts]
    figures = {name: np.concatenate([p.figures[name] for p, _ in placed]) for name in placed[0][0].figures}
    largest = {
        name: np.concatenate([_table_of_largest(p.largest[name], p.codes, width) for p, _ in placed])
        for name, width in contributors.items()
    }
    return CellTable(
        dimensions,
        np.concatenate([part.codes for part, _ in placed]).astype(np.int32),
        figures.pop("persons"),
        figures.pop("rows"),
        figures,
        np.concatenate([np.full(len(part.codes), offered) for part, offered in placed]),
        largest,
    )


def _numbers(part: Counts, trees: Sequence[Tree]) -> list[dict[int, int]]:
    """Per dimension, the position in the tree of each code at the level of the part."""
    return [
        {ALL: ALL}
        if level is None
        else dict.fromkeys(tree.words[level], _TOLD_ABOVE)
        | {code: number for number, (at, code) in enumerate(tree.nodes()) if at == level}
        for tree, level in zip(trees, part.request, strict=True)
    ]


def _in_order(part: Counts, numbers: Sequence[Mapping[int, int]]) -> Counts:
    """The part with positions in the trees instead of codes, in the order of those."""
    codes = _renumbered(part.codes, numbers)
    order = np.lexsort(codes.T[::-1])
    order = order[(codes[order] != _TOLD_ABOVE).all(axis=1)]
    return Counts(
        part.request,
        codes[order],
        {name: values[order] for name, values in part.figures.items()},
        {name: _contributions(rows, numbers) for name, rows in part.largest.items()},
    )


def _contributions(rows: Integers, numbers: Sequence[Mapping[int, int]]) -> Integers:
    codes = _renumbered(rows[:, :-1], numbers)
    return np.column_stack([codes, rows[:, -1]])[(codes != _TOLD_ABOVE).all(axis=1)]


def _renumbered(codes: Integers, numbers: Sequence[Mapping[int, int]]) -> Integers:
    return np.column_stack([_replaced(codes[:, d], way) for d, way in enumerate(numbers)]) if len(codes) else codes


def _table_of_largest(rows: Integers, cells: Integers, width: int) -> Integers:
    """(cells, n) contributions, largest first, 0 where there are fewer persons; rows and cells in the same codes."""
    both, place = np.unique(np.concatenate([cells, rows[:, :-1]]), axis=0, return_inverse=True)
    place = place.reshape(-1)
    back = np.empty(len(both), np.int64)
    back[place[: len(cells)]] = np.arange(len(cells))
    cell, size = back[place[len(cells) :]], rows[:, -1]
    order = np.lexsort((-size, cell))
    cell, size = cell[order], size[order]
    rank = np.arange(len(cell)) - np.searchsorted(cell, cell)
    table = np.zeros((len(cells), width), np.int64)
    near = rank < width
    table[cell[near], rank[near]] = size[near]
    return table
