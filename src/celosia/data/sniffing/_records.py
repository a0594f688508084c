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
        else:
            current.lines += 1
        complete = _take_line(current, line, delimiter, quote)
        if complete:
            yield current
            current = None
    if current is not None:
        current.close_field()
        current.broken = True
        yield current


def _take_line(record: Record, line: str, delimiter: str, quote: str) -> bool:
    """Adds a line to a record; whether the record is complete."""
    end = len(line.rstrip("\r\n"))
    inside = record.lines > 1
    if not inside and (not quote or quote not in line):
        record.fields.extend(line[:end].split(delimiter))
        return True
    position = 0
    while position <= end:
        if not inside:
            start = _skip_blanks(line, position, end)
            inside = start < end and line[start] == quote
            position = start + 1 if inside else _take_plain(record, line, position, end, delimiter)
            continue
        closing = _closing_quote(record, line, position, quote)
        if closing < 0:
            return False
        record.close_field()
        inside = False
        position = _skip_blanks(line, closing, end)
        if position >= end:
            return True
        record.broken = record.broken or line[position] != delimiter
        position += 1
    return True


def _take_plain(record: Record, line: str, position: int, end: int, delimiter: str) -> int:
    """Adds an unquoted field; the position of the next one, past the end when there is none."""
    stop = line.find(delimiter, position, end)
    record.fields.append(line[position : end if stop < 0 else stop])
    return end + 1 if stop < 0 else stop + 1


def _closing_quote(record: Record, line: str, position: int, quote: str) -> int:
    """Position after the closing quote, or -1 when the text goes on; what is inside joins the open field."""
    while True:
        at = line.find(quote, position)
        if at < 0:
            record.parts.append(line[position:])
            return -1
        record.parts.append(line[position:at])
        if line[at + 1 : at + 2] != quote:
            return at + 1
        record.parts.append(quote)
        position = at + 2


def _skip_blanks(line: str, position: int, end: int) -> int:
    while position < end and line[position] == _BLANK:
        position += 1
    return position
