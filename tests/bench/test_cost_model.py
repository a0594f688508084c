"""The cost model: a cost made of its terms is recovered, and its error grows with the distance."""

from __future__ import annotations

from typing import Any

import pytest

from bench.cost_model import beyond, fit, sizes_of, table

SIZES = (100_000, 316_000, 1_000_000, 3_160_000, 10_000_000)


def growth(wrong: float = 1.0) -> dict[str, Any]:
    """A report whose seconds are known; the largest is off by a factor."""
    cases, figures = [], []
    for rows in SIZES:
        tuples = int(rows**0.5) * 100
        facts = {"rows": rows, "quasi_tuples": tuples, "sensitive_tuples": 2 * tuples, "nodes": 90, "nodes_checked": 9}
        cases.append({"case": f"{rows}", "jobs": [{"job": "copy", "facts": {}}, {"job": "search", "facts": facts}]})
        seconds = (0.5 + 2e-6 * rows) * (wrong if rows == SIZES[-1] else 1.0)
        names = ("read", "frequencies", "search", "apply", "check")
        figures += [{"case": f"{rows}", "name": name, "ours": seconds} for name in names]
    return {"benches": [{"bench": "growth", "cases": cases, "figures": figures}]}


def test_a_cost_that_is_linear_in_rows_is_found_again() -> None:
    sizes = sizes_of(growth())
    cost = fit("apply", sizes)
    assert cost.coefficients == pytest.approx([0.5, 2e-6, 0.0], rel=1e-3, abs=1e-9)
    assert cost.missed == pytest.approx(0.0, abs=1e-6)
    assert cost.seconds(beyond(1e9, sizes)) == pytest.approx(2000.5, rel=1e-3)


def test_no_coefficient_is_negative_and_the_error_compounds_with_the_distance() -> None:
    sizes = sizes_of(growth(wrong=1.25))
    cost = fit("check", sizes)
    assert (cost.coefficients >= 0).all()
    assert cost.missed == pytest.approx(1 / 1.25 - 1, rel=1e-3)
    near, far = cost.error(5e7, 1e7), cost.error(1e9, 1e7)
    assert near is not None
    assert far is not None
    assert abs(cost.missed or 0) < near < far
    assert cost.error(1e7 * (1e7 / 3.16e6) ** 2, 1e7) == pytest.approx(1.2**2 - 1, rel=1e-3)


def test_beyond_the_largest_size_tuples_go_on_by_their_own_power_and_nodes_stay() -> None:
    sizes = sizes_of(growth())
    last, far = sizes[-1][0], beyond(1e9, sizes)
    assert far["tuples"] == pytest.approx(last["tuples"] * 10, rel=0.01)
    assert far["nodes×tuples"] / far["tuples"] == 9


def test_the_table_has_a_line_for_each_phase_and_asks_for_sizes_where_there_are_too_few() -> None:
    text = table(growth())
    phases = [line.split("|")[1].strip() for line in text.splitlines()[2:7]]
    assert phases == ["read", "frequencies", "search", "apply", "check"]
    assert "1,000M rows" in text
    few = growth()
    few["benches"][0]["cases"] = few["benches"][0]["cases"][:1]
    assert "Two sizes" in table(few)


def test_the_runs_within_a_budget_are_fitted_by_their_own_phases() -> None:
    facts = [
        {
            "rows": rows,
            "quasi_tuples": 9,
            "sensitive_tuples": 90,
            "nodes_checked": 7,
            "read": 1 + rows * 1e-6,
            "search": 2.0,
            "apply": rows * 3e-6,
            "check": 1.0,
        }
        for rows in SIZES
    ]
    cases = [
        {"jobs": [{"job": "persons", "facts": facts_of_size}, {"job": "rows", "facts": {}}]} for facts_of_size in facts
    ]
    sizes = sizes_of({"benches": [{"bench": "outofcore", "cases": cases}]}, "persons")
    assert [size["rows"] for size, _ in sizes] == list(SIZES)
    assert sizes[0][1].keys() == {"read", "search", "apply", "check"}
    assert fit("apply", sizes).seconds(beyond(1e9, sizes)) == pytest.approx(3000, rel=1e-3)
