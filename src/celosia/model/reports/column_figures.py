"""How far a column distinguishes people, in figures that hold no value: `celosia/column-figures/1`."""

from __future__ import annotations

from dataclasses import dataclass

FIGURES_FORMAT = "celosia/column-figures/1"


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """How far a column distinguishes people (A11)."""

    distinct: int  # values, missing included
    plain_distinct: int  # values that are neither missing nor masked
    plain_rows: int  # rows that hold one
    share: float  # distinct values per row
    entropy: float  # bits
    separation: float  # probability that two rows drawn at random differ
