"""Hierarchies as CSV in ARX's layout: no header, one row per value, column j is level j.

Knows delimiters and encodings; reports the ones it chose. Every fault is named by count, level and file;
the values are never in a message. Writing is atomic: the old file or the new one, nothing in between.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from celosia.hierarchy.errors import (
    BinaryFile,
    EmptyFile,
    HierarchyConflict,
    HierarchyRagged,
    HierarchySplit,
    UnreadableText,
    WrongEncoding,
)
from celosia.hierarchy.model import Hierarchy
from celosia.hierarchy.rows import from_rows, split_groups, to_rows
from celosia.model.sources import ReadingChoices
from celosia.storage import FileMissing, FileUnreadable, atomic_write
from celosia.system.paths import usable_path

_DELIMITERS = (";", ",", "\t")
_ENCODINGS = ("utf-8-sig", "windows-1252", "latin-1")
_SAMPLE_ROWS = 200
_FILE_MODE = 0o644


def read_csv(
    path: Path, variable: str, *, delimiter: str | None = None, encoding: str | None = None
) -> tuple[Hierarchy, ReadingChoices]:
    """A hierarchy file, checked, and how it was read (`guessed` names the choices nobody made)."""
    path = usable_path(path)
    text, used = _decode_file(path, encoding)
    rows, mark = _rows(path, text, delimiter)
    hierarchy = checked_hierarchy(variable, rows, path.name)
    choices = (("delimiter", delimiter), ("encoding", encoding))
    guessed = tuple(name for name, choice in choices if choice is None)
    return hierarchy, ReadingChoices("csv", encoding=used, delimiter=mark, header=False, guessed=guessed)


def checked_hierarchy(variable: str, rows: Sequence[tuple[str, ...]], file: str) -> Hierarchy:
    """A hierarchy from rows of labels, whose groups nest and whose leaves have one place each."""
    hierarchy = from_rows(variable, _distinct_rows(file, rows))
    for level, groups in enumerate(split_groups(hierarchy), start=1):
        if groups:
            raise HierarchySplit(file=file, level=level, groups=groups)
    return hierarchy


def _decode_file(path: Path, encoding: str | None) -> tuple[str, str]:
    data = _bytes(path)
    if b"\0" in data:
        raise BinaryFile(path=path.name)
    for candidate in (encoding,) if encoding else _ENCODINGS:
        try:
            return data.decode(candidate), candidate.removesuffix("-sig")
        except UnicodeDecodeError as fault:
            line = data.count(b"\n", 0, fault.start) + 1
        except LookupError:
            line = 1
    raise WrongEncoding(path=path.name, encoding=encoding, line=line)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise FileMissing(path=str(path)) from None
    except OSError:
        raise FileUnreadable(path=str(path)) from None


def _delimiter(text: str) -> str:
    """The first mark that cuts the first rows into equally many levels; else one that the first row holds."""
    for mark in _DELIMITERS:
        widths = {len(row) for row in islice(_parse_rows(text, mark), _SAMPLE_ROWS)}
        if len(widths) == 1 and widths != {1}:
            return mark
    first = text.partition("\n")[0]
    return next((mark for mark in _DELIMITERS if mark in first), _DELIMITERS[0])


def _parse_rows(text: str, mark: str) -> Iterator[tuple[str, ...]]:
    """The rows that are not blank."""
    return (tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark) if row)


def _rows(path: Path, text: str, delimiter: str | None) -> tuple[list[tuple[str, ...]], str]:
    try:
        mark = delimiter or _delimiter(text)
        rows = list(_parse_rows(text, mark))
    except csv.Error:
        raise UnreadableText(path=path.name) from None
    if not rows:
        raise EmptyFile(path=path.name)
    ragged = sum(len(row) != len(rows[0]) for row in rows)
    if ragged:
        raise HierarchyRagged(file=path.name, rows=ragged, levels=len(rows[0]))
    return rows, mark


def _distinct_rows(file: str, rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """One row per leaf: exact repetitions are dropped, leaves sent to different groups are refused."""
    distinct = list(dict.fromkeys(rows))
    times = Counter(row[0] for row in distinct)
    conflicts = sum(count > 1 for count in times.values())
    if conflicts:
        raise HierarchyConflict(file=file, values=conflicts)
    return distinct


def write_csv(hierarchy: Hierarchy, path: Path, *, delimiter: str = ";") -> None:
    """The hierarchy in ARX's layout, UTF-8, LF, put in place in one step."""
    lines = (delimiter.join(_quote_label(label, delimiter) for label in row) for row in to_rows(hierarchy))
    with atomic_write(path, _FILE_MODE) as draft:
        draft.write_bytes("".join(f"{line}\n" for line in lines).encode("utf-8"))


def _quote_label(label: str, delimiter: str) -> str:
    """Quoted where a reader would need it; the csv module leaves a lone carriage return bare."""
    if label and not any(mark in label for mark in (delimiter, '"', "\r", "\n")):
        return label
    return '"' + label.replace('"', '""') + '"'
