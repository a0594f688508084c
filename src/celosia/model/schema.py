"""Names of the columns of a table, and their plain names inside.

Inside, columns are c0…cn: `Edad` and `EDAD` collide in DuckDB and Spark, PostgreSQL cuts names at 63 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from celosia.model.errors import NothingChosen, RepeatedVariable, UnknownVariable


@dataclass(frozen=True, slots=True)
class Schema:
    """The user's names in their order; the inside name follows from the position."""

    names: tuple[str, ...]

    def inside(self, name: str) -> str:
        """The plain name of a column inside the engines."""
        return f"c{self.position(name)}"

    def position(self, name: str) -> int:
        """Position of a column, or an error that lists the names."""
        try:
            return self.names.index(name)
        except ValueError:
            raise UnknownVariable(variable=name, known=", ".join(self.names)) from None

    def checked_names(self, names: Iterable[str], option: str) -> tuple[str, ...]:
        """The chosen names, each known and named once, at least one."""
        chosen = tuple(names)
        if not chosen:
            raise NothingChosen(option=option)
        seen: set[str] = set()
        for name in chosen:
            self.position(name)
            if name in seen:
                raise RepeatedVariable(variable=name)
            seen.add(name)
        return chosen

    def without(self, dropped: Sequence[str]) -> Schema:
        """The schema less some columns."""
        return Schema(tuple(name for name in self.names if name not in set(dropped)))
