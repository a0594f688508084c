"""What is published, and the classes that makes: counted over text, in rows, in persons, value by value."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.risk.criteria import KAnonymity, criterion_from
from celosia.solver.published import class_labels, judge_all, level_labels
from tests.solver.plain_rows import PlainTable, compile_columns, tables, texts


def draw_labels(draw: st.DrawFn, tuples: int) -> np.ndarray:
    """Any assignment of tuples to three classes, some of them perhaps empty."""
    return np.array(draw(st.lists(st.integers(0, 2), min_size=tuples, max_size=tuples)), np.int64)


@pytest.mark.requirement("X1")
def test_the_same_text_reached_at_two_levels_is_one_class() -> None:
    trees = [compile_columns("q0", [["05", "05302"], ["05", "05"], ["*", "*"]])]
    levels = level_labels(trees)
    codes = levels.publish(np.array([[0], [1], [1]], np.int32), np.array([[0], [1], [2]]))
    assert texts(codes, levels.vocabularies) == [("05",), ("05",), ("*",)]
    assert class_labels(codes, [len(v) for v in levels.vocabularies])[1] == 2


@pytest.mark.requirement("X1")
@given(tables(), st.data())
def test_sizes_persons_and_values_of_classes_are_those_of_their_rows(table: PlainTable, data: st.DataObject) -> None:
    counter = table.counter()
    label = draw_labels(data.draw, len(counter.quasi.rows))
    classes = counter.classes(label, 3)
    of_rows = [int(label[at]) for at in table.tuple_of_row(counter.quasi)]
    persons: dict[int, set[int]] = defaultdict(set)
    holders: dict[tuple[int, str], list[int]] = defaultdict(list)
    for at, value, person in zip(of_rows, table.values, table.persons, strict=True):
        persons[at].add(person)
        holders[at, value].append(person)
    assert classes.rows.tolist() == [of_rows.count(at) for at in range(3)]
    if table.keyed:
        assert classes.persons is not None
        assert classes.persons.tolist() == [len(persons[at]) for at in range(3)]
    counts = classes.counts("s")
    names = [counter.domain("s").vocabulary[code] for code in counts.values]  # type: ignore[union-attr]
    keys = list(zip(counts.owner.tolist(), names, strict=True))
    assert keys == sorted(holders)
    assert counts.rows.tolist() == [len(holders[key]) for key in keys]
    if table.keyed:
        assert counts.persons is not None
        assert counts.persons.tolist() == [len(set(holders[key])) for key in keys]


@given(tables(), st.data())
def test_some_of_the_tuples_count_as_if_the_others_were_not_there(table: PlainTable, data: st.DataObject) -> None:
    counter = table.counter()
    label = draw_labels(data.draw, len(counter.quasi.rows))
    index = np.flatnonzero(label > 0)
    whole, part = counter.classes(label, 3), counter.subset(index).classes(label[index] - 1, 2)
    assert part.rows.tolist() == whole.rows[1:].tolist()
    assert (part.persons is None) == (whole.persons is None)
    if part.persons is not None and whole.persons is not None:
        assert part.persons.tolist() == whole.persons[1:].tolist()
    inside = whole.counts("s").owner > 0
    assert part.counts("s").values.tolist() == whole.counts("s").values[inside].tolist()
    assert part.counts("s").rows.tolist() == whole.counts("s").rows[inside].tolist()


@pytest.mark.requirement("X4")
def test_hidden_sensitive_values_are_not_counted_and_the_rows_still_are() -> None:
    table = PlainTable([("a",), ("a",), ("b",)], ["I219", "J189", "*"], [0, 1, 2])
    counter = table.counter()
    one_class = np.zeros(2, np.int64)
    assert counter.classes(one_class, 1).rows.tolist() == [3]
    assert counter.classes(one_class, 1).counts("s").rows.tolist() == [1, 1]
    hidden = counter.classes(one_class, 1, {"s": np.array([False, True])})
    assert hidden.rows.tolist() == [3]
    assert hidden.counts("s").rows.tolist() == []


def test_a_class_passes_when_it_passes_every_criterion() -> None:
    table = PlainTable([("a",)] * 3 + [("b",)] * 2, ["x", "x", "x", "x", "y"], list(range(5)))
    counter = table.counter()
    classes = counter.classes(np.array([0, 1]), 2)
    diverse = criterion_from({"criterion": "distinct_l", "variable": "s", "l": 2})
    assert judge_all([], classes).tolist() == [True, True]
    assert judge_all([KAnonymity(k=3)], classes).tolist() == [True, False]
    assert judge_all([diverse], classes).tolist() == [False, True]
    assert judge_all([KAnonymity(k=3), diverse], classes).tolist() == [False, False]
    assert counter.domain("") is None
