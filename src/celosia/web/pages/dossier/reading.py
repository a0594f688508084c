"""A document of the dossier as elements of a page: its own words, each shown as text; pictures by their caption."""

from __future__ import annotations

from functools import partial

from celosia.dossier.document import (
    Block,
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
from celosia.messages import text
from celosia.web.ui import html
from celosia.web.ui.html import Cell
from celosia.web.ui.verdicts import table_heads


def show_document(document: Document) -> None:
    """The whole document, in the language it is written in."""
    with html.tag("article", classes="c-document", lang=document.language):
        html.heading(document.title, 3)
        if document.subtitle:
            html.paragraph(document.subtitle, "c-soft")
        for block in document.blocks:
            _show_block(block, document.title)
        if document.mark:
            html.tag("small", document.mark)


def _show_block(block: Block, title: str) -> None:
    if isinstance(block, Heading):
        html.heading(block.text, min(block.level + 3, 6))
    elif isinstance(block, Paragraph):
        html.paragraph(block.text)
    elif isinstance(block, Items):
        with html.tag("ul"):
            for item in block.items:
                html.tag("li", item)
    elif isinstance(block, Note):
        html.note(block.text)
    elif isinstance(block, Picture):
        html.paragraph(text("web_dossier.picture", caption=block.caption or "–"), "c-soft")
    else:
        _show_rows(block, title)


def _show_rows(block: Fields | Table | Checks | Signatures, title: str) -> None:
    if isinstance(block, Fields):
        answers = [[label, answer or "–"] for label, answer in block.rows]
        html.table(table_heads("web_dossier", "field", "answer"), answers, title, classes="c-paper")
    elif isinstance(block, Table):
        rows = [[partial(_show_box, cell) if isinstance(cell, bool) else cell for cell in row] for row in block.rows]
        html.table(block.header, rows, title, numbers=block.right, classes="c-paper")
    elif isinstance(block, Checks):
        checks = [[question, _answer_text(ticked)] for question, ticked in block.rows]
        html.table(table_heads("web_dossier", "field", "answer"), checks, title, classes="c-paper")
    else:
        signers: list[list[Cell]] = [[signer.role, signer.name or "–", signer.when or "–"] for signer in block.signers]
        html.table(table_heads("release", "role", "name", "when"), signers, title)


def _show_box(ticked: bool) -> None:
    html.tag("span", "☑" if ticked else "☐", aria_hidden="true")
    html.tag("span", text(f"documents.box.{'ticked' if ticked else 'empty'}"), "c-hidden")


def _answer_text(ticked: bool | None) -> str:
    return "–" if ticked is None else text(f"documents.{'yes' if ticked else 'no'}")
