"""One suite judges every criterion: file form, ranges, slow references, what merging promises, what is lost."""

from __future__ import annotations

import copy
import json
import pickle
from itertools import chain

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from celosia.hierarchy.model import CompiledHierarchy
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import CRITERIA, Classes, Criterion, Domain, Merging, ValueCounts, criterion_from
from celosia.risk.errors import CriterionIncomplete
from tests.risk.criteria.slow_criteria import REFERENCES, TOGETHER
from tests.solver.random_problems import criterion as criterion_data
from tests.solver.random_problems import hierarchy

VOCABULARIES = (("", "*", "1", "10", "2"), ("", "b", "c", "d"), ("1", "10", "2", "3"), ("a", "b"))
QUIET = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
Rows = list[tuple[str, int]]


@st.composite
def criteria(draw) -> Criterion:
    """Any criterion with the source as its reference."""
    return criterion_from(criterion_data(draw, "s"))


@st.composite
def tables(draw) -> tuple[list[Rows], tuple[str, ...], CompiledHierarchy]:
    """Some classes of rows, the vocabulary and a tree over it."""
    vocabulary = draw(st.sampled_from(VOCABULARIES))
    row = st.tuples(st.sampled_from(vocabulary), st.integers(0, 6))
    classes = draw(st.lists(st.lists(row, min_size=1, max_size=8), min_size=1, max_size=4))
    return classes, vocabulary, hierarchy(draw, "s", len(vocabulary))


def as_classes(
    classes: list[Rows],
    vocabulary: tuple[str, ...],
    tree: CompiledHierarchy,
    by_person: bool,
    everything: list[Rows] | None = None,
) -> Classes:
    """The classes as criteria see them; the reference is all of `everything`."""
    code = {value: i for i, value in enumerate(vocabulary)}
    values, rows, persons, offsets = [], [], [], [0]
    for members in classes:
        for value in sorted({v for v, _ in members if v != "*"}):
            values.append(code[value])
            rows.append(sum(v == value for v, _ in members))
            persons.append(len({p for v, p in members if v == value}))
        offsets.append(len(values))
    reference = np.zeros(len(vocabulary), np.int64)
    for members in everything or classes:
        for value, _ in members:
            reference[code[value]] += value != "*"
    counts = ValueCounts(
        np.array(offsets, np.int64),
        np.array(values, np.int32),
        np.array(rows, np.int64),
        np.array(persons, np.int64) if by_person else None,
        np.array([len({p for v, p in members if v != "*"}) for members in classes], np.int64) if by_person else None,
    )
    sizes = np.array([len({p for _, p in members}) for members in classes], np.int64)
    domain = Domain("s", vocabulary, reference, reference > 0, tree)
    lengths = np.array([len(members) for members in classes], np.int64)
    return Classes(lengths, sizes if by_person else None, {"s": counts}, {"s": domain})


def tree_rows(tree: CompiledHierarchy, vocabulary: tuple[str, ...]) -> list[list[str]]:
    """The tree as rows of text, values first."""
    return [[value, *(str(m[i]) for m in tree.maps[1:])] for i, value in enumerate(vocabulary)]


def reference_judgements(criterion: Criterion, classes: list[Rows], tree: list[list[str]]) -> list[bool]:
    """What the slow reference says."""
    parameters = criterion.as_dict()
    if criterion.name in TOGETHER:
        return TOGETHER[criterion.name](classes, parameters)
    everything = [value for members in classes for value, _ in members]
    return [REFERENCES[criterion.name](members, parameters, everything, tree) for members in classes]


@QUIET
@given(criteria(), tables())
def test_judgements_equal_the_slow_reference(criterion, table) -> None:
    classes, vocabulary, tree = table
    seen = as_classes(classes, vocabulary, tree, by_person=True)
    judgements = reference_judgements(criterion, classes, tree_rows(tree, vocabulary))
    assert criterion.judge(seen).tolist() == judgements
    if criterion.name not in TOGETHER:
        assert criterion.measure(seen, np.ones(len(classes), bool))[0].tolist() == judgements


