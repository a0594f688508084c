"""Identifiers in disguise: an unsalted hash of a short id space is undone by counting through the space.

Knows how digests and encodings look, and how the identity numbers, telephones and dates of the region are written.
Ignores where the column comes from. With n different digests in a column and S possible numbers, one of every S/n
numbers tried at random is a hit: a thousand hashed RUN fall within some ten thousand guesses. So numbers are tried
in a seeded order, spread over every space, and the budget is a number of guesses, not of seconds: the same seed gives
the same answer. No value, digest or number found is in the result: only which space, which algorithm, how many hits.
Source: WP29 opinion 05/2014, section 4 (hash functions); AEPD, "Introduction to the hash function" (2019).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attacks.attack_input import shared_start
from celosia.model.reports.attacks import Finding

Ordinals = NDArray[np.int64]
Writer = Callable[[Ordinals], list[str]]
Detail = Mapping[str, int | float | str]
Values = Callable[[Ordinals], Iterable[Any]]  # what a pattern is filled with, number by number

GUESSES = 20_000_000
_CHUNK = 4_096  # numbers of one space tried before the next space has its turn
_PATIENCE = 40  # hits a space would have given by then, had it been the one: it is left when it gave none
_ENOUGH = 3  # values of another column whose digests must be there
_ERROR = 1e-6  # chance that hits by accident pass for an answer
_SAMPLE = 200  # values that decide how a column looks
_MOSTLY = 0.9  # share of them that must agree
_SHORTEST = 8  # hexadecimal digits below which anything is hit by chance

_DIGESTS = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512")
_CUT = ("md5", "sha1", "sha256", "sha512")  # those that people publish a part of
_HEX = re.compile(r"[0-9a-fA-F]+")
_BASE64 = re.compile(r"[0-9A-Za-z+/_-]+={0,2}")
_BASE32 = re.compile(r"[A-Z2-7]+=*")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_BLOCK_CO = 10_000_000
_MOBILE_CO = (*range(300, 306), *range(310, 324), 350)
_IDENTIFIER = re.compile(r"\+?[0-9][0-9 .-]{4,14}[0-9kK]")


@dataclass(frozen=True, slots=True)
class Space:
    """Numbers that identify people somewhere, and the ways they are written."""

    name: str
    first: int
    size: int
    writers: tuple[Writer, ...]
    rare: tuple[Writer, ...] = ()  # tried when none of the usual ways gave a hit


@dataclass(frozen=True, slots=True)
class _Digest:
    """One way to make the text of the column from the text of an identifier."""

    algorithm: str
    make: Callable[[bytes], str]
    usual: bool = True  # tried first; the others only when none of these answered


def check_digits(numbers: Ordinals) -> list[str]:
    """The check digits of Chilean RUN (modulo 11)."""
    total, factor, rest = np.zeros_like(numbers), 2, numbers.copy()
    while rest.any():
        total += rest % 10 * factor
        rest //= 10
        factor = 2 if factor == 7 else factor + 1
    return ["0123456789K"[digit] for digit in (-total % 11).tolist()]


def _writers(values: Values, *patterns: str) -> tuple[Writer, ...]:
    """A writer for each pattern, filled with what `values` makes of each number."""

    def writer(pattern: str) -> Writer:
        return lambda numbers: [pattern % value for value in values(numbers)]

    return tuple(writer(pattern) for pattern in patterns)


def _number(numbers: Ordinals) -> list[int]:
    return numbers.tolist()


def _run(numbers: Ordinals) -> Iterable[tuple[int, str]]:
    """Chilean RUN: the number and its check digit."""
    return zip(numbers.tolist(), check_digits(numbers), strict=True)


def _dots(numbers: Ordinals) -> list[str]:
    return [f"{number:,}".replace(",", ".") for number in numbers.tolist()]


def _dotted_run(numbers: Ordinals) -> Iterable[tuple[str, str]]:
    """RUN in groups of three digits: 12.345.678K."""
    return zip(_dots(numbers), check_digits(numbers), strict=True)


def _comma_run(numbers: Ordinals) -> Iterable[tuple[str, str]]:
    """RUN as a spreadsheet in English groups it: 12,345,678-K."""
    return zip((f"{number:,}" for number in numbers.tolist()), check_digits(numbers), strict=True)


def _phone(numbers: Ordinals) -> list[str]:
    """Nine digits in groups: 9 1234 5678."""
    return [f"{text[:1]} {text[1:5]} {text[5:]}" for text in map(str, numbers.tolist())]


def _colombian_mobile(numbers: Ordinals) -> Iterable[tuple[int, int]]:
    """Prefix and number of a mobile telephone of Colombia, by block of ten million."""
    return [(_MOBILE_CO[number // _BLOCK_CO], number % _BLOCK_CO) for number in numbers.tolist()]


def _birth_dates(*patterns: str) -> tuple[Writer, ...]:
    """Days since 1905 as dates."""

    def writer(pattern: str) -> Writer:
        return lambda days: [(date(1905, 1, 1) + timedelta(days=day)).strftime(pattern) for day in days.tolist()]

    return tuple(writer(pattern) for pattern in patterns)


def _pad_to_widths(values: Values, pattern: str, *widths: int) -> tuple[Writer, ...]:
    """A text in fields of fixed width, filled with blanks."""
    (write,) = _writers(values, pattern)

    def writer(width: int) -> Writer:
        return lambda numbers: [text.ljust(width) for text in write(numbers)]

    return tuple(writer(width) for width in widths)


def _writer_variants(*writers: Writer) -> tuple[Writer, ...]:
    """What programs make of a number: the line end of a shell, the decimal of a data frame, two bytes a letter."""
    return (*_writers(_number, "%d\n", "%d.0"), *(_utf16_writer(write) for write in writers))


def _utf16_writer(write: Writer) -> Writer:
    """The bytes of UTF-16, which SQL Server hashes where the column is NVARCHAR."""
    return lambda numbers: ["".join([f"{letter}\0" for letter in text]) for text in write(numbers)]


_RUN = (
    *_writers(_run, "%d-%s", "%d%s"),
    *_writers(_number, "%d"),
    *_writers(_dotted_run, "%s-%s"),
    *_writers(_run, "%08d-%s", "%09d-%s", "%08d%s"),
)
_RARE_RUN = (
    *_writers(_dotted_run, "%s%s"),
    *_writers(_run, "%d - %s", "%d %s"),
    *_writers(_dotted_run, "%s - %s"),
    *_writers(_run, "%09d%s", "%010d%s", "%010d-%s"),
    *_writers(_number, "%010d"),
    *_writers(_comma_run, "%s-%s"),
    *_writers(_run, "%d-%s ", " %d-%s", "%d%s "),
    *_pad_to_widths(_run, "%d-%s", 12, 15, 20),
    *_writers(_run, "%d-%s\n", "%d%s\n"),
    *_writer_variants(*_RUN[:3]),
)
_NUMBER = _writers(_number, "%d")
_NUMBER_OR_DOTS = (*_NUMBER, _dots)
_DNI = _writers(_number, "%08d")
_RARE_CEDULA = (*_writers(_number, "%08d", "%010d", "%d "), *_writer_variants(*_NUMBER))
_RARE_DNI = (*_writers(_number, "%010d", "%08d ", "%08d\n"), *_writer_variants(*_DNI))
_RARE_NUIP = (*_writers(_number, "CC%d", "CC %d", "%d "), *_writer_variants(*_NUMBER))
_PHONE = (*_writers(_number, "%d", "+56%d", "56%d", "+51%d", "51%d"), *_writers(_phone, "+56 %s", "%s"))
_PHONE_CO = _writers(_colombian_mobile, "%d%07d", "+57%d%07d", "57%d%07d", "+57 %d%07d", "+57 %d %07d")
SPACES = (
    Space("birth_date", 0, 44_500, _birth_dates("%Y-%m-%d", "%Y%m%d", "%d/%m/%Y", "%d-%m-%Y")),
    Space("sequence", 1, 2_000_000, _NUMBER),
    Space("run", 1_000_000, 27_000_000, _RUN, _RARE_RUN),
    Space("cedula_py", 100_000, 9_000_000, _NUMBER_OR_DOTS, _RARE_CEDULA),
    Space("dni_pe", 1_000_000, 89_000_000, _DNI, _RARE_DNI),
    Space("cedula_co", 1_000_000, 99_000_000, _NUMBER_OR_DOTS, (*_writers(_number, "%010d"), *_RARE_NUIP)),
    Space("nuip_co", 1_000_000_000, 250_000_000, _NUMBER_OR_DOTS, _RARE_NUIP),
    Space("phone_cl_pe", 900_000_000, 100_000_000, _PHONE),
    Space("phone_co", 0, _BLOCK_CO * len(_MOBILE_CO), _PHONE_CO),
    Space("phone_py", 961_000_000, 39_000_000, _writers(_number, "0%d", "+595%d")),
)
# The same numbers in the ways they are rarely written: a pass of its own, so that they delay no usual one.
_RARE_SPACES = tuple(replace(space, writers=space.rare) for space in SPACES if space.rare)


def disguised_identifier(
    name: str,
    values: Sequence[str],
    rows: NDArray[np.integer],
    seed: int,
    *,
    others: Iterable[tuple[str, Sequence[str]]] = (),
    guesses: int = GUESSES,
) -> Finding | None:
    """What a column of digests or encodings gives away; None where nothing was undone within the guesses.

    `values` are the distinct values of the column and `rows` how often each occurs; `others` are the distinct values
    of the other published columns, which may be what was hashed.
    """
    encoded = _encoded_identifier(name, values, rows)
    if encoded is not None:
        return encoded
    values = _strip_wrapping(values)
    digests = _digests_of(values)
    if not digests:
        return None
    length = _usual_length(_sample(values))
    known = {_canonical(value) for value in values if len(value) == length}
    finding = _hash_of_column(name, known, rows, digests, others)
    usual, unusual = ([digest for digest in digests if digest.usual is usual_kind] for usual_kind in (True, False))
    passes = ((usual, SPACES, guesses), (usual, _RARE_SPACES, guesses // 2), (unusual, SPACES, guesses // 2))
    for chosen, spaces, budget in passes:
        if finding is None and chosen:
            finding = _hash_of_space(name, known, rows, chosen, seed, budget, spaces)
    return finding


def _strip_wrapping(values: Sequence[str]) -> list[str]:
    """Digests without what was put around them: blanks, brackets, a beginning common to all, the dashes of a UUID."""
    bare = [value.strip(" {}()[]\"'") for value in values]
    sample = _sample(bare)
    if sample and all(_UUID.fullmatch(value) for value in sample):
        # Where all have the same version they were made as UUID: nothing was hashed.
        random = len({value[14] for value in sample}) == 1
        return bare if random else [value.replace("-", "") for value in bare]
    start = _common_prefix(sample)
    return [value.removeprefix(start) for value in bare] if start else bare


def _common_prefix(sample: Sequence[str]) -> str:
    """What stands before the digests: it ends with a sign, with 0x, or with the last letter that is no digit of one."""
    common = shared_start(sample) if len(sample) >= _ENOUGH else ""
    sign = re.match(r"0[xX]|.*[^0-9A-Za-z+/]", common)
    if sign is not None:
        return sign[0]
    letters = re.match(r".*[^0-9a-fA-F]", common)
    if letters is None or not all(_HEX.fullmatch(value[letters.end() :]) for value in sample):
        return ""
    # The last letters of a prefix may look like digits: PAC.
    whole = {2 * _digest_size(algorithm) for algorithm in _DIGESTS}
    ends = [end for end in range(letters.end(), len(common) + 1) if len(sample[0]) - end in whole]
    return common[: ends[0] if ends else letters.end()]


def _encoded_identifier(name: str, values: Sequence[str], rows: NDArray[np.integer]) -> Finding | None:
    """Base64 or hexadecimal text of an identifier: it needs no guess, only reading."""
    sample = _sample(values)
    for encoding, decode in (("base64", _decode_base64), ("hex", _decode_hex)):
        identifiers = sum(_IDENTIFIER.fullmatch(decode(value)) is not None for value in sample)
        if sample and identifiers >= _MOSTLY * len(sample):
            return _finding("encoded_identifier", (name,), rows, {"encoding": encoding})
    return None


def _decode_base64(value: str) -> str:
    if len(value) < 8 or value.isdigit() or not _BASE64.fullmatch(value):
        return ""
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _decode_hex(value: str) -> str:
    if len(value) < 12 or not _HEX.fullmatch(value):
        return ""
    try:
        return bytes.fromhex(value).decode("ascii")
    except (ValueError, UnicodeDecodeError):
        return ""


def _sample(values: Sequence[str]) -> list[str]:
    """Values spread over the column, without masked and missing ones."""
    real = [value for value in values if value.strip("* ")]
    return real[:: max(1, len(real) // _SAMPLE)][:_SAMPLE]


def _digests_of(values: Sequence[str]) -> tuple[_Digest, ...]:
    """The ways in which a column of this look may have been made; none when it does not look like digests."""
    sample = _sample(values)
    length = _usual_length(sample)
    alike = [value for value in sample if len(value) == length]
    if len(sample) < _ENOUGH or len(alike) < _MOSTLY * len(sample):
        return ()
    # Digits alone are numbers; eight random hexadecimal digits hold a letter in 98 % of the cases.
    has_letters = sum(not value.isdigit() for value in alike) >= 0.75 * len(alike)
    if length >= _SHORTEST and has_letters and all(_HEX.fullmatch(value) for value in alike):
        return _hex_digests(length)
    if length >= 26 and all(_BASE32.fullmatch(value) for value in alike):
        return tuple(_encoded_digests(length, base64.b32encode))
    if length >= 22 and all(_BASE64.fullmatch(value) for value in alike):
        return tuple(_encoded_digests(length, base64.b64encode))
    return ()


def _usual_length(values: Sequence[str]) -> int:
    return Counter(len(value) for value in values).most_common(1)[0][0] if values else 0


def _hex_digests(length: int) -> tuple[_Digest, ...]:
    """Whole digests of the length and parts of longer ones; what is rarely done comes last."""
    whole = [
        _Digest(name, _hexdigest(name, slice(None)), _is_usual(name))
        for name in _DIGESTS
        if _digest_size(name) * 2 == length
    ]
    if length == 8:
        whole.append(_Digest("crc32", lambda text: f"{zlib.crc32(text):08x}"))
    longer = [name for name in _CUT if _digest_size(name) * 2 > length]
    begins = [_Digest(name, _hexdigest(name, slice(length)), not whole or length == 8) for name in longer]
    ends = [_Digest(name, _hexdigest(name, slice(-length, None)), usual=False) for name in longer]
    return (*whole, *begins, *ends)


def _is_usual(algorithm: str) -> bool:
    return not algorithm.startswith("sha3")


def _digest_size(algorithm: str) -> int:
    return hashlib.new(algorithm).digest_size


def _hexdigest(algorithm: str, part: slice) -> Callable[[bytes], str]:
    make = getattr(hashlib, algorithm)
    return lambda text: make(text).hexdigest()[part]


def _encoded_digests(length: int, encode: Callable[[bytes], bytes]) -> Iterator[_Digest]:
    """Whole digests in base64 or base32, with or without padding."""
    for algorithm in _DIGESTS:
        padded = encode(bytes(_digest_size(algorithm))).decode()
        if length in (len(padded), len(padded.rstrip("="))):
            yield _Digest(algorithm, _encoded_digest(algorithm, encode), _is_usual(algorithm))


def _encoded_digest(algorithm: str, encode: Callable[[bytes], bytes]) -> Callable[[bytes], str]:
    make = getattr(hashlib, algorithm)
    return lambda text: _canonical(encode(make(text).digest()).decode("ascii"))


def _canonical(value: str) -> str:
    """One spelling of a digest: small hexadecimal letters, plain unpadded base64."""
    if _HEX.fullmatch(value):
        return value.lower()
    return value.rstrip("=").replace("-", "+").replace("_", "/")


def _hash_of_column(
    name: str,
    known: set[str],
    rows: NDArray[np.integer],
    digests: Sequence[_Digest],
    others: Iterable[tuple[str, Sequence[str]]],
) -> Finding | None:
    """A digest of another published column adds nothing but a key to look people up by."""
    for other, values in others:
        for digest in digests:
            hits = sum(digest.make(value.encode()) in known for value in _sample(values))
            if other != name and hits >= _ENOUGH:
                return _finding("hash_of_column", (name, other), rows, {"algorithm": digest.algorithm, "hits": hits})
    return None


def _hash_of_space(
    name: str,
    known: set[str],
    rows: NDArray[np.integer],
    digests: Sequence[_Digest],
    seed: int,
    guesses: int,
    spaces: Sequence[Space],
) -> Finding | None:
    """Try numbers of every space until one way of writing and hashing has enough hits."""
    hits: Counter[tuple[str, int, int]] = Counter()
    needed = _hits_needed(guesses * len(known) / 2.0 ** (4 * min(len(value) for value in known)))
    spent = 0
    for space, ordinals in guess_order(seed, len(known), _PATIENCE + 3 * needed, needed, spaces):
        for way in _hits(space, ordinals, digests, known):
            hits[way] += 1
            if hits[way] >= needed:
                algorithm = digests[way[2]].algorithm
                detail: Detail = {"space": space.name, "algorithm": algorithm, "guesses": spent, "size": space.size}
                return _finding("hashed_identifier", (name,), rows, detail)
        spent += len(ordinals) * len(space.writers) * len(digests)
        if spent >= guesses:
            return None
    return None


def _hits_needed(by_chance: float) -> int:
    """Hits that chance alone would not give: the tail of a Poisson count below the error we accept."""
    from scipy.stats import poisson  # a second of imports, for this attack alone

    return int(poisson.isf(_ERROR, by_chance)) + 1


def _hits(
    space: Space, ordinals: Ordinals, digests: Sequence[_Digest], known: set[str]
) -> Iterator[tuple[str, int, int]]:
    """Each hit as (space, way of writing, way of hashing)."""
    for writer, write in enumerate(space.writers):
        texts = [text.encode() for text in write(ordinals)]
        for digest, way in enumerate(digests):
            yield from ((space.name, writer, digest) for text in texts if way.make(text) in known)


def guess_order(
    seed: int, digests: int, patience: float = math.inf, needed: int = 1, spaces: Sequence[Space] = SPACES
) -> Iterator[tuple[Space, Ordinals]]:
    """Chunks of numbers, always of the space where the next guess is likeliest to hit.

    After t guesses in a space of S the chance of the next one is n/S · exp(-n·t/S): small spaces are ended early,
    and one that has answered nothing for long waits for the others; where an answer takes several hits (`needed`), it
    waits so many times later. A space is left for good when it would have answered so many times by then (`patience`):
    a thousand digests are settled in a thousandth of their space.
    """
    generator = np.random.Generator(np.random.Philox(seed))
    limits = [min(space.size, patience * space.size / digests) for space in spaces]
    strides = [(_coprime_stride(generator, space.size), int(generator.integers(space.size))) for space in spaces]
    tried = [0] * len(spaces)
    while True:
        open_spaces = [index for index, limit in enumerate(limits) if tried[index] < limit]
        if not open_spaces:
            return
        turn = max(open_spaces, key=lambda index: _log_hit_chance(digests / spaces[index].size, tried[index] / needed))
        space, (stride, offset) = spaces[turn], strides[turn]
        positions = np.arange(tried[turn], min(tried[turn] + _CHUNK, space.size), dtype=np.int64)
        tried[turn] += len(positions)
        yield space, space.first + (positions * stride + offset) % space.size


def _log_hit_chance(per_guess: float, tried: float) -> float:
    """Logarithm of the chance that the next guess hits."""
    return math.log(per_guess) - per_guess * tried


def _coprime_stride(generator: np.random.Generator, size: int) -> int:
    """A stride that visits every number of the space once before it repeats."""
    while True:
        stride = int(generator.integers(size // 3, size))
        if np.gcd(stride, size) == 1:
            return stride


def _finding(kind: str, columns: tuple[str, ...], rows: NDArray[np.integer], detail: Detail) -> Finding:
    total = int(rows.sum())
    return Finding(
        kind=kind, columns=columns, cells=total, persons=total, severity="high", remedy=columns[0], detail=detail
    )
