"""What `special_uniques` found, and its file format `celosia/special-uniques/1`.

Knows the names of the figures and how they are written. Ignores how they are computed (room `risk`).
Nothing here holds a value of a cell; the scores of each row are private and live elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from celosia import messages
from celosia.drawing.charts import Series, horizontal_bars
from celosia.drawing.picture import Drawing
from celosia.model.reports.report import Drawings, Records, Report

FORMAT = "celosia/special-uniques/1"
ROWS_FORMAT = "celosia/special-rows/1"  # the rows behind, in the private folder only
DIS_EDGES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)  # zero alone, then intervals closed above, then the rest


class Scoring(StrEnum):
    """What a minimal unique of s of the m variables adds to the score of its row."""

    ORIGINAL = "original"  # (m − s)!
    NEW = "new"  # (2^(m − s) − 1) · s! (m − s)! / m!


@dataclass(frozen=True, slots=True)
class SizeCount:
    """Minimal uniques of one size: how many, of how many rows, and for how many it is the smallest."""

    size: int
    sets: int
    rows: int
    smallest: int


@dataclass(frozen=True, slots=True)
class RepeatedPersons:
    """How many persons the rows belong to, and how many rows lie in a class of one single person."""

    persons: int
    single_person_rows: int


@dataclass(frozen=True, slots=True, repr=False)
class SpecialUniquesReport(Report):
    """The published figures: counts of rows by size, the distribution of the scores, the part of each variable."""

    rows: int
    variables: tuple[str, ...]
    max_size: int
    scoring: Scoring
    fraction: float
    unique_rows: int
    pair_rows: int
    special_rows: int
    sizes: tuple[SizeCount, ...]
    score_total: float
    score_maximum: float
    dis_total: float
    dis_maximum: float
    dis_bins: tuple[int, ...]
    contributions: Mapping[str, float | None]
    skipped_cells: int
    repeated: RepeatedPersons | None = None
    left_out: tuple[str, ...] = ()  # quasi-identifiers that tell nobody apart, or that are to be removed

    @property
    def summary(self) -> str:
        """How many rows are singled out by few variables."""
        return messages.text(
            "reports.summary.special", rows=self.rows, special=self.special_rows, unique=self.unique_rows
        )

    def records(self) -> Records:
        """One line per size of the minimal uniques."""
        return [asdict(size) for size in self.sizes]

    def drawings(self) -> Drawings:
        """The part of each variable in the scores."""
        return {"contributions": self._chart} if any(self.contributions.values()) else {}

    def _chart(self) -> Drawing:
        parts = sorted(((part or 0.0, name) for name, part in self.contributions.items()), reverse=True)
        whole = sum(part for part, _ in parts)
        shares = tuple(part / whole for part, _ in parts)
        title = messages.text("reports.chart.contributions")
        return horizontal_bars("contributions", title, [name for _, name in parts], [Series("", shares)])

    def as_dict(self) -> dict[str, Any]:
        """The report as it is printed with --json and kept in files; shares run 0..1."""
        return {
            "format": FORMAT,
            "unit": "rows",
            "rows": self.rows,
            "variables": list(self.variables),
            "left_out": list(self.left_out),
            "max_size": self.max_size,
            "scoring": self.scoring.value,
            "fraction": self.fraction,
            "unique_rows": self.unique_rows,
            "pair_rows": self.pair_rows,
            "special_rows": self.special_rows,
            "sizes": [asdict(size) for size in self.sizes],
            "score": {"total": self.score_total, "maximum": self.score_maximum},
            "dis": {
                "total": self.dis_total,
                "maximum": self.dis_maximum,
                "edges": list(DIS_EDGES),
                "rows": list(self.dis_bins),
            },
            "contributions": dict(self.contributions),
            "skipped_cells": self.skipped_cells,
            "persons": None if self.repeated is None else asdict(self.repeated),
        }
