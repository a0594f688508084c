"""Which encoding a text file is in, judged by its bytes.

Knows the encodings that Latin American offices really send. Ignores delimiters and columns.
windows-1252 and latin-1 differ only in the bytes 0x80–0x9F: control characters in one, quotes, dashes and the
euro sign in the other. Files saved by DOS and old Mac programs are told by the characters they would turn into.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from celosia.model.value_errors import ValueOutOfRange
from celosia.storage import translate_read_errors

UTF8, UTF8_MARK, UTF16 = "utf-8", "utf-8-sig", "utf-16"
LATIN1, WINDOWS = "latin-1", "windows-1252"
PREFIX = 1 << 20
_SPREAD_BLOCKS, _SPREAD_SIZE = 16, 1 << 16
_SINGLE_BYTE = (WINDOWS, "cp850", "mac-roman")
_ALIASES = {"iso8859-1": LATIN1, "cp1252": WINDOWS, "utf-8": UTF8, "utf-8-sig": UTF8_MARK, "mac-roman": "mac-roman"}
_NO_FILES = frozenset(("idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"))  # no file is in these
_LETTERS = frozenset("áéíóúüñÁÉÍÓÚÜÑàèìòùâêîôûãõçÀÈÌÒÙÂÊÎÔÛÃÕÇ")
_SIGNS = frozenset("ºª°¿¡«»“”‘’–—…€·´")
_ACCENT = re.compile(rb"[A-Za-z]?[\x80-\xff]+[A-Za-z]?")
_C1 = bytes(range(0x80, 0xA0))
_ASCII = bytes(range(0x80))
REPLACEMENT = "\ufffd".encode()
MOJIBAKE = "Ã".encode() + b"\xc2"  # «Ã» and the lead byte of what was «á», «é», «ñ»… before it was encoded twice


@dataclass(frozen=True, slots=True)
class Sample:
    """The start of a file and some blocks of the rest, cut at line ends."""

    prefix: bytes
    others: tuple[bytes, ...]
    whole: bool  # whether the prefix is the whole file

    @property
    def blocks(self) -> tuple[bytes, ...]:
        """All blocks."""
        return (self.prefix, *self.others)


def take_sample(path: Path) -> Sample:
    """A bounded sample of a file."""
    with translate_read_errors(path), path.open("rb") as stream:
        prefix = stream.read(PREFIX)
        size = stream.seek(0, 2)
        if size <= PREFIX:
            return Sample(prefix, (), True)
        step = max((size - PREFIX) // _SPREAD_BLOCKS, 1)
        others = []
        for start in range(PREFIX, size, step):
            stream.seek(start)
            block = stream.read(_SPREAD_SIZE)
            first, last = block.find(b"\n"), block.rfind(b"\n")
            others.append(block[first + 1 : last + 1] if 0 <= first < last else b"")
    return Sample(prefix, tuple(others), False)


def known_encoding(name: str) -> str:
    """The name we use for an encoding, or an error that names those we know."""
    try:
        codec = codecs.lookup(name)
    except (LookupError, ValueError):  # a null character in the name is a ValueError
        codec = None
    if codec is None or codec.name in _NO_FILES or not getattr(codec, "_is_text_encoding", True):
        allowed = ", ".join((UTF8, UTF8_MARK, UTF16, LATIN1, *_SINGLE_BYTE))
        raise ValueOutOfRange(parameter="encoding", given=name, allowed=allowed)
    return _ALIASES.get(codec.name, codec.name)


def guess_encoding(sample: Sample) -> str:
    """The encoding a sample speaks for."""
    if sample.prefix.startswith(codecs.BOM_UTF8):
        return UTF8_MARK
    if sample.prefix.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return UTF16
    if all(is_utf8(block, cut=not sample.whole) for block in sample.blocks):
        return UTF8
    return guess_single_byte(b"".join(sample.blocks))


def is_utf8(block: bytes, cut: bool) -> bool:
    """Whether a block is UTF-8; a cut one may end inside a character."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block, not cut)
    except UnicodeDecodeError:
        return False
    return True


def guess_single_byte(data: bytes) -> str:
    """latin-1, windows-1252, DOS or Mac, by how plausible the accented characters come out."""
    high = data.translate(None, _ASCII)
    if not has_c1(high):
        plausible = _plausibility(data, LATIN1) >= 0
        return LATIN1 if plausible else max((LATIN1, *_SINGLE_BYTE[1:]), key=lambda name: _plausibility(data, name))
    return max(_SINGLE_BYTE, key=lambda name: _plausibility(data, name))


def has_c1(data: bytes) -> bool:
    """Whether bytes 0x80–0x9F occur: in latin-1 they would be control characters."""
    return len(data.translate(None, _C1)) != len(data)


def accents_in_context(data: bytes, most: int = 20_000) -> bytes:
    """The bytes above ASCII with their neighbours, up to a number of places: enough to judge an encoding."""
    return b"\n".join(match.group() for match in islice(_ACCENT.finditer(data), most))


def _plausibility(data: bytes, encoding: str) -> int:
    text = f"\n{accents_in_context(data).decode(encoding, 'replace')}\n"
    positions = (i for i, character in enumerate(text) if not character.isascii())
    return sum(_weight(*text[i - 1 : i + 2]) for i in positions)


def _weight(before: str, character: str, after: str) -> int:
    """How well a character stands among its neighbours: «José», not «JosÚ», and no letter alone."""
    if character in _SIGNS:
        return 1
    if character == "\ufffd" or unicodedata.category(character) == "Cc":
        return -6
    if character not in _LETTERS or not (before.isalpha() or after.isalpha()):
        return -2
    odd = before.islower() if character.isupper() else before.isupper() and after.isupper()
    return -3 if odd else 3


def destroyed_accents(block: bytes) -> bool:
    """Whether characters were lost before the file reached us: U+FFFD, or accents encoded twice."""
    return REPLACEMENT in block or MOJIBAKE in block
