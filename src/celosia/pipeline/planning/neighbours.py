"""What the frontier shows beside a plan: the next k and the next suppression limits, found when the plan is.

Knows the search and a plan's own k and limit. Ignores files: the points go into the plan, whose digest is approved, so
that whoever signs reads them and nobody exchanges them afterwards.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from celosia.model.plan import Plan
from celosia.pipeline.planning.search_input import SearchInput
from celosia.solver.frontier import LIMITS, frontier
from celosia.solver.optimal import LARGEST_LATTICE
from celosia.solver.problem import SearchProblem

LEAST_K = 2
AFFORDED = 20_000_000  # tuples looked at in all searches together, a second or two: the same on every machine


class _VisitLimit:
    """Stops a search after so many nodes, counted and not timed: the same source gives the same plan everywhere."""

    def __init__(self, visits: int) -> None:
        self.left = visits

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


def has_frontier(search_input: SearchInput) -> bool:
    """Whether a frontier of global generalisation is that of the plan's own method."""
    apart = (search_input.parts, search_input.population, search_input.linked)
    return search_input.policy.method == "full-domain" and all(part is None for part in apart)


def with_neighbours(plan: Plan, problem: SearchProblem) -> Plan:
    """The plan with the points next to its own; as it was where it asks for no k or they are not affordable."""
    asked = [int(criterion["k"]) for criterion in plan.policy["criteria"] if criterion["criterion"] == "k"]
    if not asked or problem.nodes > LARGEST_LATTICE:
        return plan
    points = _points(problem, max(asked), problem.limit)
    return replace(plan, notes={**plan.notes, "neighbours": points}) if points else plan


def _points(problem: SearchProblem, k: int, limit: Fraction) -> list[dict[str, Any]]:
    budget = _VisitLimit(AFFORDED // max(len(problem.quasi.rows), 1))
    ks = [other for other in (k - 1, k + 1) if other >= LEAST_K]
    curves = [
        frontier(problem, (k,), _limits_beside(limit), cancelled=budget),
        frontier(problem, ks, (limit,), cancelled=budget),
    ]
    points = [point for curve in curves for point in curve.points]
    own = next((point for point in points if (point.k, point.limit) == (k, limit)), None)
    # A plan that masks values instead of records may exist where the search that suppresses finds nothing.
    if own is None or not own.outcome.feasible or not all(curve.complete for curve in curves):
        return []
    return [point.as_dict() for point in sorted(points, key=lambda point: (point.k, point.limit))]


def _limits_beside(limit: Fraction) -> list[Fraction]:
    """A limit and the usual ones just below and above it."""
    below, above = [v for v in LIMITS if v < limit], [v for v in LIMITS if v > limit]
    return [*below[-1:], limit, *above[:1]]
