"""Performing a technique: what it is given, what its answer changes, and the report of it.

Knows the contract. Ignores where lines come from: a frame here, an engine in the pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia import messages
from celosia.model.changes import StepChange
from celosia.model.errors import RepeatedVariable, UnknownVariable
from celosia.model.values import MISSING
from celosia.techniques._columns import encode_values
from celosia.techniques._contract import Lines, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._registry import read_step
from celosia.techniques.errors import TechniqueRefuses


def perform(
    chosen: Technique, settings: Mapping[str, Any], given: StepInput, draws: Draws
) -> tuple[StepOutcome, StepChange]:
    """A technique's answer over the lines it is given, and the report of what it changes."""
    _refuse_unfit_rows(chosen, settings, given)
    outcome = chosen.apply(given, settings, draws)
    if any(len(column) != given.lines for column in outcome.columns.values()):
        raise AssertionError(f"{chosen.name} changed the number of lines")
    return outcome, _change(chosen, given, outcome)


def _refuse_unfit_rows(chosen: Technique, settings: Mapping[str, Any], given: StepInput) -> None:
    rows = int(given.rows.sum())
    named = settings.get("columns") or tuple(given.columns)  # a stratum may well be empty
    treated = [given.columns[name] for name in named if name in given.columns]
    present = {
        "no_rows": rows == 0,
        "one_row": rows == 1,
        "all_missing": rows > 0 and any(pc.all(pc.equal(c, MISSING)).as_py() for c in treated),
    }
    for reason in chosen.refuses:
        if present[reason]:
            raise TechniqueRefuses(technique=chosen.name, reason=messages.text(f"techniques.reason.{reason}"))


def _change(chosen: Technique, given: StepInput, outcome: StepOutcome) -> StepChange:
    touched = np.zeros(given.lines, bool) if outcome.dropped is None else outcome.dropped.copy()
    cells = {}
    for name, column in outcome.columns.items():
        before = given.columns.get(outcome.stands_for.get(name, name))
        differs = (
            np.ones(given.lines, bool)
            if before is None
            else np.asarray(pc.not_equal(before, column).to_numpy(zero_copy_only=False), bool)
        )
        cells[name] = int(given.rows[differs].sum())
        touched |= differs
    rows = int(given.rows.sum())
    return StepChange(
        technique=chosen.name,
        columns=tuple(outcome.columns),
        rows=rows,
        rows_touched=rows if outcome.order is not None else int(given.rows[touched].sum()),
        cells_touched=cells,
        removed=outcome.removed,
        renamed={new: old for new, old in outcome.stands_for.items() if new != old},
        rows_dropped=0 if outcome.dropped is None else int(given.rows[outcome.dropped].sum()),
        preserved=outcome.preserved,
        notes=dict(outcome.notes),
    )


def refuse_repeated(names: Sequence[str], outcome: StepOutcome) -> None:
    """A new column may not take the name of another that stays."""
    for name in outcome.columns:
        if name in names and outcome.stands_for.get(name, name) != name:
            raise RepeatedVariable(variable=name)


def names_after(names: Sequence[str], outcome: StepOutcome) -> tuple[str, ...]:
    """The columns of a table after a step: a new one at the position of the one it replaces, or at the end."""
    successor = {old: new for new, old in outcome.stands_for.items()}
    left = [successor.get(name, name) for name in names if name in successor or name not in outcome.removed]
    return (*left, *(name for name in outcome.columns if name not in left))


@dataclass(frozen=True, slots=True)
class TreatedTable:
    """A table after a step, what the technique answered, and the row each line was."""

    table: pa.Table
    outcome: StepOutcome
    change: StepChange
    positions: NDArray[np.int64]


def apply_to_frame(table: pa.Table, step: Mapping[str, Any], seed: bytes, label: str = "1") -> TreatedTable:
    """A step on a table of text held in memory; rows keep their order unless the step is about order."""
    chosen, settings = read_step(step)
    used = tuple(dict.fromkeys(chosen.uses(settings)))
    for name in used:
        if name not in table.column_names:
            raise UnknownVariable(variable=name, known=", ".join(table.column_names))
    given, line = _lines(table, used, chosen.lines)
    outcome, change = perform(chosen, settings, given, Draws(seed, label))
    refuse_repeated(table.column_names, outcome)
    positions = _positions(outcome, line)
    treated = _add_new_columns(table, outcome, line).take(pa.array(positions))
    return TreatedTable(treated, outcome, replace(change, rows=table.num_rows), positions)


def _lines(table: pa.Table, used: Sequence[str], lines: Lines) -> tuple[StepInput, NDArray[np.int64]]:
    """What a technique is given, and the line of each row."""
    rank = _row_ranks(table, table.column_names if lines is Lines.ROWS else used)
    if lines is Lines.ROWS:
        order = np.argsort(rank, kind="stable")
        line = np.empty(len(order), np.int64)
        line[order] = np.arange(len(order))
        first = order
        rows = np.ones(len(order), np.int64)
    else:
        _, first, line, rows = np.unique(rank, return_index=True, return_inverse=True, return_counts=True)
        rows = rows.astype(np.int64)
    columns = {name: _plain_column(table.column(name)).take(pa.array(first)) for name in used}
    return StepInput(columns, rows, tuple(table.column_names)), line.reshape(-1)


def _row_ranks(table: pa.Table, names: Sequence[str]) -> NDArray[np.int64]:
    """Rank of each row by the texts of some columns, in code-point order, column after column."""
    rank = np.zeros(table.num_rows, np.int64)
    for name in names:
        codes, size = encode_values(_plain_column(table.column(name)))
        rank = np.unique(rank * max(size, 1) + codes, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return rank


def _plain_column(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks().cast(pa.large_string()) if isinstance(column, pa.ChunkedArray) else column


def _add_new_columns(table: pa.Table, outcome: StepOutcome, line: NDArray[np.int64]) -> pa.Table:
    lines = pa.array(line)
    old = dict(outcome.stands_for)
    columns = {
        name: outcome.columns[name].take(lines) if name in outcome.columns else table.column(old.get(name, name))
        for name in names_after(table.column_names, outcome)
    }
    return pa.table(columns)


def _positions(outcome: StepOutcome, line: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows that stay, in their order or in the one the step gives them."""
    order = np.arange(len(line)) if outcome.order is None else np.argsort(line)[outcome.order]
    return order if outcome.dropped is None else order[~outcome.dropped[line[order]]]
