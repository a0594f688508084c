"""A document as one HTML page: style inside, no script, no address of anything outside, ready to be printed."""

from __future__ import annotations

from markupsafe import Markup

from celosia import messages
from celosia.dossier._document import Document, kind_of, printable
from celosia.dossier._page import render


def to_html(document: Document) -> str:
    """The document as a self-contained page; every text is escaped by the template."""
    with messages.speaking(document.language):
        return render("document.html.j2", document=printable(document), kind_of=kind_of, drawn=Markup)