@QUIET
@given(criteria(), tables())
def test_without_persons_rows_are_counted(criterion, table) -> None:
    classes, vocabulary, tree = table
    seen = as_classes(classes, vocabulary, tree, by_person=False)
    alone = [[(value, i) for i, (value, _) in enumerate(members)] for members in classes]
    judgements = reference_judgements(criterion, alone, tree_rows(tree, vocabulary))
    assert criterion.judge(seen).tolist() == judgements


@QUIET
@given(criteria(), tables())
def test_merging_keeps_what_it_promises(criterion, table) -> None:
    classes, vocabulary, tree = table
    assume(len(classes) > 1 and criterion.name not in TOGETHER)
    apart = as_classes(classes, vocabulary, tree, by_person=False)
    together = as_classes([list(chain.from_iterable(classes))], vocabulary, tree, by_person=False)
    passes, merged = criterion.judge(apart), bool(criterion.judge(together)[0])
    promise = criterion.merging(apart.domains["s"])
    if promise is Merging.ABSORBING and passes.any():
        assert merged
    if promise is Merging.CLOSED and passes.all():
        assert merged


@QUIET
@given(criteria(), tables())
def test_rows_said_to_be_lost_are_lost_in_every_split(criterion, table) -> None:
    classes, vocabulary, tree = table
    assume(criterion.name not in TOGETHER)
    parts = as_classes(classes, vocabulary, tree, by_person=False)
    whole = as_classes([list(chain.from_iterable(classes))], vocabulary, tree, by_person=False)
    gone = parts.rows[~criterion.judge(parts)].sum()
    assert criterion.measure(whole, np.ones(1, bool))[1][0] <= gone


@QUIET
@given(criteria())
def test_the_file_form_reads_back(criterion) -> None:
    written = json.loads(json.dumps(criterion.as_dict()))
    assert criterion_from(written) == criterion
    assert pickle.loads(pickle.dumps(criterion)) == criterion == copy.deepcopy(criterion)
    assert hash(criterion_from(written)) == hash(criterion)


@QUIET
@given(criteria())
def test_a_criterion_cannot_be_changed(criterion) -> None:
    with pytest.raises(AttributeError):
        criterion.k = 1


def test_every_criterion_has_a_slow_reference_and_a_name_of_its_own() -> None:
    names = [kind.name for kind in CRITERIA]
    assert len(set(names)) == len(names)
    in_a_population = {"k_map", "population_uniqueness"}  # judged in test_population_criteria
    assert set(names) == {*REFERENCES, *TOGETHER, *in_a_population}


