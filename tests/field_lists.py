"""The fields that the page of formats lists for a file, to be compared with a file that was really written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
_WORD = re.compile(r"`(\w+)`")


def field_differences(
    language: str, heading: str, document: Mapping[str, Any], optional: frozenset[str] = frozenset()
) -> set[str]:
    """Fields that only the page or only the file has, and parts of a list's items that no line of the page names."""
    lines = _lines(language, heading)
    listed = {field for fields in lines for field in fields}
    given = set(document) - {"format"}
    parts = {
        part
        for fields, words in lines.items()
        for field in fields
        for part in _parts(document.get(field)) - words
        if len(fields) == 1 and len(words) > len(fields)  # a line that names parts names all of them
    }
    return (listed ^ given) - (optional - given) | parts


def _lines(language: str, heading: str) -> dict[tuple[str, ...], set[str]]:
    """The fields that open each line under a heading, and all code words of that line."""
    page = (DOCS / language / "formats.md").read_text("utf-8")
    section = page.partition(f"\n### `{heading}`\n")[2].partition("\n#")[0]
    lines = re.findall(r"^- ((?:`\w+`(?:, )?)+)(:.*)$", section, flags=re.M)
    return {tuple(_WORD.findall(opening)): set(_WORD.findall(opening + rest)) for opening, rest in lines}


def _parts(value: Any) -> set[str]:
    """The names of the parts of a list's items, as deep as lists go."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    return {name for item in items for key, part in item.items() for name in ({key} | _parts(part))}
