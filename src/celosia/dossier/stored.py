"""A document as JSON: what people signed is kept as it was read, and printed again from there.

Knows the blocks of a document. Ignores what they say. The text of a document is its only spelling, so that its digest
stands for every word in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
    Signer,
    Table,
    kind_of,
)
from celosia.model.errors import UnknownFormat
from celosia.model.plain import plain_fields

FORM_FORMAT = "celosia/form/1"
_KINDS: Mapping[str, type[Block]] = {
    kind.__name__.lower(): kind
    for kind in (Heading, Paragraph, Items, Fields, Table, Checks, Signatures, Picture, Note)
}


def document_text(document: Document) -> str:
    """A document as its versioned JSON."""
    blocks = [{"kind": kind_of(block), **plain_fields(block)} for block in document.blocks]
    content = {"format": FORM_FORMAT, **plain_fields(document, "title subtitle language paper mark"), "blocks": blocks}
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def document_from(text: str, path: str) -> Document:
    """A document from its JSON."""
    content = json.loads(text)
    if content.get("format") != FORM_FORMAT:
        raise UnknownFormat(path=path, found=str(content.get("format")), expected=FORM_FORMAT)
    blocks = tuple(_block(block) for block in content["blocks"])
    words = {key: str(content[key]) for key in ("title", "subtitle", "language", "paper", "mark")}
    return Document(blocks=blocks, **words)


def _block(content: Mapping[str, Any]) -> Block:
    values = {key: _tuples(value) for key, value in content.items() if key != "kind"}
    if content["kind"] == "signatures":
        return Signatures(tuple(Signer(**signer) for signer in content["signers"]))
    return _KINDS[content["kind"]](**values)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
