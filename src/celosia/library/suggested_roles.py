"""What each column of a table seems to be: the proposals of `suggest`, as a list and by role."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from celosia import messages
from celosia.model.plain import plain_fields
from celosia.model.variables import Role, Variable


class SuggestedRoles(tuple[Variable, ...]):
    """The proposals in the order of the columns; `person` is the column that seems to identify persons."""

    person: str | None

    def __new__(cls, variables: Iterable[Variable], person: str | None = None) -> SuggestedRoles:
        """The proposals and the person key."""
        made = super().__new__(cls, tuple(variables))
        made.person = person
        return made

    @property
    def identifiers(self) -> list[str]:
        """Columns that identify people by themselves."""
        return self._names(Role.IDENTIFIER)

    @property
    def quasi(self) -> list[str]:
        """Columns that identify people together."""
        return self._names(Role.QUASI)

    @property
    def sensitive(self) -> list[str]:
        """Columns that nobody should learn of a person."""
        return self._names(Role.SENSITIVE)

    def _names(self, role: Role) -> list[str]:
        return [variable.name for variable in self if variable.role is role]

    def to_dict(self) -> dict[str, Any]:
        """The proposals as plain data."""
        return {"person": self.person, "variables": [plain_fields(variable) for variable in self]}

    def to_frame(self) -> Any:
        """The proposals as a pandas table, a row per column."""
        import pandas

        header, *rows = self._table()
        return pandas.DataFrame(rows, columns=header)

    def _table(self) -> list[list[str]]:
        header = [messages.text(f"library.role.{key}") for key in ("column", "role", "scale", "evidence")]
        return [header, *([v.name, str(v.role or ""), str(v.scale or ""), v.evidence] for v in self)]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {role}" for name, role, *_ in self._table()[1:])

    def _repr_html_(self) -> str:
        header, *rows = self._table()
        head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
