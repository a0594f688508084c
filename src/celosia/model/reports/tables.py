"""A protected cross table and its file format `celosia/table/1`.

Knows the words for what happened to a cell and why. Ignores how it was decided (room `tables`). A hidden cell has
no value here: what is not in the report cannot leak from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

TABLE_FORMAT = "celosia/table/1"


class CellStatus(StrEnum):
    """What the reader of a table sees of a cell."""

    PUBLISHED = "published"
    PRIMARY = "primary"  # hidden for what it is
    SECONDARY = "secondary"  # hidden so that another one cannot be computed


class Reason(StrEnum):
    """Why a cell is hidden."""

    THRESHOLD = "threshold"  # fewer than k persons
    DOMINANCE = "dominance"  # the n largest make more than their share of the sum
    P_PERCENT = "p_percent"  # the second largest could estimate the largest too well
    ZERO = "zero"  # nobody there, and that is told too
    FULL = "full"  # everybody of a group in one category: the table would tell it of each
    OVER_TIME = "over_time"  # against an earlier publication it singles out fewer than k
    COMPLEMENT = "complement"  # it would let another one be computed exactly
    INTERVAL = "interval"  # it would leave another one too few possible values
    LINKED = "linked"  # hidden in a table that shares the cell
    DERIVED = "derived"  # made from a hidden cell


@dataclass(frozen=True, slots=True)
class TableCell:
    """One cell; None for a category is the margin, None for the value is hidden."""

    categories: tuple[str | None, ...]
    value: int | float | None
    status: CellStatus
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class TableReport:
    """A cross table of two variables as it may be shown."""

    rows: str
    columns: str | None  # None: one variable only
    k: int
    unit: str  # "persons" or "rows"
    cells: tuple[TableCell, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The report as data."""
        return {
            "format": TABLE_FORMAT,
            "rows": self.rows,
            "columns": self.columns,
            "k": self.k,
            "unit": self.unit,
            "cells": [_cell(cell) for cell in self.cells],
            **self.figures,
        }


def _cell(cell: TableCell) -> dict[str, Any]:
    row, column = cell.categories
    return {
        "row": row,
        "column": column,
        "value": cell.value,
        "status": cell.status.value,
        "reason": None if cell.reason is None else cell.reason.value,
    }
