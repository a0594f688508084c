"""The optimal search equals the exhaustive scan on small lattices, and the reference figures."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from celosia.solver import NoSolution, SearchProblem, SearchResult, search
from celosia.solver.exhaustive import exhaustive
from solver import arx_adult
from solver.random_problems import problems

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


def agree(problem: SearchProblem) -> None:
    """Search and referee say the same."""
    found, expected = search(problem), exhaustive(problem)
    assert type(found) is type(expected)
    assert found.suppressed_rows == expected.suppressed_rows
    assert found.levels == expected.levels
    assert found.nodes == expected.nodes
    if isinstance(found, SearchResult) and isinstance(expected, SearchResult):
        assert found.loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-12)
        assert found.classes == expected.classes
        assert found.optimal
        assert found.bound == pytest.approx(found.loss, rel=1e-9, abs=1e-12)
        assert found.nodes_checked <= found.nodes
    if isinstance(found, NoSolution) and isinstance(expected, NoSolution):
        assert found.failing == expected.failing
        assert found.proved


@pytest.mark.requirement("M23")
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_the_optimal_search_equals_the_exhaustive_scan(problem: SearchProblem) -> None:
    agree(problem)


@pytest.mark.slow
@pytest.mark.requirement("M23")
@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(problems())
def test_the_optimal_search_equals_the_exhaustive_scan_on_many_more_tables(problem: SearchProblem) -> None:
    agree(problem)


@pytest.mark.shared
@pytest.mark.parametrize("name", CASES)
def test_a_reference_case_is_reproduced(name: str, shared: Path) -> None:
    folder = shared / "reference" / "arx" / "adult"
    case = next(case for case in arx_adult.cases(folder) if case["id"] == name)
    found = search(arx_adult.problem_of(folder, case))
    assert isinstance(found, SearchResult)
    assert found.loss == pytest.approx(case["loss"], rel=1e-9)
    assert found.suppressed_rows == case["suppressed_rows"]
    assert found.classes == case["classes"]
    assert found.nodes == case["lattice_nodes"]
    assert list(found.levels) == case["levels"]


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
    agree(arx_adult.problem_of(folder, case))
