"""What a search found, and how the methods compare: `celosia/search/1`, `celosia/methods/1`.

Knows names of variables, levels, counts and losses. Ignores how they are found; holds no cell: the examples of a level
are labels of its groups that no value of the source has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

SEARCH_FORMAT = "celosia/search/1"
METHODS_FORMAT = "celosia/methods/1"


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


@dataclass(frozen=True, slots=True)
class MethodComparison:
    """The methods side by side, by one loss."""

    metric: str
    rows: int
    allowed_rows: int
    person_key: bool
    methods: tuple[MethodResult, ...]

    @property
    def best(self) -> str:
        """The feasible method that loses least; empty when none is."""
        fits = [one for one in self.methods if one.feasible and one.loss is not None]
        return min(fits, key=lambda one: (one.loss, one.suppressed_rows)).method if fits else ""

    def as_dict(self) -> dict[str, Any]:
        """The comparison as its versioned JSON."""
        return {"format": METHODS_FORMAT, **asdict(self), "best": self.best}
