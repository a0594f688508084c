"""Small tables and the slow, plain answers that every engine must give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from celosia.data.counting.coded_columns import compact
from celosia.data.engines.base import Engine
from celosia.data.engines.lazy import LazyEngine
from celosia.data.memory_table import MemoryTable
from celosia.data.table import Table

TRICKY = (
    "", "*", "**", "99999", "05302", "5302", "5302 ", " 5302", "1e3", "-0", "1,5", "1.5", "ñ", "n", "Ñ", "N", "z", "Z",
    "a", "A", "á", "é", "e\u0301", "ß", "ss", "İ", "i", "ı", "😀", "\ufb01", "\uffff", "\U00010000", "\u200b", "\u00a0",
    "it's", '"', '""', "''", "\\", "\\\\", "\\n", "\\.",
    "\n", "\r\n", "a\n\\.\nb", "\t", "%s", "{x}", "$1", "?", ":p",
    "NULL", "null", "NaN", "nan", "true", "\\N", "-- x", "/*", "`", "a\u0301", "a ", "ch", "ll", "0", "00",
)  # fmt: skip
NAMES = (
    "Edad", "EDAD", "edad ", 'con "comillas"', "it's", "**", "sexo; DROP TABLE x", "ñandú", "c0", "c1", "rows",
    "person", "r0", "k0", "p_rank", "tuple_id", "x" * 70 + "a", "x" * 70 + "b", "dos\nlíneas", " ", "%s", "{a}", "\\",
)  # fmt: skip


@dataclass(frozen=True)
class Plain:
    """Rows as Python sees them."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> list[str]:
        position = self.names.index(name)
        return [row[position] for row in self.rows]

    def on(self, engine: Engine) -> Table:
        """The same rows on an engine."""
        columns = {f"c{i}": pa.array([row[i] for row in self.rows], pa.string()) for i in range(len(self.names))}
        return Table(engine, engine.upload(pa.table(columns)), self.names)

    def in_memory(self, engine: LazyEngine) -> MemoryTable:
        """The same rows in this process."""
        texts = {name: pa.array(self.column(name), pa.large_string()) for name in self.names}
        columns = {name: compact(column, np.arange(len(column))) for name, column in texts.items()}
        return MemoryTable(engine, columns, np.arange(len(self.rows)))

    def over(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """The rows over some columns."""
        positions = [self.names.index(name) for name in names]
        return [tuple(row[p] for p in positions) for row in self.rows]


def streamed(batches: Iterable[pa.RecordBatch]) -> list[tuple[str, ...]]:
    """Rows of a stream, in its order."""
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def same_rows(found: Iterable[tuple[str, ...]], expected: Iterable[tuple[str, ...]]) -> bool:
    """Whether two collections hold the same rows, in any order."""
    return Counter(found) == Counter(expected)


cells = st.one_of(
    st.sampled_from(TRICKY[:8]),
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
)


@st.composite
def plain_tables(draw: st.DrawFn, max_rows: int = 25, max_columns: int = 4) -> Plain:
    """Text tables with values that engines are known to treat differently."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=max_columns, unique=True))
    pool = draw(st.lists(cells, min_size=1, max_size=6))
    row = st.tuples(*[st.sampled_from(pool) for _ in names])
    return Plain(tuple(names), tuple(draw(st.lists(row, max_size=max_rows))))


FIXED = {
    "no rows": Plain(("Edad", "EDAD"), ()),
    "one row": Plain(("Edad", "EDAD"), (("", "*"),)),
    "one column": Plain(("x" * 70,), (("b",), ("a",), ("b",))),
    "64 columns": Plain(
        tuple(f"v{i}" for i in range(64)), tuple(tuple(str((r * i) % 3) for i in range(64)) for r in range(9))
    ),
    "values engines confuse": Plain(
        ("Edad", "EDAD", "persona"), tuple((v, TRICKY[i % 7], TRICKY[i % 5]) for i, v in enumerate(TRICKY * 2))
    ),
    "very long values": Plain(("largo", "id"), tuple(("ñ" * 90_000 + end, end) for end in "aBÁb")),
}
