"""From people to a protected table and back: an independent judge finds nothing to compute."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from celosia.tables.cells import ALL, CellTable, Dimension, cell_table
from celosia.tables.errors import TableUnprotectable
from celosia.tables.linking import grid_of
from celosia.tables.primary import below_threshold, combine_rules
from celosia.tables.protect import protect
from celosia.tuples.table import Tuples
from tests.tables.checker import Key, known_to_insiders, possible, recovered, single_valued

A, B, C = (
    Dimension.flat("a", ("a1", "a2", "a3")),
    Dimension.flat("b", ("b1", "b2", "b3")),
    Dimension.flat("c", ("c1", "c2")),
)
AREA = Dimension("a", ("a1", "a2", "a3", "north", "south"), (3, 3, 4, ALL, ALL))
ABOVE = {"a1": "north", "a2": "north", "a3": "south"}
COUNTS = st.lists(st.integers(0, 9), min_size=18, max_size=18)


def tuples_of(counts: list[int]) -> Tuples:
    codes = np.array(list(product(range(3), range(3), range(2))), np.int32)
    held = np.array(counts) > 0
    words = (A.labels, B.labels, C.labels)
    return Tuples(("a", "b", "c"), words, codes[held], np.array(counts, np.int64)[held])


def protected(
    tables: list[CellTable], k: int
) -> tuple[list[dict[Key, int | None]], list[set[Key]], list[dict[Key, int]]]:
    """Per table: what is shown, which cells are primary, and the truth."""
    grid, numbers = grid_of(tables)
    primary, reasons = combine_rules([below_threshold(np.where(grid.offered, grid.values, 0), k)], grid.size)
    try:
        found = protect(grid, primary, reasons, k=k, singletons=grid.values == 1)
    except TableUnprotectable:
        assume(False)
    shown, small, truth = [], [], []
    for table, place in zip(tables, numbers, strict=True):
        keys = [table.labels(cell) for cell in range(len(place))]
        truth.append(dict(zip(keys, table.persons.tolist(), strict=True)))
        hidden = {key for key, cell in zip(keys, place, strict=True) if found.status[cell]}
        shown.append({key: None if key in hidden else value for key, value in truth[-1].items()})
        small.append({key for key, cell in zip(keys, place, strict=True) if found.status[cell] == 1})
    return shown, small, truth


@pytest.mark.requirement("Y21")
@given(COUNTS, st.integers(3, 5))
@settings(max_examples=25)
def test_a_table_of_three_dimensions_gives_nothing_back(counts: list[int], k: int) -> None:
    assume(any(counts))
    [shown], [primary], [truth] = protected([cell_table(tuples_of(counts), (A, B, C), "all")], k)
    assert primary == {key for key, value in truth.items() if value < k}
    assert not recovered(shown) & primary
    assert not single_valued(shown, primary, k)
    assert not known_to_insiders(shown, truth, primary)


@pytest.mark.requirement("Y21")
@given(COUNTS, st.integers(3, 5))
@settings(max_examples=25)
def test_levels_of_a_tree_give_nothing_back(counts: list[int], k: int) -> None:
    assume(any(counts))
    [shown], [primary], _ = protected([cell_table(tuples_of(counts), (AREA, B), "all")], k)
    assert not recovered(shown, ABOVE) & primary


@pytest.mark.requirement("Y21")
@given(COUNTS, st.integers(3, 5), st.sampled_from(["all", "none"]), st.sampled_from(["all", "none"]))
@settings(max_examples=25)
def test_linked_tables_together_give_nothing_back(counts: list[int], k: int, one: str, other: str) -> None:
    assume(any(counts))
    people = tuples_of(counts)
    tables = [cell_table(people, (A, B), one), cell_table(people, (A, C), other, [[]])]  # type: ignore[arg-type]
    (first, second), (small, tiny), _ = protected(tables, k)
    offered = {tables[1].labels(cell) for cell in np.flatnonzero(tables[1].offered)}
    cells: dict[Key, int | None] = {(a, None, None): None for a in (*A.labels, None)}  # known to nobody by itself
    cells |= {(a, b, None): value for (a, b), value in first.items() if value is not None or (a, b, None) not in cells}
    cells |= {(a, None, c): v for (a, c), v in second.items() if (a, c) in offered and v is not None}
    cells |= {(a, None, c): None for (a, c), v in second.items() if (a, c) in offered and c is not None and v is None}
    primary = {(a, b, None) for a, b in small} | {(a, None, c) for a, c in tiny}
    assert not recovered(cells) & primary


def test_what_a_count_of_cells_would_say() -> None:
    """The judge itself, on tables that can be judged by hand."""
    shown: dict[Key, int | None] = {("a",): 12, ("b",): None, (None,): 15}
    assert recovered(shown) == {("b",)}
    pair: dict[Key, int | None] = {("a",): None, ("b",): None, (None,): 8}
    assert recovered(pair) == set()
    assert single_valued(pair, {("a",), ("b",)}, 5) == {("a",), ("b",)}  # 4 and 4
    assert possible({**pair, (None,): 7}, {("a",), ("b",)}, ("a",), 5) == (3, 4)
    assert known_to_insiders({**pair, (None,): 4}, {("a",): 1, ("b",): 3, (None,): 4}, {("a",), ("b",)}) >= {("b",)}
    tree: Counter[Key] = Counter({("a1",): 3, ("a2",): 7, ("a3",): 9, ("north",): 10, ("south",): 9, (None,): 19})
    assert recovered({key: None if key == ("a1",) else value for key, value in tree.items()}, ABOVE) == {("a1",)}
