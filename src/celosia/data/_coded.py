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

from celosia.data._columns import decoded, ranks
from celosia.data.engines import Engine
from celosia.data.engines._base import Expression
from celosia.data.writers._dialect import neutral, quoted, refuse_null_characters, value_bytes
from celosia.errors import EngineFault
from celosia.model.values import SUPPRESSED
from celosia.tuples import Tuples

MOST_TEXTS = 1 << 20  # a column with more distinct texts is carried as text
_KEY_BITS = 63
_TABLE_BITS = 16  # neighbours whose codes together need no more share one table of fields
_BATCH = 100_000


@dataclass(frozen=True, slots=True)
class Part:
    """Columns that one code stands for: their positions, and the text of each code; no texts, no code."""

    source: str  # the column of the engine that holds the code, or the text
    columns: tuple[int, ...]
    texts: tuple[pa.Array, ...] = ()
    ranked: bool = False  # the engine holds the code already

    @property
    def bits(self) -> int:
        """Bits that hold any of its codes."""
        return max(len(self.texts[0]) - 1, 1).bit_length() if self.texts else 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a code stands: in which streamed column, and above which bit."""

    column: int
    shift: int
    bits: int

    def codes(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """The codes of a batch of rows."""
        numbers = batch.column(self.column).to_numpy(zero_copy_only=False)
        return (numbers >> np.int64(self.shift)) & np.int64((1 << self.bits) - 1)


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring fields of a line, made of one code."""

    place: Place
    columns: tuple[int, ...]
    fields: pa.Array  # with the separators after each

    def of(self, batch: pa.RecordBatch) -> pa.Array:
        """The fields of a batch of rows."""
        return self.fields.take(pa.array(self.place.codes(batch)))


