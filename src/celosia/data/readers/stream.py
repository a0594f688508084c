"""One bounded pass over a text file: its digest, whether its bytes can be read, and its UTF-8 copy if needed.

Knows bytes, encodings and line lengths. Ignores delimiters and columns. Refuses what would harm the fast
reader (NUL bytes, endless lines) before it meets them, with the number of the line.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from celosia.data.errors import LineTooLong, MixedEncoding
from celosia.data.limits import LONGEST_ROW
from celosia.data.sniffing._encoding import REPLACEMENT, accents_in_context, guess_single_byte, has_c1
from celosia.hierarchy.errors import BinaryFile, WrongEncoding
from celosia.storage import translate_read_errors, translate_write_errors

LONGEST_LINE = LONGEST_ROW  # bytes of UTF-8
_BLOCK = 1 << 20
_ENOUGH_ACCENTS = 1 << 20
Progress = Callable[[float], None]


@dataclass(slots=True)
class TextFindings:
    """What the pass saw."""

    digest: str = ""
    destroyed: bool = False  # replacement characters: accents lost before the file reached us
    controls: bool = False  # bytes 0x80–0x9F, in a single-byte encoding


@dataclass(slots=True)
class TextPass:
    """The state of a pass over the decoded text; lines are counted only when one must be named."""

    path: Path
    findings: TextFindings = field(default_factory=TextFindings)
    offset: int = 0  # bytes of the file before the current block
    open_line: int = 0  # bytes since the last line end
    multibyte: int = 0  # bytes beyond one per character: UTF-8 sequences already seen

    def check(self, block: bytes) -> None:
        """Looks at a block of UTF-8 text."""
        if b"\x00" in block:
            raise BinaryFile(path=str(self.path))
        mark = b"\n" if b"\n" in block else b"\r"
        first, last = block.find(mark), block.rfind(mark)
        longest = self.open_line + (len(block) if first < 0 else first)
        if longest > LONGEST_LINE:
            line, size = line_at(self.path, self.offset), LONGEST_LINE // 1_000_000
            raise LineTooLong(path=str(self.path), line=line, megabytes=size)
        self.open_line = longest if last < 0 else len(block) - last - 1
        if not self.findings.destroyed and not block.isascii():
            self.findings.destroyed = REPLACEMENT in block


def line_at(path: Path, offset: int) -> int:
    """The number of the line that holds a byte."""
    line = 1
    with translate_read_errors(path), path.open("rb") as stream:
        while offset > 0 and (block := stream.read(min(_BLOCK, offset))):
            line += block.count(b"\n")
            offset -= len(block)
    return line


def survey_text(path: Path, encoding: str, progress: Progress | None) -> TextFindings:
    """A pass over a file that is already UTF-8."""
    return _run(path, encoding, None, progress)


def transcode_text(path: Path, encoding: str, target: Path, progress: Progress | None) -> TextFindings:
    """A pass that writes the text as UTF-8 into a private file."""
    with translate_write_errors(target.parent.parent), target.open("wb") as sink:
        return _run(path, encoding, sink, progress)


def _run(path: Path, encoding: str, sink: BinaryIO | None, progress: Progress | None) -> TextFindings:
    state = TextPass(path)
    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    size = max(path.stat().st_size, 1)
    with translate_read_errors(path):
        stream = path.open("rb", buffering=0)
    with stream:
        while True:
            with translate_read_errors(path):
                block = stream.read(_BLOCK)
            digest.update(block)
            text = _decode_block(decoder, block, state, plain=sink is None)
            state.check(text)
            if sink is not None:
                sink.write(text)
            if not block:
                break
            state.offset += len(block)
            if progress is not None:
                progress(state.offset / size)
    state.findings.digest = f"sha256:{digest.hexdigest()}"
    return state.findings


def _decode_block(decoder: codecs.IncrementalDecoder, block: bytes, state: TextPass, plain: bool) -> bytes:
    """The block as UTF-8; a block that is UTF-8 already is only checked."""
    pending = decoder.getstate()[0]
    if plain and not pending and block and block.isascii():
        return block
    if not plain and not state.findings.controls:
        state.findings.controls = has_c1(block)
    try:
        text = decoder.decode(block, not block)
    except UnicodeError as fault:  # UTF-16 without its mark is no UnicodeDecodeError, and has no place
        start = fault.start if isinstance(fault, UnicodeDecodeError) else 0
        line = line_at(state.path, state.offset - len(pending) + start)
        raise UndecodableLine(line, state.multibyte + _sequences(pending + block, start)) from None
    if plain:
        state.multibyte += len(block) - len(text)
        return block
    return text.encode("utf-8", "surrogatepass")


def _sequences(data: bytes, end: int) -> int:
    return end - len(data[:end].decode("utf-8", "ignore"))


class UndecodableLine(Exception):
    """A line is not in the encoding expected; stays inside this package, and quotes nothing."""

    def __init__(self, line: int, multibyte: int):
        super().__init__()
        self.line = line
        self.multibyte = multibyte


def encoding_after(path: Path, fault: UndecodableLine, guessed: bool, encoding: str) -> str:
    """The encoding to read a file in that turned out not to be what it seemed, judged on the whole file."""
    if not guessed:
        raise WrongEncoding(path=str(path), encoding=encoding, line=fault.line)
    if not encoding.startswith("utf-8"):
        raise WrongEncoding(path=str(path), encoding=encoding, line=fault.line)
    if fault.multibyte > 0 or encoding == "utf-8-sig":
        raise MixedEncoding(path=str(path), line=fault.line)
    return guess_single_byte(_accents(path))


def _accents(path: Path) -> bytes:
    """Bytes above ASCII with their neighbours, from the whole file, up to a bound."""
    accents = bytearray()
    with translate_read_errors(path), path.open("rb") as stream:
        while len(accents) < _ENOUGH_ACCENTS and (block := stream.read(_BLOCK)):
            accents += accents_in_context(block) + b"\n"
    return bytes(accents)


def blank_lines_between(path: Path, quote: str) -> int:
    """Lines without a character between others; 0 when quotes occur, since a quoted text may hold such lines."""
    mark, between, waiting = quote.encode(), 0, 0
    with translate_read_errors(path), path.open("rb") as stream:
        for number, line in enumerate(stream):
            if mark and mark in line:
                return 0
            if line.strip(b"\r\n"):
                between, waiting = between + waiting, 0
            elif number:
                waiting += 1
    return between


def mixes_line_ends(path: Path) -> bool:
    """Whether some lines end in CR LF and others in LF alone."""
    feeds = returns = 0
    with translate_read_errors(path), path.open("rb") as stream:
        for line in stream:
            feeds += 1
            returns += line.endswith(b"\r\n")
    return 0 < returns < feeds


def write_plain_line_ends(path: Path, target: Path) -> None:
    """A copy of a UTF-8 text whose lines all end in LF."""
    with translate_write_errors(target.parent.parent), path.open("rb") as stream, target.open("wb") as sink:
        pending = b""
        while block := stream.read(_BLOCK):
            block = pending + block
            pending = block[-1:] if block[-1:] == b"\r" else b""
            sink.write((block[:-1] if pending else block).replace(b"\r\n", b"\n"))
        sink.write(pending)
