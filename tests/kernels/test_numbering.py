"""Numbers of texts and keys against a plain dictionary, also where every hash is the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.kernels.numbering import hash_texts, number_keys, number_texts

short = st.sampled_from(["", "a", "b", "ab", "ba", "5302", "05302", "ñ", "\x00", "a\x00"])


def laid_out(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The texts end to end, and where each begins and ends; as Arrow lends them, not to be written to."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)]).astype(np.int64)
    ends.flags.writeable = False
    return ends, np.frombuffer(b"".join(encoded), np.uint8)


def by_dictionary(texts: Sequence[object]) -> tuple[list[int], int]:
    known: dict[object, int] = {}
    return [known.setdefault(text, len(known)) for text in texts], len(known)


@settings(deadline=None)
@given(st.lists(short | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=60), st.booleans())
def test_equal_texts_get_equal_numbers_whatever_their_hashes(texts: list[str], alike: bool) -> None:
    ends, data = laid_out(texts)
    hashes = hash_texts(ends, data)
    numbers, count = number_texts(ends, data, np.full_like(hashes, 2**63 + 5) if alike else hashes)
    assert (numbers.tolist(), count) == by_dictionary(texts)


@pytest.mark.parametrize("rows", [16, 17, 5_000, 100_000])
def test_many_texts_fill_no_table(rows: int) -> None:
    texts = [f"{number * 7919 % rows:07d}-{number % 3}" for number in range(rows)]
    ends, data = laid_out(texts)
    numbers, count = number_texts(ends, data, hash_texts(ends, data))
    assert (numbers.tolist(), count) == by_dictionary(texts)


@settings(deadline=None)
@given(st.lists(st.integers(0, 9) | st.integers(0, 2**62 - 1), max_size=60))
def test_equal_keys_get_equal_numbers_and_the_place_of_the_first(keys: list[int]) -> None:
    numbers, first = number_keys(np.array(keys, np.int64))
    assert (numbers.tolist(), len(first)) == by_dictionary(keys)
    assert [keys[place] for place in first] == list(dict.fromkeys(keys))


def test_keys_that_share_an_address_are_told_apart() -> None:
    keys = np.arange(5_000, dtype=np.int64) << np.int64(40)
    numbers, first = number_keys(np.concatenate([keys, keys[::-1]]))
    assert numbers.tolist() == [*range(5_000), *reversed(range(5_000))]
    assert first.tolist() == list(range(5_000))


def test_hashes_of_neighbours_differ_in_both_halves() -> None:
    ends, data = laid_out([str(number) for number in range(100_000)])
    hashes = hash_texts(ends, data)
    assert len(np.unique(hashes)) == len(hashes)
    assert len(np.unique(hashes >> np.uint64(32))) > 99_990
    assert np.bincount((hashes & np.uint64(1023)).astype(int), minlength=1024).max() < 200
