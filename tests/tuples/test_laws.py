"""Laws of the tuple table, against counting the rows again by hand."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from celosia.tuples.table import Persons, Tuples, group_codes, pack_keys, person_counts, project, roll_up

SIZES = (4, 3, 5)


@dataclass(frozen=True)
class Rows:
    """Rows of codes, each with its person."""

    codes: tuple[tuple[int, ...], ...]
    persons: tuple[int, ...]


rows_of_people = st.lists(
    st.tuples(st.tuples(*[st.integers(0, size - 1) for size in SIZES]), st.integers(0, 8)), max_size=40
).map(lambda pairs: Rows(tuple(c for c, _ in pairs), tuple(p for _, p in pairs)))


def level_map(size: int) -> st.SearchStrategy[NDArray[np.int64]]:
    """A recoding of a vocabulary into one of the same size, seldom one to one."""
    return st.lists(st.integers(0, size - 1), min_size=size, max_size=size).map(np.array)


maps = st.tuples(*[st.one_of(st.none(), level_map(size)) for size in SIZES])


def tuples_of(rows: Rows) -> Tuples:
    """The tuple table by plain Python, straight from its definition."""
    behind: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for codes, person in zip(rows.codes, rows.persons, strict=True):
        behind[codes].append(person)
    order = sorted(behind)
    places: dict[int, set[int]] = defaultdict(set)
    for index, codes in enumerate(order):
        for person in behind[codes]:
            places[person].add(index)
    scattered = sorted(person for person, indices in places.items() if len(indices) > 1)
    pairs = sorted((index, ordinal) for ordinal, p in enumerate(scattered) for index in places[p])
    settled = [sum(len(places[p]) == 1 for p in set(behind[codes])) for codes in order]
    vocabularies = tuple(tuple(f"v{i}" for i in range(size)) for size in SIZES)
    incidence = np.array(pairs, np.int64).reshape(-1, 2)
    return Tuples(
        ("a", "b", "c"),
        vocabularies,
        np.array(order, np.int32).reshape(-1, len(SIZES)),
        np.array([len(behind[codes]) for codes in order], np.int64),
        Persons(len(places), np.array(settled, np.int64), incidence[:, 0], incidence[:, 1]),
    )


def recode_rows(rows: Rows, chosen: tuple[NDArray[np.int64] | None, ...]) -> Rows:
    new = [tuple(int(m[c]) if m is not None else c for m, c in zip(chosen, codes, strict=True)) for codes in rows.codes]
    return Rows(tuple(new), rows.persons)


def assert_same(actual: Tuples, expected: Tuples) -> None:
    assert actual.codes.tolist() == expected.codes.tolist()
    assert actual.rows.tolist() == expected.rows.tolist()
    assert person_counts(actual).tolist() == person_counts(expected).tolist()
    assert actual.persons is not None
    assert expected.persons is not None
    assert actual.persons.total == expected.persons.total
    assert actual.persons.settled.tolist() == expected.persons.settled.tolist()


@given(rows_of_people, maps)
def test_rolling_up_equals_counting_the_recoded_rows(rows: Rows, chosen: tuple) -> None:
    table = tuples_of(rows)
    rolled, label = roll_up(table, chosen, table.vocabularies)
    assert_same(rolled, tuples_of(recode_rows(rows, chosen)))
    assert len(label) == len(table.rows)
    assert np.bincount(label, weights=table.rows, minlength=len(rolled.rows)).tolist() == rolled.rows.tolist()


@given(rows_of_people, maps, maps)
def test_rolling_up_twice_equals_rolling_up_once(rows: Rows, first: tuple, second: tuple) -> None:
    table = tuples_of(rows)
    identity = [np.arange(size) for size in SIZES]
    once = [(i if f is None else f) for i, f in zip(identity, first, strict=True)]
    together = [o if s is None else s[o] for o, s in zip(once, second, strict=True)]
    middle, first_label = roll_up(table, first, table.vocabularies)
    twice, second_label = roll_up(middle, second, table.vocabularies)
    direct, label = roll_up(table, together, table.vocabularies)
    assert_same(twice, direct)
    assert second_label[first_label].tolist() == label.tolist()


@given(rows_of_people)
def test_projecting_on_every_column_changes_nothing(rows: Rows) -> None:
    table = tuples_of(rows)
    same, label = project(table, table.names)
    assert_same(same, table)
    assert label.tolist() == list(range(len(table.rows)))


@pytest.mark.requirement("X24")
@given(rows_of_people, st.permutations(["a", "b", "c"]), st.integers(1, 3))
def test_projected_persons_are_the_distinct_persons_behind(rows: Rows, order: list[str], width: int) -> None:
    names = order[:width]
    narrow, _ = project(tuples_of(rows), names)
    behind: dict[tuple[int, ...], set[int]] = defaultdict(set)
    for codes, person in zip(rows.codes, rows.persons, strict=True):
        behind[tuple(codes["abc".index(n)] for n in names)].add(person)
    assert [tuple(c) for c in narrow.codes.tolist()] == sorted(behind)
    assert person_counts(narrow).tolist() == [len(behind[key]) for key in sorted(behind)]


@given(rows_of_people, maps)
def test_persons_are_never_more_than_rows_and_at_least_one(rows: Rows, chosen: tuple) -> None:
    table = tuples_of(rows)
    rolled, _ = roll_up(table, chosen, table.vocabularies)
    counts = person_counts(rolled)
    assert (counts <= rolled.rows).all()
    assert (counts >= 1).all()
    assert rolled.n_rows == len(rows.codes)


@given(rows_of_people, maps)
def test_a_coarser_table_never_shrinks_a_class(rows: Rows, chosen: tuple) -> None:
    table = tuples_of(rows)
    rolled, label = roll_up(table, chosen, table.vocabularies)
    assert (rolled.rows[label] >= table.rows).all()
    assert (person_counts(rolled)[label] >= person_counts(table)).all()


def test_without_a_person_key_every_row_counts_for_one() -> None:
    table = Tuples(("a",), (("x",),), np.zeros((1, 1), np.int32), np.array([7]))
    assert person_counts(table).tolist() == [7]
    assert project(table, ["a"])[0].persons is None


def test_rolling_up_leaves_its_input_untouched() -> None:
    table = tuples_of(Rows(((0, 1, 2), (1, 1, 2), (0, 1, 2)), (0, 0, 1)))
    codes, rows = table.codes.copy(), table.rows.copy()
    roll_up(table, [np.zeros(4, np.int64), None, None], table.vocabularies)
    assert (table.codes == codes).all()
    assert (table.rows == rows).all()


wide = st.lists(st.sampled_from([1, 2, 3, 1_000, 2**20, 2**31 - 1]), min_size=1, max_size=12)


@given(st.data(), wide)
def test_packed_keys_sort_like_the_rows_at_any_width(data: st.DataObject, sizes: list[int]) -> None:
    row = st.tuples(*[st.sampled_from(sorted({0, size // 2, size - 1})) for size in sizes])
    rows = data.draw(st.lists(row, max_size=25))
    codes = np.array(rows, np.int64).reshape(-1, len(sizes))
    keys = pack_keys(codes, sizes)
    order = np.argsort(keys, kind="stable")
    assert [rows[i] for i in order] == sorted(rows)
    assert len(np.unique(keys)) == len(set(rows))


@given(st.data(), wide)
def test_groups_come_in_order_and_label_every_row(data: st.DataObject, sizes: list[int]) -> None:
    row = st.tuples(*[st.sampled_from(sorted({0, size - 1})) for size in sizes])
    rows = data.draw(st.lists(row, max_size=25))
    first, label = group_codes(np.array(rows, np.int64).reshape(-1, len(sizes)), sizes)
    distinct = sorted(set(rows))
    assert [rows[i] for i in first] == distinct
    assert [distinct[i] for i in label] == rows
