"""Random grids (crossed trees, some cells unpublished, some relations that do not add up) and an exact referee."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import strategies as st

from celosia.tables.grid import Flags, Grid

Tree = dict[int, list[int]]  # node: its parts; the last node is the total
FLAT: dict[int, Tree] = {size: {size: list(range(size))} for size in range(2, 6)}
REGIONS: Tree = {4: [0, 1], 5: [2, 3], 6: [4, 5]}  # two regions of two districts
STAR: Tree = {3: [0, 1], 4: [3, 2]}  # one region and a district without one
TREES = [FLAT[2], FLAT[3], FLAT[4], REGIONS, STAR]
SMALL = [FLAT[2], FLAT[3], STAR]  # three of them are as many cells as fractions bear


def crossed(trees: list[Tree], counts: np.ndarray, linked: bool = False) -> Grid:
    """A grid of crossed trees; `linked` keeps the cells with at most two variables (tables that share margins)."""
    nodes = [max(tree) + 1 for tree in trees]
    values = _rolled(trees, counts)
    cells = [cell for cell in product(*map(range, nodes)) if not linked or _is_margin(cell, nodes)]
    number = {cell: place for place, cell in enumerate(cells)}
    totals, starts, parts = [], [0], []
    for cell in cells:
        for axis, tree in enumerate(trees):
            under = [(*cell[:axis], part, *cell[axis + 1 :]) for part in tree.get(cell[axis], [])]
            if under and all(part in number for part in under):
                totals.append(number[cell])
                parts += [number[part] for part in under]
                starts.append(len(parts))
    held = np.array([values[cell] for cell in cells], np.int64)
    lists = (np.array(which, np.int64) for which in (totals, starts, parts))
    return Grid(held, *lists, np.ones(len(totals), bool), held + 1, np.ones(len(cells), bool))


def _is_margin(cell: tuple[int, ...], nodes: list[int]) -> bool:
    return sum(code < top - 1 for code, top in zip(cell, nodes, strict=True)) <= 2


def _rolled(trees: list[Tree], counts: np.ndarray) -> np.ndarray:
    for axis, tree in enumerate(trees):
        for node in sorted(tree):
            total = counts.take(tree[node], axis=axis).sum(axis=axis, keepdims=True)
            counts = np.concatenate([counts, total], axis=axis)
    return counts


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """Two or three dimensions, flat or in levels, alone or linked."""
    two, three = (st.lists(st.sampled_from(trees), min_size=n, max_size=n) for n, trees in ((2, TREES), (3, SMALL)))
    trees = draw(two | three)
    linked = len(trees) == 3 and draw(st.booleans())
    shape = [min(tree) for tree in trees]
    size = int(np.prod(shape))
    counts = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    grid = crossed(trees, np.array(counts, np.int64).reshape(shape), linked)
    sizes = (grid.size, len(grid.totals))
    seldom = [np.array(draw(st.lists(st.sampled_from([True] * 9 + [False]), min_size=n, max_size=n))) for n in sizes]
    whole = draw(st.booleans())
    return _with(grid, seldom[0] | whole, seldom[1] | whole)


def _with(grid: Grid, offered: Flags, additive: Flags) -> Grid:
    return Grid(grid.values, grid.totals, grid.starts, grid.parts, additive, grid.cost, offered)


def flags(size: int, often: int = 3) -> st.SearchStrategy[Flags]:
    """One flag per cell, true about once in `often`."""
    return st.lists(st.sampled_from([True] + [False] * (often - 1)), min_size=size, max_size=size).map(np.array)


def equations(grid: Grid) -> list[dict[int, int]]:
    """The relations that add up, as coefficients."""
    lines = [(whole, parts) for number, (whole, parts) in enumerate(grid.relations()) if grid.additive[number]]
    return [{whole: -1} | {int(part): 1 for part in parts} for whole, parts in lines]


def follows(lines: list[dict[int, int]], unknown: set[int]) -> set[int]:
    """Unknown cells with one possible value, by elimination in fractions; the slow and plain way."""
    solved: dict[int, dict[int, Fraction]] = {}
    for line in lines:
        row = {cell: Fraction(value) for cell, value in line.items() if cell in unknown and value}
        for pivot, other in solved.items():
            row = _less(row, other, row.get(pivot, Fraction(0)))
        if not row:
            continue
        pivot = min(row)
        row = {cell: value / row[pivot] for cell, value in row.items()}
        solved = {key: _less(other, row, other.get(pivot, Fraction(0))) for key, other in solved.items()}
        solved[pivot] = row
    return {pivot for pivot, row in solved.items() if len(row) == 1}


def _less(row: dict[int, Fraction], other: dict[int, Fraction], share: Fraction) -> dict[int, Fraction]:
    if not share:
        return row
    cells = row.keys() | other.keys()
    made = {cell: row.get(cell, Fraction(0)) - share * other.get(cell, Fraction(0)) for cell in cells}
    return {cell: value for cell, value in made.items() if value}


def same_people(grid: Grid, unknown: set[int]) -> list[set[int]]:
    """Groups of cells that are the same people, because one is the only part of the other."""
    groups: list[set[int]] = []
    for number, (whole, parts) in enumerate(grid.relations()):
        filled = {int(part) for part in parts if grid.values[part] != 0 or int(part) in unknown}
        if grid.additive[number] and len(filled) == 1:
            met = [group for group in groups if group & (filled | {whole})]
            groups = [group for group in groups if group not in met] + [set().union(filled, {whole}, *met)]
    return groups


def gives_away(grid: Grid, hidden: Flags, primary: Flags, single: Flags, asked: Flags) -> bool:
    """Whether a primary cell follows from what is published, for all or for who is alone in a hidden cell."""
    lines, unknown = equations(grid), set(np.flatnonzero(hidden | ~grid.offered).tolist())
    protected = set(np.flatnonzero(primary).tolist())
    if follows(lines, unknown) & protected:
        return True
    groups = same_people(grid, set(np.flatnonzero(asked).tolist()))
    for alone in np.flatnonzero(single & (hidden | ~grid.offered)).tolist():
        same = set().union({alone}, *(group for group in groups if alone in group))
        if (follows(lines, unknown - {alone}) & protected) - same:
            return True
    return False
