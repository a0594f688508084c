"""What cannot be searched is refused with a reason and a way out; no solution is an answer."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from celosia import messages
from celosia.errors import CelosiaError
from celosia.evaluation.objective import Objective
from celosia.hierarchy.errors import HierarchyGap, HierarchySplit, LevelOutsideHierarchy
from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import DistinctL, KAnonymity, TCloseness
from celosia.solver.errors import TuplesDisagree
from celosia.solver.optimal import search
from celosia.solver.problem import NoSolution, SearchProblem, SearchResult
from celosia.tuples.table import Tuples
from tests.solver.exhaustive import exhaustive
from tests.solver.small_problems import hierarchy_of, small, table_of, value_or_star

ROWS = [("m", "1"), ("m", "1"), ("f", "1"), ("f", "2"), ("f", "2")]
SENSITIVE = [(*row, value) for row, value in zip(ROWS, "xyxyx", strict=True)]


def with_sensitive(*criteria, **changes) -> SearchProblem:
    """The small table with a sensitive column."""
    quasi = table_of(ROWS, ("a", "b"))
    given = {"sensitive": {"s": table_of(SENSITIVE, ("a", "b", "s"))}} | changes
    return SearchProblem(quasi, value_or_star(quasi), criteria, **given)


def assert_refused(kind: type[CelosiaError], make) -> None:
    """The call is refused, with a sentence in both languages that has no field left open."""
    with pytest.raises(kind) as error:
        make()
    for language in messages.LANGUAGES:
        with messages.speaking(language):
            assert "{" not in str(error.value)


def test_a_limit_out_of_range_is_refused() -> None:
    assert_refused(ValueOutOfRange, lambda: small(ROWS, KAnonymity(k=2), limit="1.01"))
    assert_refused(ValueOutOfRange, lambda: small(ROWS, KAnonymity(k=2), limit="-0.01"))


def test_a_level_outside_the_hierarchy_is_refused() -> None:
    problem = small(ROWS, KAnonymity(k=2))
    assert_refused(LevelOutsideHierarchy, lambda: replace(problem, maximum={"a": 2}))
    assert_refused(LevelOutsideHierarchy, lambda: replace(problem, minimum={"a": 1}, maximum={"a": 0}))


def test_a_sensitive_variable_that_is_also_a_quasi_identifier_is_refused() -> None:
    assert_refused(RepeatedVariable, lambda: with_sensitive(DistinctL(variable="a", l=2)))


def test_a_sensitive_variable_without_tuples_is_refused() -> None:
    assert_refused(UnknownVariable, lambda: with_sensitive(DistinctL(variable="other", l=2)))


def test_sensitive_tuples_over_other_rows_are_refused() -> None:
    fewer = {"s": table_of(SENSITIVE[1:], ("a", "b", "s"))}
    assert_refused(TuplesDisagree, lambda: with_sensitive(DistinctL(variable="s", l=2), sensitive=fewer))
    moved = [("m", "2", "x"), *SENSITIVE[1:]]
    problem = with_sensitive(DistinctL(variable="s", l=2), sensitive={"s": table_of(moved, ("a", "b", "s"))})
    assert_refused(TuplesDisagree, lambda: search(problem))


def test_a_tree_distance_without_a_tree_is_refused() -> None:
    assert_refused(UnknownVariable, lambda: with_sensitive(TCloseness(variable="s", t=0.2, distance="hierarchical")))


def test_a_hierarchy_that_splits_groups_is_refused() -> None:
    quasi = table_of(ROWS, ("a", "b"))
    split = hierarchy_of("a", ("f", "m"), ("x", "x"), ("y", "z"))
    assert_refused(
        HierarchySplit, lambda: SearchProblem(quasi, value_or_star(quasi) | {"a": split}, (KAnonymity(k=2),))
    )


def test_a_hierarchy_that_does_not_cover_the_vocabulary_is_refused() -> None:
    quasi = table_of(ROWS, ("a", "b"))
    short = hierarchy_of("a", ("f",), ("*",))
    assert_refused(HierarchyGap, lambda: SearchProblem(quasi, value_or_star(quasi) | {"a": short}, (KAnonymity(k=2),)))


def test_a_variable_without_hierarchy_or_unknown_is_refused() -> None:
    quasi = table_of(ROWS, ("a", "b"))
    assert_refused(UnknownVariable, lambda: SearchProblem(quasi, {"a": value_or_star(quasi)["a"]}, (KAnonymity(k=2),)))
    problem = small(ROWS, KAnonymity(k=2))
    assert_refused(UnknownVariable, lambda: replace(problem, objective=Objective(weights={"z": 2})))
    assert_refused(UnknownVariable, lambda: replace(problem, minimum={"z": 0}))


def test_no_quasi_identifier_is_refused() -> None:
    nothing = Tuples((), (), np.zeros((1, 0), np.int32), np.ones(1, np.int64))
    assert_refused(NothingChosen, lambda: SearchProblem(nothing, {}, (KAnonymity(k=2),)))


def test_an_unknown_metric_mean_or_weight_is_refused() -> None:
    assert_refused(ValueOutOfRange, lambda: Objective("beauty"))
    assert_refused(ValueOutOfRange, lambda: Objective("loss", "harmonic"))
    assert_refused(ValueOutOfRange, lambda: Objective(weights={"a": -1}))


@pytest.mark.requirement("M23")
def test_with_everything_allowed_a_solution_always_exists() -> None:
    result = search(small(ROWS, KAnonymity(k=50), limit="1"))
    assert isinstance(result, SearchResult)
    assert result.suppressed_rows == 5
    assert result.suppressed_share == 1


def test_no_solution_names_the_nearest_miss_and_the_criterion() -> None:
    five, six = KAnonymity(k=5), KAnonymity(k=6)
    result = search(small(ROWS, five, six))
    assert isinstance(result, NoSolution)
    assert result == replace(exhaustive(small(ROWS, five, six)), nodes_checked=result.nodes_checked)
    assert result.suppressed_rows == 5
    assert result.allowed_rows == 0
    assert six in [failing.criterion for failing in result.failing]
    assert result.proved


def test_the_limit_is_compared_in_whole_numbers() -> None:
    rows = [("a",)] * 2 + [("b",)]
    assert isinstance(search(replace(small(rows, KAnonymity(k=2), limit="1/3"), maximum={"a": 0})), SearchResult)
    below = Fraction(333_333, 1_000_000)
    assert isinstance(search(replace(small(rows, KAnonymity(k=2)), limit=below, maximum={"a": 0})), NoSolution)


@pytest.mark.requirement("M24")
def test_a_variable_fixed_at_its_level_stays_there() -> None:
    result = search(replace(small(ROWS, KAnonymity(k=5)), maximum={"a": 0}, limit=Fraction(1)))
    assert result.levels[0] == 0
    raised = search(replace(small(ROWS, KAnonymity(k=1)), minimum={"b": 1}))
    assert raised.levels == (0, 1)


def test_persons_are_counted_once_however_many_rows_they_have() -> None:
    rows, people = [("x",)] * 3 + [("y",)] * 3, [1, 1, 1, 2, 3, 4]
    in_rows = search(small(rows, KAnonymity(k=3, unit="rows"), people=people))
    in_persons = search(small(rows, KAnonymity(k=3), people=people))
    assert in_rows.levels == (0,)
    assert in_persons.levels == (1,)


def test_a_person_in_two_classes_is_one_person_when_they_merge() -> None:
    rows, people = [("x",), ("x",), ("y",), ("y",)], [1, 2, 1, 2]
    assert isinstance(search(small(rows, KAnonymity(k=3), people=people)), NoSolution)
    assert isinstance(search(small(rows, KAnonymity(k=2), people=people)), SearchResult)


def test_a_heavier_variable_is_generalised_less() -> None:
    rows = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    problem = small(rows, KAnonymity(k=2))
    light = search(replace(problem, objective=Objective(weights={"a": 3.0})))
    heavy = search(replace(problem, objective=Objective(weights={"b": 3.0})))
    assert (light.levels, heavy.levels) == ((0, 1), (1, 0))


def test_ties_go_to_the_first_levels_in_order() -> None:
    rows = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]
    assert search(small(rows, KAnonymity(k=2))).levels == (0, 1)
