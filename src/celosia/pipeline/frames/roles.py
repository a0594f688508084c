"""Which column has which role, as the caller names them; a column nobody names may not identify anybody.

Knows names, proposals and the dictionary they make. Ignores rows. An explicit identifier that nobody names is refused:
it leaves only where `keep` says so. One that merely seems to describe persons leaves with a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

from celosia import messages
from celosia.model.errors import NothingChosen, RepeatedVariable
from celosia.model.schema import Schema
from celosia.model.variables import Role, Treatment, Variable
from celosia.pipeline.frames.errors import ColumnsWithoutRole, IdentifierLeftIn


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """The columns of a frame by role, as they were named."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    person: str | None = None
    identifiers: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every column that is named, as often as it is."""
        return (*self.quasi, *self.sensitive, *self.removed_names, *self.keep)

    @property
    def removed_names(self) -> tuple[str, ...]:
        """The columns that do not leave: identifiers and the key of the person."""
        person = () if self.person is None else (self.person,)
        return tuple(dict.fromkeys((*self.identifiers, *person)))


def refuse_wrong_names(columns: NamedColumns, schema: Schema) -> None:
    """Refuse a column that does not exist, and one with two roles."""
    if not columns.quasi:
        raise NothingChosen(option="quasi")
    for name in columns.all_names:
        schema.position(name)
        if columns.all_names.count(name) > 1:
            raise RepeatedVariable(variable=name)


def describe_by_role(
    columns: NamedColumns, proposed: Sequence[Variable], purpose: str
) -> tuple[tuple[Variable, ...], tuple[str, ...]]:
    """The dictionary that the roles make, and the columns without one that seem to describe persons."""
    unnamed = [variable for variable in proposed if variable.name not in columns.all_names]
    if identifying := [variable.name for variable in unnamed if variable.role is Role.IDENTIFIER]:
        raise IdentifierLeftIn(variables=", ".join(identifying))
    doubtful = tuple(v.name for v in unnamed if v.role in (Role.QUASI, Role.SENSITIVE))
    return tuple(_assign_role(variable, columns, purpose) for variable in proposed), doubtful


def warn_of_doubtful(names: Sequence[str]) -> None:
    """Say which columns leave as they are although they seem to describe persons."""
    if names:
        text = messages.text("library.columns_without_role", variables=", ".join(names))
        warnings.warn(text, ColumnsWithoutRole, stacklevel=4)


def _assign_role(variable: Variable, columns: NamedColumns, purpose: str) -> Variable:
    name = variable.name
    if name in columns.removed_names:
        return replace(variable, role=Role.IDENTIFIER, purpose="", treatment=Treatment.REMOVE)
    if name in columns.quasi:
        return replace(variable, role=Role.QUASI, purpose=purpose, treatment=Treatment.GENERALISE)
    role = Role.SENSITIVE if name in columns.sensitive else Role.PLAIN
    return replace(variable, role=role, purpose=purpose, treatment=Treatment.KEEP)
