"""Hashes of short id spaces are undone; salted ones, numbers and plain codes are left alone."""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections.abc import Callable

import numpy as np
import pytest
from stdnum.cl import rut

from celosia.attacks.disguise import GUESSES, SPACES, check_digits, disguised_identifier, guess_order
from celosia.model.reports.attacks import Finding

SEED = 7


def found(values: list[str], **choices: object) -> Finding | None:
    """The finding on a column of these values, once each."""
    return disguised_identifier("clave", values, np.ones(len(values), np.int64), SEED, **choices)  # type: ignore[arg-type]


def numbers(low: int, high: int, size: int = 1_000) -> list[int]:
    """Distinct identity numbers, the same on every run."""
    return [int(number) for number in np.random.Generator(np.random.Philox(3)).choice(high - low, size, False) + low]


def runs(size: int = 1_000) -> list[str]:
    """Chilean RUN with their verifying digit."""
    return [f"{number}-{rut.calc_check_digit(str(number))}" for number in numbers(3_000_000, 26_000_000, size)]


def hashed(texts: list[str], algorithm: str = "sha256") -> list[str]:
    """Their digests in hexadecimal."""
    return [hashlib.new(algorithm, text.encode()).hexdigest() for text in texts]


def test_verifying_digits_are_those_of_the_library() -> None:
    bodies = numbers(1_000_000, 27_000_000, 500)
    assert check_digits(np.array(bodies)) == [rut.calc_check_digit(str(body)) for body in bodies]


@pytest.mark.parametrize(
    "dress",
    [
        lambda text: hashlib.sha256(text.encode()).hexdigest(),
        lambda text: hashlib.md5(text.encode()).hexdigest().upper(),
        lambda text: hashlib.md5(text.replace("-", "").encode()).hexdigest()[:16],
        lambda text: base64.b64encode(hashlib.sha1(text.encode()).digest()).decode(),
        lambda text: base64.urlsafe_b64encode(hashlib.sha1(text.encode()).digest()).decode().rstrip("="),
    ],
    ids=["sha256", "md5 in capitals", "md5 cut short, no dash", "base64", "base64 of an address, unpadded"],
)
def test_a_hashed_run_is_undone_however_it_is_dressed(dress: Callable[[str], str]) -> None:
    finding = found([dress(text) for text in runs()])
    assert finding is not None
    assert (finding.kind, finding.severity, finding.persons) == ("hashed_identifier", "high", 1_000)


def _dots(run: str) -> str:
    body, digit = run.split("-")
    return f"{int(body):,}".replace(",", ".") + f"-{digit}"


@pytest.mark.parametrize(
    "write",
    [
        lambda run: _dots(run).replace("-", ""),
        lambda run: run.replace("-", " - "),
        lambda run: run.replace("-", "").zfill(11),
        lambda run: run.zfill(12),
        lambda run: run.lower(),
        lambda run: f"{run} ",
        lambda run: f" {run}",
        lambda run: run.ljust(15),
        lambda run: f"{run}\n",
        lambda run: run.split("-")[0] + ".0",
        lambda run: run.encode("utf-16-le").decode("ascii"),
    ],
    ids=["12.345.678K", "12345678 - K", "0012345678K", "0012345678-K", "12345678-k", "blank after", "blank before",
         "field of fifteen", "line end", "12345678.0", "two bytes a letter"],
)  # fmt: skip
def test_a_hashed_run_is_undone_however_it_was_written(write: Callable[[str], str]) -> None:
    """The usual ways come first and are left soon: there are few guesses here and many digests."""
    finding = found(hashed([write(run) for run in runs(20_000)]), guesses=500_000)
    assert finding is not None
    assert finding.detail["space"] == "run"


@pytest.mark.parametrize(
    ("space", "pattern", "low", "high"),
    [
        ("cedula_py", "%010d", 500_000, 8_000_000),
        ("dni_pe", "%010d", 10_000_000, 80_000_000),
        ("dni_pe", "%08d ", 10_000_000, 80_000_000),
        ("cedula_co", "CC%d", 10_000_000, 99_000_000),
        ("nuip_co", "CC %d", 1_000_000_000, 1_200_000_000),
    ],
)
def test_other_documents_are_undone_as_registers_write_them(space: str, pattern: str, low: int, high: int) -> None:
    finding = found(hashed([pattern % number for number in numbers(low, high, 20_000)]), guesses=500_000)
    assert finding is not None
    assert finding.detail["space"] in (space, "cedula_co", "cedula_py", "run")  # one number may be of several


def test_ways_seldom_used_take_no_guess_from_the_usual_ones() -> None:
    first = found(hashed(runs()))
    assert first is not None
    assert first.detail["guesses"] < GUESSES


def test_a_hashed_telephone_is_undone() -> None:
    finding = found(hashed([f"+56{number}" for number in numbers(900_000_000, 1_000_000_000, 2_000)]))
    assert finding is not None
    assert finding.detail["space"] == "phone_cl_pe"


def _telephones(prefix: str, *cuts: int) -> list[str]:
    texts = [str(number) for number in numbers(900_000_000, 1_000_000_000, 2_000)]
    parts = list(zip((0, *cuts), (*cuts, 9), strict=True))
    return [prefix + " ".join(text[first:last] for first, last in parts) for text in texts]


