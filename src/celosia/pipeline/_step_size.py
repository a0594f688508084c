"""Steps by row that would not fit in memory, refused before any step runs.

Knows how many rows a table has and how many columns a step takes of them. Every technique runs on every engine; one by
row works in this process on the columns it uses, wherever the table lives, so what limits it is memory alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celosia.data.table import Table
from celosia.errors import StepTooLarge
from celosia.techniques import Lines, Technique, understood

_FEWER_ROWS = ("select", "remove_records")  # after one of these, the rows are counted again
_ROW, _CELL = 150, 160  # bytes outside the engine, as measured of rank swapping, noise and microaggregation: a row, and
# each of its columns. They are still held while the engine joins what the step made, and the engine has half of it all.
_WITH_ENGINE = 2
_TENTH = 10**8  # of a gigabyte


def refuse_too_large(table: Table, steps: Sequence[Mapping[str, Any]], memory: int) -> None:
    """Stop the first step by row that `memory` does not hold, as far as the number of rows is known."""
    rows = -1
    for step in steps:
        technique, settings = understood(step)
        if technique.lines is Lines.ROWS:
            rows = table.count_rows() if rows < 0 else rows
            _refuse(technique, len(set(technique.uses(settings))), rows, memory)
        if technique.name in _FEWER_ROWS:
            return


def leaves_fewer_rows(step: Mapping[str, Any]) -> bool:
    """Whether a step may take rows away."""
    return understood(step)[0].name in _FEWER_ROWS


def _refuse(technique: Technique, columns: int, rows: int, memory: int) -> None:
    need = rows * (_ROW + _CELL * columns) * _WITH_ENGINE
    if need > memory:  # rounded so that the amount named is one that does
        raise StepTooLarge(technique=technique.name, columns=columns, rows=rows, need=-(-need // _TENTH) / 10,
                           memory=memory // _TENTH / 10)  # fmt: skip
