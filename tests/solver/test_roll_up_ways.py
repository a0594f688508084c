"""However a node's table is made, the search says the same: by address, by hashing, over stepping stones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from celosia.solver import encoding as _encoding
from celosia.solver import tables as _tables
from celosia.solver.problem import SearchProblem
from tests.solver.random_problems import problems
from tests.solver.referee import assert_optimal

WAYS = {
    "hashed": {"_ADDRESSED": 0, "_SPARSE": 0},
    "over stones": {"_SMALL": 0, "_PATIENCE": 0},
    "hashed over stones": {"_ADDRESSED": 0, "_SPARSE": 0, "_SMALL": 0, "_PATIENCE": 1},
}


@pytest.mark.requirement("M23")
@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_every_way_of_rolling_up_gives_the_exhaustive_answer(way: str, problem: SearchProblem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(_tables, name, value)
        assert_optimal(problem)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(problem=problems())
def test_variables_that_share_no_lookup_give_the_exhaustive_answer(problem: SearchProblem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_encoding, "_GROUP_BITS", 0)
        assert_optimal(problem)
