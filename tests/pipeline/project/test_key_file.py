"""Private keys on a disk: a memory-hard derivation, a stated strength, and old keys sealed anew."""

from __future__ import annotations

import json
import stat
import unicodedata

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from celosia.pipeline.project import key_file
from celosia.pipeline.project.errors import IdentityDamaged, PassphraseObvious, PassphraseShort, WrongPassphrase
from celosia.pipeline.project.identity import load_identity, new_identity, public_hex
from celosia.pipeline.project.key_file import STANDARD, Cost
from celosia.pipeline.project.passphrases import refuse_weak, weakness
from tests.projects.steps import CHEAP, PHRASE


@pytest.fixture
def path(tmp_path):
    new_identity("Ana Rojas", PHRASE, tmp_path / "ana.key", cost=CHEAP)
    return tmp_path / "ana.key"


def test_a_guess_costs_128_mebibytes_unless_a_test_says_otherwise():
    assert Cost(n=2**17, r=8, p=1) == STANDARD
    assert 128 * STANDARD.n * STANDARD.r == 128 * 2**20


@pytest.mark.parametrize("part", ["name", "key", "nonce", "sealed", "salt", "n"])
def test_a_key_file_with_one_part_changed_does_not_open(path, part):
    document = json.loads(path.read_text("utf-8"))
    place = document["kdf"] if part in document["kdf"] and part != "name" else document
    old = place[part]
    place[part] = (
        2 * old if part == "n" else "Eva Rojas" if part == "name" else ("1" if old[0] == "0" else "0") + old[1:]
    )
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(WrongPassphrase):
        load_identity(PHRASE, path)


@pytest.mark.parametrize(
    "cost", [{"n": 2**40}, {"n": 2**21}, {"r": 2**20}, {"p": 99}, {"n": 100}, {"n": "9"}, {"n": 1}]
)
def test_an_absurd_cost_is_refused_and_not_computed(path, cost, monkeypatch):
    document = json.loads(path.read_text("utf-8"))
    document["kdf"] |= cost
    path.write_text(json.dumps(document), "utf-8")
    monkeypatch.setattr(key_file, "_derive", lambda *_: pytest.fail("computed"))
    with pytest.raises(IdentityDamaged):
        load_identity(PHRASE, path)


def test_a_key_beside_the_card_of_another_person_does_not_sign(path, tmp_path):
    new_identity("Eva Soto", PHRASE, tmp_path / "eva.key", cost=CHEAP)
    (tmp_path / "eva.pub.json").replace(tmp_path / "ana.pub.json")
    with pytest.raises(IdentityDamaged):
        load_identity(PHRASE, path)


def test_an_old_key_is_sealed_anew_on_its_first_successful_use(path):
    private = Ed25519PrivateKey.generate()
    old = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"ocho 888"))
    path.write_bytes(old)
    card = path.with_name("ana.pub.json")
    card.write_text(
        json.dumps(json.loads(card.read_text("utf-8")) | {"key": public_hex(private.public_key())}), "utf-8"
    )
    with pytest.raises(WrongPassphrase):
        load_identity("otra frase de paso", path, cost=CHEAP)
    assert path.read_bytes() == old
    first = load_identity("ocho 888", path, cost=CHEAP)
    body = path.read_bytes()
    assert json.loads(body)["format"] == "celosia/key/2"
    assert b"PRIVATE KEY" not in body
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_identity("ocho 888", path).key == first.key == public_hex(private.public_key())
    assert path.read_bytes() == body


@pytest.mark.parametrize(
    ("phrase", "reason"),
    [
        ("aaaaaaaaaaaaaaaa", "repeated"),
        ("hola hola hola hola", "repeated"),
        ("Ana Rojas 2026", "name"),
        ("aná.rójas.1990", "name"),
        ("contraseña-99", "word"),
        ("abcdefghijklmnop", "sequence"),
        ("qwertyuiop2468", "sequence"),
        ("sol 123456789", "sequence"),
    ],
)
def test_the_obvious_is_refused_with_its_reason(phrase, reason):
    assert weakness(phrase, "Ana Rojas") == reason
    with pytest.raises(PassphraseObvious) as refusal:
        refuse_weak(phrase, "Ana Rojas")
    assert phrase not in str(refusal.value)


def test_several_words_are_taken():
    for phrase in (PHRASE, "frase de paso para practicar", "lluvia tren cobre mate", "ana come manzanas verdes"):
        refuse_weak(phrase, "Ana Rojas")


@given(st.text(max_size=11))
def test_nothing_under_twelve_characters_is_taken(phrase):
    with pytest.raises(PassphraseShort):
        refuse_weak(phrase, "Ana Rojas")


@given(st.text("abcñ19 ", min_size=1, max_size=11), st.integers(12, 40))
def test_no_short_piece_written_again_and_again_is_taken(piece, times):
    with pytest.raises(PassphraseObvious):
        refuse_weak(piece * times, "Ana Rojas")


def test_a_key_opens_whatever_keyboard_typed_the_accents(tmp_path):
    phrase = "la montaña y el páramo de día"
    apart = unicodedata.normalize("NFD", phrase)
    for number, (made_with, typed) in enumerate([(phrase, apart), (apart, phrase)]):
        new_identity("Ana Rojas", made_with, tmp_path / f"{number}.key", cost=CHEAP)
        assert load_identity(typed, tmp_path / f"{number}.key").name == "Ana Rojas"


def test_a_key_once_sealed_with_its_accents_apart_still_opens(monkeypatch):
    apart = unicodedata.normalize("NFD", "la montaña y el páramo de día")
    with monkeypatch.context() as earlier:
        earlier.setattr(key_file, "_one_spelling", lambda passphrase: passphrase)
        body = key_file.seal_key(Ed25519PrivateKey.generate(), "Ana Rojas", apart, CHEAP)
    assert key_file.open_key(body, apart)[0] == "Ana Rojas"
