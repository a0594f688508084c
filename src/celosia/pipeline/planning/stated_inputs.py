"""Roles, hierarchies and levels that a call of `plan` states, written where the project keeps them before the search.

Knows dictionary.csv, hierarchies/ and [hierarchies] of celosia.toml. Ignores what is searched. Nothing is written
unless every name is known and every column that is to leave has a purpose: what is judged and signed later is what
the files say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from celosia.hierarchy.csv import write_csv
from celosia.model import dictionary
from celosia.model.errors import RepeatedVariable
from celosia.model.schema import Schema
from celosia.model.variables import Role, Treatment, Variable
from celosia.pipeline.intake.open_table import open_table
from celosia.pipeline.planning.errors import PurposeMissing
from celosia.pipeline.planning.given_hierarchies import GivenHierarchies, read_given_hierarchies
from celosia.pipeline.planning.steps import apply_project_steps
from celosia.pipeline.project.arguments import utc_now
from celosia.pipeline.project.edits import edit_settings
from celosia.pipeline.project.folder import Project, ProjectArg, open_for_editing, open_project
from celosia.pipeline.project.journal import append_entry
from celosia.storage import atomic_write

Bounds = int | tuple[int, int]


@dataclass(frozen=True, slots=True)
class StatedInputs:
    """What a call states besides the policy; what it leaves out stays as the project has it."""

    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    purpose: str = ""  # of the columns named here that have none yet
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    levels: Mapping[str, Bounds] = field(default_factory=dict)

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every column that gets a role."""
        return (*self.quasi, *self.sensitive, *self.identifiers)


def write_stated_inputs(folder: ProjectArg, stated: StatedInputs, now: datetime | None = None) -> None:
    """Write roles, hierarchies and levels into the project, each with its line in the journal."""
    project, when = open_project(folder), utc_now(now)
    if stated.all_names:
        _write_roles(project, stated, when)
    if stated.hierarchies or stated.levels:
        _write_hierarchies(open_project(project.folder), stated, when)


def _write_roles(project: Project, stated: StatedInputs, when: datetime) -> None:
    with open_for_editing(project, project.paths.dictionary) as current:
        before = current.variables
        _refuse_wrong_names(before, stated)
        after = [_with_role(variable, stated) for variable in before]
        without = [v.name for v in after if v.name in (*stated.quasi, *stated.sensitive) and not v.purpose.strip()]
        if without:
            raise PurposeMissing(variables=", ".join(without))
        changed = sum(old != new for old, new in zip(before, after, strict=True))
        if not changed:
            return
        with atomic_write(project.paths.dictionary, 0o644) as draft:
            draft.write_text(dictionary.dump(after), "utf-8", newline="\n")
        append_entry(project.paths.journal, "dictionary", when, {"changed": changed}, why=stated.purpose)


def _refuse_wrong_names(variables: Sequence[Variable], stated: StatedInputs) -> None:
    schema = Schema(tuple(variable.name for variable in variables))
    for name in stated.all_names:
        schema.position(name)
        if stated.all_names.count(name) > 1:
            raise RepeatedVariable(variable=name)


def _with_role(variable: Variable, stated: StatedInputs) -> Variable:
    """The line of a column with the role stated; it leaves generalised, as it is, or not at all."""
    purpose = variable.purpose.strip() or stated.purpose.strip()
    if variable.name in stated.quasi:
        return replace(variable, role=Role.QUASI, purpose=purpose, treatment=Treatment.GENERALISE)
    if variable.name in stated.sensitive:
        return replace(variable, role=Role.SENSITIVE, purpose=purpose, treatment=Treatment.KEEP)
    if variable.name in stated.identifiers:
        return replace(variable, role=Role.IDENTIFIER, purpose="", treatment=Treatment.REMOVE)
    return variable


def _write_hierarchies(project: Project, stated: StatedInputs, when: datetime) -> None:
    given = _read_hierarchies(project, stated)
    with edit_settings(project) as document:
        section: Any = document.setdefault("hierarchies", {})
        for name, description in given.descriptions.items():
            bounds = {key: value for key, value in section.get(name, {}).items() if key in ("minimum", "maximum")}
            section[name] = {**description, **bounds}
        for name, bound in stated.levels.items():
            low, high = (bound, bound) if isinstance(bound, int) else bound
            section[name] = {**section.get(name, {}), "minimum": low, "maximum": high}
        for file, hierarchy in given.tables.items():
            write_csv(hierarchy, project.folder / file)
    for name in dict.fromkeys((*given.descriptions, *stated.levels)):
        append_entry(project.paths.journal, "hierarchy", when, {"variable": name})


def _read_hierarchies(project: Project, stated: StatedInputs) -> GivenHierarchies:
    """The hierarchies as celosia.toml says them, over the values that stand after the project's steps."""
    with open_table(project) as source, apply_project_steps(project, source, fresh=True) as after:
        by_name = {variable.name: variable for variable in after.source.variables}
        for name in stated.levels:
            after.source.table.schema.position(name)
        return read_given_hierarchies(stated.hierarchies, after.source.table, by_name)
