"""Signs that a Windows code page lacks, written with those that it has: «≥» as «>=», not as a question mark.

Knows the signs of the catalogue. Ignores who writes. A console of Windows takes every letter; a file or another program
behind `>` or `|` gets the code page of the machine (1252 in Spanish, 850 in older ones).
"""

from __future__ import annotations

import codecs
import unicodedata

ERRORS = "celosia-plain-signs"
_PLAIN = {
    **dict(zip("−–—•·“”«»’′²÷✓", '---*-""""\'\'2/x', strict=True)),
    "≥": ">=",
    "≤": "<=",
    "≠": "<>",
    "→": "->",
    "…": "...",
    "√": "raiz ",
    "λ": "lambda",
    "¿": "",
}


def _plain_sign(fault: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    return "".join(map(_plain_text, fault.object[fault.start : fault.end])), fault.end


def _plain_text(sign: str) -> str:
    """What stands for a sign: its own entry, or the letter below its accent."""
    letter = unicodedata.normalize("NFD", sign)[0]
    return _PLAIN.get(sign, letter if letter.isascii() else "?")


codecs.register_error(ERRORS, _plain_sign)


def text_in_code_page(text: str, encoding: str) -> str:
    """The text as it will read in an encoding, so that columns can be measured."""
    return text.encode(encoding, ERRORS).decode(encoding)