class CodedRows:
    """Rows in their published order, as numbers that the texts are read from."""

    def __init__(self, engine: Engine, rows: Expression, parts: Sequence[Part], width: int, beside: Sequence[str]):
        self._engine = engine
        self._parts = tuple(parts)
        self._places = _placed(parts)
        self._rows = _ordered(engine, rows, self._parts, self._places, beside)
        self._width = width
        self._pieces = _pieces(self._parts, self._places, width)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The numbers and carried texts, then what comes along."""
        for batch in self._engine.stream(self._rows, _BATCH):
            if any(column.null_count for column in batch.columns):
                raise EngineFault(engine=self._engine.name, kind="UnknownValue")  # a text that no vocabulary had
            yield batch

    def lines(self, batch: pa.RecordBatch, names: Sequence[str]) -> memoryview:
        """The lines of a batch, formulas made harmless; refuses NUL characters by column name."""
        fields = {piece.columns[0]: piece.fields.take(pa.array(piece.place.codes(batch))) for piece in self._pieces}
        for part, place in zip(self._parts, self._places, strict=True):
            if not part.texts:
                cells = batch.column(place.column).cast(pa.large_string())
                position = part.columns[0]
                refuse_null_characters(pa.record_batch([cells], names=["c"]), [names[position]])
                fields[position] = _with_separator(quoted(neutral(cells), self._width == 1), position, self._width)
        return value_bytes(_joined([fields[position] for position in sorted(fields)]))

    def texts(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """The plain texts of the published columns: for few rows."""
        found: dict[int, pa.Array] = {}
        for part, place in zip(self._parts, self._places, strict=True):
            if not part.texts:
                found[part.columns[0]] = batch.column(place.column)
                continue
            codes = pa.array(place.codes(batch))
            found |= {column: texts.take(codes) for column, texts in zip(part.columns, part.texts, strict=True)}
        return [found[position].cast(pa.string()) for position in range(self._width)]

    @property
    def beside(self) -> int:
        """The first of the streamed columns that come along."""
        return 1 + max(place.column for place in self._places)


def recoding(
    tuples: Tuples, published: Sequence[NDArray[np.integer]], vocabularies: Sequence[Sequence[str]]
) -> tuple[pa.Table, int, tuple[pa.Array, ...]]:
    """The table that turns combinations into published ones, the rank of the suppressed one, the texts by rank."""
    extended = [(*vocabulary, SUPPRESSED) for vocabulary in vocabularies]
    last = np.array([[len(vocabulary) for vocabulary in vocabularies]], np.int64)
    new = np.concatenate([np.stack(published, axis=1).astype(np.int64), last])
    order = ranks(new, extended)
    columns = {f"k{i}": decoded(tuples.codes[:, i], v) for i, v in enumerate(tuples.vocabularies)}
    columns |= {f"p{i}": decoded(codes, vocabularies[i]) for i, codes in enumerate(published)}
    holder = np.empty(int(order.max()) + 1, np.int64)
    holder[order] = np.arange(len(order))  # of those that share a rank any will do: their texts are the same
    texts = tuple(decoded(new[holder, i], vocabulary) for i, vocabulary in enumerate(extended))
    return pa.table(columns | {"p_rank": pa.array(order[:-1])}), int(order[-1]), texts


def _placed(parts: Sequence[Part]) -> tuple[Place, ...]:
    """Codes side by side, the first highest, in as few numbers as hold them; a carried text has a column alone."""
    keys: list[list[int]] = []  # of each streamed column, the bits of its codes
    for before, part in zip([None, *parts], parts, strict=False):
        together = before is not None and before.texts and part.texts and sum(keys[-1]) + part.bits <= _KEY_BITS
        if together:
            keys[-1].append(part.bits)
        else:
            keys.append([part.bits])
    return tuple(
        Place(column, sum(widths[i + 1 :]), bits) for column, widths in enumerate(keys) for i, bits in enumerate(widths)
    )


def _ordered(
    engine: Engine, rows: Expression, parts: Sequence[Part], places: Sequence[Place], beside: Sequence[str]
) -> Expression:
    """The expression that gives the numbers in order, with what comes along."""
    for i, (part, place) in enumerate(zip(parts, places, strict=True)):
        if part.texts and not part.ranked:
            codes = np.arange(len(part.texts[0]), dtype=np.int64) << place.shift
            known = engine.upload(pa.table({f"k{i}": part.texts[0], f"p{i}": pa.array(codes)}))
            rows = rows.left_join(known, rows[part.source] == known[f"k{i}"])
    columns: dict[str, Expression] = {}
    for i, (part, place) in enumerate(zip(parts, places, strict=True)):
        plain = rows[part.source]
        added = plain if not part.texts else plain * (1 << place.shift) if part.ranked else rows[f"p{i}"]
        name = f"n{place.column}"
        columns[name] = columns[name] + added if name in columns else added
    chosen = rows.select(**columns, **{name: rows[name] for name in beside})
    return chosen.order_by(list(columns)).select(*columns, *beside)


def _pieces(parts: Sequence[Part], places: Sequence[Place], width: int) -> list[Piece]:
    """The fields of each code, neighbours in one piece where their table stays small."""
    found: list[Piece] = []
    for part, place in zip(parts, places, strict=True):
        fields = {
            column: _with_separator(quoted(neutral(texts), width == 1), column, width)
            for column, texts in zip(part.columns, part.texts, strict=False)
        }
        found += [Piece(place, run, _joined([fields[column] for column in run])) for run in _runs(list(fields))]
    merged: list[Piece] = []
    for piece in found:
        if merged and _neighbours(merged[-1], piece):
            piece = _together(merged.pop(), piece)
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


def _neighbours(one: Piece, other: Piece) -> bool:
    """Whether two pieces stand side by side in the line and in the number, and are small enough together."""
    return (
        one.columns[-1] + 1 == other.columns[0]
        and one.place.column == other.place.column
        and one.place.shift == other.place.shift + other.place.bits
        and one.place.bits + other.place.bits <= _TABLE_BITS
    )


def _together(one: Piece, other: Piece) -> Piece:
    place = Place(one.place.column, other.place.shift, one.place.bits + other.place.bits)
    codes = np.arange(1 << place.bits, dtype=np.int64)
    high = np.minimum(codes >> other.place.bits, len(one.fields) - 1)  # codes that no text has are never asked for
    low = np.minimum(codes & ((1 << other.place.bits) - 1), len(other.fields) - 1)
    fields = _joined([one.fields.take(pa.array(high)), other.fields.take(pa.array(low))])
    return Piece(place, one.columns + other.columns, fields)


def _with_separator(fields: pa.Array, column: int, width: int) -> pa.Array:
    end = pa.scalar("\n" if column == width - 1 else ",", pa.large_string())
    return pc.binary_join_element_wise(fields, end, pa.scalar("", pa.large_string()))


def _joined(fields: Sequence[pa.Array]) -> pa.Array:
    if len(fields) == 1:
        return fields[0]
    return pc.binary_join_element_wise(*fields, pa.scalar("", pa.large_string()))
