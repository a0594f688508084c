"""The text of a PDF made by typst, read back with the standard library: fonts, their character maps, shown strings."""

from __future__ import annotations

import re
import zlib

_STREAM = rb"\n(\d+) 0 obj\s*<<((?:(?!endobj).)*?)>>\s*stream\r?\n(.*?)\r?\nendstream"
_SHOWN = rb"/(f\d+) [\d.]+ Tf|\[((?:\((?:\\.|[^\\)])*\)|[^\]])*)\]\s*TJ|(\((?:\\.|[^\\)])*\))\s*Tj"
_ESCAPES = {b"n": 10, b"r": 13, b"t": 9, b"b": 8, b"f": 12}


def text_of(pdf: bytes) -> str:
    """Every text of the pages, in the order in which it is drawn, and the document's own metadata."""
    objects = {int(m[1]): m[2] for m in re.finditer(rb"\n(\d+) 0 obj(.*?)\nendobj", pdf, re.S)}
    streams = {int(m[1]): _unpacked(m[2], m[3]) for m in re.finditer(_STREAM, pdf, re.S)}
    pages = [body for body in objects.values() if body.lstrip().startswith(b"<</Type/Page/")]
    drawn = [_shown(streams[_named(body, b"Contents")], _fonts(body, objects, streams)) for body in pages]
    plain = [stream.decode("utf-8", "replace") for stream in streams.values() if stream.startswith(b"<?xpacket")]
    return re.sub(r"[\s\u200b]+", " ", " ".join([*drawn, *plain]))


def _fonts(page: bytes, objects: dict[int, bytes], streams: dict[int, bytes]) -> dict[bytes, dict[int, str]]:
    listed = re.search(rb"/Font<<(.*?)>>", objects[_named(page, b"Resources")], re.S)
    found = re.findall(rb"/(f\d+) (\d+) 0 R", listed[1] if listed else b"")
    return {name: _characters(streams[_named(objects[int(number)], b"ToUnicode")]) for name, number in found}


def _named(body: bytes, key: bytes) -> int:
    found = re.search(rb"/" + key + rb" (\d+) 0 R", body)
    assert found, key
    return int(found[1])


def _unpacked(header: bytes, body: bytes) -> bytes:
    try:
        return zlib.decompress(body) if b"FlateDecode" in header else body
    except zlib.error:
        return b""


def _characters(cmap: bytes) -> dict[int, str]:
    pairs = re.findall(rb"<([0-9A-F]{4})> <([0-9A-F]+)>", cmap)
    return {int(code, 16): bytes.fromhex(found.decode()).decode("utf-16-be", "replace") for code, found in pairs}


def _shown(stream: bytes, fonts: dict[bytes, dict[int, str]]) -> str:
    found, font = [], {}
    for m in re.finditer(_SHOWN, stream, re.S):
        if m[1]:
            font = fonts.get(m[1], {})
            continue
        raw = b"".join(_bytes(one) for one in re.findall(rb"\(((?:\\.|[^\\)])*)\)", m[2] or m[3], re.S))
        found.append("".join(font.get(raw[i] << 8 | raw[i + 1], "?") for i in range(0, len(raw) - 1, 2)))
    return "\n".join(found)


def _bytes(escaped: bytes) -> bytes:
    def one(m: re.Match[bytes]) -> bytes:
        if m[1][:1].isdigit():
            return bytes([int(m[1], 8)])
        return bytes([_ESCAPES.get(m[1], m[1][0])])

    return re.sub(rb"\\([0-7]{1,3}|.)", one, escaped, flags=re.S)
