"""The search against the exhaustive scan of the same lattice."""

from __future__ import annotations

import pytest

from celosia.solver.optimal import search
from celosia.solver.problem import NoSolution, SearchProblem, SearchResult
from tests.solver.exhaustive import exhaustive


def assert_optimal(problem: SearchProblem) -> None:
    """The search and the exhaustive scan give the same result."""
    result, expected = search(problem), exhaustive(problem)
    assert type(result) is type(expected)
    assert result.suppressed_rows == expected.suppressed_rows
    assert result.levels == expected.levels
    assert result.nodes == expected.nodes
    if isinstance(result, SearchResult) and isinstance(expected, SearchResult):
        assert result.loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-12)
        assert result.classes == expected.classes
        assert result.optimal
        assert result.bound == pytest.approx(result.loss, rel=1e-9, abs=1e-12)
        assert result.nodes_checked <= result.nodes
    if isinstance(result, NoSolution) and isinstance(expected, NoSolution):
        assert result.failing == expected.failing
        assert result.proved
