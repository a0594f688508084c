"""A document as PDF, by typst: one fixed layout, the fonts of the wheel, no network, the same bytes each time.

Knows how a document becomes data for the layout. The text of a document is never part of the layout's source.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from celosia import messages
from celosia.dossier.document import Block, Document, Signatures, Table, kind_of, printable
from celosia.drawing.typesetter import load_typst
from celosia.errors import InternalFault

_LAYOUT = Path(__file__).parent / "templates" / "document.typ"
_PIECE = 43  # characters of a signature on one line of its box


def to_pdf(document: Document, now: datetime) -> bytes:
    """The document as PDF, dated `now`; equal documents and dates give equal bytes."""
    with messages.speaking(document.language):
        data = document_data(document)
    return _compile_typst(
        _LAYOUT.read_bytes(), {"document": json.dumps(data, ensure_ascii=False)}, _epoch_seconds(now), "pdf"
    )


def to_png(document: Document, now: datetime, ppi: float = 90.0) -> tuple[bytes, ...]:
    """The pages of the same layout as pictures."""
    with messages.speaking(document.language):
        data = document_data(document)
    made = _compile_typst(
        _LAYOUT.read_bytes(), {"document": json.dumps(data, ensure_ascii=False)}, _epoch_seconds(now), "png", ppi
    )
    return tuple(made) if isinstance(made, list) else (made,)


def document_data(document: Document) -> dict[str, Any]:
    """All that the layout is given."""
    document = printable(document)
    return {
        "title": document.title,
        "subtitle": document.subtitle,
        "language": document.language,
        "paper": document.paper,
        "mark": document.mark,
        "blocks": [_block(block) for block in document.blocks],
        "words": {
            "page": messages.text("documents.page"),
            "of": messages.text("documents.of"),
            "yes": messages.text("documents.yes"),
            "no": messages.text("documents.no"),
            "name": messages.text("documents.signer.name"),
            "when": messages.text("documents.signer.when"),
        },
    }


def _block(block: Block) -> dict[str, Any]:
    data = {"kind": kind_of(block), **asdict(block)}
    if isinstance(block, Table):
        data["widths"] = block.columns()
        data["align"] = [block.alignment(column) for column in range(len(block.header))]
    if isinstance(block, Signatures):
        for signer in data["signers"]:
            text = signer["signature"]
            signer["pieces"] = [text[at : at + _PIECE] for at in range(0, len(text), _PIECE)]
    return data


def _epoch_seconds(now: datetime) -> int:
    """Seconds since 1970: no zone of the machine gets into the file."""
    return int(now.astimezone(UTC).timestamp())


def _compile_typst(
    source: bytes, inputs: dict[str, str], when: int, form: Literal["pdf", "png"], ppi: float | None = None
) -> Any:
    typst = load_typst()
    try:
        compiler = typst.Compiler(source, ignore_system_fonts=True, sys_inputs=inputs)
        return compiler.compile(format=form, timestamp=when, ppi=ppi)
    except RuntimeError:  # typst quotes the document
        raise InternalFault(where=_LAYOUT.name) from None
