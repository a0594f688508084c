"""Small tables of text for the tests of techniques."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import strategies as st

TEXTS = ("", "*", "**", "a", "b", "c", "99999", "10", "9")


def table_of(**columns: Sequence[str]) -> pa.Table:
    """A table of text as techniques are given it."""
    return pa.table({name: pa.array(list(cells), pa.large_string()) for name, cells in columns.items()})


def tables(names: Sequence[str], least: int = 0, most: int = 14) -> st.SearchStrategy[pa.Table]:
    """Tables over a few values, so that combinations repeat."""
    row = st.tuples(*(st.sampled_from(TEXTS) for _ in names))
    return st.lists(row, min_size=least, max_size=most).map(
        lambda rows: table_of(**{name: [row[i] for row in rows] for i, name in enumerate(names)})
    )


def rows_of(table: pa.Table) -> list[tuple[str, ...]]:
    """The rows of a table."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
