"""The request of a project as a form shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RequestItem:
    """One item: how it is answered, its answer, whether the protocols demand it and whether it is missing."""

    key: str
    kind: str  # text, choice, flag, day, names (of the dictionary), texts or properties
    answer: Any
    demanded: bool
    missing: bool


@dataclass(frozen=True, slots=True)
class RequestVariable:
    """A variable that may be asked for; `direct` identifiers cannot be preserved in any property."""

    name: str
    role: str | None
    direct: bool


@dataclass(frozen=True, slots=True)
class RequestForm:
    """Every item that concerns a project, in the order of the file."""

    digest: str  # of request.toml
    written: bool
    items: tuple[RequestItem, ...]
    variables: tuple[RequestVariable, ...]
    limited: tuple[str, ...]
    properties: tuple[str, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The keys of the items that are demanded and not answered."""
        return tuple(item.key for item in self.items if item.missing)
