"""What a project's celosia.toml says, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.model.sources import Source

FORMAT = "celosia/project/1"
PROTOCOLS = ("minsal", "atenea", "mel", "minsal-sensible")


@dataclass(frozen=True, slots=True)
class ProjectConfig:
    """Name, language, protocols, source and unit of a project."""

    name: str
    language: str
    protocols: tuple[str, ...]
    source: Source
    person: str | None = None  # the key of the person behind each row, where there is one
    household: str | None = None  # the column that ties the rows of one household together
