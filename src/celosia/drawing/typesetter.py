"""The optional library that sets PDF and PNG.

Knows whether typst is installed and what to say where it is not. Ignores what is set.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from celosia import messages
from celosia.model.errors import MissingExtra


def can_write_pdf() -> bool:
    """Whether the optional part that writes PDF is installed."""
    return find_spec("typst") is not None


def load_typst() -> ModuleType:
    """The library that writes PDF and PNG, an optional part; it is large, so it is loaded when a document is made."""
    try:
        return import_module("typst")
    except ModuleNotFoundError:
        raise MissingExtra(feature=messages.text("documents.pdf_feature"), extra="pdf") from None
