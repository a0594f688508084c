"""What a screen may show of a table: rows already veiled, and how the source would be read. `celosia/preview/1`.

Knows texts that have passed the one door (`data/preview`). Ignores where they come from.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from celosia.model.sources import ReadingChoices

FORMAT = "celosia/preview/1"


@dataclass(frozen=True, slots=True)
class PreviewColumn:
    """One column on the screen; its role is the dictionary's, or the one proposed where there is no dictionary yet."""

    name: str
    role: str = ""
    scale: str = ""
    label: str = ""
    evidence: str = ""
    veiled: bool = True
    refused: str = ""  # what the column holds, where it cannot be imported


@dataclass(frozen=True, slots=True)
class Preview:
    """Some rows of a table, veiled; `total` is the number of all rows where it is known."""

    columns: tuple[PreviewColumn, ...]
    rows: tuple[tuple[str, ...], ...]
    offset: int = 0
    total: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The rows as their versioned JSON."""
        return {"format": FORMAT, **asdict(self)}


@dataclass(frozen=True, slots=True)
class SourcePreview:
    """How a source would be read, what was noticed, and its first rows, veiled."""

    name: str  # of the file or table, without folder, user or password
    choices: ReadingChoices
    tables: tuple[str, ...]  # sheets of a workbook, tables of a database
    preview: Preview
    person: str | None = None  # the column that seems to tell one person from another, among the rows looked at
    looked_at: int = 0  # rows behind the proposals

    @property
    def notices(self) -> tuple[str, ...]:
        """What was noticed, in the current language."""
        return tuple(note.text() for note in self.choices.notes)

    def as_dict(self) -> dict[str, Any]:
        """The report as its versioned JSON."""
        reading = {key: value for key, value in asdict(self.choices).items() if key != "notes"}
        return {
            **self.preview.as_dict(),
            "name": self.name,
            "reading": reading,
            "notices": list(self.notices),
            "tables": list(self.tables),
            "person": self.person,
            "looked_at": self.looked_at,
        }
