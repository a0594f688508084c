"""The first records of a delimited text, from its first bytes alone, with the line of what is wrong with them.

Knows bytes, encodings and records. Ignores what the rest of the file holds: reading it will tell.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from celosia.data.files import reading_from
from celosia.data.readers._stream import LONGEST_LINE
from celosia.data.sniffing import Record, records
from celosia.data.sniffing._encoding import PREFIX
from celosia.errors import BinaryFile, EmptyFile, LineTooLong, RaggedLine, UnclosedQuote, WrongEncoding
from celosia.model.sources import ReadingChoices

_MOST_LINES = 1_000  # of one quoted text: beyond, its quote was never meant to open


def first_rows(path: Path, choices: ReadingChoices, rows: int) -> list[Record]:
    """At least one record and up to `rows` after it; what the first bytes cut is left out."""
    size = PREFIX
    while True:
        data, whole = _start_of(path, size)
        text = _decoded(path, data, choices, whole)
        found = list(islice(records(io.StringIO(text, newline=""), choices.delimiter, choices.quote), rows + 2))
        cut = not whole and len(found) < rows + 2
        if not cut or len(found) > 1 or size > LONGEST_LINE:
            break
        size *= 8  # a first record longer than what was read
    return _sound(path, found, rows, cut)


def _sound(path: Path, found: list[Record], rows: int, cut: bool) -> list[Record]:
    if not found:
        raise EmptyFile(path=str(path))
    last = found[-1]
    if cut and last.lines > _MOST_LINES:
        raise UnclosedQuote(path=str(path), line=last.line)
    if cut and len(found) == 1:
        raise LineTooLong(path=str(path), line=last.line, megabytes=LONGEST_LINE // 1_000_000)
    kept = found[:-1] if cut else found
    for record in kept:
        if record.broken:
            raise UnclosedQuote(path=str(path), line=record.line)
    return kept[: rows + 1]


def _start_of(path: Path, size: int) -> tuple[bytes, bool]:
    """The first bytes of a file, and whether they are all of it."""
    with reading_from(path), path.open("rb") as stream:
        data = stream.read(size + 1)
    return data[:size], len(data) <= size


def _decoded(path: Path, data: bytes, choices: ReadingChoices, whole: bool) -> str:
    try:
        text = codecs.getincrementaldecoder(choices.encoding)("strict").decode(data, whole)
    except UnicodeError as fault:  # UTF-16 without its mark has no place
        end = fault.start if isinstance(fault, UnicodeDecodeError) else 0
        line = data.count(b"\n", 0, end) + 1
        raise WrongEncoding(path=str(path), encoding=choices.encoding, line=line) from None
    if "\x00" in text:
        raise BinaryFile(path=str(path))
    return text


def ragged(path: Path, found: Sequence[Record], expected: int) -> RaggedLine | None:
    """The error of the first record with more or fewer fields than the first one."""
    wrong = [record for record in found if len(record.fields) != expected]
    if not wrong:
        return None
    first = wrong[0]
    return RaggedLine(path=str(path), line=first.line, expected=expected, found=len(first.fields), count=len(wrong))
