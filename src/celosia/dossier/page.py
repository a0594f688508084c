"""Self-contained HTML pages: one template, style inside, no script, no address of anything outside."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from celosia import messages
from celosia.dossier.document import Document, kind_of, printable

_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **values: Any) -> str:
    """A page in the current language; templates speak through `t`, `integer`, `decimal` and `percent`."""
    return (
        _environment()
        .get_template(template)
        .render(
            t=messages.text,
            integer=messages.integer,
            decimal=messages.decimal,
            percent=messages.percent,
            language=messages.language(),
            **values,
        )
    )


def to_html(document: Document) -> str:
    """The document as a self-contained page; every text is escaped by the template."""
    with messages.speaking(document.language):
        return render("document.html.j2", document=printable(document), kind_of=kind_of, drawn=Markup)
