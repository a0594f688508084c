"""A document as .docx, for an office that will edit it: through python-docx, without author, host or real clock.

Knows tables, boxes and lines to sign. The same document and date give the same bytes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

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
    Signer,
    Table,
    printable,
)
from celosia.drawing.svg import png_bytes
from celosia.model.errors import MissingExtra

_TICKED, _EMPTY = "☒", "☐"
_GRID, _SIGNERS = "Table Grid", 3
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment a zip can hold
_LETTER, _A4 = (21.59, 27.94), (21.0, 29.7)  # centimetres
_SIDE = 2.2
_LOCALE = {"es": "es-CL", "en": "en-US"}


def to_docx(document: Document, now: datetime) -> bytes:
    """The document as a Word file, dated `now`."""
    try:
        import docx
    except ModuleNotFoundError:
        raise MissingExtra(feature=messages.text("documents.feature"), extra="office") from None
    document, made = printable(document), docx.Document()
    with messages.speaking(document.language):
        _set_paper(made, document)
        _set_properties(made, document, now)
        made.add_heading(document.title, 0)
        if document.subtitle:
            made.add_paragraph(document.subtitle)
        for block in document.blocks:
            _add(made, block)
    return _save_reproducibly(made)


def _set_paper(made: Any, document: Document) -> None:
    from docx.shared import Cm, Pt

    section = made.sections[0]
    width, height = _LETTER if document.paper == "us-letter" else _A4
    section.page_width, section.page_height = Cm(width), Cm(height)
    section.left_margin = section.right_margin = Cm(_SIDE)
    section.top_margin = section.bottom_margin = Cm(_SIDE)
    section.footer.paragraphs[0].text = document.mark
    made.styles["Normal"].font.size = Pt(10.5)
    made.styles["Title"].font.size = Pt(16)


def _set_properties(made: Any, document: Document, now: datetime) -> None:
    """Title, language and date; nobody's name and no trace of the template's author."""
    properties, when = made.core_properties, now.astimezone(UTC).replace(tzinfo=None, microsecond=0)
    properties.title, properties.language = document.title, document.language
    properties.author = properties.last_modified_by = properties.comments = properties.subject = properties.keywords = (
        properties.category
    ) = ""
    properties.created = properties.modified = when
    properties.revision = 1
    from docx.oxml.ns import qn

    language = made.styles.element.find(f".//{qn('w:lang')}")
    if language is not None:
        language.set(qn("w:val"), _LOCALE.get(document.language, document.language))


def _add(made: Any, block: Block) -> None:
    match block:
        case Heading(text, level):
            made.add_heading(text, level)
        case Paragraph(text):
            made.add_paragraph(text)
        case Note(text):
            made.add_paragraph(text, style="Intense Quote")
        case Items(items):
            for item in items:
                made.add_paragraph(item, style="List Bullet")
        case Picture():
            _add_picture(made, block)
        case Signatures(signers):
            for start in range(0, len(signers), _SIGNERS):
                _add_signers(made, signers[start : start + _SIGNERS])
        case _:
            _add_rows(made, block)


def _add_rows(made: Any, block: Fields | Checks | Table) -> None:
    """The three blocks that are a grid."""
    if isinstance(block, Fields):
        _add_grid(made, (), block.rows, (1.0, 1.8), ("left", "left"), bold=True)
    elif isinstance(block, Checks):
        header = ("", messages.text("documents.yes"), messages.text("documents.no"))
        rows = [(label, answer is True, answer is False) for label, answer in block.rows]
        _add_grid(made, header, rows, (6.0, 1.0, 1.0), ("left", "center", "center"))
    else:
        align = [block.alignment(column) for column in range(len(block.header))]
        _add_grid(made, block.header, block.rows, block.columns(), align)


def _add_grid(
    made: Any,
    header: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    widths: Sequence[float],
    align: Sequence[str],
    bold: bool = False,
) -> None:
    grid = made.add_table(rows=0, cols=len(widths), style=_GRID)
    grid.autofit = False
    if header:
        _fill(grid.add_row(), header, align, {*range(len(header))})
        _repeat(grid.rows[0])
    for row in rows:
        _fill(grid.add_row(), row, align, {0} if bold else set())
    _set_widths(made, grid, widths)
    made.add_paragraph()


def _fill(line: Any, cells: Sequence[Cell], align: Sequence[str], strong: set[int]) -> None:
    from docx.enum.text import WD_ALIGN_PARAGRAPH

    sides = {"left": WD_ALIGN_PARAGRAPH.LEFT, "right": WD_ALIGN_PARAGRAPH.RIGHT, "center": WD_ALIGN_PARAGRAPH.CENTER}
    for column, value in enumerate(cells):
        text = (_TICKED if value else _EMPTY) if isinstance(value, bool) else value
        paragraph = line.cells[column].paragraphs[0]
        paragraph.alignment = sides[align[column]]
        paragraph.add_run(text).bold = column in strong


def _repeat(line: Any) -> None:
    """The header again on every page."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    mark = OxmlElement("w:tblHeader")
    mark.set(qn("w:val"), "true")
    line._tr.get_or_add_trPr().append(mark)


def _set_widths(made: Any, grid: Any, widths: Sequence[float]) -> None:
    section = made.sections[0]
    room = section.page_width - section.left_margin - section.right_margin
    for column, width in enumerate(widths):
        for cell in grid.columns[column].cells:
            cell.width = int(room * width / sum(widths))


def _add_signers(made: Any, signers: Sequence[Signer]) -> None:
    from docx.shared import Pt

    grid = made.add_table(rows=3, cols=len(signers), style=_GRID)
    for column, signer in enumerate(signers):
        grid.cell(0, column).paragraphs[0].add_run(signer.role).bold = True
        run = grid.cell(1, column).paragraphs[0].add_run(signer.signature or "\n\n\n")
        run.font.size = Pt(6)
        name, when = messages.text("documents.signer.name"), messages.text("documents.signer.when")
        grid.cell(2, column).text = f"{name}: {signer.name}\n{when}: {signer.when}"
    made.add_paragraph()


def _add_picture(made: Any, block: Picture) -> None:
    section = made.sections[0]
    room = section.page_width - section.left_margin - section.right_margin
    made.add_picture(io.BytesIO(png_bytes(block.svg)), width=room)
    made.add_paragraph(block.caption, style="Caption")


def _save_reproducibly(made: Any) -> bytes:
    """The file with the same moment on every part of it."""
    draft, out = io.BytesIO(), io.BytesIO()
    made.save(draft)
    with zipfile.ZipFile(draft) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, _EPOCH), old.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()
