"""What a workbook (a zip archive of XML) would become in memory, told before its library opens it.

Knows zip, deflate and where cells stand. Ignores what they hold. Sizes that the archive declares are not believed:
every part is inflated once in a bounded stream, and the count stops at the limit. Sources: APPNOTE.TXT 6.3.10 (zip);
ECMA-376 18.3.1.4 (`c r="XFD1048576"`); OpenDocument 1.3, 19.675 (`number-columns-repeated`).
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

from celosia.data.errors import DamagedFile, SheetTooLarge, WorkbookTooLarge
from celosia.data.limits import LARGEST_DIRECTORY, LARGEST_WORKBOOK, MOST_CELLS, MOST_PARTS
from celosia.storage import translate_read_errors

_ZIP = b"PK\x03\x04"
_BLOCK = 1 << 20
_LONGEST_TAG = 1 << 16
_LOCAL_HEADER = 30
_STORED, _DEFLATED = 0, 8
_END, _LOCATOR, _END64 = b"PK\x05\x06", b"PK\x06\x07", b"PK\x06\x06"
_END_SIZE, _LOCATOR_SIZE, _END64_SIZE = 22, 20, 56
_LONGEST_END = _END_SIZE + _LOCATOR_SIZE + _END64_SIZE + (1 << 16)  # with the longest comment
# Where a cell stands, looked for in three ways: the first is quick and may see too much, the last misses nothing and
# sees no more than is held (a formatted cell without content is not).
_QUICK = re.compile(rb"""r\s*=\s*["']([A-Za-z]+)(\d{7})?""")
_PLAIN = re.compile(rb"""r\s*=\s*["']([A-Za-z]*)(\d+)""")
_EMPTY = rb"""(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*/>"""
_CAREFUL = re.compile(rb"""<(?:[\w.-]+:)?(?:c|row)(?!%b)\s[^<]*?\br\s*=\s*["']([A-Za-z]*)(\d+)""" % _EMPTY)
_SHORT_ROWS = 999_999  # what six digits can say
_LETTERS = 26
Refuse = Callable[[int, int], None]  # rows and columns reached


def refuse_endless_list(path: Path, stream: BinaryIO) -> None:
    """Refuses an archive whose list of parts alone would fill the memory; what is no archive passes."""
    if stream.read(4) == _ZIP:
        try:
            _refuse_directory(path, stream)
        except struct.error:
            raise DamagedFile(path=str(path), format="Excel") from None


def refuse_bomb(path: Path) -> None:
    """Refuses a workbook that would not fit; a file that is no archive passes."""
    with translate_read_errors(path), path.open("rb") as stream:
        if stream.read(4) != _ZIP:
            return
        try:
            _refuse_directory(path, stream)
            with zipfile.ZipFile(path) as archive:
                parts = archive.infolist()
            if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > LARGEST_WORKBOOK:
                raise _too_large_error(path)
            if any(part.compress_type not in (_STORED, _DEFLATED) or part.flag_bits & 1 for part in parts):
                raise DamagedFile(path=str(path), format="Excel")
            _refuse_inflated_sizes(path, stream, parts)
        except (zipfile.BadZipFile, zlib.error, struct.error, expat.ExpatError, NotImplementedError, ValueError):
            raise DamagedFile(path=str(path), format="Excel") from None


