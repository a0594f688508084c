"""A document before it has a format: a title and blocks of plain text, figures and boxes.

Knows text that somebody already put into words. Ignores HTML, PDF and Word: each renderer escapes for itself, so a
block never holds markup. Nothing here reads data: the few published rows of an approval sheet are handed over as text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

Cell = str | bool  # a bool is a box: ticked or not
PAPERS = ("us-letter", "a4")  # Chile and Colombia print on letter


@dataclass(frozen=True, slots=True)
class Heading:
    """A title inside the document; level 1 is the larger."""

    text: str
    level: int = 1


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list of short texts."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """Items of a form: a label and what was answered; nothing answered is an empty box to be filled by hand."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A header and rows; `widths` are relative, `right` names the columns that hold figures."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    widths: tuple[float, ...] = ()
    right: tuple[int, ...] = ()

    def columns(self) -> tuple[float, ...]:
        """The relative width of every column."""
        return self.widths or (1.0,) * len(self.header)

    def alignment(self, column: int) -> str:
        """Figures to the right, boxes in the middle, words to the left."""
        boxes = any(isinstance(row[column], bool) for row in self.rows)
        return "right" if column in self.right else "center" if boxes else "left"


@dataclass(frozen=True, slots=True)
class Checks:
    """Questions of yes or no; None leaves both boxes empty."""

    rows: tuple[tuple[str, bool | None], ...]


@dataclass(frozen=True, slots=True)
class Signer:
    """A place to sign: whose, and what was signed if it was."""

    role: str
    name: str = ""
    when: str = ""
    signature: str = ""  # hexadecimal, of the Ed25519 signature


@dataclass(frozen=True, slots=True)
class Signatures:
    """Places to sign."""

    signers: tuple[Signer, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing as SVG text, made by this room, and what it shows in words."""

    svg: str
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark set apart from the text."""

    text: str


Block = Heading | Paragraph | Items | Fields | Table | Checks | Signatures | Picture | Note


@dataclass(frozen=True, slots=True)
class Document:
    """What every renderer is given."""

    title: str
    subtitle: str
    language: str
    blocks: tuple[Block, ...]
    paper: str = PAPERS[0]
    mark: str = ""  # printed at the foot of every page: internal, draft


def table_of(
    header: Sequence[str], rows: Sequence[Sequence[Cell]], widths: Sequence[float] = (), right: Sequence[int] = ()
) -> Table:
    """A table from lists."""
    return Table(tuple(header), tuple(tuple(row) for row in rows), tuple(widths), tuple(right))


def kind_of(block: Block) -> str:
    """The name a renderer knows a block by."""
    return type(block).__name__.lower()


_Any = TypeVar("_Any")
_SPACES = "\n\t"


def printable(part: _Any) -> _Any:
    """The same document, block or text without characters that no page can show: controls and halves of a pair."""
    cleaned: Any = part
    if isinstance(part, str):
        cleaned = "".join(c for c in part if c in _SPACES or unicodedata.category(c) not in ("Cc", "Cs"))
    elif isinstance(part, tuple):
        cleaned = tuple(printable(item) for item in part)
    elif is_dataclass(part) and not isinstance(part, type):
        cleaned = type(part)(**{attribute.name: printable(getattr(part, attribute.name)) for attribute in fields(part)})
    return cleaned
