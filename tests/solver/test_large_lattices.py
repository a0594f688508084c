"""Keys wider than a word, sixty-four variables and more, and searches that are stopped."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from celosia.risk.criteria import KAnonymity
from celosia.solver import encoding as _encoding
from celosia.solver import optimal as _optimal
from celosia.solver.errors import LatticeTooLarge
from celosia.solver.optimal import search
from celosia.solver.problem import SearchProblem, SearchResult
from tests.solver.exhaustive import evaluate
from tests.solver.random_problems import problems
from tests.solver.referee import assert_optimal
from tests.solver.small_problems import small


def binary(variables: int, ones: float = 0.03, limit: str = "1/2") -> SearchProblem:
    """Sixty rows of zeros and ones."""
    rng = np.random.default_rng(7)
    bits = (rng.random((60, variables)) < ones).astype(int)
    bits[0], bits[1] = 0, 1  # both values occur everywhere
    return small([tuple(map(str, row)) for row in bits.tolist()], KAnonymity(k=2), limit=limit)


def hard() -> SearchProblem:
    """A lattice of 512 nodes that takes some steps."""
    return binary(9, ones=0.3, limit="1/10")


class Ticks:
    """A clock that moves one second each time it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_keys_wider_than_a_word_give_the_same_answer(problem: SearchProblem) -> None:
    before = _encoding.WORD
    _encoding.WORD = 1  # every key of two bits is then too wide
    try:
        assert_optimal(problem)
    finally:
        _encoding.WORD = before


@pytest.mark.parametrize("variables", [64, 65, 70])
def test_sixty_four_quasi_identifiers_and_more_are_searched_within_a_time_limit(variables: int) -> None:
    problem = binary(variables)
    result = search(problem, time_limit=60, clock=Ticks())
    assert isinstance(result, SearchResult)
    assert result.nodes == 2**variables
    assert len(result.levels) == variables
    checked = evaluate(problem, result.levels)
    assert checked.loss == pytest.approx(result.loss, rel=1e-9)
    assert checked.suppressed_rows == result.suppressed_rows <= problem.allowed_rows
    assert result.bound <= result.loss
    assert not result.optimal


def test_a_huge_lattice_without_a_time_limit_is_refused_with_a_way_out() -> None:
    with pytest.raises(LatticeTooLarge) as refused:
        search(binary(64))
    assert "límite de tiempo" in str(refused.value)


def test_minimum_and_maximum_levels_make_a_huge_lattice_small() -> None:
    problem = binary(64)
    fixed = dict.fromkeys(problem.names[6:], 1)
    assert_optimal(replace(problem, minimum=fixed, limit=Fraction(1, 20)))


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_the_walk_over_a_lattice_never_listed_is_exact_when_it_ends(problem: SearchProblem) -> None:
    before = _optimal.LARGEST_LATTICE
    _optimal.LARGEST_LATTICE = 0
    try:
        result = search(problem, cancelled=lambda: False)
    finally:
        _optimal.LARGEST_LATTICE = before
    expected = search(problem)
    assert type(result) is type(expected)
    assert (result.levels, result.suppressed_rows) == (expected.levels, expected.suppressed_rows)
    if isinstance(result, SearchResult):
        assert result.optimal
        assert result.loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-12)


def test_out_of_time_gives_the_best_found_and_a_bound_below_it() -> None:
    problem = hard()
    exact = search(problem)
    stopped = search(problem, time_limit=2.5, clock=Ticks())
    assert not stopped.optimal
    assert stopped.bound <= exact.loss <= stopped.loss
    assert stopped.nodes_checked < exact.nodes_checked


def test_a_cancelled_search_stops() -> None:
    asked = []
    result = search(hard(), cancelled=lambda: asked.append(1) is None and len(asked) > 2)
    assert not result.optimal


def test_progress_is_reported_with_the_size_of_the_lattice() -> None:
    progress: list[tuple[int, int]] = []
    search(hard(), progress=lambda checked, nodes: progress.append((checked, nodes)))
    assert progress[0] == (0, 512)