@pytest.mark.parametrize(
    "data",
    [
        {"criterion": "k", "k": 0},
        {"criterion": "k", "k": 2.5},
        {"criterion": "k", "k": True},
        {"criterion": "k", "k": 5, "other": 1},
        {"criterion": "k", "k": 5, "unit": "houses"},
        {"criterion": "no such"},
        {"criterion": "t", "variable": "s", "t": 1.5},
        {"criterion": "t", "variable": "s", "t": "x"},
        {"criterion": "t", "variable": "s", "t": 0.12345678},
        {"criterion": "t", "variable": "", "t": 0.2},
        {"criterion": "beta", "variable": "s", "beta": 0},
        {"criterion": "alpha_k", "variable": "s", "alpha": 0, "k": 2},
        {"criterion": "distinct_l", "variable": "s", "l": 2, "missing_counts": "yes"},
        {"criterion": "average_risk", "threshold": float("nan")},
        {},
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_refused(data) -> None:
    with pytest.raises(ValueOutOfRange) as refused:
        criterion_from(data)
    assert str(refused.value)


def test_a_missing_parameter_is_named() -> None:
    with pytest.raises(CriterionIncomplete, match="«k»"):
        criterion_from({"criterion": "k"})


def rows_of(*values: str) -> Rows:
    """A class in which everybody has one row."""
    return list(enumerate_rows(values))


def enumerate_rows(values: tuple[str, ...]):
    """Rows numbered by person."""
    return ((value, person) for person, value in enumerate(values))


TREE = CompiledHierarchy("s", (("a", "b"),), (np.arange(2, dtype=np.int32),), (np.full(2, 0.5),), 2)


def judge_class(criterion: Criterion, rows: Rows, vocabulary: tuple[str, ...], by_person: bool = False) -> bool:
    """The judgement on a single class."""
    return bool(criterion.judge(as_classes([rows], vocabulary, TREE, by_person))[0])


@pytest.mark.requirement("M11", "X3")
def test_an_empty_cell_is_a_value_unless_declared_otherwise() -> None:
    rows = rows_of("", "b")
    assert judge_class(criterion_from({"criterion": "distinct_l", "variable": "s", "l": 2}), rows, ("", "b"))
    strict = {"criterion": "distinct_l", "variable": "s", "l": 2, "missing_counts": False}
    assert not judge_class(criterion_from(strict), rows, ("", "b"))


@pytest.mark.requirement("X4")
def test_masked_values_never_count_and_a_fully_masked_class_is_safe() -> None:
    two = criterion_from({"criterion": "distinct_l", "variable": "s", "l": 2})
    assert judge_class(two, rows_of("*", "*"), ("*", "b", "c"))
    assert not judge_class(two, rows_of("*", "b"), ("*", "b", "c"))
    assert judge_class(two, rows_of("*", "b", "c"), ("*", "b", "c"))


def test_a_value_held_by_everybody_fails_in_persons_and_passes_in_rows() -> None:
    rows = [("b", 1), ("c", 1), ("b", 2)]
    assert not judge_class(criterion_from({"criterion": "distinct_l", "variable": "s", "l": 2}), rows, ("b", "c"), True)
    in_rows = {"criterion": "distinct_l", "variable": "s", "l": 2, "unit": "rows"}
    assert judge_class(criterion_from(in_rows), rows, ("b", "c"), True)


@pytest.mark.parametrize(
    "asked",
    [
        {"criterion": "entropy_l", "l": 3},
        {"criterion": "recursive_l", "l": 2, "c": 1},
        {"criterion": "alpha_k", "alpha": 0.5, "k": 2},
    ],
    ids=lambda asked: asked["criterion"],
)
def test_many_values_of_one_person_do_not_make_the_class_diverse_for_the_others(asked) -> None:
    # Counted in rows, the value that both persons have looks rare.
    rows = [("a", 1), ("a", 2), ("b", 2), ("c", 2), ("d", 2)]
    asked = {**asked, "variable": "s"}
    assert not judge_class(criterion_from(asked), rows, ("a", "b", "c", "d"), True)
    assert judge_class(criterion_from({**asked, "unit": "rows"}), rows, ("a", "b", "c", "d"), True)


@pytest.mark.requirement("X4")
def test_whoever_shows_no_value_lacks_none() -> None:
    two = criterion_from({"criterion": "distinct_l", "variable": "s", "l": 2})
    assert not judge_class(two, [("b", 1), ("b", 2), ("c", 2), ("*", 3)], ("*", "b", "c"), True)
    assert judge_class(two, [("b", 1), ("c", 2), ("*", 3)], ("*", "b", "c"), True)


def test_where_an_empty_cell_is_no_value_everybody_may_have_one() -> None:
    two = criterion_from({"criterion": "distinct_l", "variable": "s", "l": 2, "missing_counts": False})
    assert judge_class(two, [("", 1), ("b", 1), ("", 2), ("c", 2)], ("", "b", "c"), True)


def test_three_values_twice_have_entropy_three() -> None:
    criterion = criterion_from({"criterion": "entropy_l", "variable": "s", "l": 3})
    assert judge_class(criterion, rows_of("a", "a", "b", "b", "c", "c"), ("a", "b", "c"))


def test_one_third_is_above_three_tenths() -> None:
    assert not judge_class(criterion_from({"criterion": "max_risk", "threshold": 0.3}), rows_of("a", "a", "a"), ("a",))
    assert judge_class(criterion_from({"criterion": "max_risk", "threshold": "1/3"}), rows_of("a", "a", "a"), ("a",))
