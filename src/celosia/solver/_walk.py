"""What walks over a lattice share: when to stop, the best so far, the order among ties."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from celosia.solver._encoding import Levels
from celosia.solver._evaluate import Checked

TOLERANCE = 1e-12
Progress = Callable[[int, int], None]
_REPORT_EVERY = 32


@dataclass(slots=True)
class Watch:
    """When to stop early, and whom to tell."""

    deadline: float = math.inf
    clock: Callable[[], float] | None = None
    cancelled: Callable[[], bool] | None = None
    progress: Progress | None = None
    total: int = 0

    def out_of_time(self, checked: int) -> bool:
        """Whether to stop now."""
        if self.progress is not None and checked % _REPORT_EVERY == 0:
            self.progress(checked, self.total)
        if self.clock is not None and self.clock() > self.deadline:
            return True
        return self.cancelled is not None and self.cancelled()


@dataclass(slots=True)
class Best:
    """The best node so far."""

    found: Checked | None = None
    score: float = math.inf

    @property
    def ceiling(self) -> float:
        """Bounds above this can neither beat nor tie."""
        return self.score + slack(self.score) if self.found is not None else math.inf

    def offer(self, new: Checked) -> None:
        """Take a node that is better, or equal and preferred."""
        if math.isinf(new.score):
            return
        if self.found is None or new.score < self.score - slack(self.score):
            self.found, self.score = new, new.score
        elif new.score <= self.ceiling and preference(new) < preference(self.found):
            self.found, self.score = new, min(new.score, self.score)


def slack(score: float) -> float:
    """Differences up to this are rounding."""
    return TOLERANCE * abs(score)


def preference(node: Checked) -> tuple[int, int, Levels]:
    """Order among ties."""
    return node.totals.suppressed, sum(node.levels), node.levels
