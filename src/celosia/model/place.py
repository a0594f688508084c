"""A source that stays where it lives: which table of which database, and its columns there. No address, no cell."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

PLACE_FORMAT = "celosia/place/1"
DATABASE = "CELOSIA_DATABASE"  # the variable that holds the address where nobody named another


@dataclass(frozen=True, slots=True)
class InPlace:
    """A table of PostgreSQL that is counted in place; column k is `columns[k]` there and `names[k]` here."""

    schema: str
    table: str
    columns: tuple[str, ...]
    names: tuple[str, ...]
    variable: str = DATABASE  # the environment variable that holds the address

    def as_dict(self) -> dict[str, Any]:
        """The place as its versioned JSON."""
        return {"format": PLACE_FORMAT, "engine": "postgresql", **asdict(self)}


def place_from(document: dict[str, Any]) -> InPlace:
    """The place that a versioned JSON describes; a KeyError or TypeError where it does not."""
    columns, names = (tuple(str(name) for name in document[key]) for key in ("columns", "names"))
    return InPlace(str(document["schema"]), str(document["table"]), columns, names, str(document["variable"]))
