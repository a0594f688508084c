"""Published rows as whole numbers: ordered by them on the engine, written as lines value by value.

Knows Arrow, Ibis expressions and our CSV dialect. Ignores files and policies. Each column, or combination of columns
that was recoded together, is a part with a code per text, in code-point order; codes side by side make numbers of 63
bits, so that sorting numbers sorts texts. What a cell looks like in the file is decided once per text, not per row.
The lines are byte for byte those of `writers._dialect` over the same cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.data.counting.columns import decode_column, row_ranks
from celosia.data.engines.base import Engine, Expression
from celosia.data.errors import EngineFault
from celosia.data.writers.dialect import neutralise_column, quote_fields, refuse_null_characters, value_bytes
from celosia.model.values import SUPPRESSED
from celosia.tuples.table import Tuples

MOST_TEXTS = 1 << 20  # a column with more distinct texts is carried as text
_KEY_BITS = 63
_TABLE_BITS = 16  # neighbours whose codes together need no more share one table of fields
_BATCH = 100_000


@dataclass(frozen=True, slots=True)
class CodedPart:
    """Columns that one code stands for: their positions, and the text of each code; no texts, no code."""

    source: str  # the column of the engine that holds the code, or the text
    columns: tuple[int, ...]
    texts: tuple[pa.Array, ...] = ()
    is_ranked: bool = False  # the engine holds the code already

    @property
    def bits(self) -> int:
        """Bits that hold any of its codes."""
        return max(len(self.texts[0]) - 1, 1).bit_length() if self.texts else 0


@dataclass(frozen=True, slots=True)
class CodePosition:
    """Where a code is: in which streamed column, and above which bit."""

    column: int
    shift: int
    bits: int

    def codes(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """The codes of a batch of rows."""
        numbers = batch.column(self.column).to_numpy(zero_copy_only=False)
        return (numbers >> np.int64(self.shift)) & np.int64((1 << self.bits) - 1)


@dataclass(frozen=True, slots=True)
class LinePiece:
    """Neighbouring fields of a line, made of one code."""

    position: CodePosition
    columns: tuple[int, ...]
    fields: pa.Array  # with the separators after each


class CodedRows:
    """Rows in their published order, as numbers that the texts are read from."""

    def __init__(self, engine: Engine, rows: Expression, parts: Sequence[CodedPart], width: int, beside: Sequence[str]):
        self._engine = engine
        self._parts = tuple(parts)
        self._positions = _code_positions(parts)
        self._rows = _order_rows(engine, rows, self._parts, self._positions, beside)
        self._width = width
        self._pieces = _pieces(self._parts, self._positions, width)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The codes and carried texts, then the streamed columns."""
        for batch in self._engine.stream(self._rows, _BATCH):
            if any(column.null_count for column in batch.columns):
                raise EngineFault(engine=self._engine.name, kind="UnknownValue")  # a text that no vocabulary had
            yield batch

    def lines(self, batch: pa.RecordBatch, names: Sequence[str]) -> memoryview:
        """The lines of a batch, formulas made harmless; refuses NUL characters by column name."""
        fields = {piece.columns[0]: piece.fields.take(pa.array(piece.position.codes(batch))) for piece in self._pieces}
        for part, code_position in zip(self._parts, self._positions, strict=True):
            if not part.texts:
                cells = batch.column(code_position.column).cast(pa.large_string())
                position = part.columns[0]
                refuse_null_characters(pa.record_batch([cells], names=["c"]), [names[position]])
                fields[position] = _append_separator(
                    quote_fields(neutralise_column(cells), self._width == 1), position, self._width
                )
        return value_bytes(_join_fields([fields[position] for position in sorted(fields)]))

    def texts(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """The plain texts of the published columns: for few rows."""
        texts_by_column: dict[int, pa.Array] = {}
        for part, code_position in zip(self._parts, self._positions, strict=True):
            if not part.texts:
                texts_by_column[part.columns[0]] = batch.column(code_position.column)
                continue
            codes = pa.array(code_position.codes(batch))
            texts_by_column |= {
                column: texts.take(codes) for column, texts in zip(part.columns, part.texts, strict=True)
            }
        return [texts_by_column[position].cast(pa.string()) for position in range(self._width)]

    @property
    def beside(self) -> int:
        """The position of the first streamed column."""
        return 1 + max(position.column for position in self._positions)


def recoding(
    tuples: Tuples, published: Sequence[NDArray[np.integer]], vocabularies: Sequence[Sequence[str]]
) -> tuple[pa.Table, int, tuple[pa.Array, ...]]:
    """The table that turns combinations into published ones, the rank of the suppressed one, the texts by rank."""
    extended = [(*vocabulary, SUPPRESSED) for vocabulary in vocabularies]
    last = np.array([[len(vocabulary) for vocabulary in vocabularies]], np.int64)
    new = np.concatenate([np.stack(published, axis=1).astype(np.int64), last])
    order = row_ranks(new, extended)
    columns = {f"k{i}": decode_column(tuples.codes[:, i], v) for i, v in enumerate(tuples.vocabularies)}
    columns |= {f"p{i}": decode_column(codes, vocabularies[i]) for i, codes in enumerate(published)}
    holder = np.empty(int(order.max()) + 1, np.int64)
    holder[order] = np.arange(len(order))  # of those that share a rank any will do: their texts are the same
    texts = tuple(decode_column(new[holder, i], vocabulary) for i, vocabulary in enumerate(extended))
    return pa.table(columns | {"p_rank": pa.array(order[:-1])}), int(order[-1]), texts


def _code_positions(parts: Sequence[CodedPart]) -> tuple[CodePosition, ...]:
    """Codes side by side, the first highest, in as few numbers as hold them; a carried text has a column alone."""
    keys: list[list[int]] = []  # of each streamed column, the bits of its codes
    for before, part in zip([None, *parts], parts, strict=False):
        together = before is not None and before.texts and part.texts and sum(keys[-1]) + part.bits <= _KEY_BITS
        if together:
            keys[-1].append(part.bits)
        else:
            keys.append([part.bits])
    return tuple(
        CodePosition(column, sum(widths[i + 1 :]), bits)
        for column, widths in enumerate(keys)
        for i, bits in enumerate(widths)
    )


def _order_rows(
    engine: Engine,
    rows: Expression,
    parts: Sequence[CodedPart],
    positions: Sequence[CodePosition],
    beside: Sequence[str],
) -> Expression:
    """The expression that gives the codes in order, with the streamed columns."""
    for i, (part, position) in enumerate(zip(parts, positions, strict=True)):
        if part.texts and not part.is_ranked:
            codes = np.arange(len(part.texts[0]), dtype=np.int64) << position.shift
            known = engine.upload(pa.table({f"k{i}": part.texts[0], f"p{i}": pa.array(codes)}))
            rows = rows.left_join(known, rows[part.source] == known[f"k{i}"])
    columns: dict[str, Expression] = {}
    for i, (part, position) in enumerate(zip(parts, positions, strict=True)):
        plain = rows[part.source]
        added = plain if not part.texts else plain * (1 << position.shift) if part.is_ranked else rows[f"p{i}"]
        name = f"n{position.column}"
        columns[name] = columns[name] + added if name in columns else added
    chosen = rows.select(**columns, **{name: rows[name] for name in beside})
    return chosen.order_by(list(columns)).select(*columns, *beside)


def _pieces(parts: Sequence[CodedPart], positions: Sequence[CodePosition], width: int) -> list[LinePiece]:
    """The fields of each code, neighbours in one piece where their table stays small."""
    pieces: list[LinePiece] = []
    for part, code_position in zip(parts, positions, strict=True):
        fields = {
            column: _append_separator(quote_fields(neutralise_column(texts), width == 1), column, width)
            for column, texts in zip(part.columns, part.texts, strict=False)
        }
        pieces += [
            LinePiece(code_position, run, _join_fields([fields[column] for column in run]))
            for run in _runs(list(fields))
        ]
    merged: list[LinePiece] = []
    for piece in pieces:
        if merged and _can_merge(merged[-1], piece):
            piece = _merge_pieces(merged.pop(), piece)
        merged.append(piece)
    return merged


def _runs(columns: Sequence[int]) -> list[tuple[int, ...]]:
    """The columns cut where one does not stand right after the other."""
    runs: list[list[int]] = [[column] for column in columns[:1]]
    for before, column in pairwise(columns):
        if column == before + 1:
            runs[-1].append(column)
        else:
            runs.append([column])
    return [tuple(run) for run in runs]


def _can_merge(left: LinePiece, right: LinePiece) -> bool:
    """Whether two pieces stand side by side in the line and in the number, and are small enough together."""
    return (
        left.columns[-1] + 1 == right.columns[0]
        and left.position.column == right.position.column
        and left.position.shift == right.position.shift + right.position.bits
        and left.position.bits + right.position.bits <= _TABLE_BITS
    )


def _merge_pieces(left: LinePiece, right: LinePiece) -> LinePiece:
    position = CodePosition(left.position.column, right.position.shift, left.position.bits + right.position.bits)
    codes = np.arange(1 << position.bits, dtype=np.int64)
    high = np.minimum(codes >> right.position.bits, len(left.fields) - 1)  # codes that no text has are never asked for
    low = np.minimum(codes & ((1 << right.position.bits) - 1), len(right.fields) - 1)
    fields = _join_fields([left.fields.take(pa.array(high)), right.fields.take(pa.array(low))])
    return LinePiece(position, left.columns + right.columns, fields)


def _append_separator(fields: pa.Array, column: int, width: int) -> pa.Array:
    end = pa.scalar("\n" if column == width - 1 else ",", pa.large_string())
    return pc.binary_join_element_wise(fields, end, pa.scalar("", pa.large_string()))


def _join_fields(fields: Sequence[pa.Array]) -> pa.Array:
    if len(fields) == 1:
        return fields[0]
    return pc.binary_join_element_wise(*fields, pa.scalar("", pa.large_string()))
