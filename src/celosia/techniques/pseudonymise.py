"""Pseudonymisation: identifiers become codes that only the holder of a key or a codebook can lead back to them.

Knows the identifiers and the key it is given. `keyed`: HMAC-SHA-256 (RFC 2104, FIPS 198-1) cut to `length` letters of
base 32, the same code for the same identifier in every delivery made with the same key. `random`: codes drawn by
chance, with a codebook for `private/`. The result is pseudonymous, not anonymous, until both are destroyed.
Ignores where the key is kept: the pipeline fills it in, and a plan or project file that holds one is refused there.
Source: MEL protocol III.4.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from celosia.model.parameters import Flag, Text, Whole
from celosia.techniques._checks import wrong_setting
from celosia.techniques._columns import text_array
from celosia.techniques._contract import Lines, Settings, StepInput, StepOutcome, Technique
from celosia.techniques._draws import Draws
from celosia.techniques._identifiers import chosen_columns, replace_identifiers, unknown_of
from celosia.techniques._parameters import COLUMNS, UNKNOWN
from celosia.techniques.errors import KeyNeeded, PseudonymsCollide

NAME = "pseudonymise"
KEY_BYTES = 32
LONGEST = 51  # letters of 5 bits in 256 bits
_LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)
_PER_DRAW = 12  # letters of 5 bits in one draw of 64
_AT_ONCE = 100_000


def _apply(given: StepInput, settings: Settings, draws: Draws) -> StepOutcome:
    names, length = settings["columns"], settings["length"]
    if length > LONGEST:
        raise wrong_setting(NAME, "length", "code_length")
    key = _key(settings)
    groups = [names] if settings["together"] else [[name] for name in names]

    def new_codes(known: pa.Array, group: Sequence[str]) -> pa.Array:
        scope = "" if settings["together"] else group[0]
        if settings["kind"] == "keyed":
            codes = _keyed_codes(known, key, scope, length)
            _refuse_collisions(codes, unknown_of(settings, group), group, length)
            return codes
        return _random_codes(len(known), draws.split(key.hex()).split(scope), length, unknown_of(settings, group))

    result = replace_identifiers(given, groups, settings, new_codes)
    codebook = result.pairs if settings["kind"] == "random" else {}
    notes = {"identifiers": result.distinct, "length": length, "pseudonymous": True}
    return StepOutcome(columns=result.columns, preserved=("rows", "groups"), notes=notes, codebook=codebook)


def _key(settings: Settings) -> bytes:
    """The key; random codes need none, and one that is given makes the seed alone useless to redo them."""
    if settings["key"] is None:
        if settings["kind"] == "keyed":
            raise KeyNeeded(technique=NAME)
        return b""
    try:
        key = bytes.fromhex(settings["key"])
    except ValueError:
        key = b""
    if len(key) < KEY_BYTES:
        raise wrong_setting(NAME, "key", "key_length")
    return key


def _keyed_codes(known: pa.Array, key: bytes, scope: str, length: int) -> pa.Array:
    """The codes of identifiers; `scope` makes those of one column unlike those of another."""
    own = hmac.digest(key, b"celosia\x00" + scope.encode("utf-8"), "sha256")
    parts = [pa.array([], pa.large_string())]
    for start in range(0, len(known), _AT_ONCE):
        texts = known.slice(start, _AT_ONCE).to_pylist()
        digests = b"".join(hmac.digest(own, text.encode("utf-8"), "sha256") for text in texts)
        parts.append(_letters_of(digests, length))
    return pa.concat_arrays(parts)


def _letters_of(digests: bytes, length: int) -> pa.Array:
    """The first letters of each digest in base 32 (RFC 4648)."""
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, KEY_BYTES), axis=1)[:, : length * 5]
    letter_codes = bits.reshape(-1, length, 5) @ np.array([16, 8, 4, 2, 1], np.uint8)
    letters = np.ascontiguousarray(_LETTERS[letter_codes])
    return pa.array(letters.view(f"S{length}").reshape(-1)).cast(pa.large_string())


def _refuse_collisions(codes: pa.Array, unknown: Sequence[str], group: Sequence[str], length: int) -> None:
    repeated = len(codes) - pc.count_distinct(codes).as_py()
    repeated += int(pc.sum(pc.is_in(codes, text_array(list(unknown)))).as_py() or 0)
    if repeated:
        raise PseudonymsCollide(variables=", ".join(group), repeated=repeated, length=length)


def _random_codes(count: int, draws: Draws, length: int, unknown: Sequence[str]) -> pa.Array:
    """Different codes drawn by chance; one that is taken already is drawn again."""
    codes = _draw_codes(count, draws, length)
    while True:
        again = np.ones(count, bool)
        again[np.unique(codes, return_index=True)[1]] = False
        again |= np.isin(codes, np.array([code.encode("utf-8") for code in unknown], "S"))
        if not again.any():
            return pa.array(codes).cast(pa.large_string())
        codes[again] = _draw_codes(int(again.sum()), draws, length)


def _draw_codes(count: int, draws: Draws, length: int) -> NDArray[np.bytes_]:
    words = -(-length // _PER_DRAW)
    raw = draws.raw(count * words).reshape(count, words, 1)
    shifts = np.arange(_PER_DRAW, dtype=np.uint64) * np.uint64(5)
    letter_codes = ((raw >> shifts) & np.uint64(31)).reshape(count, words * _PER_DRAW)[:, :length]
    letters = np.ascontiguousarray(_LETTERS[letter_codes.astype(np.int64)])
    return letters.view(f"S{length}").reshape(count)


TECHNIQUE = Technique(
    name=NAME,
    lines=Lines.VALUES,
    params={
        "columns": COLUMNS,
        "kind": Text(default="keyed", choices=("keyed", "random")),
        "length": Whole(default=16, minimum=8),
        "together": Flag(default=False),
        "unknown": UNKNOWN,
        "key": Text(),  # filled in by the pipeline from private/, never read from the project's file
    },
    uses=chosen_columns,
    apply=_apply,
    random=True,
    norms=("P21",),
)
