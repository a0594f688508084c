"""How the methods of a search compare on one source under one policy: `celosia/methods/1`.

Knows counts and losses. Ignores how they are found; holds no cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from celosia import messages
from celosia.drawing.charts import Series, horizontal_bars
from celosia.drawing.picture import Drawing

METHODS_FORMAT = "celosia/methods/1"


@dataclass(frozen=True, slots=True)
class VariableResult:
    """What a method leaves of one variable."""

    variable: str
    loss: float | None  # its information loss: 0 where nothing is lost, 1 where nothing is left
    values: int  # distinct values to be seen in the source, neither missing nor masked
    groups: int  # … and in what would be published

    @property
    def is_one_group(self) -> bool:
        """Whether it would no longer tell anybody apart."""
        return self.groups < 2 <= self.values


@dataclass(frozen=True, slots=True)
class KeepingCost:
    """What the best method would give if a variable had to keep at least two groups."""

    variable: str
    feasible: bool
    loss: float | None = None
    suppressed_rows: int | None = None


@dataclass(frozen=True, slots=True)
class MethodResult:
    """What one method gives. A method that cannot be used says why: the code of an error and its fields."""

    method: str
    feasible: bool
    loss: float | None = None
    suppressed_rows: int | None = None
    suppressed_share: float | None = None
    masked_sensitive: int | None = None  # records that lose a sensitive value and stay
    classes: int | None = None
    smallest_class: int | None = None  # in persons where they are known
    seconds: float | None = None
    optimal: bool = False
    order: tuple[str, ...] = ()  # recipe: the order that was used
    refused: str = ""
    fields: Mapping[str, Any] | None = None
    variables: tuple[VariableResult, ...] = ()


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """The methods side by side, by one loss."""

    metric: str
    rows: int
    allowed_rows: int
    person_key: bool
    methods: tuple[MethodResult, ...]
    keeping: tuple[KeepingCost, ...] = ()  # for each variable of which the best method leaves one group

    @property
    def ranking(self) -> tuple[MethodResult, ...]:
        """The feasible methods, the one that loses least first; of equals, the one that suppresses fewer records."""
        fits = [result for result in self.methods if result.feasible and result.loss is not None]
        return tuple(sorted(fits, key=lambda result: (result.loss, result.suppressed_rows)))

    @property
    def best(self) -> str:
        """The feasible method that loses least; empty when none is."""
        return self.ranking[0].method if self.ranking else ""

    def chart(self) -> Drawing | None:
        """The loss of each variable with the best method beside full-domain, or else the next; None without any."""
        others = sorted(self.ranking[1:], key=lambda result: result.method != "full-domain")
        drawn = [result for result in (*self.ranking[:1], *others[:1]) if result.variables]
        if not drawn:
            return None
        names = [variable.variable for variable in drawn[0].variables]
        series = [Series(r.method, tuple(variable.loss or 0.0 for variable in r.variables)) for r in drawn]
        return horizontal_bars("methods", messages.text("plan.compare.picture"), names, series)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as its versioned JSON."""
        return {"format": METHODS_FORMAT, **asdict(self), "best": self.best}
