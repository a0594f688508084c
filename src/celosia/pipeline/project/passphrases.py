"""How strong a passphrase must be: twelve characters that whoever knows the person could not write down at once.

Knows letters. Ignores keys. Runs of four or more (aaaa, 1234, qwer), the person's own name and the words that stand
for "passphrase" are taken out first; what remains must have twelve characters, and must not be one piece repeated.
Source: NIST SP 800-63B, 5.1.1.2 (length before composition; no repeated, sequential or context-specific values).
"""

from __future__ import annotations

import itertools
import re
import unicodedata

from celosia import messages
from celosia.pipeline.project.errors import PassphraseLong, PassphraseObvious, PassphraseShort

SHORTEST = 12
_LONGEST = 1023  # bytes: more is a file given by mistake
_RUN = 4
_ROWS = ("abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjklñ", "asdfghjkl;", "zxcvbnm")
_FOLLOWS = {pair for row in _ROWS for way in (row, row[::-1]) for pair in itertools.pairwise(way)}
_OBVIOUS = ("contraseña", "contrasena", "password", "passphrase", "celosia", "clave", "secreto", "secret")


def refuse_weak(passphrase: str, name: str) -> None:
    """Stop at a passphrase that is short, or that is nothing but repetition, sequence, or the person's own name."""
    if len(passphrase) < SHORTEST:
        raise PassphraseShort(minimum=SHORTEST)
    if len(passphrase.encode("utf-8")) > _LONGEST:
        raise PassphraseLong(maximum=_LONGEST)
    reason = weakness(passphrase, name)
    if reason:
        raise PassphraseObvious(reason=messages.text(f"people.passphrase.{reason}"), minimum=SHORTEST)


def weakness(passphrase: str, name: str) -> str:
    """Why a passphrase is obvious: name, word, sequence or repeated; empty where it is not."""
    plain = _fold_case(passphrase)
    if _is_repeated(plain):
        return "repeated"
    words = sorted((word for word in re.findall(r"\w+", _fold_case(name)) if len(word) > 2), key=len, reverse=True)
    for reason, taken in (("name", words), ("word", _OBVIOUS)):
        for word in taken:
            plain = plain.replace(_fold_case(word), "")
        if len(plain) < SHORTEST:
            return reason
    return "sequence" if _length_without_runs(plain) < SHORTEST else ""


def _fold_case(text: str) -> str:
    """Lower case and without accents, as somebody who guesses would try it."""
    parts = unicodedata.normalize("NFD", text.casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))


def _is_repeated(text: str) -> bool:
    """Whether a piece shorter than the least length, written again and again, makes the whole."""
    pieces = range(1, min(SHORTEST, len(text) // 2 + 1))
    return any(text == (text[:size] * len(text))[: len(text)] for size in pieces)


def _length_without_runs(text: str) -> int:
    """The length when each run of equal or consecutive characters counts as one."""
    length, run = 0, 1
    for before, after in zip(text, [*text[1:], ""], strict=True):
        if after and (before == after or (before, after) in _FOLLOWS):
            run += 1
        else:
            length, run = length + (1 if run >= _RUN else run), 1
    return length
