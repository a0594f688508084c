"""A protected table as a file of its own: a line per category of the rows, hidden cells with the mark of the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from celosia import messages
from celosia.data.writers import neutralised, write_csv
from celosia.errors import AlreadyExists, UnknownExtension
from celosia.model.tables import TableReport
from celosia.pipeline._call import Place


def write_table(made: TableReport, out: Place, *, overwrite: bool = False) -> Path:
    """Write the table as CSV, numbers without marks for thousands; what a spreadsheet would run is made harmless."""
    target = Path(out)
    if target.suffix.lower() != ".csv":
        raise UnknownExtension(path=str(target), known=".csv")
    if target.is_dir() or (target.exists() and not overwrite):
        raise AlreadyExists(path=str(target))
    lines: dict[str | None, list[str]] = {}
    for cell in made.cells:
        lines.setdefault(cell.categories[0], []).append(_text(cell.value))
    columns = list(dict.fromkeys(cell.categories[1] if made.columns else None for cell in made.cells))
    heads = [_label(column) if made.columns else messages.text(f"tables.unit.{made.unit}") for column in columns]
    first = _texts([[made.rows, *heads]])  # a category may be a formula in the header too
    cells = _texts([[_label(row) for row in lines], *zip(*lines.values(), strict=True)])
    write_csv([cells], first.column(0).to_pylist(), target)
    return target


def _texts(columns: Iterable[Sequence[str]]) -> pa.RecordBatch:
    """Columns of text that no spreadsheet runs."""
    arrays = [pa.array(column, pa.string()) for column in columns]
    return neutralised(pa.record_batch(arrays, names=[f"c{i}" for i in range(len(arrays))]))


def _label(category: str | None) -> str:
    return messages.text("tables.total") if category is None else category


def _text(value: float | None) -> str:
    return messages.text("tables.hidden_mark") if value is None else str(value)
