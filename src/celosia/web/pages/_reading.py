"""A document of the dossier as elements of a page: its own words, each shown as text; pictures by their caption."""

from __future__ import annotations

from functools import partial

from celosia.dossier import Block, Cell, Checks, Document, Fields, Heading, Items, Note, Paragraph, Picture, Signatures
from celosia.dossier import Table as Grid
from celosia.web._widgets import Cell as Shown
from celosia.web._widgets import heading, note, paragraph, table, tag, word
from celosia.web.pages._signing import heads


def show_document(document: Document) -> None:
    """The whole document, in the language it is written in."""
    with tag("article", classes="c-document", lang=document.language):
        heading(document.title, 3)
        if document.subtitle:
            paragraph(document.subtitle, "c-soft")
        for block in document.blocks:
            _block(block, document.title)
        if document.mark:
            tag("small", document.mark)


def _block(block: Block, title: str) -> None:
    if isinstance(block, Heading):
        heading(block.text, min(block.level + 3, 6))
    elif isinstance(block, Paragraph):
        paragraph(block.text)
    elif isinstance(block, Items):
        with tag("ul"):
            for item in block.items:
                tag("li", item)
    elif isinstance(block, Note):
        note(block.text)
    elif isinstance(block, Picture):
        paragraph(word("web_dossier.picture", caption=block.caption or "–"), "c-soft")
    else:
        _rows(block, title)


def _rows(block: Fields | Grid | Checks | Signatures, title: str) -> None:
    if isinstance(block, Fields):
        columns = heads("web_dossier", "field", "answer")
        table(columns, [[name, text or "–"] for name, text in block.rows], title, classes="c-paper")
    elif isinstance(block, Grid):
        rows = [[_cell(cell) for cell in row] for row in block.rows]
        table(block.header, rows, title, numbers=block.right, classes="c-paper")
    elif isinstance(block, Checks):
        columns = heads("web_dossier", "field", "answer")
        table(columns, [[text, _answer(ticked)] for text, ticked in block.rows], title, classes="c-paper")
    else:
        columns = heads("release", "role", "name", "when")
        table(columns, [[one.role, one.name or "–", one.when or "–"] for one in block.signers], title)


def _cell(cell: Cell) -> Shown:
    if isinstance(cell, bool):
        return partial(_box, cell)
    return cell


def _box(ticked: bool) -> None:
    tag("span", "☑" if ticked else "☐", aria_hidden="true")
    tag("span", word(f"documents.box.{'ticked' if ticked else 'empty'}"), "c-hidden")


def _answer(ticked: bool | None) -> str:
    return "–" if ticked is None else word(f"documents.{'yes' if ticked else 'no'}")
