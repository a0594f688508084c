"""What a search answers: the best node with its proof, or the nearest miss and why. Both are answers."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.risk.criteria import Criterion


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best node found. Ties: least loss (to 1e-12), then fewest suppressed rows, then the lowest sum of levels,
    then the first levels in order.
    """

    names: tuple[str, ...]
    levels: tuple[int, ...]
    metric: str
    loss: float
    suppressed_rows: int
    suppressed_share: float
    classes: int
    nodes: int
    nodes_checked: int
    optimal: bool
    bound: float  # no node has a loss below this


@dataclass(frozen=True, slots=True)
class FailingCriterion:
    """A criterion and the rows in classes that break it."""

    criterion: Criterion
    rows: int


@dataclass(frozen=True, slots=True)
class NoSolution:
    """No node keeps within the limit: the node that suppresses fewest rows, and which criteria ask for it."""

    names: tuple[str, ...]
    levels: tuple[int, ...]
    suppressed_rows: int
    suppressed_share: float
    allowed_rows: int
    failing: tuple[FailingCriterion, ...]
    nodes: int
    nodes_checked: int
    proved: bool  # False when time ran out before every node was excluded
