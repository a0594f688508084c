"""Pseudonymisation: keyed codes by an independent HMAC, random codes with their codebook, no code for two people."""

from __future__ import annotations

import base64
import hashlib

import numpy as np
import pytest
from hypothesis import given

from celosia.model.value_errors import WrongParameter
from celosia.techniques import Draws, apply_to_frame
from celosia.techniques import pseudonymise as module
from celosia.techniques.errors import KeyNeeded, PseudonymsCollide
from tests.techniques.small_tables import table_of, tables

KEY = "0123456789abcdef" * 4
IDS = table_of(run=["11111111-1", "22222222-2", "11111111-1", "", "*"])


def coded(table, seed=b"s", **settings):
    return apply_to_frame(table, {"technique": "pseudonymise", **settings}, seed)


def hmac_by_hand(key: bytes, message: bytes) -> bytes:
    """RFC 2104, written out."""
    padded = key.ljust(64, b"\x00")
    inner = hashlib.sha256(bytes(b ^ 0x36 for b in padded) + message).digest()
    return hashlib.sha256(bytes(b ^ 0x5C for b in padded) + inner).digest()


def test_a_keyed_code_is_the_hmac_of_the_identifier_cut_to_its_length():
    own = hmac_by_hand(bytes.fromhex(KEY), b"celosia\x00run")
    expected = base64.b32encode(hmac_by_hand(own, b"11111111-1")).decode()[:20]
    codes = coded(IDS, columns=["run"], key=KEY, length=20).table.column("run").to_pylist()
    assert codes[0] == codes[2] == expected
    assert codes[3:] == ["", "*"]
    assert len(set(codes[:3])) == 2


def test_the_same_key_gives_the_same_codes_whatever_the_seed_and_another_key_others():
    one = coded(IDS, columns=["run"], key=KEY).table
    assert coded(IDS, seed=b"other", columns=["run"], key=KEY).table.equals(one)
    assert not coded(IDS, columns=["run"], key="f" * 64).table.equals(one)


def test_columns_share_codes_only_when_treated_together():
    table = table_of(a=["1", "2"], b=["2", "1"])
    together = coded(table, columns=["a", "b"], key=KEY, together=True).table.to_pydict()
    assert together["a"] == together["b"][::-1]
    apart = coded(table, columns=["a", "b"], key=KEY).table.to_pydict()
    assert not set(apart["a"]) & set(apart["b"])


@pytest.mark.parametrize("kind", ["keyed", "random"])
def test_the_result_says_it_is_pseudonymous(kind):
    assert coded(IDS, columns=["run"], kind=kind, key=KEY).change.notes["pseudonymous"] is True


@pytest.mark.requirement("P21")
def test_random_codes_come_with_their_codebook_and_keyed_ones_need_none():
    done = coded(IDS, columns=["run"], kind="random")
    old, new = (column.to_pylist() for column in done.outcome.codebook["run"])
    assert old == ["11111111-1", "22222222-2"]
    assert done.table.column("run").to_pylist() == [new[0], new[1], new[0], "", "*"]
    assert not coded(IDS, columns=["run"], key=KEY).outcome.codebook


@pytest.mark.requirement("P21")
def test_with_the_key_gone_the_seed_alone_does_not_redo_random_codes():
    with_key = coded(IDS, columns=["run"], kind="random", key=KEY).table
    assert not coded(IDS, columns=["run"], kind="random").table.equals(with_key)


@given(tables(("a",)))
def test_different_identifiers_have_different_codes(table):
    for settings in ({"kind": "random"}, {"key": KEY}):
        done = coded(table, columns=["a"], unknown=["99999"], length=8, **settings).table
        pairs = set(zip(table.column("a").to_pylist(), done.column("a").to_pylist(), strict=True))
        assert len({new for _, new in pairs}) == len(pairs)
        assert all((old == new) == (old in {"", "*", "**", "99999"}) for old, new in pairs)


def test_a_collision_is_refused_with_its_count_and_no_identifier(monkeypatch):
    monkeypatch.setattr(module.hmac, "digest", lambda *_: bytes(32))
    with pytest.raises(PseudonymsCollide) as refused:
        coded(IDS, columns=["run"], key=KEY, length=8)
    assert refused.value.values == {"variables": "run", "repeated": 1, "length": 8}
    assert "1111" not in str(refused.value)


def test_a_random_code_that_is_taken_is_drawn_again():
    class Stuck(Draws):
        calls = 0

        def raw(self, count):
            Stuck.calls += 1
            return np.zeros(count, np.uint64) if Stuck.calls < 3 else super().raw(count)

    codes = module._random_codes(3, Stuck(b"s"), 8, ())
    assert len(set(codes.to_pylist())) == 3


def test_codes_of_any_length_use_all_their_letters():
    drawn = module._draw_codes(20_000, Draws(b"s"), 51).view("S1").reshape(20_000, 51)
    counts = np.array([np.unique(drawn[:, place], return_counts=True)[1] for place in range(51)])
    assert counts.shape == (51, 32)
    assert counts.min() > 480  # expected 625, standard deviation 25


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({}, KeyNeeded),
        ({"key": "abc"}, WrongParameter),
        ({"key": "zz" * 32}, WrongParameter),
        ({"key": "ab" * 31}, WrongParameter),
        ({"key": KEY, "length": 7}, WrongParameter),
        ({"key": KEY, "length": 52}, WrongParameter),
    ],
)
def test_a_missing_or_weak_key_and_impossible_lengths_are_refused_without_quoting_the_key(settings, error):
    with pytest.raises(error) as refused:
        coded(IDS, columns=["run"], **settings)
    assert settings.get("key", "nada que citar") not in str(refused.value)
