"""Equal texts, and equal keys, get equal numbers as they first occur: exact, whatever the hashes are.

Knows bytes, where each text ends, and whole numbers. Ignores what they stand for. Tables of open addresses; that of
texts holds half of the hash and the number in one word, so that most texts are settled by one look at memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels._jit import inline, kernel

Bytes = NDArray[np.uint8]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]

_NUMBER = np.uint64(0xFFFFFFFF)  # the half of a word that holds a number
_ONE = np.uint64(1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: spreads neighbours (Knuth)


@kernel
def hash_texts(ends: Longs, data: Bytes) -> Words:
    """A hash of each text: FNV-1a, then mixed so that any of its bits tells texts apart.

    Text i is data[ends[i]:ends[i + 1]].
    """
    hashes = np.empty(len(ends) - 1, np.uint64)
    for i in range(len(hashes)):
        mixed = np.uint64(0xCBF29CE484222325)
        for j in range(ends[i], ends[i + 1]):
            mixed = (mixed ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * _GOLDEN
        hashes[i] = mixed ^ (mixed >> np.uint64(29))
    return hashes


@inline
def _are_equal_texts(ends: Longs, data: Bytes, first: int, second: int) -> bool:
    """Whether two texts have the same bytes."""
    start, begin, length = ends[first], ends[second], ends[first + 1] - ends[first]
    i = 0
    if ends[second + 1] - begin == length:
        while i < length and data[start + i] == data[begin + i]:
            i += 1
        return i == length
    return False


@inline
def _table_size(many: int) -> int:
    """Places of a table, a power of two, that so many texts or keys leave a third free of."""
    size = 16
    while 2 * size < 3 * many:
        size *= 2
    return size


@kernel
def number_texts(ends: Longs, data: Bytes, hashes: Words) -> tuple[NDArray[np.int32], int]:
    """The number of each text, and how many there are."""
    size = _table_size(len(hashes))
    table = np.zeros(size, np.uint64)  # 0: free; else the upper half of a hash, and its text's number plus one
    first = np.empty(len(hashes), np.int32)
    number = np.empty(len(hashes), np.int32)
    count, known = 0, 0
    for i in range(len(hashes)):
        tag = hashes[i] & ~_NUMBER
        slot = hashes[i] & np.uint64(size - 1)
        while table[slot] != 0:
            known = int(table[slot] & _NUMBER) - 1
            if table[slot] & ~_NUMBER == tag and _are_equal_texts(ends, data, i, first[known]):
                break
            slot = (slot + _ONE) & np.uint64(size - 1)
        if table[slot] == 0:
            known = count
            table[slot] = tag | np.uint64(count + 1)
            first[count] = i
            count += 1
        number[i] = known
    return number, count


@kernel
def number_keys(keys: Longs) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The number of each key, and the first place that holds each number's."""
    size = _table_size(len(keys))
    table = np.zeros(size, np.int32)  # 0: free; else a key's number plus one
    first = np.empty(len(keys), np.int32)
    number = np.empty(len(keys), np.int32)
    count = 0
    for i in range(len(keys)):
        mixed = np.uint64(keys[i]) * _GOLDEN
        slot = (mixed ^ (mixed >> np.uint64(32))) & np.uint64(size - 1)
        while table[slot] != 0 and keys[first[table[slot] - 1]] != keys[i]:
            slot = (slot + _ONE) & np.uint64(size - 1)
        if table[slot] == 0:
            table[slot] = count + 1
            first[count] = i
            count += 1
        number[i] = table[slot] - 1
    return number, first[:count].copy()
