"""Where the words of a form stand on its pages, and whether the visible stamp of a signature is laid over them.

Knows the content streams that the typesetter of the forms writes, and annotations. Ignores what the words say and who
signed. A stamp is no part of the form, and whoever signs it chooses what it draws and where. Source: ISO 32000-2, 8.3
(coordinates), 9.4 (text), 12.5 (annotations).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pyhanko.pdf_utils.generic import IndirectObject
from pyhanko.pdf_utils.reader import PdfFileReader

_SLACK = 1.0  # points that a stamp may touch of a word's box, which is higher than its letters
_ASCENT, _DESCENT = 0.7, 0.2  # of the size of a font
_TOKEN = re.compile(rb"\s+|%[^\r\n]*|<<|>>|[\[\]]|/[^\s()<>\[\]/%]*|<[0-9A-Fa-f\s]*>|[^\s()<>\[\]/%]+")
_SPECIAL = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r\n|.)", re.DOTALL)


class Box(NamedTuple):
    """A rectangle on a page, in points from its lower left corner."""

    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: Box) -> bool:
        """Whether two rectangles share more than the slack."""
        wide = min(self.right, other.right) - max(self.left, other.left)
        high = min(self.top, other.top) - max(self.bottom, other.bottom)
        return wide > _SLACK and high > _SLACK


class _Matrix(NamedTuple):
    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    e: float = 0.0
    f: float = 0.0

    def then(self, after: _Matrix) -> _Matrix:
        a, b, c, d, e, f = self
        g, h, i, j, k, m = after
        return _Matrix(a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        corners = [(x, y) for x in (left, right) for y in (bottom, top)]
        places = [(self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f) for x, y in corners]
        across, along = [x for x, _ in places], [y for _, y in places]
        return Box(min(across), min(along), max(across), max(along))


def covers_words(signed: PdfFileReader, form: PdfFileReader) -> bool:
    """Whether any field or note that a signed PDF shows lies over words or pictures of the form."""
    pages = zip(_pages(signed.root["/Pages"]), _pages(form.root["/Pages"]), strict=True)
    return any(stamp.meets(word) for page, own in pages for stamp in _added_boxes(page, own) for word in words_of(own))


def _pages(node: Any) -> Iterator[Any]:
    for kid in map(_object, node["/Kids"]):
        if "/Kids" in kid:
            yield from _pages(kid)
        else:
            yield kid


def _object(part: Any) -> Any:
    """What a list holds, where it holds a reference to it."""
    return part.get_object() if isinstance(part, IndirectObject) else part


def _added_boxes(page: Any, own: Any) -> list[Box]:
    """The rectangles of the annotations that a page has beyond the form's."""
    boxes, before = ([_rectangle(_object(each)) for each in every.get("/Annots", ())] for every in (page, own))
    return [box for box in boxes if box not in before]


def _rectangle(annotation: Any) -> Box:
    return _Matrix().box(*(float(number) for number in annotation["/Rect"]))


def words_of(page: Any) -> list[Box]:
    """The rectangles of every run of words and every picture of a page, in the order in which they are drawn."""
    return list(_word_boxes(page["/Contents"].data, page["/Resources"], _Matrix()))


def _word_boxes(content: bytes, resources: Any, start: _Matrix) -> Iterator[Box]:
    matrix, text, size, font = start, _Matrix(), 0.0, ""
    saved_matrices: list[_Matrix] = []
    operands: list[Any] = []
    for token in _tokens(content):
        if not isinstance(token, str):
            operands.append(token)
            continue
        if token == "q":
            saved_matrices.append(matrix)
        elif token == "Q":
            matrix = saved_matrices.pop()
        elif token == "cm":
            matrix = _Matrix(*operands[-6:]).then(matrix)
        elif token == "Tm":
            text = _Matrix(*operands[-6:])
        elif token == "Tf":
            font, size = operands[-2].decode(), operands[-1]
        elif token in ("TJ", "Tj"):
            shown = _width(operands, _widths(resources["/Font"][font])) * size / 1000
            yield text.then(matrix).box(0, -_DESCENT * size, shown, _ASCENT * size)
        elif token == "Do":
            yield from _picture(resources["/XObject"][operands[-1].decode()], resources, matrix)
        operands = []


def _picture(drawing: Any, resources: Any, matrix: _Matrix) -> Iterator[Box]:
    """A picture fills the unit square; a drawing within another has words of its own."""
    if drawing["/Subtype"] == "/Image":
        yield matrix.box(0, 0, 1, 1)
        return
    own = _Matrix(*(float(number) for number in drawing.get("/Matrix", _Matrix())))
    yield from _word_boxes(drawing.data, drawing.get("/Resources", resources), own.then(matrix))


def _width(operands: list[Any], widths: Mapping[int, float]) -> float:
    """How long a run of glyphs of two bytes is, in thousandths of the size of its font."""
    length = 0.0
    for part in operands:
        if isinstance(part, bytes):
            length += sum(widths.get(int.from_bytes(part[at : at + 2]), 1000.0) for at in range(0, len(part), 2))
        else:
            length -= part
    return length


def _widths(font: Any) -> dict[int, float]:
    """The width of each glyph of a font (ISO 32000-2, 9.7.4.3)."""
    listed = list(map(_object, _object(font["/DescendantFonts"][0]).get("/W", ())))
    widths: dict[int, float] = {}
    while listed:
        first, second = int(listed.pop(0)), listed.pop(0)
        if isinstance(second, list):
            widths |= {first + place: float(width) for place, width in enumerate(second)}
        else:
            widths |= dict.fromkeys(range(first, int(second) + 1), float(listed.pop(0)))
    return widths


# --- tokens ---------------------------------------------------------------------------------------


def _tokens(content: bytes) -> Iterator[Any]:
    """Numbers, names and strings as they are, and operators as text; brackets are left out."""
    place = 0
    while place < len(content):
        if content[place : place + 1] == b"(":
            end = _end_of_string(content, place)
            yield _ESCAPE.sub(_unescape, content[place + 1 : end - 1])
            place = end
            continue
        match = _TOKEN.match(content, place)
        if match is None:
            raise ValueError
        place, word = match.end(), match[0]
        if word.strip() and not word.startswith((b"%", b"[", b"]", b"<<", b">>")):
            yield _value(word)


def _value(word: bytes) -> Any:
    if word.startswith(b"/"):
        return word
    if word.startswith(b"<"):
        return bytes.fromhex(word[1:-1].decode("ascii"))
    try:
        return float(word)
    except ValueError:
        return word.decode("latin-1")


def _end_of_string(content: bytes, start: int) -> int:
    """Where a string in parentheses ends, which may hold others."""
    depth, place = 0, start
    while place < len(content):
        sign = content[place : place + 1]
        depth += {b"(": 1, b")": -1}.get(sign, 0)
        place += 2 if sign == b"\\" else 1
        if depth == 0:
            return place
    raise ValueError


def _unescape(escape: re.Match[bytes]) -> bytes:
    sign = escape[1]
    if sign[:1].isdigit() and sign[:1] < b"8":
        return bytes([int(sign, 8) & 255])
    return b"" if sign in (b"\n", b"\r", b"\r\n") else _SPECIAL.get(sign, sign)
