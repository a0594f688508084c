"""The optimal search equals the exhaustive scan on small lattices, and the reference figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from celosia.solver.optimal import search
from celosia.solver.problem import SearchProblem, SearchResult
from tests.solver import arx_adult
from tests.solver.random_problems import problems
from tests.solver.referee import assert_optimal

CASES = (
    "adult9 k=5 s=0 loss",
    "adult9 k=5 s=0.05 loss",
    "adult9 k=2 s=1 loss",
    "adult9 k=10 s=0.05 loss",
    "adult8 k=5 distinct-l2 s=0.05 loss",
    "adult8 k=5 rec-(3,3) s=0.05 loss",
    "adult8 k=5 t-equal0.2 s=0.05 loss",
    "adult8 k=5 t-hier0.2 s=1 loss",
    "adult9 k=5 s=0.05 discernibility",
    "adult9 k=5 s=0.05 aecs",
    "adult9 k=5 s=0.05 precision",
    "adult9 k=5 s=0.05 entropy",
)


@pytest.mark.requirement("M23")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_the_optimal_search_equals_the_exhaustive_scan(problem: SearchProblem) -> None:
    assert_optimal(problem)


@pytest.mark.slow
@pytest.mark.requirement("M23")
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_the_optimal_search_equals_the_exhaustive_scan_on_many_more_tables(problem: SearchProblem) -> None:
    assert_optimal(problem)


@pytest.mark.shared
@pytest.mark.parametrize("name", CASES)
def test_a_reference_case_is_reproduced(name: str, shared: Path) -> None:
    folder = shared / "reference" / "arx" / "adult"
    case = next(case for case in arx_adult.cases(folder) if case["id"] == name)
    result = search(arx_adult.problem_of(folder, case))
    assert isinstance(result, SearchResult)
    assert result.loss == pytest.approx(case["loss"], rel=1e-9)
    assert result.suppressed_rows == case["suppressed_rows"]
    assert result.classes == case["classes"]
    assert result.nodes == case["lattice_nodes"]
    assert list(result.levels) == case["levels"]


@pytest.mark.shared
def test_every_reference_case_is_named_here(shared: Path) -> None:
    folder = shared / "reference" / "arx" / "adult"
    assert {case["id"] for case in arx_adult.cases(folder)} == set(CASES)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", ["adult9 k=5 s=0.05 loss", "adult9 k=2 s=1 loss", "adult8 k=5 t-equal0.2 s=0.05 loss"])
def test_the_adult_lattice_scanned_node_by_node_gives_the_same_optimum(name: str, shared: Path) -> None:
    folder = shared / "reference" / "arx" / "adult"
    case = next(case for case in arx_adult.cases(folder) if case["id"] == name)
    assert_optimal(arx_adult.problem_of(folder, case))
