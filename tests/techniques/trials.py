"""Small tables, and steps on them, for the tests of the techniques that use chance."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa

from celosia.techniques import TreatedTable, apply_to_frame

SEED = b"one seed"


def table(**columns: list[str]) -> pa.Table:
    """A table of text."""
    return pa.table({name: pa.array(cells, pa.large_string()) for name, cells in columns.items()})


def treated(before: pa.Table, technique: str, seed: bytes = SEED, **settings: Any) -> TreatedTable:
    """A table after one step."""
    return apply_to_frame(before, {"technique": technique, **settings}, seed)


def rows(of: pa.Table) -> Counter[tuple[str, ...]]:
    """The rows of a table, whatever their order."""
    return Counter(zip(*(column.to_pylist() for column in of.columns), strict=True))


def cells(of: TreatedTable | pa.Table, name: str) -> list[str]:
    """A column as texts."""
    found: list[str] = (of.table if isinstance(of, TreatedTable) else of).column(name).to_pylist()
    return found


def numbers(of: TreatedTable | pa.Table, name: str) -> list[float]:
    """The numbers of a column; what is missing is left out."""
    return [float(cell) for cell in cells(of, name) if cell.strip("*")]


def keeps_to_its_seed(before: pa.Table, technique: str, **settings: Any) -> bool:
    """Whether one seed gives one result in any order of the rows, another seed another, and the input stays."""
    copy = before.slice(0)
    taken = pa.table({name: pa.array(cells(before, name), pa.large_string()) for name in before.column_names})
    once, twice = (treated(before, technique, **settings).table for _ in range(2))
    backwards = treated(before.take(pa.array(range(before.num_rows - 1, -1, -1))), technique, **settings).table
    other = treated(before, technique, b"another seed", **settings).table
    same = once.equals(twice) and rows(backwards) == rows(once)
    return same and not other.equals(once) and before.equals(taken) and copy.equals(taken)
