"""Why a search answered what it did, and the frontier: laws, and agreement with searches asked one by one."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from celosia.hierarchy.compile import compile_for
from celosia.hierarchy.rows import from_rows
from celosia.model.errors import NothingChosen
from celosia.model.reports.explanation import Explanation, Outcome, VariableCost
from celosia.model.value_errors import ValueOutOfRange
from celosia.risk.criteria import DistinctL, KAnonymity
from celosia.solver.explain import explain, without_variable
from celosia.solver.frontier import frontier
from celosia.solver.optimal import search
from celosia.solver.problem import NoSolution, SearchProblem, SearchResult
from tests.solver import arx_adult
from tests.solver.exhaustive import broken_rows, exhaustive
from tests.solver.random_problems import problems, tuples_of

KS = (1, 2, 3, 5)
LIMITS = (Fraction(0), Fraction(1, 20), Fraction(1, 3), Fraction(1))
small = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def k_problems(draw) -> SearchProblem:
    """A small problem under k alone: what is true of classes that only grow can be asserted."""
    problem = draw(problems())
    k = KAnonymity(k=draw(st.integers(1, 5)), unit=draw(st.sampled_from(["persons", "rows"])))
    return replace(problem, criteria=(k,))


def table(
    rows: list[tuple[str, ...]], persons: list[int] | None = None, sensitive: list[str] | None = None, **asked
) -> SearchProblem:
    """A problem over a few rows; every variable is kept or becomes `*`."""
    names = tuple(f"q{i}" for i in range(len(rows[0])))
    vocabularies = tuple(tuple(sorted({row[i] for row in rows})) for i in range(len(names)))
    codes = np.array([[vocabularies[i].index(value) for i, value in enumerate(row)] for row in rows])
    person = None if persons is None else np.array(persons)
    sensitive_tables = {}
    if sensitive is not None:
        values = tuple(sorted(set(sensitive)))
        both = np.concatenate([codes, np.array([[values.index(value)] for value in sensitive])], axis=1)
        sensitive_tables["s"] = tuples_of(both, (*vocabularies, values), (*names, "s"), person)
    hierarchies = {
        name: compile_for(from_rows(name, [(value, "*") for value in vocabulary]), vocabulary)
        for name, vocabulary in zip(names, vocabularies, strict=True)
    }
    return SearchProblem(
        tuples_of(codes, vocabularies, names, person), hierarchies, sensitive=sensitive_tables, **asked
    )


def same(outcome: Outcome, answer: SearchResult | NoSolution) -> None:
    """An outcome states what a search answered."""
    assert outcome.feasible == isinstance(answer, SearchResult)
    assert tuple(outcome.levels.values()) == answer.levels
    assert tuple(outcome.levels) == answer.names
    assert outcome.suppressed_rows == answer.suppressed_rows
    assert outcome.proved
    if isinstance(answer, SearchResult):
        assert outcome.loss == pytest.approx(answer.loss, rel=1e-9, abs=1e-12)


def cost_of(explanation: Explanation, name: str) -> VariableCost:
    """The costs of one variable."""
    return next(variable for variable in explanation.variables if variable.name == name)


def frontier_agrees(problem: SearchProblem, ask: Callable[[SearchProblem], SearchResult | NoSolution]) -> None:
    """Every point is what is answered when it is asked alone."""
    points = frontier(problem, KS, LIMITS)
    assert [(point.k, point.limit) for point in points.points] == [(k, limit) for k in KS for limit in LIMITS]
    for point in points.points:
        k = tuple(KAnonymity(k=point.k, unit=c.unit) if isinstance(c, KAnonymity) else c for c in problem.criteria)
        asked = k if any(isinstance(c, KAnonymity) for c in k) else (KAnonymity(k=point.k), *k)
        same(point.outcome, ask(replace(problem, criteria=asked, limit=point.limit)))


@pytest.mark.requirement("M23")
@small
@given(problems())
def test_the_frontier_is_what_each_search_alone_would_say(problem: SearchProblem) -> None:
    frontier_agrees(problem, search)


@pytest.mark.slow
@pytest.mark.requirement("M23")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_the_frontier_is_what_the_exhaustive_scan_says(problem: SearchProblem) -> None:
    frontier_agrees(problem, exhaustive)


@pytest.mark.requirement("X5")
@small
@given(k_problems())
def test_the_loss_never_falls_with_k_and_never_rises_with_the_limit(problem: SearchProblem) -> None:
    points = frontier(problem, KS, LIMITS)
    loss = np.array([np.inf if p.outcome.loss is None else p.outcome.loss for p in points.points])
    grid = loss.reshape(len(KS), len(LIMITS))
    slack = 1e-9 * (1 + np.abs(grid[np.isfinite(grid)]).max(initial=0))
    assert (grid[1:] >= grid[:-1] - slack).all()
    assert (grid[:, 1:] <= grid[:, :-1] + slack).all()


@small
@given(problems())
def test_every_alternative_is_what_its_own_search_says(problem: SearchProblem) -> None:
    result = search(problem)
    for variable in explain(problem, result).variables:
        name, level = variable.name, variable.level
        if variable.without is not None:
            same(variable.without, exhaustive(without_variable(problem, name)))
        if variable.coarser is not None:
            raised = replace(problem, minimum={**problem.minimum, name: level + 1})
            same(variable.coarser, exhaustive(raised))
        if variable.finer is not None:
            lowered = replace(problem, maximum={**problem.maximum, name: level - 1})
            same(variable.finer, exhaustive(lowered))
        if variable.beyond is not None:
            freed = {n: m for n, m in problem.maximum.items() if n != name}
            same(variable.beyond, exhaustive(replace(problem, maximum=freed)))


@small
@given(problems())
def test_alternatives_exist_exactly_where_there_is_something_to_change(problem: SearchProblem) -> None:
    result = search(problem)
    explanation = explain(problem, result)
    assert {variable.name for variable in explanation.variables} == set(problem.names)
    for v, name in enumerate(problem.names):
        cost, solved = cost_of(explanation, name), isinstance(result, SearchResult)
        assert (cost.without is not None) == (len(problem.names) > 1)
        assert (cost.coarser is not None) == (solved and result.levels[v] < problem.highest[v])
        assert (cost.finer is not None) == (solved and result.levels[v] > problem.lowest[v])
        assert (cost.beyond is not None) == (not solved and problem.highest[v] < problem.hierarchies[name].height)


@small
@given(problems())
def test_the_losses_of_the_variables_make_the_loss_of_the_result(problem: SearchProblem) -> None:
    result = search(problem)
    assume(isinstance(result, SearchResult))
    assert isinstance(result, SearchResult)
    explanation = explain(problem, result)
    parts = [cost_of(explanation, name).loss for name in problem.names]
    if problem.objective.metric in ("discernibility", "average_class_size"):
        assert parts == [None] * len(parts)
        assert {variable.others_loss for variable in explanation.variables} == {result.loss}
        return
    weights = [problem.objective.weight(name) for name in problem.names]
    total = sum(weights) or 1.0
    whole = sum(w * part for w, part in zip(weights, parts, strict=True) if part is not None)
    if problem.objective.metric == "loss" and problem.objective.mean == "geometric":
        shares = [w / total for w in weights]
        whole = np.prod([(1 + (part or 0.0)) ** share for share, part in zip(shares, parts, strict=True)]) - 1
    elif problem.objective.metric != "non_uniform_entropy":
        whole /= total
    assert whole == pytest.approx(result.loss, rel=1e-9, abs=1e-9)


@small
@given(problems())
def test_the_rows_of_each_criterion_are_those_the_referee_counts(problem: SearchProblem) -> None:
    result = search(problem)
    explanation = explain(problem, result)
    expected = sorted((broken_rows(problem, result.levels, c) for c in problem.criteria), reverse=True)
    assert [cost.rows for cost in explanation.criteria] == expected
    assert all(0 <= cost.alone <= cost.rows for cost in explanation.criteria)


@small
@given(k_problems())
def test_without_a_variable_the_others_never_lose_more_and_fewer_rows_must_go(problem: SearchProblem) -> None:
    result = search(problem)
    explanation = explain(problem, result)
    for variable in explanation.variables:
        if variable.without is None:
            continue
        if isinstance(result, SearchResult):
            assert variable.without.feasible
            if variable.loss is not None:  # class sizes are no matter of single variables
                assert variable.price is not None
                assert variable.price >= -1e-9 * (1 + abs(result.loss))
        elif not variable.without.feasible:
            assert variable.without.suppressed_rows <= result.suppressed_rows


@small
@given(problems())
def test_the_dearest_variable_comes_first(problem: SearchProblem) -> None:
    result = search(problem)
    costs = explain(problem, result).variables
    if isinstance(result, SearchResult):
        prices = [cost.price for cost in costs if cost.price is not None]
        assert all(first >= second - 1e-9 for first, second in itertools.pairwise(prices))
    else:
        outcomes = [[o for o in (cost.without, cost.beyond) if o is not None] for cost in costs]
        needed = [min(0 if o.feasible else o.suppressed_rows for o in each) for each in outcomes if each]
        assert needed == sorted(needed)


@small
@given(k_problems(), st.integers(0, 20))
def test_the_smallest_limit_of_a_miss_is_enough_and_one_row_less_is_not(problem: SearchProblem, rows: int) -> None:
    asked = replace(problem, limit=Fraction(min(rows, problem.quasi.n_rows), problem.quasi.n_rows))
    result = search(asked)
    assume(isinstance(result, NoSolution))
    miss = explain(asked, result).miss
    assert miss is not None
    assert miss.excess_rows == miss.suppressed_rows - asked.allowed_rows > 0
    assert isinstance(search(replace(asked, limit=miss.smallest_limit)), SearchResult)
    one_less = miss.smallest_limit - Fraction(1, asked.quasi.n_rows)
    assert isinstance(search(replace(asked, limit=one_less)), NoSolution)
    with_k = {k: replace(asked, criteria=(KAnonymity(k=k, unit=problem.criteria[0].unit),)) for k in range(2, 6)}
    fitting = [k for k in range(2, problem.criteria[0].k) if isinstance(search(with_k[k]), SearchResult)]
    assert miss.largest_k == max(fitting, default=None)


FOUR = [("a", "x"), ("a", "x"), ("b", "x"), ("b", "y")]


def test_a_miss_names_the_variable_that_stands_in_the_way() -> None:
    problem = table(FOUR, criteria=(KAnonymity(k=2),), maximum={"q0": 0, "q1": 0})
    result = search(problem)
    assert isinstance(result, NoSolution)
    explanation = explain(problem, result)
    assert explanation.miss is not None
    assert (explanation.miss.suppressed_rows, explanation.miss.smallest_limit) == (2, Fraction(1, 2))
    first, second = explanation.variables
    assert (first.name, first.without and first.without.feasible, first.beyond and first.beyond.feasible) == (
        "q1",
        True,
        True,
    )
    assert second.without is not None
    assert (second.without.feasible, second.without.suppressed_rows) == (False, 1)


@pytest.mark.requirement("M09")
def test_without_a_variable_persons_are_counted_again_and_not_added_up() -> None:
    # One person fills both classes of q0: added up there would be two persons behind x, and k = 2 would seem to hold.
    rows = [("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")]
    asked = {"criteria": (KAnonymity(k=2),), "maximum": {"q0": 0, "q1": 0}}
    of_two_persons, of_four_persons = table(rows, [1, 1, 2, 2], **asked), table(rows, [1, 2, 3, 4], **asked)
    (first,), (second,) = (
        [v.without for v in explain(problem, search(problem)).variables if v.name == "q0"]
        for problem in (of_two_persons, of_four_persons)
    )
    assert first is not None
    assert second is not None
    assert (first.feasible, first.suppressed_rows) == (False, 4)
    assert second.feasible


def test_the_criterion_that_sends_most_rows_away_comes_first() -> None:
    rows = [("a",)] * 4 + [("b",)] * 3 + [("c",)]
    values = ["1", "1", "1", "1", "1", "2", "1", "1"]
    criteria = (KAnonymity(k=2), DistinctL(variable="s", l=2))
    problem = table(rows, sensitive=values, criteria=criteria, limit=Fraction(1), maximum={"q0": 0})
    explanation = explain(problem, search(problem))
    assert [(cost.criterion["criterion"], cost.rows, cost.alone) for cost in explanation.criteria] == [
        ("distinct_l", 5, 4),
        ("k", 1, 0),
    ]


def test_a_variable_already_at_its_top_costs_the_others_nothing() -> None:
    problem = table(FOUR, criteria=(KAnonymity(k=4),), minimum={"q1": 1})
    cost = cost_of(explain(problem, search(problem)), "q1")
    assert cost.loss == 1
    assert cost.price == pytest.approx(0, abs=1e-12)


def test_one_lonely_variable_cannot_be_left_out() -> None:
    problem = table([("a",), ("b",)], criteria=(KAnonymity(k=2),))
    (cost,) = explain(problem, search(problem)).variables
    assert cost.without is None
    assert cost.price is None
    assert cost.finer is not None
    assert not cost.finer.feasible


def test_the_same_question_gets_the_same_answer_and_plain_json() -> None:
    problem = table(FOUR, criteria=(KAnonymity(k=2),), limit=Fraction(1, 4))
    texts = [json.dumps(explain(problem, search(problem)).as_dict()) for _ in range(2)]
    grids = [json.dumps(frontier(problem, [2, 3], ["0", "0.25", 1]).as_dict()) for _ in range(2)]
    assert texts[0] == texts[1]
    assert grids[0] == grids[1]
    assert json.loads(texts[0])["format"] == "celosia/explain/1"
    assert json.loads(grids[0])["format"] == "celosia/frontier/1"
    assert json.loads(grids[0])["limits"] == ["0", "1/4", "1"]


def test_no_cell_reaches_an_explanation() -> None:
    rows = [("Perengano", "Zutana"), ("Perengano", "Zutana"), ("Fulano", "Mengana")]
    problem = table(rows, criteria=(KAnonymity(k=2),), limit=Fraction(1, 2))
    said = json.dumps([explain(problem, search(problem)).as_dict(), frontier(problem, [2]).as_dict()])
    assert not any(name in said for row in rows for name in row)


def test_progress_reaches_the_end_and_a_stop_leaves_what_was_found() -> None:
    problem = table(FOUR, criteria=(KAnonymity(k=2),), limit=Fraction(1, 4))
    progress: list[tuple[int, int]] = []
    explain(problem, search(problem), progress=lambda done, total: progress.append((done, total)))
    frontier(problem, [2, 3], [0, 1], progress=lambda done, total: progress.append((done, total)))
    assert progress[-1] == (4, 4)
    assert all(done <= total for done, total in progress)
    stopped = frontier(problem, [2, 3], [0, 1], cancelled=lambda: True)
    assert (stopped.points, stopped.complete) == ((), False)
    cut = explain(problem, search(problem), cancelled=lambda: True)
    assert not cut.complete
    assert all(variable.without is None for variable in cut.variables)


@pytest.mark.parametrize(
    ("ks", "limits", "error"),
    [([], [0], NothingChosen), ([2], [], NothingChosen), ([2], ["1.5"], ValueOutOfRange), ([0], [0], ValueOutOfRange)],
)
def test_a_frontier_over_nothing_or_beyond_the_table_is_refused(ks, limits, error) -> None:
    with pytest.raises(error):
        frontier(table(FOUR, criteria=(KAnonymity(k=2),)), ks, limits)


@pytest.mark.slow
@pytest.mark.shared
def test_on_adult_most_points_of_the_frontier_need_no_search(shared: Path) -> None:
    folder = shared / "reference" / "arx" / "adult"
    cases = {case["id"]: case for case in arx_adult.cases(folder)}
    case = cases["adult9 k=5 s=0.05 loss"]
    problem = arx_adult.problem_of(folder, case)
    points = frontier(problem)
    assert points.searches < len(points.points) * 0.55
    for name, k, limit in (("k=5 s=0", 5, 0), ("k=5 s=0.05", 5, Fraction(1, 20)), ("k=2 s=1", 2, 1)):
        point = points.at(k, Fraction(limit))
        assert point is not None
        assert point.outcome.loss == pytest.approx(cases[f"adult9 {name} loss"]["loss"], rel=1e-9)
        assert point.outcome.suppressed_rows == cases[f"adult9 {name} loss"]["suppressed_rows"]
