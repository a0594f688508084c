"""A document as plain text, for whoever reads it in a terminal before signing it.

Knows blocks. A picture cannot be shown: its caption stands for it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from celosia import messages
from celosia.dossier.document import (
    Block,
    Cell,
    Checks,
    Document,
    Fields,
    Heading,
    Items,
    Note,
    Paragraph,
    Picture,
    Signatures,
    Table,
)

_BOXES = {True: "[x]", False: "[ ]"}


def to_text(document: Document, width: int = 100) -> str:
    """The document, at most `width` columns wide where words allow it."""
    title = [document.title, "=" * len(document.title), *([document.subtitle] if document.subtitle else [])]
    parts = ["\n".join(title), *(_block_text(block, width) for block in document.blocks)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block_text(block: Block, width: int) -> str:
    match block:
        case Heading(text=text):
            return f"{text}\n{'-' * len(text)}"
        case Paragraph(text=text) | Note(text=text):
            return textwrap.fill(text, width)
        case Items(items=items):
            return "\n".join(_hanging("- ", item, width) for item in items)
        case Fields(rows=rows):
            return "\n".join(_hanging(f"{label}: ", value or "…", width) for label, value in rows)
        case Checks(rows=rows):
            return "\n".join(f"{_answer_boxes(answer)}  {question}" for question, answer in rows)
        case Signatures(signers=signers):
            return "\n".join(f"{signer.role}: {signer.name or '…'}  {signer.when}".rstrip() for signer in signers)
        case Picture(caption=caption):
            return caption
        case Table():
            return _table_text(block, width)


def _hanging(start: str, text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent=start, subsequent_indent="  ")


def _answer_boxes(answer: bool | None) -> str:
    yes, no = (messages.text(f"dictionary.answer.{word}") for word in ("yes", "no"))
    return f"{yes} {_BOXES[answer is True]} {no} {_BOXES[answer is False]}"


def _table_text(table: Table, width: int) -> str:
    """The table with its cells wrapped, so that a long one does not push the others off the line."""
    rows: list[Sequence[Cell]] = [table.header, *table.rows]
    cells = [[_BOXES[cell] if isinstance(cell, bool) else cell for cell in row] for row in rows]
    widths = _column_widths(cells, table.columns(), width)
    lines = [_row_text(row, widths) for row in cells]
    return "\n".join([lines[0], "  ".join("-" * size for size in widths), *lines[1:]])


def _column_widths(cells: Sequence[Sequence[str]], shares: Sequence[float], width: int) -> list[int]:
    """As wide as the longest cell where all fit side by side; else in the proportions of the page."""
    longest = [max(len(row[column]) for row in cells) for column in range(len(shares))]
    room = width - 2 * (len(shares) - 1)
    if sum(longest) <= room:
        return longest
    return [max(3, min(size, int(room * share / sum(shares)))) for size, share in zip(longest, shares, strict=True)]


def _row_text(row: Sequence[str], widths: Sequence[int]) -> str:
    wrapped = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
    height = max(len(lines) for lines in wrapped)
    columns = [
        [line.ljust(size) for line in (*lines, *[""] * (height - len(lines)))]
        for lines, size in zip(wrapped, widths, strict=True)
    ]
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))
