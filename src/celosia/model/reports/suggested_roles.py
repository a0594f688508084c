"""What each column of a table seems to be: the answer of `suggest`, with the roles by name.

Knows the lines of a dictionary. Ignores how they are proposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from celosia import messages
from celosia.model.plain import plain
from celosia.model.reports.report import Records, Report
from celosia.model.variables import Role, Variable

SUGGESTION_FORMAT = "celosia/suggest/1"


@dataclass(frozen=True, slots=True, repr=False)
class SuggestedRoles(Report):
    """One line per column, in the order of the table; it is read like a tuple of variables."""

    variables: tuple[Variable, ...]
    person: str | None = None  # the column that seems to tell one person from another

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def __getitem__(self, position: int) -> Variable:
        return self.variables[position]

    def with_role(self, role: Role) -> list[str]:
        """The columns of one role."""
        return [variable.name for variable in self.variables if variable.role == role]

    @property
    def identifiers(self) -> list[str]:
        """The columns that name somebody by themselves."""
        return self.with_role(Role.IDENTIFIER)

    @property
    def quasi(self) -> list[str]:
        """The columns by which somebody could be recognised together."""
        return self.with_role(Role.QUASI)

    @property
    def sensitive(self) -> list[str]:
        """The columns that would harm somebody if they were known."""
        return self.with_role(Role.SENSITIVE)

    @property
    def summary(self) -> str:
        """How many columns have each role."""
        return messages.text(
            "reports.summary.suggest",
            count=len(self.variables),
            identifiers=len(self.identifiers),
            quasi=len(self.quasi),
            sensitive=len(self.sensitive),
        )

    def records(self) -> Records:
        """One line per column, with the evidence."""
        return [
            {
                "variable": variable.name,
                "role": plain(variable.role),
                "scale": plain(variable.scale),
                "kind": plain(variable.kind),
                "evidence": variable.evidence,
            }
            for variable in self.variables
        ]

    def words(self) -> Records:
        """The same with the roles in words."""
        return [
            {**line, "role": messages.text(f"dictionary.role.{line['role']}") if line["role"] else None}
            for line in self.records()
        ]

    def as_dict(self) -> dict[str, Any]:
        """The lines as the command line writes them with --json."""
        return {"format": SUGGESTION_FORMAT, "variables": [asdict(variable) for variable in self.variables]}
