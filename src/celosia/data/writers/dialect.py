"""Our one CSV dialect: comma, LF, UTF-8 without mark, quotes only where they are needed.

Knows Arrow text columns. Ignores files. The bytes depend on the cells alone, never on how they were batched.
A field is quoted when it holds a comma, a quote or a line end, begins or ends with a blank, or is the only
field of its row and empty (an empty line would be lost).
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from celosia.data.errors import NullCharacter

_SPECIAL = '[,"\\r\\n]|^\\s|\\s$|^\\x{FEFF}'
_FORMULA = "^[=+\\-@\\t\\r]"
_NUMBER = "^[+-]?(\\d+([.,]\\d*)?|[.,]\\d+)([eE][+-]?\\d+)?%?$"


def encode_header(names: Sequence[str]) -> bytes:
    """The first line."""
    columns = [pa.array([name], pa.string()) for name in names]
    return bytes(encode_rows(pa.record_batch(columns, names=list(names))))


def encode_rows(batch: pa.RecordBatch) -> memoryview:
    """The lines of a batch of text columns."""
    if batch.num_rows == 0:
        return memoryview(b"")
    return join_fields([quote_fields(column, batch.num_columns == 1) for column in batch.columns])


def join_fields(fields: Sequence[pa.LargeStringArray]) -> memoryview:
    """The lines of rows whose fields are quoted already."""
    last = pc.binary_join_element_wise(fields[-1], _text("\n"), _text(""))
    return value_bytes(last if len(fields) == 1 else pc.binary_join_element_wise(*fields[:-1], last, _text(",")))


def quote_fields(column: pa.Array, alone: bool = False) -> pa.LargeStringArray:
    """Each cell as a field; missing (null) is empty."""
    cells = pc.fill_null(pc.cast(column, pa.large_string()), "")
    needs = pc.match_substring_regex(cells, _SPECIAL)
    if alone:
        needs = pc.or_(needs, pc.equal(cells, ""))
    if not pc.any(needs).as_py():
        return cells
    doubled = pc.replace_substring(cells, '"', '""')
    wrapped = pc.binary_join_element_wise(_text('"'), doubled, _text('"'), _text(""))
    return pc.if_else(needs, wrapped, cells)


def as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with all its columns as plain text, missing (null) as empty."""
    columns = [pc.fill_null(pc.cast(column, pa.large_string()), "") for column in batch.columns]
    return pa.record_batch(columns, names=batch.schema.names)


def neutralise_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with no cell that a spreadsheet would run as a formula."""
    return pa.record_batch([neutralise_column(column) for column in batch.columns], names=batch.schema.names)


def neutralise_column(column: pa.Array) -> pa.Array:
    """Cells that a spreadsheet would run as a formula, with an apostrophe before them; plain numbers stay."""
    starts = pc.match_substring_regex(column, _FORMULA)
    formula = pc.and_(starts, pc.invert(pc.match_substring_regex(column, _NUMBER)))
    if not pc.any(formula).as_py():
        return column
    marked = pc.binary_join_element_wise(pa.scalar("'", column.type), column, pa.scalar("", column.type))
    return pc.if_else(formula, marked, column)


def written_texts(texts: Sequence[str]) -> list[str]:
    """Values as a candidate holds them: read back, a cell that looked like a formula has its apostrophe."""
    written: list[str] = neutralise_column(pa.array(texts, pa.large_string())).to_pylist()
    return written


def refuse_null_characters(batch: pa.RecordBatch, names: Sequence[str]) -> None:
    """Refuses NUL characters by column name: no text format keeps them."""
    for name, column in zip(names, batch.columns, strict=True):
        count = pc.sum(pc.match_substring(column, "\x00")).as_py() or 0
        if count:
            raise NullCharacter(variable=name, count=count)


def _text(value: str) -> pa.LargeStringScalar:
    return pa.scalar(value, pa.large_string())


def value_bytes(lines: pa.LargeStringArray) -> memoryview:
    """The bytes of all values one after another."""
    _, offsets, values = lines.buffers()
    starts = memoryview(offsets).cast("q")
    return memoryview(values)[starts[lines.offset] : starts[lines.offset + len(lines)]]
