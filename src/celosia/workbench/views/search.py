"""What a search found, and how the methods compare: `celosia/search/1`, `celosia/methods/1`.

Knows names of variables, levels, counts and losses. Ignores how they are found; holds no cell: the examples of a level
are labels of its groups that no value of the source has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from celosia.model.reports.explanation import Explanation
from celosia.model.reports.methods import MethodComparison
from celosia.model.verdict import Suppression
from celosia.workbench.views.policy import PolicyView
from celosia.workbench.views.saved import Saved

SEARCH_FORMAT = "celosia/search/1"


@dataclass(frozen=True, slots=True)
class LevelFound:
    """The level of one variable in a plan: how many groups it leaves, and what some of them are called."""

    variable: str
    level: int
    height: int
    values: int  # different values in the source
    groups: int  # … at this level
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Searched:
    """The answer of a search: a plan's digest, or the nearest miss."""

    feasible: bool
    suppressed_rows: int
    suppressed_share: float
    allowed_rows: int
    digest: str = ""  # of the plan
    levels: tuple[LevelFound, ...] = ()
    hint: str = ""  # when nothing fits: what would help, in the language of who searched

    def as_dict(self) -> dict[str, Any]:
        """The answer as its versioned JSON."""
        return {"format": SEARCH_FORMAT, **asdict(self)}


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The best solution for one k and one limit, as the frontier is saved."""

    k: int
    limit: Fraction
    feasible: bool
    loss: float | None
    suppressed_rows: int
    suppressed_share: float
    proved: bool  # False when time ran out


@dataclass(frozen=True, slots=True)
class FrontierSummary:
    """The points of a saved frontier."""

    metric: str
    ks: tuple[int, ...]
    points: tuple[FrontierPoint, ...]
    complete: bool  # False when it was stopped: some points are missing

    def line(self, k: int) -> tuple[FrontierPoint, ...]:
        """The feasible points of one k, each solution once, under the smallest limit that allows it."""
        solutions: dict[tuple[int, float | None], FrontierPoint] = {}
        for point in self.points:
            if point.k == k and point.feasible:
                solutions.setdefault((point.suppressed_rows, point.loss), point)
        return tuple(solutions.values())


@dataclass(frozen=True, slots=True)
class ExplanationSummary:
    """A saved explanation, and its sentences in each language."""

    explanation: Explanation
    sentences: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PartitionSummary:
    """A search that went part by part: how many parts, which levels differ, whether each part is optimal."""

    variable: str
    parts: int
    varied: tuple[str, ...]
    optimal: bool


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The figures of a plan, without its notes, and whether source, dictionary or policy changed since."""

    digest: str
    method: str
    metric: str
    loss: float
    levels: Mapping[str, int]
    suppression: Suppression
    masked_sensitive: Mapping[str, int]
    classes: int
    optimal: bool
    partition: PartitionSummary | None
    stale: bool


@dataclass(frozen=True, slots=True)
class SearchView:
    """All that the page of the search shows."""

    policy: PolicyView
    plan: PlanSummary | None = None
    search: Saved[Searched] | None = None
    frontier: Saved[FrontierSummary] | None = None
    explanation: Saved[ExplanationSummary] | None = None
    methods: Saved[MethodComparison] | None = None
