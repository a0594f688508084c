"""Which line of a delimited text is wrong, after the fast reader refused the file.

Knows records and their lines. Ignores what the fast reader said: its words quote cells.
A quick look at every line comes first; only when it finds nothing are the quotes followed one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from celosia.data.errors import RaggedLine, StrayReturn, UnclosedQuote
from celosia.data.sniffing import records
from celosia.hierarchy.errors import UnreadableText
from celosia.model.sources import ReadingChoices

LineFault = RaggedLine | StrayReturn | UnclosedQuote


def find_line_fault(path: Path, text: Path, choices: ReadingChoices, expected: int) -> LineFault | None:
    """The error of the first wrong line of `text`, named after `path`; None when all lines look sound."""
    return _scan_unquoted(path, text, choices, expected) or _scan_records(path, text, choices, expected)


def unexplained_fault(path: Path) -> UnreadableText:
    """The error when no line could be named."""
    return UnreadableText(path=str(path))


def _lines(text: Path) -> Iterator[str]:
    with text.open("rb") as probe:
        newline = "\n" if b"\n" in probe.read(1 << 20) else "\r"
    with text.open(encoding="utf-8-sig", errors="replace", newline=newline) as stream:
        yield from stream


def _scan_unquoted(path: Path, text: Path, choices: ReadingChoices, expected: int) -> LineFault | None:
    """Only lines without quotes, which are whole records when no quoted text is open: none in the file."""
    first: tuple[int, int] | None = None
    count = 0
    for number, line in enumerate(_lines(text), 1):
        if choices.quote and choices.quote in line:
            return None
        content = line.rstrip("\r\n")
        if "\r" in content and not first:
            return StrayReturn(path=str(path), line=number)
        fields = content.count(choices.delimiter) + 1
        if content and fields != expected:
            first = first or (number, fields)
            count += 1
    return _ragged_line(path, first, expected, count)


def _scan_records(path: Path, text: Path, choices: ReadingChoices, expected: int) -> LineFault | None:
    first: tuple[int, int] | None = None
    count = 0
    for record in records(_lines(text), choices.delimiter, choices.quote):
        fields = len(record.fields)
        if record.broken and not first:
            return UnclosedQuote(path=str(path), line=record.line)
        if record.lines == 1 and not first and _has_stray_return(record.fields, choices.quote):
            return StrayReturn(path=str(path), line=record.line)
        if fields != expected:
            first = first or (record.line, fields)
            count += 1
    return _ragged_line(path, first, expected, count)


def _has_stray_return(fields: list[str], quote: str) -> bool:
    return bool(fields) and "\r" in fields[-1] and quote not in fields[-1]


def _ragged_line(path: Path, first: tuple[int, int] | None, expected: int, count: int) -> RaggedLine | None:
    if first is None:
        return None
    return RaggedLine(path=str(path), line=first[0], expected=expected, found=first[1], count=count)
