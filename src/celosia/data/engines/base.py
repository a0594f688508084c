"""What every engine can do, and the translation of its errors.

Knows Ibis expressions and Arrow. Ignores what they mean. An engine's own errors quote cells, so none of them
passes: they become EngineFault or DiskFull without their words (DESIGN §4, rule 9).
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.data.errors import EngineFault
from celosia.storage import DiskFull

RANK = "row_rank"  # a hidden column of kept rows: the position of each in their canonical order
Expression = Any  # ibis.expr.types.Table: Ibis is imported only where an engine is opened
_NO_SPACE = ("no space left", "disk full", "could not extend file", "max_temp_directory_size")


class RowWatcher(Protocol):
    """Keeps a few published rows, chosen by their row of the source."""

    positions: NDArray[np.int64]

    def watch(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Look at batches whose last column is the row of the source; give them back without it."""


class Engine(Protocol):
    """Where Ibis expressions run."""

    name: str
    reads_files: bool  # whether a file written on this machine can be counted there without being sent
    in_process: bool  # whether the rows are read by this process: asking for more of them takes nothing out of anywhere
    memory: int  # bytes that the work may take on this machine

    def parquet(self, path: Path) -> Expression:
        """The working copy as a table: a file, or a folder of parts, rows in the order of the parts' names."""

    def numbered_parquet(self, path: Path, column: str) -> Expression:
        """The working copy with one column more: the position of each row in it."""

    def digest(self, text: Expression) -> Expression:
        """The SHA-256 of a text's UTF-8 bytes in lower-case hexadecimal, made inside the engine."""

    def digest_sums(self, lines: Expression) -> tuple[int, ...]:
        """Rows of a table of one text column `line`, then the sums of the eight 32-bit pieces of their SHA-256."""

    def fetch(self, expression: Expression) -> pa.Table:
        """The whole result, as Arrow."""

    def stream(self, expression: Expression, batch_rows: int = 100_000) -> Iterator[pa.RecordBatch]:
        """The result in batches, in the order of the expression."""

    def upload(self, table: pa.Table) -> Expression:
        """A private temporary table holding these rows."""

    def keep(self, expression: Expression, folder: Path | None = None) -> Expression:
        """The rows of an expression, kept privately: nothing behind them is computed again.

        In `folder` where they may be as large as the source; without one, in the engine's own temporary space.
        """

    def keep_ranked(self, expression: Expression, order: Sequence[str], folder: Path | None = None) -> Expression:
        """The rows kept privately, each with its place from 0 in the order of these columns: RANK."""

    def forget(self, uploaded: Expression) -> None:
        """Drop an uploaded or kept table that nothing needs any more; what a folder holds is the folder's."""

    def close(self) -> None:
        """Give everything back: connections, temporary tables and files."""


@contextlib.contextmanager
def translate_engine_errors(engine: str, faults: tuple[type[BaseException], ...], path: str = "") -> Iterator[None]:
    """Replace an engine's own errors by ours, without their words."""
    try:
        yield
    except faults as fault:
        if any(mark in str(fault).lower() for mark in _NO_SPACE):
            raise DiskFull(path=path or engine) from None
        raise EngineFault(engine=engine, kind=type(fault).__name__) from None


def silence(*loggers: str) -> None:
    """Keep a library's own log records to itself: they quote statements and cells."""
    for name in loggers:
        logging.getLogger(name).disabled = True
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # the loggers below it inherit this


def digest_sum_query(hashed: str, piece: str, total: str) -> str:
    """The query behind `digest_sums`: over a query that gives `h`, what one piece and its sum look like as text."""
    sums = [total.format(piece=piece.format(start=1 + 8 * i)) + f" AS s{i}" for i in range(8)]
    return f"SELECT count(*) AS n, {', '.join(sums)} FROM ({hashed}) AS hashed"


def integer_sums(row: Sequence[object]) -> tuple[int, ...]:
    """The row of `digest_sum_query` as whole numbers; there is nothing to sum in a table without rows."""
    return tuple(0 if value is None else int(str(value)) for value in row)


def arrow_schema(expression: Expression) -> pa.Schema:
    """The Arrow types an expression promises, the same on every engine."""
    return expression.schema().to_pyarrow()


def table_expression(columns: Sequence[tuple[str, pa.DataType]], name: str) -> Expression:
    """A table expression over a relation that the engine knows by this name."""
    import ibis

    kinds = {column: "string" if _is_text(kind) else "int64" for column, kind in columns}
    return ibis.table(kinds, name=name)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
