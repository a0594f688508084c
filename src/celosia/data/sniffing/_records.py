"""Records of delimited text, one by one, with the line where each begins.

Knows delimiters, quotes and line ends as RFC 4180 and the fast reader take them. Ignores encodings and types.
Used on samples and to say which line is wrong after the fast reader refused a file, never for reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_BLANK = " "


@dataclass(slots=True)
class Record:
    """Fields of one record; `broken` when a quoted text does not close as it should."""

    line: int
    fields: list[str] = field(default_factory=list)
    lines: int = 1
    broken: bool = False
    parts: list[str] = field(default_factory=list)  # of the quoted field that is still open

    def close_field(self) -> None:
        """Makes a field of the parts read so far."""
        self.fields.append("".join(self.parts))
        self.parts = []


def records(lines: Iterable[str], delimiter: str, quote: str) -> Iterator[Record]:
    """The records of some lines; blank lines are not records."""
    current: Record | None = None
    for number, line in enumerate(lines, 1):
        if current is None:
            if not line.rstrip("\r\n"):
                continue
            current = Record(number)
            complete = _take_fields(current, line, 0, delimiter, quote)
        else:
            current.lines += 1
            complete = _take_quoted(current, line, 0, delimiter, quote)
        if complete:
            yield current
            current = None
    if current is not None:
        current.close_field()
        current.broken = True
        yield current


def _take_fields(record: Record, line: str, position: int, delimiter: str, quote: str) -> bool:
    """Adds the fields of a line from a position that begins one; whether the record is complete."""
    end = len(line.rstrip("\r\n"))
    if not quote or line.find(quote, position) < 0:
        record.fields.extend(line[position:end].split(delimiter))
        return True
    while True:
        start = _skip_blanks(line, position, end)
        if start < end and line[start] == quote:
            return _take_quoted(record, line, start + 1, delimiter, quote)
        stop = line.find(delimiter, position, end)
        record.fields.append(line[position : end if stop < 0 else stop])
        if stop < 0:
            return True
        position = stop + 1


def _take_quoted(record: Record, line: str, position: int, delimiter: str, quote: str) -> bool:
    """Goes on inside a quoted field, then with the fields after it; whether the record is complete."""
    closing = _closing_quote(record, line, position, quote)
    if closing < 0:
        return False
    record.close_field()
    end = len(line.rstrip("\r\n"))
    position = _skip_blanks(line, closing, end)
    if position >= end:
        return True
    if line[position] != delimiter:
        record.broken = True
        return True
    return _take_fields(record, line, position + 1, delimiter, quote)


def _closing_quote(record: Record, line: str, position: int, quote: str) -> int:
    """Position after the closing quote, or -1 when the text goes on; what is inside joins the open field."""
    while True:
        found = line.find(quote, position)
        if found < 0:
            record.parts.append(line[position:])
            return -1
        record.parts.append(line[position:found])
        if line[found + 1 : found + 2] != quote:
            return found + 1
        record.parts.append(quote)
        position = found + 2


def _skip_blanks(line: str, position: int, end: int) -> int:
    while position < end and line[position] == _BLANK:
        position += 1
    return position
