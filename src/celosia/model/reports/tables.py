"""A protected cross table and its file format `celosia/table/1`.

Knows the words for what happened to a cell and why. Ignores how it was decided (room `tables`). A hidden cell has
no value here: what is not in the report cannot leak from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from celosia import messages
from celosia.drawing.charts import Cell, table_cells
from celosia.drawing.picture import Drawing
from celosia.model.reports.report import Drawings, Records, Report

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


@dataclass(frozen=True, slots=True, repr=False)
class TableReport(Report):
    """A cross table of two variables as it may be shown."""

    rows: str
    columns: str | None  # None: one variable only
    k: int
    unit: str  # "persons" or "rows"
    cells: tuple[TableCell, ...]
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What is crossed, and how many cells are hidden."""
        return messages.text(
            "reports.summary.table",
            variables=self.rows if self.columns is None else f"{self.rows} × {self.columns}",
            unit=messages.text(f"tables.unit.{self.unit}"),
            cells=len(self.cells),
            hidden=sum(cell.value is None for cell in self.cells),
            k=self.k,
        )

    def records(self) -> Records:
        """The table as it may be shown: a line per category, a column per category of the other variable."""
        return self._lines(lambda cell: cell.value)

    def words(self) -> Records:
        """The same with a mark where a cell is hidden."""
        mark = messages.text("tables.hidden_mark")
        return self._lines(lambda cell: mark if cell.value is None else cell.value)

    def _lines(self, shown: Callable[[TableCell], Any]) -> Records:
        lines: dict[str | None, dict[str, Any]] = {}
        for cell in self.cells:
            row, column = cell.categories
            line = lines.setdefault(row, {self.rows: self._category(row)})
            name = self._column(column)
            line[name if name != self.rows else f"{name} "] = shown(cell)
        return list(lines.values())

    def _category(self, category: str | None) -> str:
        return messages.text("tables.total") if category is None else category

    def _column(self, category: str | None) -> str:
        return messages.text(f"tables.unit.{self.unit}") if self.columns is None else self._category(category)

    def drawings(self) -> Drawings:
        """The cells, the larger the darker; hidden ones are marked."""
        return {"table": self._chart} if self.cells else {}

    def _chart(self) -> Drawing:
        inner = [cell.value for cell in self.cells if None not in cell.categories[: 2 if self.columns else 1]]
        most = max((value for value in inner if value is not None), default=0) or 1
        lines: dict[str | None, list[Cell]] = {}
        for cell in self.cells:
            lines.setdefault(cell.categories[0], []).append(_drawn_cell(cell, most))
        columns = dict.fromkeys(self._column(cell.categories[1]) for cell in self.cells)
        rows = [self._category(row) for row in lines]
        return table_cells("table", self.summary, rows, list(columns), list(lines.values()))

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


def _drawn_cell(cell: TableCell, most: float) -> Cell:
    if cell.value is None:
        return Cell(messages.text("tables.hidden_mark"), hidden=True)
    shown = messages.integer(cell.value) if isinstance(cell.value, int) else messages.decimal(cell.value, 4)
    return Cell(shown, min(cell.value / most, 1.0))


def _cell(cell: TableCell) -> dict[str, Any]:
    row, column = cell.categories
    return {
        "row": row,
        "column": column,
        "value": cell.value,
        "status": cell.status.value,
        "reason": None if cell.reason is None else cell.reason.value,
    }