def _refuse_directory(path: Path, stream: BinaryIO) -> None:
    """Looks at the end of the archive before anything parses its list of parts: millions of them fill the memory."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - _LONGEST_END))
    tail = stream.read()
    plain = len(tail) - _END_SIZE  # where the end stands when no comment follows it, as zipfile looks for it
    end = plain if plain >= 0 and tail.startswith(_END, plain) and tail.endswith(b"\0\0") else tail.rfind(_END)
    (directory_size,) = struct.unpack_from("<L", tail, end + 12) if end >= 0 else (0,)
    long = end - _LOCATOR_SIZE - _END64_SIZE
    if tail.startswith(_LOCATOR, max(0, end - _LOCATOR_SIZE)) and tail.startswith(_END64, max(0, long)):
        (directory_size,) = struct.unpack_from("<Q", tail, long + 40)
    if directory_size > LARGEST_DIRECTORY:
        raise _too_large_error(path)


def _too_large_error(path: Path) -> WorkbookTooLarge:
    return WorkbookTooLarge(path=str(path), megabytes=LARGEST_WORKBOOK // 1_000_000)


def _refuse_inflated_sizes(path: Path, stream: BinaryIO, parts: list[zipfile.ZipInfo]) -> None:
    refuse = partial(_refuse_extent, path)
    left = LARGEST_WORKBOOK
    for part in parts:
        if part.filename == "content.xml":
            left = _scan_part(path, stream, part, left, _RepeatedCells(refuse).take)
        else:
            left = _refuse_sheet(path, stream, part, left, refuse)


def _refuse_sheet(path: Path, stream: BinaryIO, part: zipfile.ZipInfo, left: int, refuse: Refuse) -> int:
    """Looks at a part more closely until it is seen to fit; gives the bytes that are left for the others."""
    for pattern in (_QUICK, _PLAIN):
        try:
            return _scan_part(path, stream, part, left, _CellReferences(pattern, refuse).take)
        except SheetTooLarge:
            continue
    return _scan_part(path, stream, part, left, _CellReferences(_CAREFUL, refuse).take)


def _scan_part(path: Path, stream: BinaryIO, part: zipfile.ZipInfo, left: int, take: Callable[[bytes], None]) -> int:
    for block in _inflate_part(stream, part):
        left -= len(block)
        if left < 0:
            raise _too_large_error(path)
        take(block)
    return left


def _refuse_extent(path: Path, rows: int, columns: int) -> None:
    if rows * columns > MOST_CELLS:
        raise SheetTooLarge(path=str(path), rows=rows, columns=columns, most=MOST_CELLS)


def _inflate_part(stream: BinaryIO, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a part in blocks, as long as its compressed bytes really make it."""
    stream.seek(part.header_offset)
    names, extra = struct.unpack("<26x2H", stream.read(_LOCAL_HEADER))
    stream.seek(names + extra, 1)
    left = part.compress_size
    inflate = zlib.decompressobj(-zlib.MAX_WBITS) if part.compress_type == _DEFLATED else None
    while left > 0 and (block := stream.read(min(_BLOCK, left))):
        left -= len(block)
        while block:
            yield inflate.decompress(block, _BLOCK) if inflate else block
            block = inflate.unconsumed_tail if inflate else b""


@dataclass(slots=True)
class _CellReferences:
    """How far the cells of a sheet of Excel reach, by the place each one names."""

    pattern: re.Pattern[bytes]
    refuse: Refuse
    rows: int = 0
    columns: int = 0
    pending: bytes = b""  # a tag that the next block goes on with

    def take(self, block: bytes) -> None:
        """Looks at one more block of the part."""
        text = self.pending + block
        references = self.pattern.findall(text)
        if references:
            self.rows = max(self.rows, max(map(_row, {row[:10] for _, row in references})))
            self.columns = max(self.columns, max(map(_position, {letters[:8] for letters, _ in references})))
            self.refuse(self.rows, self.columns)
        opened = text.rfind(b"<")
        self.pending = text[opened:] if opened >= 0 and len(text) - opened <= _LONGEST_TAG else b""


def _row(digits: bytes) -> int:
    return int(digits) if digits else _SHORT_ROWS


def _position(letters: bytes) -> int:
    """The column that letters name: A is 1, XFD 16,384."""
    position = 0
    for letter in letters.upper():
        position = position * _LETTERS + letter - 64
    return position


class _RepeatedCells:
    """How far the cells of an OpenDocument sheet reach: a cell and a row may stand for many like them."""

    def __init__(self, refuse: Refuse) -> None:
        self._refuse = refuse
        self._columns = 0  # of the table so far
        self._row = self._column = self._width = self._repeat = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end

    def take(self, block: bytes) -> None:
        """Looks at one more block of the part."""
        self._parser.Parse(block)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        kind = tag.rpartition(" ")[2]
        counted = {name.rpartition(" ")[2]: value for name, value in attributes.items()}
        if kind == "table":
            self._row = self._columns = 0
        elif kind == "table-row":
            self._repeat, self._column, self._width = int(counted.get("number-rows-repeated", 1)), 0, 0
        elif kind == "table-cell":
            self._column += int(counted.get("number-columns-repeated", 1))
            self._width = self._column if "value-type" in counted else self._width
        elif kind == "p":  # a text without a declared type
            self._width = max(self._width, self._column)

    def _end(self, tag: str) -> None:
        if tag.rpartition(" ")[2] != "table-row":
            return
        self._row += self._repeat
        if self._width:
            self._columns = max(self._columns, self._width)
            self._refuse(self._row, self._columns)
