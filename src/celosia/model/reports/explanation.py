"""Why a search answered what it did, and what other k and limits would give: `celosia/explain/1`, `celosia/frontier/1`.

Knows names of variables, levels, losses and counts of rows. Ignores how they are found (room `solver`); holds no cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from celosia.model.plain import plain_fields

EXPLAIN_FORMAT = "celosia/explain/1"
FRONTIER_FORMAT = "celosia/frontier/1"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one search gives. When nothing keeps within the limit there is no loss, and the figures are those of the
    node that suppresses fewest rows.
    """

    feasible: bool
    levels: Mapping[str, int]
    loss: float | None
    suppressed_rows: int
    suppressed_share: float
    proved: bool  # False when time ran out: the best found, not the best there is

    def as_dict(self) -> dict[str, Any]:
        """The outcome as data."""
        return plain_fields(self, "feasible levels loss suppressed_rows suppressed_share proved")


@dataclass(frozen=True, slots=True)
class VariableCost:
    """What one quasi-identifier costs. An alternative that does not exist (no coarser level, no other variable) or
    was not asked is None.
    """

    name: str
    level: int
    height: int
    loss: float | None  # its own loss in the result; None for metrics that do not look at variables
    others_loss: float | None  # loss of the other variables in the result: what `without` competes with
    without: Outcome | None  # the best when this variable is not published at all
    coarser: Outcome | None  # … when it is published at least one level coarser
    finer: Outcome | None  # … when it is published at least one level finer
    beyond: Outcome | None  # nothing fits: the best when it may rise to the top of its hierarchy

    @property
    def price(self) -> float | None:
        """Loss that the other variables bear because this one is published."""
        if self.without is None or self.without.loss is None or self.others_loss is None:
            return None
        return self.others_loss - self.without.loss

    def as_dict(self) -> dict[str, Any]:
        """The costs as data."""
        return plain_fields(self, "name level height loss others_loss price without coarser finer beyond")


@dataclass(frozen=True, slots=True)
class CriterionCost:
    """Rows that one criterion sends away at the chosen levels."""

    criterion: Mapping[str, Any]
    rows: int  # in classes that break it
    alone: int  # in classes that break nothing else

    def as_dict(self) -> dict[str, Any]:
        """The counts as data."""
        return plain_fields(self, "criterion rows alone")


@dataclass(frozen=True, slots=True)
class NearestMiss:
    """How far the best attempt stays from the limit, and what limit or k would do."""

    suppressed_rows: int
    allowed_rows: int
    excess_rows: int
    smallest_limit: Fraction  # suppressing this share of the rows is enough, and less is not
    largest_k: int | None  # the greatest k that fits the limit; None where it was not asked or none does
    proved: bool

    def as_dict(self) -> dict[str, Any]:
        """The miss as data; the limit as an exact fraction."""
        return {
            "suppressed_rows": self.suppressed_rows,
            "allowed_rows": self.allowed_rows,
            "excess_rows": self.excess_rows,
            "smallest_limit": str(self.smallest_limit),
            "smallest_limit_share": float(self.smallest_limit),
            "largest_k": self.largest_k,
            "proved": self.proved,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the answer is what it is: variables and criteria, the dearest first."""

    metric: str
    rows: int
    person_key: bool  # whether k counts persons: without a key it counts rows
    limit: Fraction
    allowed_rows: int
    result: Outcome
    variables: tuple[VariableCost, ...]
    criteria: tuple[CriterionCost, ...]
    miss: NearestMiss | None
    searches: int
    complete: bool  # False when it was stopped: some alternatives are missing

    def as_dict(self) -> dict[str, Any]:
        """The explanation as its versioned JSON."""
        names = "metric rows person_key limit allowed_rows result variables criteria miss searches complete"
        return {"format": EXPLAIN_FORMAT, **plain_fields(self, names)}


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The best for one k and one limit."""

    k: int
    limit: Fraction
    allowed_rows: int
    outcome: Outcome

    def as_dict(self) -> dict[str, Any]:
        """The point as data."""
        return plain_fields(self, "k limit allowed_rows") | self.outcome.as_dict()


@dataclass(frozen=True, slots=True)
class Frontier:
    """Loss and suppressed rows for every k and every limit, by k and then by limit."""

    metric: str
    rows: int
    names: tuple[str, ...]
    ks: tuple[int, ...]
    limits: tuple[Fraction, ...]
    points: tuple[FrontierPoint, ...]
    searches: int
    complete: bool  # False when it was stopped: some points are missing

    def at(self, k: int, limit: Fraction) -> FrontierPoint | None:
        """The point of a k and a limit; None when it was not reached."""
        return next((point for point in self.points if (point.k, point.limit) == (k, limit)), None)

    def line(self, k: int) -> tuple[FrontierPoint, ...]:
        """The points of one k that keep within their limit, from the smallest limit on."""
        return tuple(point for point in self.points if point.k == k and point.outcome.feasible)

    def as_dict(self) -> dict[str, Any]:
        """The frontier as its versioned JSON; limits as exact fractions."""
        return {
            "format": FRONTIER_FORMAT,
            "metric": self.metric,
            "rows": self.rows,
            "quasi": list(self.names),
            "ks": list(self.ks),
            "limits": [str(limit) for limit in self.limits],
            "points": [point.as_dict() for point in self.points],
            "searches": self.searches,
            "complete": self.complete,
        }
