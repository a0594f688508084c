"""The columns of a table, judged once for all who ask: the proposed dictionary and the person's key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.data.suggest._facts import ColumnFacts
from celosia.data.suggest._judge import Finding, judge
from celosia.data.suggest._shape import Shape, shape_of


@dataclass(frozen=True, slots=True)
class Judged:
    """What each column looks like, and the topic it was found to be about."""

    shapes: tuple[Shape, ...]
    findings: tuple[Finding | None, ...]


def judged(columns: Sequence[ColumnFacts]) -> Judged:
    """The opinion on all columns of a table together."""
    shapes = tuple(shape_of(facts) for facts in columns)
    return Judged(shapes, tuple(judge(shapes)))
