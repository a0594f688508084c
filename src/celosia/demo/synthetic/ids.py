"""Personal numbers that look right: Chilean RUN, provisional numbers and passports, telephones.

Knows formats and check digits. Ignores whose they are: a number is a scrambled ordinal, tied to nobody.
Source: modulo 11 of the Registro Civil, as in python-stdnum's `cl.rut`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from celosia.demo.synthetic.draws import Index, Words, below, join_texts, number_text, where, zero_padded

_LOWEST = 2_000_000
_SPAN = 23_999_993  # a prime: multiplying by anything below it visits every residue once
_STEP = 14_832_979
_START = 6_180_339
PEOPLE_LIMIT = 4 * _SPAN  # beyond this a RUN would need nine digits

_CHECK = pa.array(list("0123456789K"))
_FACTORS = (2, 3, 4, 5, 6, 7, 2, 3, 4)


def run_numbers(ordinals: Index, seed: int) -> Index:
    """A different RUN number for each person ordinal, in no visible order."""
    turn, position = np.divmod(ordinals, _SPAN)
    scrambled: Index = _LOWEST + turn * _SPAN + ((position + _START) * _STEP + seed % _SPAN) % _SPAN
    return scrambled


def check_digits(numbers: Index) -> pa.Array:
    """The modulo-11 check digit of each number."""
    total = np.zeros(len(numbers), dtype=np.int64)
    for power, factor in enumerate(_FACTORS):
        total += numbers // 10**power % 10 * factor
    return _CHECK.take(pa.array((11 - total % 11) % 11))


def run_texts(numbers: Index, style: Index) -> pa.Array:
    """RUNs as people write them: `12345678-5` (style 0), `12.345.678-5` (1), `123456785` (2)."""
    digit, plain = check_digits(numbers), number_text(numbers)
    dotted = join_texts(
        number_text(numbers // 1_000_000),
        zero_padded(numbers // 1000 % 1000, 3),
        zero_padded(numbers % 1000, 3),
        by=".",
    )
    return where(style == 2, join_texts(plain, digit), join_texts(where(style == 1, dotted, plain), digit, by="-"))


def provisional_texts(ordinals: Index) -> pa.Array:
    """Provisional numbers of nine digits and more (as NIP and IPE), with check digit."""
    numbers = 100_000_000 + ordinals
    return join_texts(number_text(numbers), check_digits(numbers), by="-")


def passport_texts(ordinals: Index) -> pa.Array:
    """A letter and eight digits."""
    letters = pa.array(list("ABCDEFGHJKLMNPRSTUVWXYZ"))
    return join_texts(letters.take(pa.array(ordinals % len(letters))), zero_padded(ordinals * 7919 % 10**8, 8))


_MOBILE = Words(["+569", "9", "+56 9 ", "569"], [60, 25, 10, 5])


def mobile_texts(rng: np.random.Generator, count: int) -> pa.Array:
    """Mobile telephones, written in several ways."""
    style: NDArray[np.int64] = _MOBILE.draw(rng, count)
    head, tail = zero_padded(4000 + below(rng, 6000, count), 4), zero_padded(below(rng, 10_000, count), 4)
    return join_texts(_MOBILE.texts(style), join_texts(head, where(style == 2, " ", ""), tail))
