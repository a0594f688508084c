"""Cells are counted in persons at every level, and linked tables become one grid."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.tables.cells import (
    ALL,
    CellTable,
    Dimension,
    cell_table,
    cells_inside_small,
    dimension_sets,
    never_empty,
    with_empty,
)
from celosia.tables.grid import Grid
from celosia.tables.linking import grid_of
from celosia.tuples.table import Persons, Tuples, group_codes

PLACE = Dimension("place", ("Asunción", "Luque", "Areguá", "Capital", "Central"), (3, 4, 4, ALL, ALL))
SEX = Dimension.flat("sex", ("f", "m"))
CAUSE = Dimension.flat("cause", ("c", "i", "x"))


def tuples_of(
    names: tuple[str, ...], vocabularies: tuple[tuple[str, ...], ...], events: list[tuple[int, ...]]
) -> Tuples:
    """A tuple table from events; the last number of each is the person."""
    lines = np.array(events, np.int32).reshape(len(events), len(names) + 1)
    first, label = group_codes(lines[:, :-1], [len(words) for words in vocabularies])
    pairs = np.unique(np.stack([label, lines[:, -1]], axis=1), axis=0)
    settled = np.zeros(len(first), np.int64)
    persons = Persons(len(set(lines[:, -1].tolist())), settled, pairs[:, 0], pairs[:, 1])
    rows = np.bincount(label, minlength=len(first)).astype(np.int64)
    return Tuples(names, vocabularies, lines[:, :-1][first], rows, persons)


def counts(table: CellTable) -> dict[tuple[str | None, ...], int]:
    return {table.labels(cell): int(table.persons[cell]) for cell in range(len(table.codes))}


VOCABULARIES = (("Asunción", "Luque", "Areguá"), ("f", "m"), ("c", "i", "x"))
EVENTS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=30
)


@given(EVENTS)
def test_every_cell_counts_its_distinct_persons_at_every_level(events: list[tuple[int, ...]]) -> None:
    found = counts(cell_table(tuples_of(("place", "sex", "cause"), VOCABULARIES, events), (PLACE, SEX, CAUSE), "all"))
    expected: dict[tuple[str | None, ...], set[int]] = {}
    for place, sex, cause, person in events:
        for one in (PLACE.labels[place], PLACE.labels[PLACE.parent[place]], None):
            for two in (SEX.labels[sex], None):
                for three in (CAUSE.labels[cause], None):
                    expected.setdefault((one, two, three), set()).add(person)
    assert found == {key: len(persons) for key, persons in expected.items()}


@pytest.mark.requirement("Y15")
def test_twenty_events_of_two_users_are_two_persons() -> None:
    events = [(0, 0, person) for person in (7, 8) for _ in range(10)]
    table = cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], events), (PLACE, SEX), "none")
    cell = [table.labels(at) for at in range(len(table.codes))].index(("Asunción", "f"))
    assert (table.persons[cell], table.rows[cell]) == (2, 20)


def test_a_tree_of_uneven_depth_keeps_each_category_in_one_cell() -> None:
    uneven = Dimension("place", ("Asunción", "Luque", "Areguá", "Central"), (ALL, 3, 3, ALL))
    events = [(0, 0, 1), (1, 0, 2), (2, 0, 3), (2, 1, 4)]
    found = counts(cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], events), (uneven, SEX), [["place"], []]))
    assert found == {
        ("Asunción", "f"): 1, ("Luque", "f"): 1, ("Areguá", "f"): 1, ("Areguá", "m"): 1,
        ("Central", "f"): 2, ("Central", "m"): 1,
        ("Asunción", None): 1, ("Luque", None): 1, ("Areguá", None): 2, ("Central", None): 3, (None, None): 4,
    }  # fmt: skip


def test_margins_are_all_none_or_those_named() -> None:
    assert dimension_sets("abc", "none") == ((0, 1, 2),)
    assert dimension_sets("ab", "all") == ((0, 1), (0,), (1,), ())
    assert dimension_sets("abc", [["c", "a"], []]) == ((0, 1, 2), (0, 2), ())


def holds(grid: Grid) -> bool:
    """Every relation is true of the values: a sum, or between its largest part and their sum."""
    for number, (whole, parts) in enumerate(grid.relations()):
        value, terms = grid.values[whole], grid.values[parts]
        if not (value == terms.sum() if grid.additive[number] else terms.max() <= value <= terms.sum()):
            return False
    return True


@given(EVENTS, st.sampled_from(["all", "none", [["place"]], [["sex"], []]]))
def test_every_relation_of_linked_tables_holds(events: list[tuple[int, ...]], margins: object) -> None:
    full = tuples_of(("place", "sex", "cause"), VOCABULARIES, events)
    one = cell_table(full, (PLACE, SEX), margins)  # type: ignore[arg-type]
    other = cell_table(full, (PLACE, CAUSE), "none")
    grid, numbers = grid_of([one, other])
    assert holds(grid)
    assert (grid.values[numbers[0]] == one.persons).all()
    assert (grid.values[numbers[1]] == other.persons).all()
    assert grid.offered.sum() == len({*numbers[0].tolist(), *numbers[1].tolist()})


@given(EVENTS)
def test_rows_always_add_up(events: list[tuple[int, ...]]) -> None:
    table = cell_table(tuples_of(("place", "sex", "cause"), VOCABULARIES, events), (PLACE, SEX, CAUSE), "all")
    grid, _ = grid_of([table], "rows")
    assert grid.additive.all()
    assert holds(grid)


@given(EVENTS)
def test_the_relations_say_all_that_the_margins_say(events: list[tuple[int, ...]]) -> None:
    """The rank of the relations is the number of cells that follow from the innermost ones."""
    table = cell_table(tuples_of(("place", "sex", "cause"), VOCABULARIES, events), (PLACE, SEX, CAUSE), "all")
    grid, _ = grid_of([table], "rows")
    inner = [None not in (labels := table.labels(c)) and labels[0] in VOCABULARIES[0] for c in range(len(table.codes))]
    matrix = np.zeros((len(grid.totals), grid.size))
    for number, (whole, parts) in enumerate(grid.relations()):
        matrix[number, whole] = -1
        matrix[number, parts] = 1
    assert np.linalg.matrix_rank(matrix) == grid.size - sum(inner)


def test_two_tables_without_margins_meet_in_the_margin_that_neither_publishes() -> None:
    events = [(0, 0, 0, 1), (0, 1, 1, 2), (1, 0, 2, 3)]
    full = tuples_of(("place", "sex", "cause"), VOCABULARIES, events)
    flat = Dimension.flat("place", VOCABULARIES[0])
    grid, (one, other) = grid_of([cell_table(full, (flat, SEX), "none"), cell_table(full, (flat, CAUSE), "none", [[]])])
    hidden = np.flatnonzero(~grid.offered)
    assert grid.values[hidden].tolist() == [3, 2, 1]  # the total that was counted; Asunción; Luque
    assert grid.additive.all()
    wholes = [whole for whole, _ in grid.relations()]
    assert all(wholes.count(cell) == 2 for cell in hidden[1:])
    assert set(one.tolist()).isdisjoint(other.tolist())


def test_persons_in_several_parts_leave_inequalities() -> None:
    events = [(0, 0, 1), (0, 1, 1), (1, 0, 2)]
    table = cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], events), (PLACE, SEX), "all")
    grid, _ = grid_of([table])
    assert not grid.additive.all()
    assert holds(grid)
    assert grid_of([table], additive=True)[0].additive.all()


def test_one_person_in_two_parts_leaves_the_other_margins_sums() -> None:
    events = [(0, 0, 1), (0, 1, 1), *((1, sex, 10 + sex) for sex in (0, 1)), (2, 0, 20)]
    table = cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], events), (PLACE, SEX), "all")
    grid, _ = grid_of([table])
    sums = [grid.values[whole] == grid.values[parts].sum() for whole, parts in grid.relations()]
    assert grid.additive.tolist() == sums
    assert 0 < sum(sums) < len(sums)


def test_a_listed_category_and_the_total_have_somebody() -> None:
    table = with_empty(cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], [(0, 0, 1), (1, 1, 2)]), (PLACE, SEX)))
    known = {table.labels(cell) for cell in np.flatnonzero(never_empty(table))}
    assert known == {table.labels(cell) for cell in range(len(table.codes)) if None in table.labels(cell)}


def test_any_margin_costs_more_than_any_inner_cell_and_the_larger_more_than_the_smaller() -> None:
    events = [(place, sex, 10 * place + sex) for place in (0, 1, 2) for sex in (0, 1)] + [(0, 0, 99)]
    table = cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], events), (PLACE, SEX), "all")
    grid, (numbers,) = grid_of([table])
    cost = {table.labels(cell): int(grid.cost[numbers[cell]]) for cell in range(len(numbers))}
    assert cost[("Asunción", "f")] > cost[("Asunción", "m")]
    assert cost[("Asunción", None)] > max(value for key, value in cost.items() if None not in key and "C" not in key[0])
    assert cost[(None, None)] == max(cost.values())
    assert (grid.cost > 0).all()


def test_tables_that_count_one_cell_differently_are_not_linked() -> None:
    from celosia.tables.errors import TablesDisagree

    one = tuples_of(("sex",), (("f", "m"),), [(0, 1), (1, 2)])
    other = tuples_of(("sex",), (("f", "m"),), [(0, 1)])
    with pytest.raises(TablesDisagree):
        grid_of([cell_table(one, (SEX,), "all"), cell_table(other, (SEX,), "all")])


def test_a_level_that_was_not_counted_is_our_own_fault() -> None:
    table = cell_table(tuples_of(("place",), VOCABULARIES[:1], [(0, 1), (1, 2)]), (PLACE,), "none")
    leaves = table.codes[:, 0] < 3
    cut = CellTable(
        (PLACE,), *(part[leaves] for part in (table.codes, table.persons, table.rows)), {}, table.offered[leaves]
    )
    with pytest.raises(ValueError, match="every level"):
        grid_of([cut])


@given(EVENTS)
def test_the_same_tables_give_the_same_grid(events: list[tuple[int, ...]]) -> None:
    full = tuples_of(("place", "sex", "cause"), VOCABULARIES, events)
    tables = [cell_table(full, pair, "all") for pair in combinations((PLACE, SEX, CAUSE), 2)]
    one, other = grid_of(tables)[0], grid_of(tables)[0]
    assert all((getattr(one, name) == getattr(other, name)).all() for name in Grid.__slots__)


def test_the_cells_of_nobody_are_listed_everywhere_or_beneath_small_margins_only() -> None:
    events = [(0, 0, n) for n in range(9)] + [(0, 1, n) for n in range(10, 19)] + [(1, 0, 30), (2, 0, 31), (2, 0, 32)]
    table = cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], events), (PLACE, SEX), "all")
    everywhere, beneath = counts(with_empty(table)), counts(with_empty(table, under=3))
    assert len(everywhere) == 6 * 3
    assert {key for key, persons in everywhere.items() if persons == 0} == {
        ("Luque", "m"), ("Areguá", "m"), ("Central", "m"),
    }  # fmt: skip
    # The zero of Central would tell those of its places, so it is listed with them.
    assert {key for key, persons in beneath.items() if persons == 0} == {
        ("Luque", "m"), ("Areguá", "m"), ("Central", "m"),
    }  # fmt: skip
    listed = with_empty(table, under=3)
    lying = {listed.labels(cell) for cell in np.flatnonzero(cells_inside_small(listed, 3))}
    assert lying == {("Luque", "f"), ("Areguá", "f"), ("Luque", "m"), ("Areguá", "m")}
    assert grid_of([with_empty(table)], "rows")[0].additive.all()


def test_zeros_beneath_a_small_region_are_those_of_its_places_too() -> None:
    table = cell_table(tuples_of(("place", "sex"), VOCABULARIES[:2], [(1, 0, 30), (0, 1, 1)]), (PLACE, SEX), "all")
    listed = counts(with_empty(table, under=2))
    assert {key for key, persons in listed.items() if persons == 0} >= {
        ("Areguá", "f"),
        ("Areguá", "m"),
        ("Luque", "m"),
    }