@pytest.mark.parametrize(
    ("space", "texts"),
    [
        ("phone_cl_pe", _telephones("+56 ", 1, 5)),
        ("phone_cl_pe", _telephones("", 1, 5)),
        ("phone_co", [f"57{number}" for number in numbers(3_100_000_000, 3_160_000_000, 2_000)]),
        ("phone_co", [f"+57 {number}" for number in numbers(3_100_000_000, 3_160_000_000, 2_000)]),
    ],
    ids=["+56 9 1234 5678", "9 1234 5678", "573101234567", "+57 3101234567"],
)
def test_a_hashed_telephone_is_undone_as_people_write_it(space: str, texts: list[str]) -> None:
    finding = found(hashed(texts, "md5"))
    assert finding is not None
    assert finding.detail["space"] == space


@pytest.mark.parametrize(
    "cut",
    [
        lambda text: hashlib.sha256(text.encode()).hexdigest()[:32],
        lambda text: hashlib.sha512(text.encode()).hexdigest()[:40],
        lambda text: hashlib.sha1(text.encode()).hexdigest()[:10],
        lambda text: hashlib.sha256(text.encode()).hexdigest()[-16:],
    ],
    ids=["as long as an md5", "as long as a sha1", "ten digits", "the last sixteen"],
)
def test_a_part_of_a_digest_is_undone_too(cut: Callable[[str], str]) -> None:
    """What people usually do is tried first; the guesses here leave that soon."""
    finding = found([cut(text) for text in runs(4_000)], guesses=4_000_000)
    assert finding is not None
    assert finding.detail["space"] == "run"


def test_masked_and_missing_cells_among_digests_do_not_hide_them() -> None:
    assert found([*hashed(runs()), "*", ""]) is not None


def test_a_salted_hash_is_left_alone() -> None:
    assert found(hashed([f"sal{text}" for text in runs()]), guesses=300_000) is None


def test_short_digests_are_not_hit_by_accident() -> None:
    """Eight hexadecimal digits of many people: accidents are expected and must not count."""
    unrelated = [text[:8] for text in hashed([f"otro-{number}" for number in range(30_000)])]
    assert found(unrelated, guesses=500_000) is None


def test_an_encoded_run_needs_no_guess() -> None:
    finding = found([base64.b64encode(text.encode()).decode() for text in runs(50)], guesses=0)
    assert finding is not None
    assert finding.kind == "encoded_identifier"


def test_the_digest_of_a_published_column_is_found_there() -> None:
    names = [f"Comuna {number}" for number in range(40)]
    finding = found(hashed(names), others=[("comuna", names)], guesses=0)
    assert finding is not None
    assert finding.columns == ("clave", "comuna")


@pytest.mark.parametrize(
    "values",
    [
        [str(number) for number in numbers(10_000_000, 99_999_999, 100)],
        [f"A{number % 100:02d}.{number % 10}" for number in range(100)],
        [f"{number:05d}" for number in range(300)],
        ["Mujer", "Hombre", "*", ""],
        [],
    ],
    ids=["plain numbers", "diagnoses", "codes", "words", "nothing"],
)
def test_ordinary_columns_are_not_taken_for_digests(values: list[str]) -> None:
    assert found(values, guesses=10_000) is None


def test_the_same_seed_tries_the_same_numbers_and_none_twice() -> None:
    space = SPACES[0]
    turns = guess_order(SEED, 5)
    tried: list[int] = []
    while len(tried) < space.size:
        turn, ordinals = next(turns)
        if turn is space:
            tried.extend(ordinals.tolist())
    assert len(set(tried)) == space.size
    assert found(hashed(runs())) == found(hashed(runs()))


def test_no_finding_holds_a_value() -> None:
    values = hashed(runs())
    text = str(found(values))
    assert not any(value in text for value in [*values, *runs()])


@pytest.mark.parametrize(
    "dress",
    [
        lambda text: "0x" + hashlib.sha256(text.encode()).hexdigest(),
        lambda text: "ID_" + hashlib.sha1(text.encode()).hexdigest(),
        lambda text: "PAC" + hashlib.md5(text.encode()).hexdigest(),
        lambda text: "{" + hashlib.md5(text.encode()).hexdigest().upper() + "} ",
        lambda text: str(uuid.UUID(hashlib.md5(text.encode()).hexdigest())),
        lambda text: base64.b32encode(hashlib.sha1(text.encode()).digest()).decode(),
    ],
)
def test_what_stands_around_a_digest_hides_nothing(dress: Callable[[str], str]) -> None:
    finding = found([dress(text) for text in runs()])
    assert finding is not None
    assert (finding.kind, finding.detail["space"]) == ("hashed_identifier", "run")


def test_uuids_made_by_chance_are_no_digests() -> None:
    generator = np.random.Generator(np.random.Philox(5))
    values = [str(uuid.UUID(bytes=generator.bytes(16), version=4)) for _ in range(100)]
    assert found(values, guesses=10_000) is None


def test_many_digests_that_answer_nothing_are_left_early() -> None:
    tried = sum(len(ordinals) for _, ordinals in guess_order(SEED, 1_000_000, 40))
    assert tried < 200_000
    assert {space.name for space, _ in guess_order(SEED, 1_000_000, 40)} == {space.name for space in SPACES}
