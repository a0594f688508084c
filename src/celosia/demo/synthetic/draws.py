"""Chance that gives the same bytes on any machine.

Knows seeds, chunks and whole-number weights. Ignores what is drawn.
Only raw uniform doubles are taken from the generator and they are compared with whole numbers: NumPy promises
the stream of PCG64, not that of every distribution, and transcendental functions differ in the last bit.
Each chunk has a generator of its own, so the first N rows do not depend on how many are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from celosia.model.value_errors import ValueOutOfRange

CHUNK_ROWS = 32_768
_REACH = 2_048

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]


def generator(seed: int, stream: int, chunk: int) -> np.random.Generator:
    """The generator of one chunk of one kind of table."""
    if seed < 0:
        raise ValueOutOfRange(parameter="seed", given=seed, allowed="0…")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(stream, chunk))))


def below(rng: np.random.Generator, bound: int | Index, count: int) -> Index:
    """Whole numbers from 0 up to, not including, a bound (one for all or one for each)."""
    drawn: Index = (rng.random(count) * bound).astype(np.int64)
    return drawn


def chance(rng: np.random.Generator, share: float | NDArray[np.float64], count: int) -> Flags:
    """Whether each of `count` things happens, with the given share."""
    happens: Flags = rng.random(count) < share
    return happens


def nearly_shuffled(rng: np.random.Generator, count: int) -> Index:
    """A random order in which nothing goes far: also a small file then holds people who come back."""
    return np.argsort(np.arange(count) + rng.random(count) * _REACH, kind="stable")


class Weighted:
    """A draw of positions with whole-number weights."""

    def __init__(self, weights: ArrayLike) -> None:
        self._cumulative = np.cumsum(np.asarray(weights, dtype=np.int64))
        self._total = int(self._cumulative[-1])

    def draw(self, rng: np.random.Generator, count: int) -> Index:
        """Positions, each as often as its weight says."""
        return np.searchsorted(self._cumulative, below(rng, self._total, count), side="right")


class WeightedByGroup:
    """A draw of positions whose weights depend on the group: one row of weights for each group."""

    def __init__(self, weights: NDArray[np.int64]) -> None:
        self._cumulative = np.cumsum(weights.reshape(-1))
        self._total = weights.sum(axis=1)
        self._start = np.cumsum(self._total) - self._total
        self._width = weights.shape[1]

    def draw(self, rng: np.random.Generator, group: Index) -> Index:
        """For each group number, a position drawn by that group's weights."""
        key = self._start[group] + below(rng, self._total[group], len(group))
        return np.searchsorted(self._cumulative, key, side="right") - group * self._width


def falling_weights(count: int, steepness: int = 10) -> NDArray[np.int64]:
    """Weights of a list written from the most to the least frequent."""
    return 1_000_000 // (np.arange(count, dtype=np.int64) + steepness)


class Words:
    """A list of texts, most frequent first unless weights are given."""

    def __init__(self, words: Sequence[str], weights: ArrayLike | None = None) -> None:
        self.words = tuple(words)
        self.array = pa.array(self.words, pa.string())
        self._weighted = Weighted(falling_weights(len(words)) if weights is None else weights)

    def draw(self, rng: np.random.Generator, count: int) -> Index:
        """Positions in the list."""
        return self._weighted.draw(rng, count)

    def texts(self, positions: NDArray[np.integer]) -> pa.Array:
        """The texts at the given positions."""
        return self.array.take(pa.array(positions))

    def draw_texts(self, rng: np.random.Generator, count: int) -> pa.Array:
        """Texts drawn by weight."""
        return self.texts(self.draw(rng, count))


def weighted_words(text: str) -> Words:
    """Words with their weights, written as `Chile 92000; Perú 1400`."""
    pairs = [entry.strip().rsplit(maxsplit=1) for entry in text.split(";")]
    return Words([word for word, _ in pairs], [int(weight) for _, weight in pairs])


def join_texts(*parts: pa.Array | str, by: str = "") -> pa.Array:
    """Texts put together row by row."""
    return pc.binary_join_element_wise(*parts, by)


def where(flags: Flags, yes: pa.Array | str, no: pa.Array | str) -> pa.Array:
    """One text or the other, row by row."""
    return pc.if_else(pa.array(flags), yes, no)


def number_text(numbers: NDArray[np.integer]) -> pa.Array:
    """Whole numbers as text."""
    return pc.cast(pa.array(numbers), pa.string())


def zero_padded(numbers: NDArray[np.integer], width: int) -> pa.Array:
    """Whole numbers of at most `width` digits as text with leading zeros."""
    return pc.utf8_slice_codeunits(number_text(np.asarray(numbers) + 10**width), start=1)


def chunks(rows: int, make: Callable[[int], pa.RecordBatch], limit: int = 10**12) -> Iterator[pa.RecordBatch]:
    """The first `rows` rows of an endless table made chunk by chunk."""
    if not 0 <= rows <= limit:
        raise ValueOutOfRange(parameter="rows", given=rows, allowed=f"0…{limit}")
    last = max(0, (rows - 1) // CHUNK_ROWS)
    with ThreadPoolExecutor(1) as pool:  # the next chunk is made while this one is written
        next_chunk = pool.submit(make, 0)
        for chunk in range(last + 1):
            batch = next_chunk.result()
            if chunk < last:
                next_chunk = pool.submit(make, chunk + 1)
            yield batch.slice(0, min(CHUNK_ROWS, rows - chunk * CHUNK_ROWS))
