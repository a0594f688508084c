"""Text columns as Arrow arrays, integer codes and frequencies, in code-point order.

Knows Arrow and NumPy. Ignores engines and names. Arrow sorts text by its UTF-8 bytes, which is the order of
code points (DESIGN §4, rule 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.tuples.table import pack_keys


def plain_array(column: pa.ChunkedArray) -> pa.Array:
    """One contiguous array; long text needs 64-bit offsets."""
    if pa.types.is_string(column.type):
        column = column.cast(pa.large_string())
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def integer_array(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """A column of whole numbers."""
    return plain_array(column).to_numpy(zero_copy_only=False).astype(np.int64)


def encode_columns(columns: Sequence[pa.ChunkedArray]) -> tuple[NDArray[np.int32], list[pa.Array]]:
    """Codes of text columns into vocabularies sorted by code point."""
    codes = np.empty((len(columns[0]), len(columns)), np.int32, order="F")
    vocabularies = []
    for position, column in enumerate(columns):
        values = plain_array(column).dictionary_encode()
        order = pc.sort_indices(values.dictionary).to_numpy()
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        codes[:, position] = rank[values.indices.to_numpy(zero_copy_only=False)]
        vocabularies.append(values.dictionary.take(pa.array(order)))
    return codes, vocabularies


def decode_column(codes: NDArray[np.integer], vocabulary: Sequence[str] | pa.Array) -> pa.Array:
    """The texts behind the codes of one column."""
    texts = vocabulary if isinstance(vocabulary, pa.Array) else pa.array(vocabulary, pa.large_string())
    return texts.take(pa.array(codes))


def number_rows(column: pa.ChunkedArray) -> tuple[int, NDArray[np.int32], pa.Array]:
    """How many distinct texts there are, the number of each row's as they first occur, and the texts of the rows."""
    from celosia.kernels.numbering import hash_texts, number_texts

    texts = plain_array(column.cast(pa.large_string()))
    if not len(texts):
        return 0, np.zeros(0, np.int32), texts
    _, ends, data = texts.buffers()
    bounds = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    letters = np.frombuffer(data or b"", np.uint8)
    numbers, total = number_texts(bounds, letters, hash_texts(bounds, letters))
    return total, numbers, texts


def row_ranks(codes: NDArray[np.integer], vocabularies: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Rank of each row among the distinct rows of texts, by code point, column after column.

    Vocabularies may be in any order and repeat a text: equal texts have equal ranks.
    """
    sorted_codes = np.empty(codes.shape, np.int64)
    sizes = []
    for position, vocabulary in enumerate(vocabularies):
        distinct = {text: rank for rank, text in enumerate(sorted(set(vocabulary)))}
        ranks_of_texts = np.fromiter((distinct[text] for text in vocabulary), np.int64, len(vocabulary))
        sorted_codes[:, position] = ranks_of_texts[codes[:, position]]
        sizes.append(len(distinct))
    return np.unique(pack_keys(sorted_codes, sizes), return_inverse=True)[1].reshape(-1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Frequencies:
    """The distinct values of a column in code-point order, and how many rows hold each."""

    values: pa.Array
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)


def digest_bound(about: int, distinct: int) -> str:
    """A value is in a sample of about so many where its SHA-256, in hexadecimal, comes before this."""
    return f"{2**64 * about // distinct:016x}"
